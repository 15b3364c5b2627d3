"""``bidzoo show``: a board of a file or of a seed, in the terminal or as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bidzoo.cli.options import game_names

if TYPE_CHECKING:
    from bidzoo.core.kernels import State
    from bidzoo.envs.game import Game


def show(
    what: Annotated[str, typer.Argument(metavar="FILE|SEED", help="A .pbn or .lin file, or a seed.")] = "0",
    board: Annotated[
        int | None, typer.Option(min=1, help="Number of the board; default: the first of a file, board 1 of a seed.")
    ] = None,
    env: Annotated[
        str, typer.Option(help="Whose deal of the seed, such as spades_v0.", autocompletion=game_names)
    ] = "bridge_bidding_v0",
    solve: Annotated[bool, typer.Option("--solve", help="Bridge: solve double dummy what is not known.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Draw it into this file (.svg) instead.")] = None,
) -> None:
    """Draw a board: of a file with its auction and play, of a seed as it is dealt."""
    from bidzoo.core.storage import replace_file

    if svg is not None and svg.suffix.lower() != ".svg":
        raise ValueError(f"--svg {svg}: ending {svg.suffix!r}, expected .svg")
    if what.isascii() and what.isdecimal() and not Path(what).exists():
        game, state = _dealt(env, what, board or 1)
    else:
        game, state = _of_file(Path(what), board)
    found = ""
    if "tricks" in (state.dtype.names or ()):
        found = _double_dummy(state, solve)
        state["board"] = int(state["board"]) + 1  # as it is marked
    if svg is not None:
        replace_file(svg, game.picture(state).svg().encode())
        typer.echo(f"drawn in {svg}")
    else:
        typer.echo("\n\n".join(filter(None, (game.text(state), found))))


def _dealt(env: str, seed: str, board: int) -> "tuple[Game, State]":
    """Board number ``board`` of ``seed`` before the first action."""
    import numpy as np

    from bidzoo import registry
    from bidzoo.core.streams import checked_seed

    game = registry.make_game(env)
    states, out = game.new(1), game.buffers(1)
    number = int(seed) if len(seed) < 20 else 2**64  # of too many digits to be a seed
    game.begin(states, np.array([board - 1], np.int64), checked_seed(number), out)
    return game, states[0]


def _of_file(path: Path, number: int | None) -> "tuple[Game, State]":
    """The board called ``number`` (or the first) after all its calls and cards."""
    from bidzoo.envs.bridge.deals import read_boards
    from bidzoo.play import files

    boards = read_boards(path)
    names = [board.number or place for place, board in enumerate(boards, 1)]
    if not boards:
        raise ValueError(f"{path}: no boards, expected at least one")
    if number is not None and number not in names:
        raise ValueError(f"{path}: no board {number}; it has {', '.join(map(str, names[:20]))}")
    index = 0 if number is None else names.index(number)
    try:
        setup, actions = files.table_of(boards[index], names[index])
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from problem
    return setup.game, setup.replay(actions).states[0].copy()


def _double_dummy(state: "State", solve: bool) -> str:
    """The table of tricks and par; empty where it is not known and not to be solved."""
    import numpy as np

    from bidzoo.core.cards import SEAT_NAMES, STRAINS
    from bidzoo.envs.bridge import text
    from bidzoo.envs.bridge.double_dummy import dd_tricks_of
    from bidzoo.envs.bridge.score import par

    if solve and (state["tricks"] < 0).any():
        state["tricks"] = dd_tricks_of(np.asarray(state["hands"]))
    tricks = np.asarray(state["tricks"])
    if (tricks < 0).any():
        return ""
    points = int(par(tricks[None], int(state["dealer"]), int(state["vulnerable"]))[0])
    rows = [["", *STRAINS], *([SEAT_NAMES[s], *map(str, tricks[5 * s : 5 * s + 5])] for s in range(4))]
    table = "\n".join(f"{row[0]:<8}" + "".join(f"{cell:>4}" for cell in row[1:]) for row in rows)
    return f"{table}\nPar: {text.score(points) if points else '0'}"
