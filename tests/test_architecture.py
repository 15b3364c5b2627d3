"""The structure of the package: imports point one way, importing is cheap, no module is a riddle."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "bidzoo"
FILES = sorted(PACKAGE.rglob("*.py"))

# Sub-packages from the ground up. Nobody imports from above, neither at the top of a file nor inside a function.
ORDER = (
    "core",
    "envs",  # what all games share: game, aec, picture
    "envs.bridge.formats",
    "envs.bridge",
    "envs.spades",
    "envs.signalling",
    "ids",  # envs/<id>.py: the form in which PettingZoo users import a game
    "registry",
    "agents",  # policy, explanation
    "agents.bridge.natural",
    "agents.bridge",
    "agents.spades",
    "agents.tabular",
    "bridge",  # one call from one hand
    "language",  # language models at the table
    "wrappers",
    "benchmarks",
    "play",
    "bluechip",
    "cli",
    "front door",  # bidzoo/__init__.py and __main__.py
)
PEERS = {"envs.bridge": "game", "envs.spades": "game", "envs.signalling": "game"}  # one game knows no other
PEERS |= {
    "agents.bridge": "agent",
    "agents.spades": "agent",
    "agents.tabular": "agent",
    "play": "top",
    "bluechip": "top",
}
TOGETHER = {"envs.bridge.formats": "envs.bridge"}  # deals and their files are one sub-package in two folders


def module_of(path):
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {module_of(path): path for path in FILES}


def home(module):
    """Sub-package of ``bidzoo.<module>``."""
    if module in ("", "__main__"):
        return "front door"
    if module.startswith("envs.") and module.endswith("_v0"):
        return "ids"
    if module in ("registry", "bridge"):
        return module
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    return TOGETHER.get(package, package)


def imports(path):
    """Modules of ours that ``path`` imports, wherever the import stands, also for type checkers alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "bidzoo":
            base = node.module.removeprefix("bidzoo").lstrip(".")
            for alias in node.names:
                if alias.name == "__version__":
                    continue
                name = f"{base}.{alias.name}".lstrip(".")
                yield name if name in MODULES else base
        elif isinstance(node, ast.Import):
            yield from (
                a.name.removeprefix("bidzoo").lstrip(".") for a in node.names if a.name.split(".")[0] == "bidzoo"
            )


def test_every_sub_package_has_its_place():
    assert {home(module) for module in MODULES} <= set(ORDER)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    here = home(module_of(path))
    for module in imports(path):
        there = home(module)
        if here == there:
            continue
        assert ORDER.index(there) < ORDER.index(here), (
            f"{path.relative_to(PACKAGE)} ({here}) imports {module} ({there})"
        )
        assert here not in PEERS or PEERS.get(there) != PEERS[here], f"{here} and {there} stand side by side"


def test_no_circles():
    """Also between the files of one sub-package."""
    graph = defaultdict(set)
    for module, path in MODULES.items():
        graph[module] = {other for other in imports(path) if other != module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        pytest.fail(" imports ".join(problem.args[1]))


def test_the_map_is_the_tree():
    """CONTRIBUTING's table names every sub-package, in the order in which they may import, and nothing else."""
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Layout")[1].split("\n## ")[0]
    named = re.findall(
        r"`([\w/.]+)`", " ".join(row.split("|")[1] for row in text.splitlines() if row.startswith("| `"))
    )
    assert [name for name in named if not (PACKAGE / name).exists()] == []
    packages = [name.rstrip("/").replace("/", ".").removesuffix(".py") for name in named if name != "data/"]
    hidden = {"envs.bridge.formats", "agents.bridge.natural", "ids", "front door"}  # told in the row of their parent
    assert packages == [name for name in ORDER if name not in hidden]
    for folder in PACKAGE.rglob("__init__.py"):
        assert home(module_of(folder)) in ORDER
    for words in re.findall(r"^\| `([\w/]+)/` \| `([a-z_ ]+)`;", text, re.MULTILINE):
        assert [word for word in words[1].split() if not (PACKAGE / words[0] / f"{word}.py").exists()] == []


HEAVY = ("numba", "torch", "endplay", "matplotlib", "sklearn", "joblib", "rich", "typer", "importlib.metadata")


def test_import_is_light():
    """``import bidzoo`` brings along Gymnasium, PettingZoo and the names of the games, no rules and nothing heavy."""
    script = (
        "import gymnasium, pettingzoo, sys; before = {*sys.modules}; import bidzoo\n"
        f"print(sorted({{*{HEAVY}}} & ({{*sys.modules}} - before)))\n"
        "print([name for name in sys.modules if name.startswith('bidzoo.envs')])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["[]", "[]"]


@pytest.mark.parametrize("words", [(), ("match",), ("compile",)])
def test_help_needs_no_compiler(words):
    script = (
        "import sys; from bidzoo.cli.main import app\n"
        f"try: app([*{words}, '--help'])\n"
        "except SystemExit: print('numba' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "Usage" in out and out.splitlines()[-1] == "False"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if tree.body:
        assert ast.get_docstring(tree), f"{path.name} has no docstring"


def test_no_module_shadows_the_standard_library():
    clashes = [path for path in FILES if path.stem in sys.stdlib_module_names]
    names = ", ".join(str(path.relative_to(PACKAGE)) for path in clashes)
    assert not clashes, f"{names}: the standard library has a module of this name; choose another file name"
