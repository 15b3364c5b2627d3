"""Digests of what a result depends on: of values by their content, of the code that made it.

Ledgers and result files name by them what was played and by whom, so that nothing of another agent, deal or version of
the code is taken for it.
"""

import ast
import hashlib
import io
import pickle
import sys
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, resolve_name
from inspect import isclass, isfunction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

_LIBRARIES = {"site-packages", "dist-packages"}
_NOT_RELOADED = {"bidzoo", "__main__", "__mp_main__"}  # the first is not what users edit, a script travels by value

_specs: dict[str, list[ModuleSpec | None]] = {}  # of the user's modules: one more with each ``importlib.reload``


def content_digest(value: Any) -> str:
    """A digest of ``value``, of NumPy arrays in it by their content; an error of its parts if it cannot be pickled."""
    from joblib import hash as digest_of

    digest: str = digest_of(value)
    return digest


def source_digest(*modules: str) -> str:
    """A digest of the code of ``modules`` and of all that they import of what is not installed, however deep.

    Of what is installed, bidzoo counts, and the packages of ``modules``; comments and docstrings do not. A job's key
    holds it, since results depend on the code that made them.
    """
    reached = [*dict.fromkeys(modules)]
    for name in reached:  # which grows
        reached += [other for other in _source(name)[1] if other not in reached]
    return hashlib.sha256("".join(sorted(_source(name)[0] for name in reached)).encode()).hexdigest()[:16]


def code_of(value: Any) -> list[str]:
    """The modules whose code tells ``value`` from others: of all classes and functions that pickle reaches in it."""
    found, owner = {type(value).__module__}, type(value).__module__

    class Collector(pickle.Pickler):
        def persistent_id(self, part: Any) -> None:
            found.add(type(part).__module__)
            if isclass(part) or isfunction(part):
                found.add(part.__module__)

    Collector(io.BytesIO()).dump(value)
    return sorted(module for module in found if _counts(module, owner))


def _counts(module: str, owner: str) -> bool:
    """Whether the code of ``module`` counts for what the module ``owner`` does.

    That of bidzoo, of the owner's package and of what is not installed does: of the rest the version tells it.
    """
    package = module.partition(".")[0]
    return package in ("bidzoo", owner.partition(".")[0]) or not _is_installed(package)


@cache
def _is_installed(package: str) -> bool:
    """Whether the top-level ``package`` comes with Python or by pip."""
    if package in sys.stdlib_module_names:
        return True
    path = _path(package)
    return path is not None and bool(_LIBRARIES.intersection(Path(path).parts))


def loaded() -> dict[str, int]:
    """The user's modules in this process, neither installed nor bidzoo's, each with a number of what it holds.

    The number changes when a module is loaded anew because its file was edited: as a whole (``importlib.reload``), or
    in those functions, numbers and texts that differ (``%autoreload`` of a notebook). So it does where a module counts
    in a global, which costs new workers. It means nothing to another process.
    """
    files = {
        name: str(vars(module).get("__file__") or "")
        for name, module in [*sys.modules.items()]
        if isinstance(module, ModuleType) and name.partition(".")[0] not in sys.stdlib_module_names | _NOT_RELOADED
    }
    return {
        name: _version(name) for name, file in files.items() if file and not _LIBRARIES.intersection(Path(file).parts)
    }


def _version(name: str) -> int:
    """The number of ``loaded``; 0 if nobody has imported the module, and of those of bidzoo."""
    module = sys.modules.get(name)
    if module is None or name.partition(".")[0] in _NOT_RELOADED:
        return 0
    spec, specs = getattr(module, "__spec__", None), _specs.setdefault(name, [])
    if not any(spec is known for known in specs):
        specs.append(spec)
    names = [*vars(module).items()]
    for _, kind in names[:]:
        if isclass(kind) and kind.__module__ == name:
            names += vars(kind).items()
    return hash((len(specs), *((key, _held(value)) for key, value in names)))


def _held(value: Any) -> Any:
    """What ``%autoreload`` changes in place: a number or text, the code of a function; of other values None."""
    if isinstance(value, bool | int | float | str | bytes):
        return value
    function = value.fget if isinstance(value, property) else value
    function = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    while wrapped := getattr(function, "__dict__", {}).get("__wrapped__"):  # a kernel, a cached function
        function = wrapped
    return function.__code__ if isinstance(function, FunctionType) else None


def _source(name: str) -> tuple[str, list[str]]:
    """A module's name and a digest of its code, and the modules that it imports of those whose code counts."""
    return _read(name, _version(name))


@cache
def _read(name: str, version: int) -> tuple[str, list[str]]:
    """``_source``, read once; again after the module was reloaded, which gives it another ``version``.

    Where a file was edited and not reloaded, its digest stays: it is not what this process runs.
    """
    if name == "__main__" and not hasattr(sys.modules[name], "__file__"):
        raise ValueError("an agent of a notebook or of python -c has no file: move it to a module to keep its results")
    path = _path(name)
    if path is None or not path.endswith(".py"):
        return name, []
    tree, imported = ast.parse(Path(path).read_bytes()), list[str]()
    package = name if Path(path).name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package or None)
            if _counts(module, name):  # to ask others would import them, torch too
                imported += [module, *(part for alias in node.names if _path(part := f"{module}.{alias.name}"))]
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            del node.body[: ast.get_docstring(node, clean=False) is not None]
    code = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return f"{name} {code}\n", [module for module in imported if _counts(module, name)]


def _path(name: str) -> str | None:
    """Where the code of a module is; neither it nor the packages that it is in are imported."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec, places = None, None
    for k in range(len(parts := name.split("."))):
        spec = PathFinder.find_spec(".".join(parts[: k + 1]), places) if k else _spec(parts[0])
        places = None if spec is None else spec.submodule_search_locations
        if places is None:
            break
    return None if spec is None or spec.name != name else spec.origin


def _spec(package: str) -> ModuleSpec | None:
    try:
        return find_spec(package)
    except ValueError:  # one that is made as the process runs
        return None
