"""No kernel runs that was compiled from other sources than those which the process has read."""

import json
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest
from numba import config
from numba.misc.appdirs import AppDirs

import bidzoo
from bidzoo.core import cache
from bidzoo.core.kernels import KERNELS
from bidzoo.envs.bridge import auction, engine

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
DATA = Path(__file__).parents[1] / "data"

# a package from outside: a kernel calls one of another module, which has a constant of a third
SOURCES = {
    "rules.py": "BONUS = 300\n",
    "score.py": '''
from bidzoo.core.kernels import row
from outside.rules import BONUS
@row
def trick_row(level: int) -> int:
    """Points of a level."""
    return 30 * level + BONUS
''',
    "play.py": """
from bidzoo.core.kernels import batched, row
from outside import score
@row
def result_row(level: int) -> int:
    return score.trick_row(level) - 1
@batched
def results(start, stop, levels, out):
    for b in range(start, stop):
        out[b] = result_row(levels[b])
""",
    "__init__.py": "",
}
USE = """
import json, numpy as np
from bidzoo.core.kernels import KERNELS
from outside.play import result_row, results
out = np.zeros(3, np.int64)
results(np.arange(3), out)
forms = [form for kernel in KERNELS.values() for form in (kernel.compiled, kernel.body)]
print(json.dumps([result_row(4), out.tolist(), sum(form.stats.cache_misses.total() for form in forms)]))
"""
PLAIN = "from bidzoo.core import plain; plain.thread.wanted = True"
OBSERVE = """
import json, sys, numpy as np, bidzoo
from bidzoo.core.kernels import KERNELS
env = bidzoo.make("bridge_v0")
env.reset(seed=3)
forms = [form for kernel in KERNELS.values() for form in (kernel.compiled, kernel.body)]
misses = sum(form.stats.cache_misses.total() for form in forms)
print(json.dumps([np.flatnonzero(env.last()[0]["observation"]).tolist(), misses]))
"""


@pytest.fixture(scope="module", autouse=True)
def started(processes):
    """``run`` starts them."""
    run.start = processes


def run(script, folder, **env):
    """What ``script`` prints as JSON and its standard error, if packages come from ``folder`` first."""
    paths = os.pathsep.join(map(str, (folder, Path(bidzoo.__file__).parents[1])))
    given = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "BIDZOO_COMPILE": "now", **env}
    given.pop("NUMBA_CACHE_DIR", None)
    ((status, out, error),) = run.start(folder, given, [script])
    assert status == 0, error
    return json.loads(out), error


def edit(path, old, new):
    """Replace words by others, and leave the file as old as it was."""
    text, about = path.read_text(), path.stat()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


@pytest.fixture
def outside(tmp_path):
    return written(tmp_path)


def written(place):
    """The package, at ``place``."""
    folder = place / "outside"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The package after its first use, which compiles its four kernels."""
    folder = written(tmp_path_factory.mktemp("compiled"))
    assert run(USE, folder.parent)[0] == [419, [299, 329, 359], 4]
    return folder


@pytest.fixture
def used(compiled, tmp_path):
    """A copy of it, kernels and times of files included."""
    return Path(shutil.copytree(compiled, tmp_path / "outside"))


def test_a_change_anywhere_below_a_kernel_is_seen(used):
    """With sizes and times of the files as before: only what they say tells."""
    assert run(USE, used.parent)[0] == [419, [299, 329, 359], 0]
    edit(used / "score.py", "30 * level", "20 * level")
    assert run(USE, used.parent)[0] == [379, [299, 319, 339], 4]
    edit(used / "rules.py", "300", "500")
    assert run(USE, used.parent)[0] == [579, [499, 519, 539], 4]
    edit(used / "rules.py", "500", "300")
    assert run(USE, used.parent)[0] == [379, [299, 319, 339], 0]  # kept beside the others
    edit(used / "play.py", "- 1", "- 2")
    assert run(USE, used.parent)[0] == [378, [298, 318, 338], 3]  # the callee is as it was
    edit(used / "score.py", "@row", "# More than before.\n\n\n@row")
    edit(used / "score.py", "Points of a level.", "The points.")
    assert run(USE, used.parent)[0] == [378, [298, 318, 338], 0]


def test_a_change_of_a_callee_changes_what_is_observed(tmp_path):
    """In a copy of the package, its kernels of today included."""
    shutil.copytree(Path(bidzoo.__file__).parent, tmp_path / "bidzoo")
    before, _ = run(OBSERVE, tmp_path)[0]
    assert run(OBSERVE, tmp_path)[0] == [before, 0]
    edit(tmp_path / "bidzoo/core/bits.py", "] = (hand >> card)", "] = ~(hand >> card)")
    after, misses = run(OBSERVE, tmp_path)[0]
    assert misses > 0
    assert after != before
    assert after == run(PLAIN + OBSERVE, tmp_path)[0][0]


def test_a_source_that_changes_meanwhile(outside):
    """The process that compiles finds other sources than the one that asked, which then compiles what it has read."""
    wait = """
import json, time
from outside.play import result_row
from importlib import import_module
from pathlib import Path
path = Path("outside/rules.py")
path.write_text("BONUS = 900")
until, found = time.monotonic() + 300, set()
while time.monotonic() < until and not result_row.compiled.signatures:
    found.add(result_row(4))
    time.sleep(0.25)
print(json.dumps([*found, len(result_row.compiled.signatures)]))
"""
    assert run(wait, outside.parent, BIDZOO_COMPILE="background")[0] == [419, 1]
    assert run(USE, outside.parent)[0] == [1019, [899, 929, 959], 4]


def test_paths_of_kernels_are_short_enough_for_windows(monkeypatch, capsys):
    """Of 259 characters; a folder that is too deep is left for the user's cache, which is said."""
    package = Path(cache.__file__).parents[1]
    for path in package.rglob("*.py"):
        if re.search(r"@(row|batched)|bind\(", path.read_text(encoding="utf-8")):
            import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))
    files = [
        f"{Path(*module.split('.')[1:-1], '__pycache__', module.rpartition('.')[2])}.{name}.kernel-{'0' * 16}.12.nbc"
        for module, name in KERNELS
        if module.startswith("bidzoo.")
    ]
    longest = max(map(len, files)) + len(".tmp.0123456789abcdef") - len(str(Path("core", "__pycache__")))
    assert len(files) > 300 and longest <= cache._LONGEST
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(cache, "_where", "")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    for name in ("NUMBA_CACHE_DIR", cache.READ_ONLY):
        monkeypatch.setenv(name, "")
    assert cache.find_cache() and numba.config.CACHE_DIR == ""
    monkeypatch.setattr(cache, "_LONGEST", 250)
    assert cache.find_cache()
    cache.say_where()
    users = os.environ["NUMBA_CACHE_DIR"]
    assert users == numba.config.CACHE_DIR == AppDirs("numba", False).user_cache_dir
    said = f"bidzoo: {package / 'core' / '__pycache__'}: path too long for compiled kernels, which go to {users}\n"
    assert capsys.readouterr().err == said


def test_an_index_without_its_code_is_no_kernel(used):
    for path in used.rglob("*.nbc"):
        path.unlink()
    assert run(USE, used.parent)[0] == [419, [299, 329, 359], 4]


def test_a_version_of_numba_that_no_test_knows(outside):
    """Kernels are plain ``njit``; if numba's cache is another, too, nothing is kept."""
    unknown = "import numba; numba.version_info = numba.version_info._replace(short=(9, 9))\n"
    assert run(unknown + USE, outside.parent)[0][2] > 0
    assert run(unknown + USE, outside.parent)[0] == [419, [299, 329, 359], 0]
    assert not [*outside.rglob("*.body-*")] and len([*outside.rglob("*.kernel-*.nbi")]) == 3
    shutil.copy(DATA / "constant_arguments.py", outside / "constants.py")
    use = "import json; from outside.constants import *\n"
    use += "print(json.dumps([both_row(1), len(shift_row.compiled.signatures)]))"
    assert run(unknown + use, outside.parent)[0] == [8 + 16 + 2, 1]  # no form for each constant
    shutil.rmtree(outside / "__pycache__")
    without = "import sys; sys.modules['bidzoo.core.cache'] = None\n"
    for when in ("now", "background"):
        found, _ = run(unknown + without + USE, outside.parent, BIDZOO_COMPILE=when)
        assert found[:2] == [419, [299, 329, 359]]
    assert not [*outside.rglob("*.nbi")]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_a_full_disk_is_said_once(outside):
    """As with a limit on the size of files: kernels run, and one line names the folder."""
    limit = "from resource import *; setrlimit(RLIMIT_FSIZE, (100, RLIM_INFINITY))\n"
    found, said = run(limit + USE, outside.parent)
    assert found == [419, [299, 329, 359], 4]
    assert said.count("\n") == 1
    assert said.startswith(f"bidzoo: compiled kernels cannot be kept in {outside / '__pycache__'} (File too large)")
    assert not [*outside.rglob("*.nbc*")]


FIRST_STEPS = """
import json, sys, bidzoo
for env_id in bidzoo.registry.GAMES:
    env = bidzoo.make(env_id)
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
from numba.core.runtime import rtsys
print(json.dumps(["numba.np.arrayobj" in sys.modules, rtsys._init]))
"""


def test_a_first_step_loads_nothing_that_makes_arrays(outside):
    """A tenth of a second: numba's functions of arrays and its counts of references. No kernel of one table has any."""
    run(FIRST_STEPS, outside.parent)  # may have to compile
    assert run(FIRST_STEPS, outside.parent)[0] == [False, False]


def test_what_other_versions_left_is_removed(used):
    (before,) = used.rglob("score.trick_row.body-*.nbc")
    edit(used / "score.py", "30", "40")
    run(USE, used.parent)
    assert before.exists()
    os.utime(before, (0, 0))
    edit(used / "score.py", "40", "50")
    run(USE, used.parent)
    assert not before.exists() and len([*used.rglob("score.trick_row.body-*.nbc")]) == 2


def test_what_another_process_removes_meanwhile_is_no_fault(used):
    """A file that is gone when its age is asked; and a clock that was wrong takes nothing but old kernels."""
    edit(used / "score.py", "30", "40")
    (old,) = used.rglob("score.trick_row.body-*.nbc")
    (gone := old.with_name(f"{old.name}.gone")).symlink_to("nowhere")
    jump = "import time; now = time.time; time.time = lambda: now() + {}\n"
    found, said = run(jump.format(-1e9) + USE, used.parent)
    assert found[::2] == [459, 4] and said == ""
    assert gone.is_symlink() and old.exists()
    edit(used / "score.py", "40", "50")
    found, said = run(jump.format(1e9) + USE, used.parent)
    assert found[0] == 499 and said == "" and not old.exists()
    assert run(USE, used.parent)[0][2] == 0


def test_every_kernel_of_a_chain_is_in_the_digest():
    """The observation of bridge is made by kernels of several files; each tells its own, whoever asks first."""
    names = set()
    for kernel in (engine.observe_row, auction.legal_row):
        reached = [kernel.compiled.py_func]
        for function in reached:
            reached += [callee for callee in cache._content(function)[1] if callee not in reached]
        names |= {f"{function.__module__}.{function.__qualname__}" for function in reached}
    assert {"bidzoo.core.bits.cards_row", "bidzoo.envs.bridge.auction.legal_row"} <= names
    assert cache.digest(auction.legal_row.compiled.py_func, "a") != cache.digest(
        auction.legal_row.compiled.py_func, "b"
    )


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "half a file": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "nothing but zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "one bit": lambda path: path.write_bytes(flip(path.read_bytes())),
    "a text": lambda path: path.write_text("no kernel"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("policy", ["now", "background"])
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_kernel_is_compiled_anew(used, damage, ending, policy):
    files = sorted(used.rglob(f"*.{ending}"))
    assert len(files) == 4
    for path in files:
        DAMAGE[damage](path)
    result, error = run(USE, used.parent, BIDZOO_COMPILE=policy)
    assert result[:2] == [419, [299, 329, 359]] and "Traceback" not in error
    if policy == "now":
        assert result[2] == 4
        assert damage == "a folder" or run(USE, used.parent)[0][2] == 0  # and kept anew


def test_files_that_changed_places_are_not_run(used):
    """Each is whole, and of another kernel."""
    for ending in ("nbi", "nbc"):
        first, *others = sorted(used.rglob(f"*.{ending}"))
        contents = [path.read_bytes() for path in (first, *others)]
        for path, content in zip((first, *others), [*contents[1:], contents[0]], strict=True):
            path.write_bytes(content)
    assert run(USE, used.parent)[0] == [419, [299, 329, 359], 4]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="who may read everything")
def test_a_kernel_that_may_not_be_read_is_compiled_anew(used):
    for path in used.rglob("*.nbc"):
        path.chmod(0)
    assert run(USE, used.parent)[0] == [419, [299, 329, 359], 4]


def test_eight_processes_on_a_cold_cache(outside):
    """All compile at once and keep what they made over each other: every one is right, and so is what is left."""
    paths = os.pathsep.join(map(str, (outside.parent, Path(bidzoo.__file__).parents[1])))
    given = {**os.environ, "PYTHONPATH": paths, "BIDZOO_COMPILE": "now"}
    given.pop("NUMBA_CACHE_DIR", None)
    for status, out, error in run.start(outside.parent, given, *([[USE]] * 8)):
        assert status == 0 and json.loads(out)[:2] == [419, [299, 329, 359]], error
    assert run(USE, outside.parent)[0] == [419, [299, 329, 359], 0]


def test_files_of_another_processor_are_another_kernels(used):
    found = run(USE, used.parent, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")[0]
    assert found == [419, [299, 329, 359], 4] and run(USE, used.parent)[0][2] == 0
