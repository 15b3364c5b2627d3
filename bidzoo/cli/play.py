"""``bidzoo play``: sit down with the agents, in a web page or in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bidzoo.cli.options import Host

if TYPE_CHECKING:
    from bidzoo.play.session import Session


def play(
    terminal: Annotated[bool, typer.Option("--terminal", help="Play here instead of in a web page.")] = False,
    game: Annotated[
        str, typer.Option(help="Game to start with, such as bridge_v0 or spades_v0.")
    ] = "bridge_bidding_v0",
    seats: Annotated[
        str, typer.Option(help="Who sits where: agents or human, with commas: sayc,sayc,human,sayc.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deals.")] = 0,
    board: Annotated[int, typer.Option(min=1, help="Number of the first board.")] = 1,
    pbn: Annotated[str, typer.Option("--file", help="Open this .pbn or .lin file.")] = "",
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8765,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Bid and play with and against the agents, in a web page (until Ctrl-C) or in the terminal."""
    from bidzoo import agents, registry
    from bidzoo.play.catalog import HUMAN
    from bidzoo.play.session import Session

    session = Session()
    chosen = [name.strip() for name in seats.split(",")] if seats else None
    if chosen is not None:
        chosen = [name if name == HUMAN else agents.admit(name) for name in chosen]
    session.start(registry.game_id(game), {}, chosen, seed, board - 1)
    if pbn:
        _read(session, pbn)
    if terminal:
        from bidzoo.play.terminal import run

        run(session)
        return
    _serve(session, host, port, open_)


def _read(session: "Session", path: str) -> None:
    from bidzoo.envs.bridge.formats.pbn import decode
    from bidzoo.play import files

    files.load(session, Path(path).name, decode(Path(path).read_bytes(), path))
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
            typer.echo(f"bidzoo play: {server.url}")
            typer.echo("Ctrl-C ends it.")
            if show:
                webbrowser.open(server.url)
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("")
