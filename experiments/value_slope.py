"""How much of what ``rpi`` predicts comes true: realized on predicted gains of its calls.

    bidzoo deals estimate 100000 --seed 88001 --out deals.npz
    python experiments/value_slope.py rpi mean.safetensors --deals deals.npz --boards 100000

The logits of ``rpi`` are action values (``bidzoo.agents.bridge.rpi``). At a decision with several plausible calls each
of them is made on the same deal and the auction completed with the likeliest calls, as in training. A call's *realized*
gain is its result less that of the likeliest call, in IMPs; its *predicted* gain is the difference of their logits. The
least-squares line of the first on the second has slope 1 if the values are right on average. Noise in the values gives
a slope below 1: of two calls that are equally good, one was overrated. All agents play the same boards, so the
difference of two slopes is measured by deal.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from bidzoo import agents
from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.network import Network, weights_of
from bidzoo.agents.bridge.rpi import Options
from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.results import Estimate, Measured, Report, ResultTable
from bidzoo.cli.options import Json, Seed
from bidzoo.cli.showing import measured
from bidzoo.core.kernels import F64, I64
from bidzoo.envs.bridge.game import Bridge

CHUNK = 8192  # boards that are played at once
ITSELF = "itself"


class Gains(NamedTuple):
    """Calls that were compared with the likeliest one of their decision, ``n`` of them."""

    predicted: F64  # [n]  IMPs
    realized: F64  # [n]  IMPs
    deal: I64  # [n]


def gains(agent: Network, opponent: Policy | None, game: Bridge, boards: I64, seed: int, options: Options) -> Gains:
    """Gains at the decisions of ``agent`` on ``boards`` ``[B]``; against itself it decides for both sides.

    Against an ``opponent`` it plays North/South on half of the boards and East/West on the others.
    """
    model = network.module_of(agent)
    sampling, likeliest = (selfplay.actor_of(model, agent.architecture, greedy=greedy) for greedy in (False, True))
    sides = np.full(len(boards), selfplay.BOTH) if opponent is None else boards // 4 % 2  # each with every dealer
    _, played = selfplay.play(game, boards, seed, sampling, opponent or sampling, sides, 0)
    call, _ = selfplay.candidates(played.log_chances, options.max_actions, options.min_prob)
    several, key = np.flatnonzero((call[:, 1:] >= 0).any(1)), selfplay.key_of(seed, 0)
    other = opponent or likeliest
    results = selfplay.explore_on(game, played, call[:, 0], several, call[several], likeliest, other, sides, key)
    decisions, call = played.select(several), call[several]
    realized = decisions.sign[:, None] * results.gains
    values = options.unit * np.take_along_axis(decisions.log_chances, np.maximum(call, 0), 1).astype(np.float64)
    row, place = np.nonzero(call[:, 1:] >= 0)
    return Gains(
        (values - values[:, :1])[row, place + 1],
        realized[row, place + 1].astype(np.float64),
        game.deal_numbers(boards, seed)[decisions.board[row]],
    )


class Line(NamedTuple):
    """The least-squares line of realized on predicted gains, and what each deal contributes to the error."""

    slope: float
    intercept: float
    influence: F64  # [deals]  of each deal on the slope; they sum to 0


def line(of: Gains, deals: int) -> Line:
    """The line of ``of``, whose deals are numbered from 0 to ``deals`` - 1."""
    centred = of.predicted - of.predicted.mean()
    slope = float(centred @ of.realized / (centred @ centred))
    intercept = float(of.realized.mean() - slope * of.predicted.mean())
    residual = of.realized - intercept - slope * of.predicted
    return Line(slope, intercept, np.bincount(of.deal, centred * residual, deals) / (centred @ centred))


def slope_estimate(slope: float, influence: F64, deals: int) -> Estimate:
    """A slope, or a difference of two, with its error over ``deals`` independent deals."""
    return Estimate(slope, float(np.sqrt(np.square(influence).sum() * deals / max(1, deals - 1))), deals)


def rows(
    names: Sequence[str], opponent: str, game: Bridge, boards: I64, seed: int, report: Report
) -> list[dict[str, Any]]:
    """A row for each of ``names``; the last cell compares it with the first on the same boards."""
    policy = None if opponent == ITSELF else agents.resolve(opponent, game.id)
    options, found, first = Options(), list[dict[str, Any]](), None
    for name in names:
        parts = []
        for start in range(0, len(boards), CHUNK):
            parts.append(gains(weights_of(name), policy, game, boards[start : start + CHUNK], seed, options))
            report(f"{name}, {opponent}", min(start + CHUNK, len(boards)), len(boards))
        whole = Gains(*(np.concatenate(column) for column in zip(*parts)))
        size, count = len(game.deals.hands), len(np.unique(whole.deal))
        here = line(whole, size)
        row = {
            "agent": name,
            "opponent": opponent,
            "calls": len(whole.deal),
            "intercept": here.intercept,
            "slope": slope_estimate(here.slope, here.influence, count),
        }
        if first is None:
            first = here
        else:
            difference = here.slope - first.slope, here.influence - first.influence
            row[f"slope less that of {names[0]}"] = slope_estimate(*difference, count)
        found.append(row)
    return found


def tables(
    names: Sequence[str], opponents: Sequence[str], game: Bridge, boards: int, seed: int, report: Report
) -> Measured:
    """One table, a row for each agent and opponent; no figures."""
    numbers = np.arange(boards)
    found: list[Mapping[str, Any]] = [
        row for opponent in opponents for row in rows(names, opponent, game, numbers, seed, report)
    ]
    note = (
        f"{boards:,} boards of {len(np.unique(game.deal_numbers(numbers, seed))):,} deals; calls that are not the"
        " likeliest at decisions with several plausible ones; ± standard error, clustered by deal; the slope is 1 where"
        " predictions are right on average"
    )
    columns = [*dict.fromkeys(column for row in found for column in row)]
    return [ResultTable("Realized on predicted gains", columns, found, note=note)], []


def main(
    agent: Annotated[list[str], typer.Argument(help="Networks of rpi: names of packaged weights, or files.")],
    opponent: Annotated[list[str] | None, typer.Option(help="Agent it plays; default: itself.")] = None,
    deals: Annotated[
        str, typer.Option(help="Deals, on which no agent was trained: a split, or a file.")
    ] = "validation",
    boards: Annotated[int, typer.Option(min=2, help="Boards that each agent plays with each opponent.")] = 20_000,
    seed: Seed = 0,
    json: Json = None,
) -> None:
    """Measure the slope of realized on predicted gains."""
    game = Bridge(
        False,
        observation=weights_of(agent[0]).architecture.observation,
        deals=deals,
    )
    measured("value-slope", seed, json, lambda report: tables(agent, opponent or [ITSELF], game, boards, seed, report))


if __name__ == "__main__":
    typer.run(main)
