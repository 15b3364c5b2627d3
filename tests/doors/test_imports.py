"""Every public module can be the first that a process imports, and imports before or after it change nothing."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages_of import ROOT, Opens

NEIGHBOURS = ("gymnasium", "pettingzoo", "pyspiel", "torch", "numba", "stable_baselines3")
ABSENT = ("ray", "verifiers", "openenv")  # of extras that pin other versions: environments of their own have them

FILES = sorted((ROOT / "bidzoo").rglob("*.py"))
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in FILES]
MODULES = [name for name in MODULES if not re.search(r"\._|__main__", name)]
ENTRIES = [  # where people come in: the modules that pages import
    name
    for name in MODULES
    if name in ("bidzoo", "bidzoo.bridge", "bidzoo.language", "bidzoo.agents", "bidzoo.benchmarks.match")
    or name.startswith("bidzoo.wrappers.")
    or name.endswith("_v0")
]
IDS = ("BridgeBidding", "Bridge", "Comm", "MiniHanabi", "MiniBridge", "SimpleBidding", "Spades")
REGISTERED = f"""
import gymnasium, pettingzoo, bidzoo
assert {{f"bidzoo/{{name}}-v0" for name in {IDS}}} <= {{*gymnasium.registry}}
assert str(pettingzoo.make("aec", "bidzoo/comm-v0")) == "comm_v0"
"""


def test_the_wheel_is_what_is_tested(script: Opens) -> None:
    place = Path(script("import bidzoo; print(bidzoo.__file__)").strip())
    assert "site-packages" in place.parts and not place.is_relative_to(ROOT / "bidzoo")


def import_of(module: str) -> str:
    """A line that imports ``module``, which may lack a package of an extra, and of nothing else."""
    return f"""try:
    import {module}
except ModuleNotFoundError as problem:
    assert str(problem.name).partition(".")[0] in {ABSENT}, problem
"""


@pytest.mark.parametrize("module", MODULES)
def test_a_module_can_be_the_first(script: Opens, module: str) -> None:
    script(import_of(module))


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("module", ENTRIES)
def test_a_neighbour_before_or_after_changes_nothing(script: Opens, module: str, neighbour: str) -> None:
    assert find_spec(neighbour), f"{neighbour} belongs into the environment of the doors"
    script(f"import {neighbour}\n{import_of(module)}{REGISTERED}")
    script(f"{import_of(module)}import {neighbour}\n{REGISTERED}")


def test_importing_hooks_into_nothing(script: Opens) -> None:
    """Neither ``import bidzoo`` nor a wrapper changes how Python imports; registering an id imports no rules."""
    script("""
import sys, gymnasium, pettingzoo, pyspiel
import open_spiel.python.policy  # absl, which it imports, has a finder of its own
paths, hooks = [*sys.meta_path], [*sys.path_hooks]
import bidzoo
assert not [name for name in sys.modules if name.startswith("bidzoo.envs")]
from bidzoo.wrappers import openspiel
assert sys.meta_path == paths and sys.path_hooks == hooks
""")


@pytest.mark.skipif(sys.platform == "win32", reason="uses a shell")
def test_gymnasium_finds_the_package_by_its_prefix(script: Opens) -> None:
    for name in IDS:
        script(f"import gymnasium\nenv = gymnasium.make('bidzoo:bidzoo/{name}-v0')\nenv.reset(seed=0)")
