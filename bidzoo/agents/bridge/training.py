"""The loop around every trainer that plays: iterate, measure, keep checkpoint, curves and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge import weights
from bidzoo.agents.bridge.checkpoint import Run
from bidzoo.agents.bridge.fit import Report
from bidzoo.agents.bridge.network import Network

Arrays = Mapping[str, NDArray[Any]]
Judge = Callable[[Network], dict[str, float]]  # figures of a policy; ``imps`` decides which one is kept


class Trainer(Protocol):
    """One algorithm in the middle of a run."""

    modules: dict[str, Any]  # torch modules and optimisers, for the checkpoint
    games: int  # played so far

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play and learn once; figures of the iteration."""
        ...

    def player(self) -> Network:
        """The policy as it would play now."""
        ...

    def arrays(self) -> Arrays:
        """What a checkpoint needs beside ``modules`` and ``games``."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` gave."""
        ...


def loop(
    trainer: Trainer,
    run: Run,
    end: int,
    provenance: dict[str, Any] | None = None,
    report: Report | None = None,
    judge: Judge | None = None,
    every: int = 10,
    stop: int | None = None,
) -> Network:
    """Train to iteration ``end`` (or ``stop``) from where the run stands; the last policy.

    The folder gets ``network.safetensors``, the last policy measured, and ``best.safetensors``, the best by ``judge``.
    """
    done, held = run.restore(trainer.modules)
    if held:
        trainer.games = int(held.pop("games")[0])
        trainer.restore(held)
    seen: list[dict[str, float]] = []
    for iteration in range(done, min(end, stop or end)):
        seen.append(trainer.iterate(iteration))
        step = iteration + 1
        if step % every and step != end:
            continue
        player = trainer.player()
        means = {name: float(np.mean([row[name] for row in seen if name in row])) for name in seen[-1]}
        row = {"iteration": float(step), "games": float(trainer.games), **means, **(judge(player) if judge else {})}
        seen.clear()
        best = max((r.get("imps", -np.inf) for r in run.rows), default=-np.inf)
        run.rows.append(row)
        run.save(step, trainer.modules, {**trainer.arrays(), "games": np.array([trainer.games])})
        about = {**(provenance or {}), **run.identity, "measured": row}
        for name in ["network", *["best"] * (row.get("imps", -np.inf) > best)]:
            weights.save(run.path / f"{name}.safetensors", player.architecture, player.tensors, about)
        if report:
            report(step, row)
    return trainer.player()
