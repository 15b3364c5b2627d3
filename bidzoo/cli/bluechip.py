"""``bidzoo bluechip``: play against WBridge5, Jack and others over the Blue Chip Bridge protocol."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bidzoo.cli.options import LAST_BOARD, MOST_BOARDS, Host
from bidzoo.cli.showing import counted, say

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy
    from bidzoo.bluechip.boards import Record

app = typer.Typer(no_args_is_help=True, help="Matches with other bridge programs (Blue Chip protocol, version 18).")

PROGRAM = "remote"
Player = Annotated[str, typer.Option(help="Agent that plays the cards for our bidders; 'self': the bidder itself.")]
Patience = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for one message.")]


@app.command()
def serve(
    first: Annotated[
        str, typer.Option(help=f"N/S in the open room: '{PROGRAM}', an agent, or two of them separated by a comma.")
    ],
    second: Annotated[str, typer.Option(help="E/W in the open room.")] = PROGRAM,
    boards: Annotated[int, typer.Option(min=1, max=MOST_BOARDS, help="Number of boards.")] = 16,
    start: Annotated[int, typer.Option(min=1, max=LAST_BOARD, help="Number of the first board.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    policy_seed: Annotated[int, typer.Option(min=0, help="Seed of our agents.")] = 0,
    deals: Annotated[
        str, typer.Option(help="Where the boards come from: train, validation, test, or a deal file.")
    ] = "test",
    file: Annotated[Path | None, typer.Option(help="Play the boards of this .pbn or .lin file instead.")] = None,
    play: Annotated[bool, typer.Option(help="Play the cards; otherwise a board ends with its auction.")] = True,
    double_dummy: Annotated[
        bool,
        typer.Option(
            "--double-dummy", help="Score contracts double dummy even if the cards are played (always with --no-play)."
        ),
    ] = False,
    player: Player = "random",
    out: Annotated[
        Path, typer.Option(help="Result file (.jsonl, with a .pbn beside it); an existing one is continued.")
    ] = Path("runs/bluechip.jsonl"),
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the open room.")] = 2000,
    closed_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the closed room; default: the next port.")
    ] = None,
    room: Annotated[list[str] | None, typer.Option(help="Only this room: open or closed.")] = None,
    in_turn: Annotated[
        bool, typer.Option("--in-turn", help="Play the closed room after the open one, on one port.")
    ] = False,
    patience: Patience = 300.0,
    pause: Annotated[
        float, typer.Option(min=0, help="Seconds to wait before each line, for programs that lose lines.")
    ] = 0.0,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds within which a disconnected program may come back.")
    ] = 60.0,
    seating: Annotated[float, typer.Option(min=0, help="Seconds to wait for programs to connect.")] = 600.0,
) -> None:
    """Run the table manager of a duplicate match; boards already in the result file are not played again."""
    from bidzoo.bluechip.boards import ROOMS, Record, from_file, seeded
    from bidzoo.bluechip.connection import Limits
    from bidzoo.bluechip.server import Settings, TableManager
    from bidzoo.envs.bridge.game import Bridge

    rooms, solved, limits = room or ROOMS, double_dummy or not play, Limits(patience, pause)
    pairs = _pair(first, player if play else None), _pair(second, player if play else None)
    game = Bridge(play=play, deals=deals)
    board_list = from_file(file, solve=solved) if file else seeded(game, range(start - 1, start - 1 + boards), seed)
    match = {
        "first": first,
        "second": second,
        "boards": file.name if file else f"{deals}, seed {seed}",
        "play": play,
        "double_dummy": solved,
        "player": player if play else "",
        "policy_seed": policy_seed,
    }
    settings = Settings(host, port, closed_port, rooms, in_turn, limits, grace, seating, solved, policy_seed)
    with Record(out, match) as record:
        manager = TableManager(game, *pairs, settings, report=lambda line: say(line, err=True))
        for name, number in manager.ports.items():
            say(f"{name} room: {host}:{number}", err=True)
        try:
            manager.run(board_list, record)
        finally:
            _show(record, {board.number for board in board_list}, rooms)


@app.command()
def join(
    agent: Annotated[str, typer.Argument(help="Agent that bids.")],
    seat: Annotated[str, typer.Option(help="North, East, South, West, or any.")] = "any",
    team: Annotated[str, typer.Option(help="Name of the team; partners give the same.")] = "bidzoo",
    host: Annotated[str, typer.Option(help="The table manager's machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The table manager's port.")] = 2000,
    player: Player = "random",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the agent.")] = 0,
    patience: Patience = 3600.0,
) -> None:
    """Sit down at somebody else's table and play until the session ends."""
    from bidzoo.bluechip.client import Client
    from bidzoo.bluechip.connection import Limits
    from bidzoo.core.cards import seat_number

    place = None if seat.lower() == "any" else seat_number(seat)
    client = Client(_policy(agent, player), place, team, seed, Limits(patience))
    try:
        client.run(host, port)
    finally:
        for board in client.heard:
            say(f"board {board.number}: {board.contract or 'not finished'}")


def _policy(name: str, player: str | None) -> Policy:
    """The policy of agent ``name``; ``player`` plays its cards ("self": it does itself), None if there is no play."""
    from bidzoo import agents
    from bidzoo.bluechip.seat import BidderAndPlayer

    bidder = agents.resolve(name, "bridge_v0" if player == "self" else "bridge_bidding_v0")
    if player is None or player == "self":
        return bidder
    return BidderAndPlayer(bidder, agents.resolve(player, "bridge_v0"))


def _pair(names: str, player: str | None) -> tuple[Policy | None, Policy | None]:
    """The two policies of ``"sayc"`` or ``"remote,sayc"``; None for the remote program."""
    from bidzoo.agents import names_in

    agent_names = names_in(names)
    if len(agent_names) > 2:
        raise ValueError(f"pair {names!r}: expected one name, or two with a comma between them")
    policies = [None if name == PROGRAM else _policy(name, player) for name in agent_names]
    return policies[0], policies[-1]


def _show(record: Record, numbers: Collection[int], rooms: Sequence[str]) -> None:
    """Say what ``record`` holds of the boards ``numbers``: how many ``rooms`` played, IMPs of the first pair."""
    import numpy as np

    from bidzoo.benchmarks.results import Estimate
    from bidzoo.envs.bridge.deals import alike

    played = sum(record.played(room, number) for room in rooms for number in numbers)
    say(f"{played} of {len(numbers) * len(rooms)} boards at tables played, saved in {record.path}")
    imps_by_board = {number: swing for number, swing in record.imps().items() if number in numbers}
    if imps_by_board:
        imps = list(imps_by_board.values())
        hands = {result.number: result.board().hands for result in record.results.values()}
        mean = Estimate.of(imps, group=alike(np.array([hands[number] for number in imps_by_board])))
        say(f"first pair: {sum(imps):+d} IMPs on {counted(len(imps), 'board')}, {mean} a board")
