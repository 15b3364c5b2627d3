"""The house itself: imports point one way, importing is cheap, files stay readable."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bidzoo"
FLOORS = {"envs": 1, "wrappers": 2, "agents": 3, "benchmarks": 4, "play": 4, "commands": 5}  # core: 0
CORE = {"bits", "cards", "kernels", "layout", "parallel", "streams", "registry"}  # the last knows others as strings
ANYWHERE = {"", "__init__", "cli", "__main__"}  # the front door


def floor(module: str) -> int | None:
    """Floor of ``bidzoo.<module>``; None for the front door."""
    first = module.split(".")[0]
    if first in ANYWHERE:
        return None
    return 0 if first in CORE else FLOORS[first]


def imports(path: Path):
    """Modules of ours that ``path`` imports at run time when it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:  # top level only: what stands in functions or under TYPE_CHECKING is lazy
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bidzoo":
            base = node.module.removeprefix("bidzoo").lstrip(".")
            yield from [f"{base}.{alias.name}".lstrip(".") for alias in node.names] if base == "" else [base]
        elif isinstance(node, ast.Import):
            yield from [a.name.removeprefix("bidzoo.") for a in node.names if a.name.startswith("bidzoo.")]


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    here = floor(".".join(path.relative_to(PACKAGE).with_suffix("").parts).replace(".__init__", ""))
    if here is None:
        return
    for module in imports(path):
        there = floor(module)
        if there is None:
            assert here >= FLOORS["benchmarks"], f"{path.name} imports the front door ({module or 'bidzoo'})"
        else:
            assert there <= here, f"{path.relative_to(PACKAGE)} (floor {here}) imports {module} (floor {there})"


def test_import_is_light():
    script = (
        "import sys, bidzoo; "
        "heavy = {'numba', 'torch', 'endplay', 'matplotlib', 'sklearn', 'joblib', 'rich', 'typer'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if tree.body:
        assert ast.get_docstring(tree), f"{path.name} has no docstring"


def test_no_module_shadows_the_standard_library():
    clashes = {path.stem for path in FILES} & (set(sys.stdlib_module_names) - {"__init__", "__main__"})
    assert clashes <= {"registry"}, clashes
