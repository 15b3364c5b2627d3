"""``bidzoo play``: play with the agents; ``bidzoo show``: a board of a file or of a seed, drawn."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bidzoo.cli.options import LAST_BOARD, Host, game_names, not_empty, output
from bidzoo.cli.showing import say, solving

if TYPE_CHECKING:
    from bidzoo.core.kernels import State
    from bidzoo.envs.game import Game
    from bidzoo.play.session import Session


def play(
    terminal: Annotated[bool, typer.Option("--terminal", help="Play in the terminal instead of a web page.")] = False,
    game: Annotated[
        str, typer.Option(help="Game to start with, such as bridge_v0 or spades_v0.")
    ] = "bridge_bidding_v0",
    seats: Annotated[
        str | None,
        typer.Option(callback=not_empty, help="Who plays each seat, separated by commas: sayc,sayc,human,sayc."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    board: Annotated[int, typer.Option(min=1, max=LAST_BOARD, help="Number of the first board.")] = 1,
    pbn: Annotated[Path | None, typer.Option("--file", help="Open this .pbn or .lin file.")] = None,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8765,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Bid and play with and against the agents, in a web page (until Ctrl-C) or in the terminal."""
    from bidzoo import agents, registry
    from bidzoo.play.catalog import HUMAN
    from bidzoo.play.session import Session

    session = Session()
    agent_names = None if seats is None else agents.names_in(seats)
    if agent_names is not None:
        agent_names = [name if name == HUMAN else _seated(name) for name in agent_names]
    session.start(registry.game_id(game), {}, agent_names, seed, board - 1)
    if pbn is not None:
        _read(session, pbn)
    if terminal:
        from bidzoo.play.terminal import run

        run(session)
        return
    _serve(session, host, port, open_)


def _seated(text: str) -> str:
    """What ``agents.admit`` says of ``text``; ValueError for whom the table cannot seat."""
    from bidzoo import agents
    from bidzoo.play.catalog import HUMAN

    name, agent, _ = agents.parts(text)
    if name == HUMAN:
        raise ValueError(f"{text}: {HUMAN!r} is you, expected another name")
    if agent.startswith(("openai:", "ledger:")):
        raise ValueError(f"{text}: language models play in match and leaderboard, not at this table")
    return agents.admit(text)


def _read(session: "Session", path: Path) -> None:
    from bidzoo.envs.bridge.board import decode
    from bidzoo.play import files

    files.load(session, path.name, decode(path.read_bytes(), str(path)))
    files.open_board(session, 0, files.REPLAY)


def _serve(session: "Session", host: str, port: int, show: bool) -> None:
    import webbrowser

    from bidzoo.play.server import PlayServer

    try:
        server = PlayServer(host, port, session)
    except OSError as problem:
        raise ValueError(f"cannot listen on {host} port {port}: {problem.strerror or problem}") from problem
    with server:
        try:
            say(f"bidzoo play: {server.url}")
            say("Ctrl-C ends it.")
            if show:
                webbrowser.open(server.url)
            server.serve_forever()
        except KeyboardInterrupt:
            say("")


# ---- bidzoo show -------------------------------------------------------------------------


def show(
    what: Annotated[str, typer.Argument(metavar="FILE|SEED", help="A .pbn or .lin file, or a seed.")] = "0",
    board: Annotated[
        int | None,
        typer.Option(
            min=1, max=LAST_BOARD, help="Number of the board; default: the first of a file, board 1 of a seed."
        ),
    ] = None,
    env: Annotated[
        str, typer.Option(help="Game whose deal of the seed is shown, such as spades_v0.", autocompletion=game_names)
    ] = "bridge_bidding_v0",
    solve: Annotated[
        bool, typer.Option("--solve", help="Bridge: solve the double-dummy table if it is not known.")
    ] = False,
    svg: Annotated[Path | None, output("Draw it into this file (.svg) instead.", ".svg")] = None,
) -> None:
    """Draw a board: of a file with its auction and play, of a seed as it is dealt."""
    from bidzoo.core.storage import replace_file

    if what.isascii() and what.isdecimal() and not Path(what).exists():
        game, state = _deal_board(env, what, board or 1)
    else:
        game, state = _read_board(Path(what), board)
    double_dummy = ""
    if "tricks" in (state.dtype.names or ()):
        with solving() if solve else nullcontext():
            double_dummy = _double_dummy(state, solve)
    if svg is not None:
        replace_file(svg, game.picture(state).svg().encode())
        say(f"drawn in {svg}")
    else:
        say("\n\n".join(filter(None, (game.text(state), double_dummy))))


def _deal_board(env: str, seed: str, board: int) -> "tuple[Game, State]":
    """Board number ``board`` of ``seed`` before the first action."""
    from bidzoo import registry
    from bidzoo.core.streams import checked_seed

    game = registry.make_game(env)
    states, _ = game.start(board - 1, checked_seed(int(seed[:30])))  # of more digits too it is no seed
    return game, states[0]


def _read_board(path: Path, number: int | None) -> "tuple[Game, State]":
    """The board called ``number`` (or the first) after all its calls and cards."""
    from bidzoo.envs.bridge.board import Fault, summary
    from bidzoo.envs.bridge.deals import read_boards
    from bidzoo.play import files
    from bidzoo.play.session import Setup

    faults: list[Fault] = []
    boards = read_boards(path, faults=faults)
    names = [board.number or place for place, board in enumerate(boards, 1)]
    if not boards:
        raise ValueError(str(faults[0]) if faults else f"{path}: no boards, expected at least one")
    if faults:
        say(summary(str(path), len(boards), faults), err=True)
    if number is not None and number not in names:
        raise ValueError(f"{path}: no board {number}; it has {', '.join(map(str, names[:20]))}")
    index = 0 if number is None else names.index(number)
    try:
        fixed = files.fixed_by(boards[index], names[index])
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from problem
    setup = Setup("bridge_v0", {}, 0, names[index] - 1, fixed)
    return setup.game, setup.replay(files.actions_of(boards[index])).states[0].copy()


def _double_dummy(state: "State", solve: bool) -> str:
    """The table of tricks and par; empty where it is not known and not to be solved."""
    from bidzoo.envs.bridge.render import double_dummy_text
    from bidzoo.play.session import double_dummy_of

    if not solve and (state["tricks"] < 0).any():
        return ""
    tricks, points = double_dummy_of(state)
    state["tricks"] = tricks
    return double_dummy_text(tricks, points)
