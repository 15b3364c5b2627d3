"""Solving many deals: in several processes, through a cache on disk, and deal files that grow across interruptions.

Results never depend on the number of workers. Deal ``i`` of a generated file is a function of ``(seed, i)``, so a
run that was killed goes on where its journal ends and makes the same file as one that was not.
"""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo import parallel
from bidzoo.envs.bridge.deals import UNKNOWN, DealSet, random_deals
from bidzoo.envs.bridge.files import deal_file
from bidzoo.envs.bridge.files.journal import Journal
from bidzoo.envs.bridge.solving import double_dummy
from bidzoo.envs.bridge.solving.trick_cache import TrickCache
from bidzoo.kernels import I8, I64

TABLES_A_TASK = 10  # about 2 s of work: what a kill can cost each worker
CONTRACTS_A_TASK = 100


# ---- solving -----------------------------------------------------------------------------


def solve_tables(hands: I64, workers: int = 1, cache: TrickCache | None = None, backend: str | None = None) -> I8:
    """Double-dummy tables ``[n, 20]`` of deals ``[n, 4]``; about 0.2 s each and core."""
    hands = DealSet.of(hands).hands
    known = cache.lookup(hands) if cache is not None else np.full((len(hands), 20), UNKNOWN, np.int8)
    rows = np.flatnonzero((known == UNKNOWN).any(1))
    tasks = [rows[i : i + TABLES_A_TASK] for i in range(0, len(rows), TABLES_A_TASK)]
    for task, found in zip(tasks, parallel.run(double_dummy.tables, [(hands[t],) for t in tasks], workers, backend)):
        known[task] = found
        if cache is not None:
            cache.add(hands[task], found)
    return known


def solve_contracts(
    hands: I64,
    declarer: I64,
    strain: I64,
    workers: int = 1,
    cache: TrickCache | None = None,
    backend: str | None = None,
) -> I8:
    """Double-dummy tricks ``[n]`` of the contracts reached; about 0.02 s each and core.

    Args:
        hands: ``[n, 4]``.
        declarer: ``[n]`` seats; -1 for a passed-out deal, which needs no solving and has -1 tricks.
        strain: ``[n]`` C D H S NT = 0 ... 4; any number where declarer is -1.
        workers: processes.
        cache: consulted first, and told what was found.
        backend: where the processes are, see ``bidzoo.parallel``.

    Raises:
        ValueError: an impossible deal, declarer or strain, with its index.
    """
    hands = DealSet.of(hands).hands
    declarer, strain = np.asarray(declarer, np.int64), np.asarray(strain, np.int64)
    _check_contracts(len(hands), declarer, strain)
    cells = np.where(declarer < 0, 0, 5 * declarer + strain)
    known = (
        cache.lookup(hands)[np.arange(len(hands)), cells]
        if cache is not None
        else np.full(len(hands), UNKNOWN, np.int8)
    )
    known[declarer < 0] = UNKNOWN
    rows = np.flatnonzero((known == UNKNOWN) & (declarer >= 0))
    size = max(1, min(CONTRACTS_A_TASK, -(-len(rows) // (4 * workers))))  # the few of one search also go to all workers
    tasks = [rows[i : i + size] for i in range(0, len(rows), size)]
    arguments = [(hands[t], declarer[t], strain[t]) for t in tasks]
    for task, found in zip(tasks, parallel.run(double_dummy.contracts, arguments, workers, backend)):
        known[task] = found
        if cache is not None:
            tables = np.full((len(task), 20), UNKNOWN, np.int8)
            tables[np.arange(len(task)), cells[task]] = found
            cache.add(hands[task], tables)
    return known


def _check_contracts(n: int, declarer: I64, strain: I64) -> None:
    for name, values, low, high in (("declarer", declarer, -1, 3), ("strain", strain, 0, 4)):
        if values.shape != (n,):
            raise ValueError(f"{name} has shape {values.shape}, expected [{n}], one for each deal")
        for i in np.flatnonzero(((values < low) | (values > high)) & (declarer != -1))[:1]:
            raise ValueError(f"{name}: deal {i}: {values[i]}, expected {low} ... {high}")


# ---- deal files --------------------------------------------------------------------------


def generate(
    deals: int,
    seed: int,
    out: str | Path,
    workers: int = 1,
    report: Callable[[int], None] = lambda done: None,
    backend: str | None = None,
) -> DealSet:
    """Deals ``0 ... deals - 1`` of ``seed`` with their tables, also in the file ``out``.

    Killed at any moment, the same call goes on from ``<out>.journal``, which names seed and format but not the
    number of deals: a later call may ask for fewer, or more.

    Args:
        report: told how many deals are done, first at the start and then after every few.
        backend: where the workers are, see ``bidzoo.parallel``.

    Raises:
        ValueError: ``out`` or its journal holds something else, or another process is at it.
    """
    out = Path(out)
    if deals < 1:
        raise ValueError(f"deals: {deals}, expected 1 or more")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed: {seed}, expected 0 ... 2**63 - 1")
    provenance = {"deals": "random_deals(seed, index)", "seed": seed, "count": deals}
    if out.exists():
        return _finished(out, provenance)
    hands = random_deals(seed, np.arange(deals))
    header = {"bidzoo": "double-dummy tables of random_deals(seed, index)", "format": 1, "seed": seed}
    path = out.with_name(out.name + ".journal")
    with Journal(path, header, deal_file.TRICK_BYTES, alone=True) as journal:
        tables = [deal_file.unpack_tricks(journal.at_opening)[:deals]]
        done = len(tables[0])
        report(done)
        starts = range(done, deals, TABLES_A_TASK)
        tasks = [(hands[start : start + TABLES_A_TASK],) for start in starts]
        for found in parallel.run(double_dummy.tables, tasks, workers, backend):
            journal.append(deal_file.pack_tricks(found))
            tables.append(found)
            done += len(found)
            report(done)
        result = DealSet.of(hands, np.concatenate(tables), str(path))
        result.save(out, {**provenance, "tables": f"endplay {version('endplay')}"})
    path.unlink()
    return result


def _finished(out: Path, provenance: dict[str, Any]) -> DealSet:
    """The deals of ``out`` if this very call made it before."""
    hands, tricks, found = deal_file.read(out)
    if {name: found.get(name) for name in provenance} != provenance:
        raise ValueError(f"{out}: exists and holds other deals ({found}), expected no file or {provenance}")
    out.with_name(out.name + ".journal").unlink(missing_ok=True)
    return DealSet.of(hands, tricks, str(out))
