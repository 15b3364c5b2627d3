"""The first minutes on a new machine: games start as plain Python while kernels are compiled, with the same bytes."""

import hashlib
import inspect
import json
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

import bidzoo
from bidzoo.cli import compiling as command
from bidzoo.cli.compiling import apart, everything
from bidzoo.core import compiling, jobs
from bidzoo.core.compiling import when_compiled
from bidzoo.core.streams import next_row
from bidzoo.envs.bridge import auction

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

NO_MORE = """
from bidzoo.core import compiling
if compiling._worker:  # it would go on for a minute after the test
    compiling._worker.kill()
    compiling._worker.wait()
"""


def play_game(env_id):
    """Digest of what 200 turns of a game show."""
    env, digest = bidzoo.make(env_id), hashlib.sha256()
    env.reset(seed=7)
    for turn in range(200):
        if any(env.terminations.values()):
            env.reset()
        seen = env.last()[0]
        digest.update(seen["observation"].tobytes() + seen["action_mask"].tobytes())
        env.step(int(seen["action_mask"].nonzero()[0][turn % seen["action_mask"].sum()]))
    return digest.hexdigest()


def play_batch(env_id):
    """Digest of what five steps of 300 tables of bridge show."""
    batch, digest = bidzoo.make_vec(env_id, 300), hashlib.sha256()
    batch.reset(seed=7)
    for turn in range(5):
        batch.step(batch.action_mask.argmax(1) if turn % 2 else 37 - batch.action_mask[:, ::-1].argmax(1))
        digest.update(batch.observation.tobytes() + batch.action_mask.tobytes() + batch.reward.tobytes())
    return digest.hexdigest()


@pytest.fixture
def start(processes, tmp_path):
    """``start(*scripts)``: what processes that do not wait for compiled kernels print, as JSON, and standard error."""

    def start(*scripts, cache=tmp_path, **env):
        given = {**os.environ, "BIDZOO_COMPILE": "background", "NUMBA_CACHE_DIR": str(cache), **env}
        ended = processes(tmp_path, given, *([script + NO_MORE, *words] for script, *words in scripts))
        assert all(status == 0 for status, _, _ in ended), ended
        return [(json.loads(out), error) for _, out, error in ended]

    return start


@pytest.mark.parametrize(
    ("play", "game"),
    [
        (play_game, "mini_hanabi_v0"),
        (play_game, "bridge_bidding_v0"),
        (play_game, "spades_v0"),
        (play_batch, "bridge_bidding_v0"),
    ],
)
def test_a_cold_cache_starts_at_once_with_the_same_bytes(play, game, start):
    script = f"""
import hashlib, json, bidzoo
from bidzoo.core.kernels import KERNELS
{inspect.getsource(play)}
print(json.dumps([{play.__name__}("{game}"), sum(len(k.compiled.signatures) for k in KERNELS.values())]))
"""
    (((cold, compiled_here), error),) = start([script])
    assert cold == play(game)  # compiled, as all that runs here
    assert compiled_here == 0 and error == ""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder of kernels, empty until the first test that uses it."""
    return tmp_path_factory.mktemp("kept")


def test_compiled_kernels_take_over(start, kept):
    """Two processes start on one empty cache; both go on compiled when it is there."""
    script = """
import json, time, bidzoo
from bidzoo.core.kernels import KERNELS
env = bidzoo.make("mini_hanabi_v0")
until, own = time.monotonic() + 300, lambda: [k for k in KERNELS.values() if k.compiled.signatures]
while time.monotonic() < until and not any("step" in kernel.key[1] for kernel in own()):
    env.reset(seed=1)
    env.step(0)
    time.sleep(0.25)
print(json.dumps([len(own()) > 0, sum(k.compiled.stats.cache_misses.total() for k in own())]))
"""
    assert start([script], [script], cache=kept) == [([True, 0], "")] * 2  # loaded, not compiled here


def test_a_killed_compiler_leaves_plain_python_and_the_next_process_compiles(start):
    """Killed as where memory is short: to compile in the caller instead would take that memory again."""
    script = """
import json, sys, time, numpy as np
from bidzoo.core import compiling
from bidzoo.core.kernels import STARTING
from bidzoo.core.streams import next_row
while next_row.form is STARTING and compiling._worker is None:
    next_row(np.uint64(0))
until = time.monotonic() + 1
if compiling._worker is not None:
    compiling._worker.kill()
    compiling._worker.wait()
    while time.monotonic() < until:
        next_row(np.uint64(0))
print(json.dumps([int(next_row(np.uint64(0))), len(next_row.compiled.signatures)]))
"""
    value = 0xE220A8397B1DCDAF  # of SplitMix64
    assert start([script]) == [([value, 0], f"{compiling.KILLED}\n")]
    assert start([script], BIDZOO_COMPILE="now") == [([value, 1], "")]


def test_who_asks_never_waits_for_a_busy_compiler(tmp_path):
    """Jobs are read while one is compiled: more of them than a pipe holds."""
    script = """
import sys, time
from pathlib import Path
from bidzoo.core import compiler, kernels
def busy(*job):
    while not Path("asked").exists():
        time.sleep(0.01)
    sys.exit()
kernels.kernel_named = busy
compiler.main()
"""
    job = pickle.dumps(("module", "name", "digest", bytes(1 << 20)))
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, cwd=tmp_path) as worker:
        for _ in range(2):
            worker.stdin.write(len(job).to_bytes(8, "little") + job)
            worker.stdin.flush()
        (tmp_path / "asked").touch()
        assert worker.wait() == 0  # though more could be asked


def test_a_short_run_does_not_load_numba(processes, tmp_path):
    """Some decisions are made before it is there; who goes on gets it."""
    begun = "import bidzoo, gymnasium, json, sys\n"
    step = "env.reset(seed=1)\nenv.step(env.action_mask.argmax(-1)) if n else env.step(0)\n"
    ways = ("bidzoo.make(game)", "gymnasium.make('bidzoo/Comm-v0').unwrapped", "bidzoo.make_vec(game, 4)")
    short, long = (
        "print(json.dumps('numba' in sys.modules))",
        "while 'numba' not in sys.modules: env.reset(); env.step(0)",
    )
    scripts = [
        f"{begun}game, n = {game!r}, {way.endswith('4)'):d}\nenv = {way}\n{step}{short}{NO_MORE}"
        for game in ("bridge_v0", "comm_v0", "spades_v0")
        for way in ways
        if game == "comm_v0" or "unwrapped" not in way
    ]
    scripts.append(f"{begun}env = bidzoo.make('comm_v0')\n{long}\n{short}{NO_MORE}")
    given = {**os.environ, "BIDZOO_COMPILE": "background", "NUMBA_CACHE_DIR": str(tmp_path)}
    ended = processes(tmp_path, given, *([script] for script in scripts))
    assert [(status, out) for status, out, _ in ended] == [(0, "false\n")] * 7 + [(0, "true\n")], ended


def test_what_waits_says_so_once(start):
    script = """
import json, numpy as np
from bidzoo.core.streams import Streams
for n in (3, 300, 3_000_000, 3_000_000):  # rows, of which plain Python has done the first ones before it is timed
    Streams.at(0, np.arange(n)).random(1)
print(json.dumps(0))
"""
    ((_, error),) = start([script])
    assert error == f"{compiling.SAID}\n"
    assert "bidzoo compile" in error  # the way to hear it no more: each game and agent has kernels of its own
    assert "once" not in error


def test_the_command_leaves_nothing_to_compile(start, kept):
    """``bidzoo compile`` of a small game with an agent, and the first use after it; all agents: test_compiled.py.

    What ``test_compiled_kernels_take_over`` left is there already.
    """
    script = """
import json, sys
from typer.testing import CliRunner
from bidzoo.cli import compiling
from bidzoo.cli.main import app
from bidzoo.core.kernels import KERNELS
everything = compiling.everything
compiling.everything = lambda: [item for item in everything() if item[1] in (None, "random")]
if sys.argv[1] == "command":
    done = CliRunner().invoke(app, ["compile", "mini_hanabi", "--workers", "1"])
    assert done.exit_code == 0 and "kernels of 1 game and of" in done.output, (done.output, done.exception)
else:
    compiling.use("mini_hanabi_v0", "random")
forms = [form for kernel in KERNELS.values() for form in (kernel.compiled, kernel.body)]
print(json.dumps(sum(form.stats.cache_misses.total() for form in forms)))
"""
    ((cold, _),), ((warm, _),) = (start([script, word], cache=kept) for word in ("command", "use"))
    assert cold > 5 and warm == 0


def test_everything_is_compiled_once():
    work = everything()
    assert len(set(work)) == len(work)
    assert {env_id for env_id, name in work if name is None} >= set(bidzoo.registry.GAMES)
    assert {("spades_v0", "uct"), ("bridge_bidding_v0", "sayc"), ("bridge_bidding_v0", "bmcs")} <= set(work)
    assert {name for env_id, name in work if env_id == "comm_v0"} == {
        None,
        "random",
        "cfr",
        "jps",
        "bad",
        "a2c",
        "exact",
    }
    ours = [item for item in work if bidzoo.registry.GAMES[item[0]].module]  # not games of other tests
    kinds = [{env_id for env_id, _ in part} for part in apart(ours)]
    assert kinds[:2] == [{"bridge_bidding_v0", "bridge_v0"}, {"spades_v0"}] and len(kinds) == 6


def test_an_unknown_policy_is_named(monkeypatch):
    monkeypatch.setenv("BIDZOO_COMPILE", "later")
    with pytest.raises(ValueError, match=r"BIDZOO_COMPILE='later': expected background or now"):
        compiling.policy()


def test_nowhere_to_keep_kernels(start, tmp_path):
    """A read-only installation without a home: a temporary folder, and one sentence when the first goes there."""
    script = """
import json, sys, tempfile, numba.core.caching as caching
tempfile.tempdir = None  # not that of the process that was forked
known = caching.CacheImpl._locator_classes
caching.CacheImpl._locator_classes = [one for one in known if "UserProvided" in one.__name__]
sys.path.insert(0, ".")
from numba import config
from own import own_row
own_row(1)
print(json.dumps(config.CACHE_DIR))
"""
    (tmp_path / "own.py").write_text("from bidzoo.core.kernels import row\n@row\ndef own_row(x: int):\n    return x\n")
    folder = tmp_path / f"bidzoo-{os.getuid()}"  # the same for every process
    for _ in range(2):
        ((kept, error),) = start([script], cache="", TMPDIR=str(tmp_path))
        assert kept == str(folder) and folder.stat().st_mode & 0o777 == 0o700
        assert error.count("\n") == 1 and "set NUMBA_CACHE_DIR" in error
    folder.chmod(0o777)  # somebody else could have put code there
    ((kept, _),) = start([script], cache="", TMPDIR=str(tmp_path))
    assert Path(kept).parent == tmp_path and kept != str(folder)


STEP = """
import bidzoo
from numba import config
env = bidzoo.make("mini_hanabi_v0")
env.reset(seed=1)
env.step(0)
"""


def test_what_an_image_has_compiled_is_used_where_it_cannot_be_written(start, tmp_path):
    """Its folder is read; only what is missing goes elsewhere, which is said then."""
    image, own = tmp_path / "image", tmp_path / "own"
    start([f"import json\n{STEP}print(json.dumps(0))"], cache=image, BIDZOO_COMPILE="now")
    kept = {path: path.stat().st_mtime_ns for path in image.rglob("*.nb?")}
    script = f"""
import json, numba.core.caching as caching, numpy as np
for locator in caching.CacheImpl._locator_classes:
    if "UserWide" not in locator.__name__:
        locator.from_function = classmethod(lambda *arguments: None)  # not to be written
{STEP}
from bidzoo.core.kernels import KERNELS
if MORE:
    from bidzoo.core.streams import Streams
    Streams.at(0, np.arange(3)).random(1)
forms = [form for kernel in KERNELS.values() for form in (kernel.compiled, kernel.body)]
print(json.dumps(sum(form.stats.cache_misses.total() for form in forms)))
"""
    for policy in ("now", "background"):
        used = start([f"MORE = False{script}"], cache=image, XDG_CACHE_HOME=str(own), BIDZOO_COMPILE=policy)
        assert used == [(0, "")]
    assert kept and kept == {path: path.stat().st_mtime_ns for path in image.rglob("*.nb?")}
    assert not [*own.rglob("*.nb?")]
    ((missed, error),) = start([f"MORE = True{script}"], cache=image, XDG_CACHE_HOME=str(own), BIDZOO_COMPILE="now")
    assert missed > 0 and [*own.rglob("*.nbi")]
    assert error.startswith(f"bidzoo: NUMBA_CACHE_DIR {image} cannot be written, so compiled kernels go to {own}")
    assert error.count("\n") == 1


def test_a_home_that_nobody_knows_makes_no_folder_of_its_name(start, tmp_path):
    script = f"""
import json, os, tempfile
tempfile.tempdir = None  # not that of the process that was forked
os.path.expanduser, os.access = lambda path: path, lambda *arguments: False
{STEP}
print(json.dumps(config.CACHE_DIR))
"""
    ((kept, _),) = start([script], cache="", TMPDIR=str(tmp_path), XDG_CACHE_HOME="")
    assert kept == str(tmp_path / f"bidzoo-{os.getuid()}") and not (tmp_path / "~").exists()


def test_where_nothing_can_be_written_kernels_run_without_being_kept(start):
    script = f"""
import json, tempfile, numba.core.caching as caching
def nowhere(*arguments, **options):
    raise FileNotFoundError("No usable temporary directory")
tempfile.gettempdir = tempfile.mkdtemp = nowhere
caching.CacheImpl._locator_classes = []
{STEP}
print(json.dumps(int(env.last()[0]["action_mask"].sum())))
"""
    ((actions, error),) = start([script], cache="", BIDZOO_COMPILE="now")
    assert actions > 0 and error == (
        "bidzoo: compiled kernels can be kept nowhere, so every process compiles them; set NUMBA_CACHE_DIR\n"
    )


ROW = """
import sys, time
from bidzoo.core import compiling
from bidzoo.core.streams import next_row
import numpy as np
until = time.monotonic() + 120
while not next_row.compiled.signatures and time.monotonic() < until:
    next_row(np.uint64(0))
print(len(next_row.compiled.signatures), next_row.compiled.stats.cache_hits.total())
"""


def run_row(folder, script, *words):
    environment = {**os.environ, "BIDZOO_COMPILE": "background", "NUMBA_CACHE_DIR": str(folder / "kernels")}
    command = [sys.executable, *words, "-c", script]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return ended.stdout.split(), ended.stderr


def test_the_compiler_reads_no_modules_of_the_working_directory(tmp_path):
    (tmp_path / "random.py").write_text("raise SystemExit(1)")
    assert run_row(tmp_path, ROW, "-P") == (["1", "1"], "")  # made in the background, loaded here


def test_the_compiler_is_python_of_the_same_options(tmp_path):
    """Bytecode without docstrings is another, so its kernels are."""
    assert run_row(tmp_path, ROW, "-OO") == (["1", "1"], "")


@pytest.mark.parametrize(
    "python", ["''", "None", "'/bin/false'", "'/nowhere/python'", "sys.executable; sys.frozen = True"]
)
def test_where_no_compiler_can_be_begun_the_caller_compiles_and_says_so(tmp_path, python):
    """It ends with an error, as where there may be no more processes, or Python is part of another program."""
    script = ROW.replace("import numpy", f"sys.executable = {python}\nimport numpy")
    assert run_row(tmp_path, script) == (["1", "0"], f"{compiling.SAID}\n")


def test_the_compiler_ends_its_work_after_a_process_that_warns_of_nothing(tmp_path):
    """Python in development mode warns of files and processes that are left; a forked child has no part in them."""
    script = """
import os
from bidzoo.core import compiling
from bidzoo.core.streams import next_row
import numpy as np
while compiling._worker is None:
    next_row(np.uint64(0))
if (child := os.fork()) == 0:
    raise SystemExit(compiling._worker is not None)
print(os.waitpid(child, 0)[1])
"""
    warnings = ("-X", "dev", "-W", "ignore", "-W", "error::ResourceWarning")
    assert run_row(tmp_path, script, *warnings) == (["0"], "")
    until = time.monotonic() + 120
    while not [*tmp_path.rglob("streams.next_row.*.nbc")] and time.monotonic() < until:
        time.sleep(0.1)
    assert [*tmp_path.rglob("streams.next_row.*.nbc")]


def test_threads_have_one_compiler(tmp_path):
    """Another one, which nobody asks for anything, would wait as long as this process goes on."""
    script = """
import os, subprocess, threading
from bidzoo.core import compiling
begun, ready = [], threading.Barrier(8)
begin = compiling._begun
compiling._begun = lambda: begun.append(begin()) or begun[-1]
def ask(number):
    ready.wait()
    compiling.in_background(("bidzoo.core.streams", f"none_{number}", "", ()))
threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(begun), len(compiling._asked))
"""
    assert run_row(tmp_path, script) == (["1", "8"], "")


@pytest.mark.parametrize(("status", "is_killed"), [(0, False), (1, False), (-9, True), (0xC000013A, True)])
def test_a_compiler_that_signals_or_a_console_end_is_killed(monkeypatch, capsys, status, is_killed):
    """A console of Windows ends its processes with STATUS_CONTROL_C_EXIT."""
    monkeypatch.setattr(compiling, "_said_killed", False)
    assert compiling._was_killed(SimpleNamespace(returncode=status)) == is_killed
    assert capsys.readouterr().err == f"{compiling.KILLED}\n" * is_killed


def test_on_windows_the_compiler_has_no_console_and_low_priority(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    flags = {"CREATE_NO_WINDOW": 0x08000000, "CREATE_NEW_PROCESS_GROUP": 0x200, "BELOW_NORMAL_PRIORITY_CLASS": 0x4000}
    for name, value in flags.items():
        monkeypatch.setattr(subprocess, name, value, raising=False)
    assert compiling._apart() == {"creationflags": 0x08004200}


def test_a_kernel_of_a_script_is_compiled_by_the_script(tmp_path):
    """The compiler has another ``__main__``; kernels of modules are made there as ever."""
    own = "from bidzoo.core.kernels import row\n@row\ndef own(x: int) -> int:\n    return x + 1\n"
    script = ROW.replace("until =", f"{own}until =", 1)
    script += "while not own.compiled.signatures:\n    own(1)\nprint(own(1))"
    (tmp_path / "script.py").write_text(script)
    code = f"import runpy; runpy.run_path({str(tmp_path / 'script.py')!r}, run_name='__main__')"
    assert run_row(tmp_path, code) == (["1", "1", "2"], f"{compiling.SAID}\n")


def test_kernels_travel_by_name():
    assert pickle.loads(pickle.dumps(auction.call_row)) is auction.call_row
    with when_compiled():
        assert int(next_row(np.uint64(0))) == 0xE220A8397B1DCDAF  # of SplitMix64


def test_measured_work_waits_in_every_thread_whatever_waited_before():
    with when_compiled():
        assert not compiling.patient()
    assert compiling.patient()
    compiling.wait_always()
    with when_compiled():
        pass
    assert not compiling.patient()
    with ThreadPoolExecutor(1) as other:
        assert not other.submit(compiling.patient).result()


def test_the_bar_of_the_command_knows_what_is_done(tmp_path, monkeypatch):
    used = []
    monkeypatch.setattr(command, "use", lambda *item: used.append(item))
    part = (("comm_v0", None), ("comm_v0", "cfr"))
    meter = jobs.Meter(str(tmp_path), {"comm_v0": 5, "comm_v0-cfr": 3})
    assert meter.read() == (0, 8)
    command.use_all(meter, *part)
    assert used == [*part] and meter.read() == (0, 0)  # nothing was compiled
    assert set(command.SECONDS) <= set(everything())


FORKS_WHILE_ANOTHER_COMPILES = """
import os, sys, threading, warnings
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from bidzoo.core import linking
from bidzoo.core.bits import count_row

def long(x):
    return x

body = "".join(f"    x = (x * {k} + {k}) % 1000003\\n" for k in range(300))
exec(f"def long(x):\\n{body}    return x")
compiles = threading.Thread(target=lambda: njit(long)(1))
compiles.start()
while compiles.is_alive() and global_compiler_lock._lock.acquire(blocking=False):
    global_compiler_lock._lock.release()
warnings.simplefilter("ignore", DeprecationWarning)  # that threads and forks do not go together
if (child := os.fork()) == 0:
    os._exit(count_row(0b1011) - 3)
print(os.waitpid(child, 0)[1], compiles.is_alive())
compiles.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_compiles(processes, tmp_path) -> None:
    """The child compiles in its turn, and would find numba's lock taken by a thread that it does not have."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "BIDZOO_COMPILE": "now"}
    ((status, output, errors),) = processes(tmp_path, environment, [FORKS_WHILE_ANOTHER_COMPILES])
    assert (status, output.split()[0]) == (0, "0"), errors
