"""Bridge policies by self-play on solved deals: ``ppo``, and the actor-critics ``rl``, ``a2c`` and ``jps``."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from bidzoo.commands.train.options import Against, Boards, Deals, Device, Every, Out, Set, Start, Threads, parse
from bidzoo.commands.train.run import provenance, report, training_deals


def ppo(
    out: Out = Path("runs/ppo"),
    start: Start = "sl",
    reference: Annotated[str, typer.Option(help="Supervised policy of datum and anchor.")] = "sl",
    deals: Deals = None,
    options: Set = None,
    every: Every = 10,
    boards: Boards = 4000,
    against: Against = "sl",
    device: Device = "cpu",
    threads: Threads = 1,
) -> None:
    """PPO with fictitious self-play from a supervised policy (or from where an earlier run came)."""
    from bidzoo.agents.bridge import ppo, weights

    go = _play(ppo, parse(ppo.Options, options), out, start, deals, boards, against)
    known = None if reference == start else weights.network(reference)
    go(reference=known, every=every, device=device, threads=threads)


def _actor_critic(name: str, start: str | None, against: str, every: int, text: str) -> Callable[..., None]:
    """The command of an actor-critic on duplicate pairs, with its defaults; ``name`` is its module's too."""

    def command(
        out: Out = Path("runs", name),
        start: Annotated[str | None, typer.Option(help="Weights to start from: packaged name or file.")] = start,
        deals: Deals = None,
        options: Set = None,
        every: Every = every,
        boards: Boards = 4000,
        against: Against = against,
        device: Device = "cpu",
        threads: Threads = 1,
    ) -> None:
        algorithm = import_module(f"bidzoo.agents.bridge.{name}")
        _play(algorithm, parse(algorithm.Options, options), out, start, deals, boards, against)(
            every=every, device=device, threads=threads
        )

    command.__doc__ = text
    return command


rl = _actor_critic(
    "rl",
    "sl",
    "sl",
    50,
    "RL of belief Monte Carlo search; --set prioritised=false (No PR), --set hidden=false (No HI).",
)
a2c = _actor_critic(
    "a2c", None, "sl", 20, "Actor-critic self-play from nothing, 267 bits (joint policy search, section 7.2)."
)
jps = _actor_critic(
    "jps",
    "a2c-bridge",
    "a2c-bridge",
    20,
    "Actor-critic with searched games; --set share=0 (non-search), --set depth=1 (1-search).",
)


def _play(
    algorithm: Any, options: Any, out: Path, start: str | None, deals: list[Path] | None, boards: int, against: str
) -> Callable[..., Any]:
    from bidzoo.agents.bridge import weights
    from bidzoo.agents.bridge.a2c import ACTOR_CRITIC
    from bidzoo.envs.bridge.game import Bridge

    first = None if start is None else weights.network(start)
    sees = (first.architecture if first else ACTOR_CRITIC).observation
    known, about_deals = training_deals(deals)
    game = Bridge(False, observation=sees, deals=known)
    about = provenance({"start": _name(start), **about_deals, "judged_against": _name(against)})
    judge = _judge(against, boards) if boards else None
    return lambda **keywords: algorithm.train(first, game, options, out, about, report(out), judge, **keywords)


def _name(source: str | None) -> str | None:
    """Of weights, without the folders of a file: they say nothing elsewhere."""
    return source and Path(source).name


def _judge(against: str, boards: int) -> Callable[[Any], dict[str, float]]:
    """IMPs a board of a network over ``against`` on validation deals."""
    import numpy as np

    from bidzoo.agents.bridge import weights
    from bidzoo.agents.bridge.neural import NetworkPolicy
    from bidzoo.benchmarks.match import duplicate
    from bidzoo.envs.bridge.game import Bridge

    other, game = NetworkPolicy(weights.network(against), name=against), Bridge(False, deals="validation")

    def judge(network: Any) -> dict[str, float]:
        estimate = duplicate(game, NetworkPolicy(network), other, np.arange(boards), seed=1).estimate
        return {"imps": estimate.mean, "imps_error": estimate.error}

    return judge
