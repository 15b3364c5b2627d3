"""``bidzoo match``: two agents against each other in any game, and records; ``bidzoo replay``: any such file again."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bidzoo.commands.output import progress
from bidzoo.commands.train.options import settings

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy
    from bidzoo.benchmarks.record_files import Record
    from bidzoo.envs.game import Game

BOARDS, PLAYED = 1000, 20  # default, where there is no set of deals; where cards are played by search
OWN = ("deals", "shuffle", "augment", "reward", "reward_scale")  # bridge options that the command gives itself


def match(
    ours: Annotated[
        str, typer.Argument(metavar="A", help="An agent's name; in bridge also NAME=FILE for own weights.")
    ],
    theirs: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    env: Annotated[
        str, typer.Option(help="Any environment, such as spades_v0 or minibridge_v0.")
    ] = "bridge_bidding_v0",
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the game; --set help lists them."),
    ] = None,
    boards: Annotated[
        int | None,
        typer.Option(min=1, help=f"Default: {BOARDS}; bridge_bidding_v0: every deal once; bridge_v0: {PLAYED}."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the deals and of the agents' random numbers.")] = 0,
    deals: Annotated[
        str | None,
        typer.Option(
            "--deals",
            "--pbn",
            help="Of bridge: train, validation, test (default), or a .pbn, .lin or .npz file with tables.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Records: .jsonl or .parquet; for bridge software .pbn or .lin.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they change no result.")] = 1,
) -> None:
    """Compare two agents on the same boards.

    Bridge: every board at two tables with the sides exchanged, scored double dummy (bridge_v0: played), in IMPs. The
    boards of a file are played in their order as they stand. The deals of a packaged set come in order, with suits
    renamed and seats turned as (seed, board) says.

    Spades: every board at two tables with the partnerships exchanged, in points a round and games won.

    Small games: each agent with itself, and with the other at either seat; mean rewards.
    """
    from bidzoo import agents, registry
    from bidzoo.benchmarks import records

    chosen = _settings(env, options)
    if out is not None:
        records.check_ending(out, env)
    if env in agents.BRIDGE:
        _bridge(env, chosen, (ours, theirs), boards, seed, deals or "test", out, workers)
        return
    if deals is not None:
        raise ValueError(f"--deals {deals}: {env} is dealt by --seed; only bridge has sets of deals")
    _other(registry.make_game(env, **chosen), chosen, (ours, theirs), boards or BOARDS, seed, out, workers)


def _settings(env: str, given: list[str] | None) -> dict[str, Any]:
    from bidzoo import agents, registry

    own = OWN if env in agents.BRIDGE else ()
    return settings({name: default for name, default in registry.options(env).items() if name not in own}, given)


def _bridge(
    env: str,
    chosen: dict[str, Any],
    names: tuple[str, str],
    boards: int | None,
    seed: int,
    deals: str,
    out: Path | None,
    workers: int,
) -> None:
    import numpy as np

    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.match import duplicate
    from bidzoo.benchmarks.results import Estimate
    from bidzoo.envs.bridge.deals import SPLITS
    from bidzoo.envs.bridge.game import Bridge

    first, second = (_bridge_agent(env, name) for name in names)
    game = Bridge(env == "bridge_v0", deals=deals, shuffle=False, augment=deals in SPLITS, **chosen)
    different = len(game.deals.hands)
    numbers = np.arange(boards or (PLAYED if env == "bridge_v0" else different))
    tables = 2 * len(numbers)
    with progress() as report:
        played = duplicate(
            game, first, second, numbers, seed, seed, workers, report=lambda done: report("tables", done, tables)
        )
    mean = Estimate.of(played.imps, group=numbers % different)
    typer.echo(
        f"{first.name} against {second.name}: {played.imps.sum():+,} IMPs on {len(numbers):,} boards of"
        f" {min(different, len(numbers)):,} deals, {mean} a board"
    )
    _write(out, lambda: records.of_match(game, played, first.name, second.name, seed, seed))


def _bridge_agent(env: str, name: str) -> "Policy":
    from bidzoo import agents
    from bidzoo.agents.bridge.card_play import WithCards
    from bidzoo.benchmarks.bridge import contestant

    bidder = contestant(name)
    plays = env == "bridge_bidding_v0" or (name in agents.AGENTS and env in agents.AGENTS[name].games)
    return bidder if plays else WithCards(bidder)


def _other(
    game: "Game", chosen: dict[str, Any], names: tuple[str, str], boards: int, seed: int, out: Path | None, workers: int
) -> None:
    import numpy as np

    from bidzoo import agents
    from bidzoo.benchmarks import game_records, pairings, results

    first, second = (agents.resolve(name, game.id) for name in names)
    tables = boards * len(pairings.SEATINGS[game.utility])
    with progress() as report:
        played = pairings.pairings(
            game,
            first,
            second,
            np.arange(boards),
            seed,
            seed,
            workers,
            report=lambda done: report("tables", done, tables),
        )
    results.show([pairings.summary(game, names, played)])
    _write(out, lambda: game_records.of_pairings(game, chosen, names, played, seed, seed))


def _write(out: Path | None, of_match: "Callable[[], list[Record]]") -> None:
    from bidzoo.benchmarks import records

    if out is not None:
        found = of_match()
        records.write(out, found)
        typer.echo(f"{len(found):,} records written to {out}")


def replay(
    file: Annotated[Path, typer.Argument(help="A .jsonl or .parquet file of records, or any .pbn or .lin file.")],
) -> None:
    """Make every call and play every card of a file again under the rules, and find every result anew."""
    from bidzoo.benchmarks import replay as again
    from bidzoo.benchmarks import results

    results.show(again.tables(file))
