"""Tasks in many processes, here or on a cluster, with the same results whatever their number.

A task is a function of its arguments alone, so where it runs and how often it is begun changes nothing. A task whose
worker died (killed, out of memory, its machine gone) is run again; its result is handed out once.

``loky``  processes of this machine, by joblib
``dask``  this process's client, or the cluster that ``DASK_SCHEDULER_ADDRESS`` names, else one made here

The backend is the argument, or else the environment variable ``BIDZOO_BACKEND``, or else ``loky``; ``bidzoo --backend``
sets the variable.

Dask is the one engine for clusters: it is plain Python, runs wherever numba does, is started by two commands or by a
batch system (``dask-jobqueue``), and gives a task whose worker died to another one. joblib's own backend for it is not
used, nor the one for Ray: it gathers results in the order of the tasks, and only at the end of each batch.
"""

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bidzoo.core.digests import loaded
from bidzoo.core.threads import set_threads

VARIABLE = "BIDZOO_BACKEND"
RETRIES = 3  # of a task whose worker dies
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BIDZOO_THREADS"), "1")
WORKER = {**_ONE_THREAD, "BIDZOO_COMPILE": "now"}  # they would all ask for the same kernels in the background

Task = tuple[Any, ...]  # arguments
Results = Iterator[tuple[int, Any]]  # number of the task, what it returned


class WorkersDiedError(RuntimeError):
    """A task whose workers died whenever it was run."""


def run(
    function: Callable[..., Any],
    tasks: Sequence[Task],
    workers: int = 1,
    backend: str | None = None,
    what: str = "",
) -> Iterator[Any]:
    """Yield ``function(*task)`` for each of ``tasks``, in their order, as soon as it is there.

    Args:
        function: of a module, or a ``functools.partial`` of one; what it holds travels to the workers.
        tasks: arguments of each call.
        workers: tasks at a time, each on one thread; 1 with ``loky`` is this process.
        backend: ``"loky"`` or ``"dask"``.
        what: what is done, such as who plays; an error about workers begins with it.

    Raises:
        ValueError: an unknown backend, or less than one worker.
        WorkersDiedError: a task's worker died again and again.
    """
    return _in_order(as_completed(function, tasks, workers, backend, what=what))


def as_completed(
    function: Callable[..., Any],
    tasks: Sequence[Task],
    workers: int = 1,
    backend: str | None = None,
    apart: bool = False,
    what: str = "",
) -> Results:
    """Yield ``(number, function(*tasks[number]))`` as tasks end; ``apart``: never in this process. Else as ``run``."""
    backend = checked(backend, workers)
    if backend == "loky" and not apart and (workers == 1 or len(tasks) < 2):
        return ((number, function(*task)) for number, task in enumerate(tasks))
    return _by_workers(BACKENDS[backend](function, tasks, workers), what)


def _by_workers(results: Results, what: str) -> Results:
    """``results``; an error about workers says ``what`` they did."""
    try:
        yield from results
    except WorkersDiedError as problem:
        raise WorkersDiedError(f"{what}: {problem}" if what else str(problem)) from problem


def checked(backend: str | None = None, workers: int = 1) -> str:
    """Return the name of the backend to use; ValueError as ``run``."""
    name = backend or os.environ.get(VARIABLE) or "loky"
    if name not in BACKENDS:
        raise ValueError(f"unknown backend {name!r}; choose from {', '.join(BACKENDS)}")
    if workers < 1:
        raise ValueError(f"workers: {workers}, expected 1 or more")
    return name


def _in_order(results: Results) -> Iterator[Any]:
    buffer, next_number = {}, 0
    for number, result in results:
        buffer[number] = result
        while next_number in buffer:
            yield buffer.pop(next_number)
            next_number += 1


def _on_one_thread(caller: int, function: Callable[..., Any], *task: Any) -> Any:
    """``function(*task)`` on one thread: the workers share the cores. Ctrl-C is left to the process that waits.

    A worker may be a thread of the ``caller``'s process (``Client(processes=False)``), which keeps its threads.
    """
    if os.getpid() == caller:
        return function(*task)
    set_threads(1)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(*task)


# ---- how far they are -------------------------------------------------------------------------


@contextmanager
def meanwhile(speak: Callable[[float], None], first: float, then: float) -> Iterator[None]:
    """Call ``speak`` with the seconds since the start, in a thread: after ``first`` seconds, then every ``then``."""
    began, ended = time.monotonic(), threading.Event()

    def watch() -> None:
        pause = first
        while not ended.wait(pause):
            pause = then
            speak(time.monotonic() - began)

    thread = threading.Thread(target=watch, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Meter(NamedTuple):
    """Processor seconds of pieces of work in several processes, as they pass, beside those that were expected."""

    folder: str  # where each piece has a file
    expected: Mapping[str, float]  # seconds, by the names of all pieces

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Within this context the process works on the piece ``name``."""
        path, began = Path(self.folder, name), time.process_time()

        def note(_: float, state: str = "at work") -> None:
            new = Path(f"{path}.new")
            with suppress(PermissionError):  # on Windows, while ``read`` has it open: the next note says more
                new.write_text(f"{time.process_time() - began} {state}", "utf-8")
                new.replace(path)

        with meanwhile(note, 0, 0.5):
            yield
        note(0, "done")

    def read(self) -> tuple[int, int]:
        """Seconds so far, and the estimated total: what was expected, scaled by the pieces already finished."""
        files = [path for path in Path(self.folder).iterdir() if not path.name.endswith(".new")]
        seen = dict[str, list[str]]()
        for path in files:
            with suppress(PermissionError):  # on Windows, while it is replaced: the next look sees it
                seen[path.name] = path.read_text("utf-8").split(" ", 1)
        seconds = {name: float(said[0]) for name, said in seen.items()}
        done = [name for name, (_, state) in seen.items() if state == "done"]
        foreseen = sum(self.expected[name] for name in done)
        pace = sum(seconds[name] for name in done) / foreseen if foreseen else 1.0
        left = sum(max(pace * self.expected[name] - seconds.get(name, 0), 1) for name in {*self.expected} - {*done})
        return round(sum(seconds.values())), round(sum(seconds.values()) + left)


def _end_with(parent: int) -> None:
    """End this worker when process ``parent`` has ended; it would wait for tasks forever, its output open."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    def watch() -> None:
        if sys.platform == "win32":  # where a process has the number of its parent for ever
            starter = parent_process()
            assert starter is not None
            wait([starter.sentinel])
        else:  # where joblib gives its workers no sentinel
            while os.getppid() == parent:
                time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


_loaded: dict[str, int] = {}  # the user's modules as they were when workers were last asked for
_reloads = 0


def _times_reloaded() -> int:
    """How often modules of the user's were found reloaded: workers have imported what was there before.

    A worker imports a module when it is sent something of it. What was edited and not reloaded here, a worker that is
    begun later has as it is in the file.
    """
    global _reloads
    now = loaded()
    _reloads += any(now.get(name, version) != version for name, version in _loaded.items())
    _loaded.update(now)
    return _reloads


_executor: Any = None  # of the last loky tasks
_made_for: tuple[int, ...] = ()  # process, workers and ``_times_reloaded`` of the executor
_executor_lock = threading.RLock()  # of these two, and while tasks are handed out
IDLE = 10  # seconds after which a worker without tasks ends


def _loky_executor(workers: int, reloads: int) -> Any:
    """The executor of the last tasks if its workers are as many and have what is loaded here, else a new one.

    It is bidzoo's own. That of loky's ``get_reusable_executor`` is the one of ``joblib.Parallel`` and scikit-learn in
    the same process, which fail on an executor that they have not made.
    """
    global _executor, _made_for
    from joblib.externals.loky import ProcessPoolExecutor

    if _executor is not None and _made_for != (os.getpid(), workers, reloads):
        _give_up(_executor)
    if _executor is None:
        _executor = ProcessPoolExecutor(
            workers, timeout=IDLE, env=WORKER, initializer=_end_with, initargs=(os.getpid(),)
        )
        _made_for = os.getpid(), workers, reloads
    return _executor


def _give_up(executor: Any, now: bool = False) -> None:
    """Have the next tasks make another executor; this one ends what it was given, or is ended ``now``."""
    global _executor
    if now:
        _kill(executor)  # who holds the lock may wait for what it does
    with _executor_lock:
        if _executor is executor:
            _executor = None
    executor.shutdown(wait=True)


def _kill(executor: Any) -> None:
    for pid in list(executor._processes or ()):
        with suppress(OSError):  # it has ended, which Windows calls a denied permission
            os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def kill_workers() -> None:
    """End this process's loky workers at once, in the middle of what they do, and remove their semaphores."""
    if _executor:
        _kill(_executor)
    elif not _made_for:  # nor was there one that is given up just now
        return
    from multiprocessing import util

    vars(util)["_run_finalizers"](0)  # a process that leaves by ``os._exit`` would leave them to a tracker that warns


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes started in here ignore Ctrl-C: a worker that is still importing would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # loky starts it otherwise, which unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _loky(function: Callable[..., Any], tasks: Sequence[Task], workers: int) -> Results:
    from concurrent.futures import as_completed as done_first
    from concurrent.futures.process import BrokenProcessPool

    # A worker that has idled for its time may leave just as tasks come. loky then begins another one and warns; where
    # warnings are errors, that would end the thread which hears of results.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)
    pending, failures, reloads = set(range(len(tasks))), 0, _times_reloaded()
    while pending:
        count, reason, executor = len(pending), "", None
        futures = dict[Any, int]()
        try:
            with _interrupts_blocked(), _executor_lock:  # at whose end Ctrl-C is raised
                executor = _loky_executor(workers, reloads)
                with suppress(BrokenProcessPool):  # a worker died meanwhile: the other tasks are for the next executor
                    for number in sorted(pending):
                        futures[executor.submit(_on_one_thread, os.getpid(), function, *tasks[number])] = number
            for future in done_first(futures):
                if isinstance(problem := future.exception(), BrokenProcessPool):
                    reason = _last_line(problem.__cause__)
                    continue
                pending.remove(futures[future])
                yield futures[future], future.result()
        except KeyboardInterrupt:  # of a notebook's cell, whose process goes on: workers would end what they have begun
            if executor is not None:
                _give_up(executor, now=True)
            raise
        finally:
            for future in futures:
                future.cancel()
        if pending:  # a worker died, and the executor with it
            _give_up(executor)
        failures = failures + 1 if len(pending) == count else 0
        if failures > RETRIES:
            why = f": {reason}" if reason else ""
            raise WorkersDiedError(
                f"the workers of tasks {sorted(pending)[:workers]} died {failures} times in a row{why}"
            )


def _last_line(problem: BaseException | None) -> str:
    """The error in the traceback that a worker sent; empty of one that was killed."""
    return str(problem).strip("'\"\n ").rpartition("\n")[2] if problem else ""


_client: Any = None  # of the cluster that was made here; it stays to the end of this process
_client_reloads = 0  # ``_times_reloaded`` when its workers were begun


def _dask(function: Callable[..., Any], tasks: Sequence[Task], workers: int) -> Results:
    global _client, _client_reloads
    import dask
    from distributed import Client, KilledWorker
    from distributed import as_completed as done_first
    from distributed.protocol.pickle import dumps

    local = dask.config.get("scheduler-address", None) is None
    try:
        client = Client.current()
    except ValueError:  # none yet
        client = Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) if local else Client()
        _client = client if local else None
    reloads = _times_reloaded()
    if client is _client:
        if _client_reloads != reloads:
            client.restart()
        _client_reloads = reloads
        # Nobody waits for the workers that are missing: tasks wait for them, and the cluster's ``wait_for_workers`` may
        # lose the address of a worker that goes at that moment, after which the cluster replaces and closes nothing.
        client.cluster.scale(workers)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):  # policies hold their networks
        # Scattered data would be lost with a worker, results are not. A worker reads the function in a task: of what it
        # cannot read among a message's parts, such as a module that it lacks, Dask tells nobody and tries for ever.
        shared = client.submit(pickle.loads, dumps(function), pure=False)
    if isinstance(problem := shared.exception(), KilledWorker):
        raise WorkersDiedError("the workers that read the task died again and again") from problem
    if problem is not None:
        raise ValueError(f"the cluster's workers cannot read the task, {problem!r}: they need its modules") from problem
    futures = dict[Any, int]()
    try:
        for number, task in enumerate(tasks):
            futures[client.submit(_on_one_thread, os.getpid(), shared, *task, pure=False)] = number
        for future in done_first(futures):
            try:
                result = future.result()
            except KilledWorker as problem:
                raise WorkersDiedError(f"the workers of task {futures[future]} died again and again") from problem
            yield futures[future], result
    except BaseException:  # a notebook keeps the traceback, and with it the futures: they would all be computed
        with suppress(Exception):
            client.cancel([*futures])
        raise


BACKENDS: dict[str, Callable[[Callable[..., Any], Sequence[Task], int], Results]] = {
    "loky": _loky,
    "dask": _dask,
}
