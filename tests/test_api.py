"""The public API: the page names all of it, and names and signatures change only on purpose.

After a change that was meant:  python tests/test_api.py
"""

import ast
import importlib
import inspect
import re
import sys
from functools import partial
from pathlib import Path
from types import FunctionType

import pytest

import bidzoo

sys.path.insert(0, str(Path(__file__).with_name("doors")))
import pages_of

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
SNAPSHOT = Path(__file__).with_name("public_api.txt")
ENTRY = re.compile(r"^\.\. auto(?:class|function):: (\S+)\n(?:   :members:(.*)\n)?", re.MULTILINE)
MODULES = (  # whose public classes a program of a user imports
    "bidzoo.wrappers.sb3",
    "bidzoo.wrappers.gymnasium",
    "bidzoo.agents.policy",
    "bidzoo.agents.explanation",
    "bidzoo.core.layout",
    "bidzoo.envs.signalling.game",
    "bidzoo.envs.python_game",
)
INNER = {"Partners", "PythonRules", "Uniform"}  # made by name, or inside


def entries():
    """``(dotted name, members)`` of everything on the page."""
    return [(name, members.replace(",", " ").split()) for name, members in ENTRY.findall(PAGE.read_text("utf-8"))]


def found(name):
    """The object of a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def signature(thing):
    """Parameters with their defaults, without types, which tools write in different ways."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    return f"({', '.join(str(x.replace(annotation=inspect.Parameter.empty)) for x in parameters)})"


def lines(name, members):
    """The lines of one entry: the object, and each of its members."""
    thing = found(name)
    yield name + re.sub(r" at 0x[0-9a-f]+", "", signature(thing))
    for member in members or [x for x in vars(thing) if not x.startswith("_")] * inspect.isclass(thing):
        value = inspect.getattr_static(thing, member, None)
        value = getattr(value, "__func__", value)
        yield f"    {member}{signature(value) if inspect.isroutine(value) else ''}"


def snapshot():
    """The text of ``public_api.txt``; what cannot be imported here stands as it was recorded."""
    recorded = re.split(r"^(?=\S)", SNAPSHOT.read_text("utf-8"), flags=re.MULTILINE) if SNAPSHOT.exists() else []
    known = {re.split(r"[(\n]", part)[0]: part for part in recorded}
    parts = []
    for name, members in entries():
        try:
            parts.append("\n".join(lines(name, members)) + "\n")
        except ImportError:
            parts.append(known.get(name, f"{name}\n"))
    return "".join(parts)


def test_names_and_signatures_are_those_that_were_promised():
    assert snapshot() == SNAPSHOT.read_text("utf-8"), "if that is what was meant: python tests/test_api.py"


@pytest.mark.parametrize("module", MODULES)
def test_the_page_has_every_public_class(module):
    pytest.importorskip({"bidzoo.wrappers.sb3": "stable_baselines3"}.get(module, "numpy"))
    named = {name for name, _ in entries()}
    classes = {
        f"{module}.{name}"
        for name, thing in vars(importlib.import_module(module)).items()
        if inspect.isclass(thing) and thing.__module__ == module and not name.startswith("_") and name not in INNER
    }
    assert classes and classes <= named, f"docs/api.md lacks {', '.join(sorted(classes - named))}"


def test_the_page_has_what_bidzoo_exports():
    named = {name.removeprefix("bidzoo.").rpartition(".")[2] for name, _ in entries()}
    modules = {"agents", "bridge"}
    assert set(bidzoo.__all__) - modules <= named


def names_in(code):
    """Dotted names of bidzoo's that a script mentions, as far as its imports say what they are."""
    tree, known = ast.parse(code), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "bidzoo":
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "bidzoo" for alias in node.names):
            known["bidzoo"] = "bidzoo"
    yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.fullmatch(r"\w+(\.\w+)+", name := ast.unparse(node)):
            head, _, rest = name.partition(".")
            if head in known:
                yield f"{known[head]}.{rest}"


def known(name):
    """The object of a dotted name; None for an attribute of an object, and for what is not installed here."""
    try:
        return found(name)
    except (ImportError, AttributeError):
        return None


def test_the_page_has_every_function_and_class_that_other_pages_use():
    on_page = {id(known(name)) for name, _ in entries()}
    used = {
        name: known(name)
        for page in pages_of.PAGES
        for code in pages_of.blocks(page, "python")
        for name in names_in(code)
        if "." in name
    }
    kinds = type, FunctionType, partial
    missing = [name for name, thing in used.items() if isinstance(thing, kinds) and id(thing) not in on_page]
    assert len(used) > 50 and not missing, f"docs/api.md lacks {', '.join(missing)}"


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), "utf-8")
