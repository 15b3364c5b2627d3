"""A small game as a picture: both players with their types, the actions in order, the result."""

from typing import TYPE_CHECKING

from bidzoo.envs.picture import ACCENT, ALARM, EDGE, INK, PALE, PANEL, Picture
from bidzoo.envs.signals.rules import payoff_row
from bidzoo.envs.signals.state import OVER
from bidzoo.kernels import Table

if TYPE_CHECKING:
    from bidzoo.envs.signals.game import SignalGame

WIDTH, PLAYER, CHIP, STEP, PER_ROW = 460, 76, 32, 46, 9  # pixels, and chips a row
TINTS = ("#e3ecf8", "#fdf0d9")  # chips of player_0 and player_1


def picture(game: "SignalGame", table: Table) -> Picture:
    """Players on top (the one to act is outlined), a chip for each action below, then how it came out."""
    actions = [int(action) for action in table["history"][: int(table["length"])]]
    rows = -(-game.max_turns // PER_ROW)  # the same size all episode long, as videos need
    out = Picture(WIDTH, PLAYER + STEP * rows + 62)
    for player in (0, 1):
        _player(out, game, table, player)
    for turn, action in enumerate(actions):
        row, column = divmod(turn, PER_ROW)
        x, y = 16 + column * 48, PLAYER + 30 + STEP * row
        out.box(x, y, 44, CHIP, TINTS[game.mover(turn)], EDGE, 8)
        out.text(x + 22, y + CHIP / 2, game.drawn_text(action), 15, INK, "middle", bold=True)
    foot = out.height - 20
    if int(table["turn"]) == OVER:
        reward = payoff_row(table, int(table["types"][0]), int(table["types"][1]))
        words = f"{game.drawn_result(table, reward)}: {reward:+g}"
        out.text(WIDTH / 2, foot, words, 17, ALARM if reward < 0 else INK, "middle", bold=True)
    else:
        out.text(WIDTH / 2, foot, f"player_{int(table['turn'])} to act", 14, INK, "middle")
    return out


def _player(out: Picture, game: "SignalGame", table: Table, player: int) -> None:
    acts = int(table["turn"]) == player
    wide = (WIDTH - 48) / 2
    x = 16 + player * (wide + 16)
    out.box(x, 14, wide, PLAYER, PANEL, ACCENT if acts else EDGE, 10, 3 if acts else 1)
    out.box(x + 12, 28, 12, 12, TINTS[player], EDGE, 3)
    out.text(x + 32, 34, f"player_{player}", 14)
    if game.num_types[player] > 1:
        out.text(x + 12, 66, f"{game.type_word} {int(table['types'][player])}", 22, bold=True)
    else:
        out.text(x + 12, 66, f"no {game.type_word}", 18, PALE)
