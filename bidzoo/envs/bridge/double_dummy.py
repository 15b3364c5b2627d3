"""Double-dummy results by endplay's solver (Bo Haglund's DDS) for deals, contracts and cards; kept in files.

DDS keeps global state: calls take turns under a lock, and its own threads are switched off. What solves many deals
runs several processes instead; its results never depend on their number. The order of suits in DDS is S H D C, and
rank ``r`` is bit ``r + 2``.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.core import jobs
from bidzoo.core.cards import NUM_CARDS, SEATS, STRAINS
from bidzoo.core.kernels import I8, I64, U8, States
from bidzoo.core.storage import Lock, journaled, patiently, sweep
from bidzoo.core.streams import checked_seed
from bidzoo.envs.bridge.deals import (
    TRICK_BYTES,
    UNKNOWN,
    DealSet,
    pack_tricks,
    random_deals,
    read_deals,
    unpack_tricks,
)

DEALS_A_CALL, BOARDS_A_CALL = 40, 200  # DDS's own limits
_MOST_TRICKS, _SEARCH = -1, 1  # SolveBoard's target and mode: exact tricks, always searched
_BEST_CARD, _ALL_CARDS = 1, 3  # its ``solutions``
STRAIN = np.array([3, 2, 1, 0, 4])  # DDS strain of C D H S NT, and back

dds_lock = threading.Lock()


def solver() -> ModuleType:
    """endplay's bindings, imported on first use, with one thread."""
    with dds_lock:  # two threads that set it up at once end the process
        return _solver()


@cache
def _solver() -> ModuleType:
    """``endplay._dds`` alone: endplay itself imports matplotlib, a second in every process."""
    package = find_spec("endplay")
    spec = package and PathFinder.find_spec("endplay._dds", package.submodule_search_locations)
    if not spec or not spec.loader:
        raise ImportError(
            'solving deals needs endplay 0.5 (pip install "endplay<0.6"; it has no wheel for Python 3.14 and none for '
            "Windows on ARM)"
        )
    if spec.name not in sys.modules:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[spec.name] = module  # where endplay looks for it
    bindings = sys.modules[spec.name]
    bindings.SetMaxThreads(1)
    return bindings


def holdings(hands: I64) -> NDArray[np.uint32]:
    """Cards of each seat by suit S H D C as DDS has them: ``[n, 4, 4]``."""
    ranks = np.arange(13)
    suits = np.arange(3, -1, -1)[:, None]
    bits = hands[:, :, None, None] >> (4 * ranks + suits) & 1
    return (bits << ranks + 2).sum(3).astype(np.uint32)


# ---- in this process ---------------------------------------------------------------------


def dd_tricks(hands: I64) -> I8:
    """Double-dummy tricks ``[n, 20]`` of deals ``[n, 4]``; about 0.2 s each."""
    dds = solver()
    out = np.empty((len(hands), 20), np.int8)
    for start in range(0, len(hands), DEALS_A_CALL):
        some_hands = hands[start : start + DEALS_A_CALL]
        deals, results = dds.ddTableDeals(), dds.ddTablesRes()
        deals.noOfTables = len(some_hands)
        np.frombuffer(deals.ddTableDeal, np.uint32).reshape(-1, 4, 4)[: len(some_hands)] = holdings(some_hands)
        with dds_lock:
            dds.CalcAllTables(deals, -1, [0] * 5, results, dds.allParResults())  # -1: no par, 0: leave no strain out
        tricks = np.frombuffer(results.results, np.int32).reshape(-1, 5, 4)[
            : len(some_hands)
        ]  # strain S H D C NT, declarer
        out[start : start + len(some_hands)] = tricks[:, STRAIN].transpose(0, 2, 1).reshape(-1, 20)
    return out


@lru_cache(maxsize=4096)
def _cached_tricks(hands: tuple[int, ...]) -> I8:
    tricks: I8 = dd_tricks(np.array([hands], np.int64))[0]
    tricks.flags.writeable = False
    return tricks


def dd_tricks_of(hands: I64) -> I8:
    """Double-dummy tricks ``[20]`` of one deal ``[4]``, read-only; about 0.2 s the first time, then remembered."""
    return _cached_tricks(tuple(map(int, hands)))


@lru_cache(maxsize=4096)
def _cached_contract(hands: tuple[int, ...], declarer: int, strain: int) -> int:
    return int(dd_contracts(np.array([hands], np.int64), np.array([declarer]), np.array([strain]))[0])


def dd_contract_of(hands: I64, declarer: int, strain: int) -> int:
    """Double-dummy tricks of one contract on one deal ``[4]``; about 0.02 s the first time, then remembered."""
    return _cached_contract(tuple(map(int, hands)), declarer, strain)


def dd_contracts(hands: I64, declarer: I64, strain: I64) -> I8:
    """Double-dummy tricks ``[n]`` of ``declarer`` ``[n]`` in ``strain`` ``[n]``; about 0.02 s each."""
    solved = _solve_boards(hands, STRAIN[strain], (declarer + 1) % 4, np.zeros((len(hands), 6), np.int64), _BEST_CARD)
    return np.array([13 - board.score[0] for board in solved], np.int8)


def card_tricks(states: States) -> I8:
    """Tricks that the side to play still takes with each card, ``[n, 52]``; -1 for cards that cannot be played.

    ``states`` ``[n]`` in the play, all four hands known; about 0.01 s each at the opening lead, less later.
    """
    trick = np.zeros((len(states), 6), np.int64)  # suits of up to three cards, then their ranks
    for b, state in enumerate(states):
        plays = int(state["plays"])
        for k, card in enumerate(state["played"][plays - plays % 4 : plays]):
            trick[b, k], trick[b, 3 + k] = 3 - card % 4, card // 4 + 2
    hands = np.ascontiguousarray(states["held"])
    out = np.full((len(states), NUM_CARDS), -1, np.int8)
    for tricks, board in zip(out, _solve_boards(hands, STRAIN[states["bid"] % 5], states["leader"], trick, _ALL_CARDS)):
        for k in range(board.cards):
            suit = 3 - board.suit[k]
            tricks[4 * (board.rank[k] - 2) + suit] = board.score[k]
            for rank in range(13):  # ``equals``: lower cards as good as the one named
                if board.equals[k] >> (rank + 2) & 1:
                    tricks[4 * rank + suit] = board.score[k]
    return out


def _solve_boards(hands: I64, trump: I64, leader: I64, trick: I64, solutions: int) -> Iterator[Any]:
    """DDS's result of each board ``[n]``; ``trick`` ``[n, 6]`` as it wants the cards of the current one."""
    dds = solver()
    for start in range(0, len(hands), BOARDS_A_CALL):
        part = slice(start, start + BOARDS_A_CALL)
        boards, solved = dds.boards(), dds.solvedBoards()
        boards.noOfBoards = n = len(hands[part])
        np.frombuffer(boards.target, np.int32)[:n] = _MOST_TRICKS
        np.frombuffer(boards.solutions, np.int32)[:n] = solutions
        np.frombuffer(boards.mode, np.int32)[:n] = _SEARCH
        deals = np.frombuffer(boards.deals, np.uint32).reshape(-1, 24)[:n]
        deals[:, 0], deals[:, 1], deals[:, 2:8] = trump[part], leader[part], trick[part]
        deals[:, 8:] = holdings(hands[part]).reshape(n, 16)
        with dds_lock:
            dds.SolveAllBoardsBin(boards, solved)
        yield from (solved.solvedBoard[i] for i in range(n))


# ---- many deals, in several processes ----------------------------------------------------

DEALS_A_TASK, CONTRACTS_A_TASK = 10, 100  # about 2 s of work: what a kill can cost each worker


def solve_tricks(hands: I64, workers: int = 1, report: Callable[[int], None] = lambda done: None) -> I8:
    """Double-dummy tricks ``[n, 20]`` of deals ``[n, 4]``; about 0.2 s each and core, a few take minutes.

    ``report`` is called with the number of deals done, at the start and then after every few.
    """
    tricks, done = [np.empty((0, 20), np.int8)], 0
    report(done)
    for solved in _solved(DealSet.of(hands).hands, workers):
        tricks.append(solved)
        report(done := done + len(solved))
    return np.concatenate(tricks)


def _solved(hands: I64, workers: int) -> Iterator[I8]:
    """Tables of some of the deals ``[n, 4]`` after the other, as they are solved."""
    tasks = [(hands[start : start + DEALS_A_TASK],) for start in range(0, len(hands), DEALS_A_TASK)]
    return jobs.run(dd_tricks, tasks, workers, what="solving deals")


def contradiction(tricks: I8, solved: I8) -> str:
    """The first number of a table ``[20]`` that the solved one contradicts, in words; ``""`` if none."""
    for cell in np.flatnonzero((tricks != UNKNOWN) & (tricks != solved))[:1]:
        return f"{SEATS[cell // 5]} in {STRAINS[cell % 5]} takes {tricks[cell]}, solved {solved[cell]}"
    return ""


def most_suspect(tricks: I8, most: int) -> I64:
    """``most`` rows of tables ``[n, 20]`` to check: half of them the least likely ones, the others evenly spread."""
    tables = np.where(tricks == UNKNOWN, 7, tricks).reshape(-1, 4, 5).astype(int)
    north, east, south, west = tables.transpose(1, 0, 2)
    both = north + east - 13
    odd = np.stack([2 * abs(north - south), 2 * abs(east - west), np.where(both > 0, 4 * both, -both)]).max((0, 2))
    rows = np.flatnonzero((tricks != UNKNOWN).any(1))
    first = rows[np.argsort(-odd[rows], kind="stable")][: (most + 1) // 2]
    others = np.setdiff1d(rows, first)
    spread = others[np.linspace(0, len(others) - 1, min(most - len(first), len(others))).astype(int)]
    return np.sort(np.concatenate([first, spread]).astype(np.int64))


def solve_contracts(hands: I64, declarer: I64, strain: I64, workers: int = 1) -> I8:
    """Double-dummy tricks ``[n]`` of the contracts reached; about 0.02 s each and core.

    Args:
        hands: ``[n, 4]``.
        declarer: ``[n]`` seats; -1 for a passed-out deal, which needs no solving and has -1 tricks.
        strain: ``[n]`` C D H S NT = 0 ... 4; any number where declarer is -1.
        workers: processes, see ``bidzoo.core.jobs``.

    Raises:
        ValueError: an impossible deal, declarer or strain, with its index.
    """
    hands = DealSet.of(hands).hands
    declarer, strain = np.asarray(declarer, np.int64), np.asarray(strain, np.int64)
    _check_contracts(len(hands), declarer, strain)
    tricks, rows = np.full(len(hands), UNKNOWN, np.int8), np.flatnonzero(declarer >= 0)
    size = max(1, min(CONTRACTS_A_TASK, -(-len(rows) // (4 * workers))))  # the few of one search also go to all workers
    tasks = [rows[i : i + size] for i in range(0, len(rows), size)]
    arguments = [(hands[t], declarer[t], strain[t]) for t in tasks]
    for task, solved in zip(tasks, jobs.run(dd_contracts, arguments, workers, what="solving contracts")):
        tricks[task] = solved
    return tricks


def _check_contracts(n: int, declarer: I64, strain: I64) -> None:
    for name, values, low, high in (("declarer", declarer, -1, 3), ("strain", strain, 0, 4)):
        if values.shape != (n,):
            raise ValueError(f"{name} has shape {values.shape}, expected [{n}], one for each deal")
        for i in np.flatnonzero(((values < low) | (values > high)) & (declarer != -1))[:1]:
            raise ValueError(f"{name}: deal {i}: {values[i]}, expected {low} ... {high}")


def generate(
    deals: int, seed: int, out: str | Path, workers: int = 1, report: Callable[[int], None] = lambda done: None
) -> DealSet:
    """Deals ``0 ... deals - 1`` of ``seed`` with their double-dummy tricks, also in the file ``out``.

    Deal ``i`` is a function of ``(seed, i)``. Killed at any moment, the same call goes on from ``<out>.journal``, which
    names seed and format but not the number of deals: a later call may ask for fewer, or more. It may ask for more
    than a finished ``out`` has, too. ``report`` as in ``solve_tricks``.

    Raises:
        ValueError: ``out`` or its journal holds something else, or another process is writing it.
    """
    out = Path(out)
    if deals < 1:
        raise ValueError(f"deals: {deals}, expected 1 or more")
    seed = checked_seed(seed)
    provenance = {"deals": "random_deals(seed, index)", "seed": seed, "count": deals}
    known = _known(out, provenance)
    if len(known.tricks) == deals:
        return known
    hands = random_deals(seed, np.arange(deals))
    header = {"bidzoo": "double-dummy tables of random_deals(seed, index)", "format": 1, "seed": seed}
    path = out.with_name(out.name + ".journal")

    def rest(done: int) -> Iterator[U8]:
        if done < len(known.tricks):
            yield pack_tricks(known.tricks[done:])
        yield from map(pack_tricks, _solved(hands[max(done, len(known.tricks)) :], workers))

    tricks = unpack_tricks(journaled(path, header, TRICK_BYTES, deals, rest, report))
    sweep(out)
    result = DealSet.of(hands, tricks, str(path))
    result.save(out, {**provenance, "tables": f"endplay {version('endplay')}"})
    patiently(path.unlink, missing_ok=True)
    return result


def _known(out: Path, provenance: dict[str, Any]) -> DealSet:
    """The deals of ``out`` if a call for as many or fewer made it; none where it does not exist."""
    if not out.exists():
        return DealSet.of(np.empty((0, 4), np.int64))
    hands, tricks, stored = read_deals(out)
    asked, count = {**provenance, "count": stored.get("count")}, provenance["count"]
    same = {name: stored.get(name) for name in provenance} == asked
    if same and len(hands) > count:
        raise ValueError(
            f"{out}: exists and holds {len(hands)} deals of this seed, expected no file or {count} at most"
        )
    if not same:
        raise ValueError(f"{out}: exists and holds other deals ({stored}), expected no file or {provenance}")
    if len(hands) == count:
        journal = out.with_name(out.name + ".journal")
        lock = Lock(journal)  # a killed run may have left this journal
        patiently(journal.unlink, missing_ok=True)
        lock.release()
    return DealSet.of(hands, tricks, str(out))
