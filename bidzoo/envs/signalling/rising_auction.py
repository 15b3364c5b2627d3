"""A rising auction between two partners: what Simple Bidding and MiniBridge share.

Actions: 0 pass, ``1 ... bids`` the bids in rising order. Each bid must be higher than the last; a pass ends
the auction, except an opening pass where the game allows one.
"""

from collections.abc import Sequence

from bidzoo.core.kernels import I8, State, row
from bidzoo.core.layout import Field
from bidzoo.core.options import whole
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER

PASS = 0


@row
def legal_row(state: State, opening_pass: bool, out: I8) -> None:
    """Legal calls of the player to act into ``out`` ``[1 + bids]``."""
    out[PASS] = 1 if opening_pass or state.length > 0 else 0
    for bid in range(1, len(out)):
        out[bid] = 1 if bid > state.bid else 0


@row
def act_row(state: State, call: int) -> None:
    """Make ``call``: a pass after the first turn ends the auction."""
    over = call == PASS and state.length > 0
    state.history[state.length] = call
    state.length += 1
    if call != PASS:
        state.bid = call
    state.turn = OVER if over else 1 - state.turn


@row
def history_row(state: State, player: int, passes: int, out: I8) -> None:
    """History into ``out`` ``[passes + 2 * bids]``, all zero before.

    The last entry of the ``passes`` is the closing pass, the first of two an opening pass;
    then, for each bid, whether ``player`` made it and whether the partner did.
    """
    for turn in range(state.length):
        call = int(state.history[turn])
        if call != PASS:
            out[passes + 2 * (call - 1) + (turn % 2 != player)] = 1
        elif turn == 0:
            out[0] = 1
        else:
            out[passes - 1] = 1


class AuctionGame(SignallingGame):
    """A rising auction over ``bid_names`` between players of ``types`` types each.

    ``passes`` names the passes that the encoder tells apart.
    """

    size_option = "size"

    def __init__(
        self,
        size: int,
        types: int,
        bid_names: Sequence[str],
        passes: Sequence[str],
        reward_range: tuple[float, float],
        observation: str | None,
    ) -> None:
        self.call_names, self.pass_names = ("P", *bid_names), tuple(passes)
        turns = len(bid_names) + len(passes)
        super().__init__(size, (types, types), len(self.call_names), turns, reward_range, observation)

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        passes, bids = self.pass_names, self.call_names[1:]
        return (
            Field.of("pass", f"passes made: {', '.join(passes)}", passes),
            Field.of("bids", f"each bid, lowest first: {own}, {other}", bids, (own, other)),
        )

    def action_text(self, action: int) -> str:
        """``"P"`` or the name of the bid."""
        return self.call_names[whole("action", action, 0, self.num_actions - 1)]

    def action_number(self, text: str) -> int:
        word = str(text).strip().upper()
        word = "P" if word == "PASS" else word
        if word not in self.call_names:
            raise ValueError(f"not a call of {self}: {text!r} (expected {', '.join(self.call_names)})")
        return self.call_names.index(word)

    def result_text(self, state: State, reward: float) -> str:
        if int(state["bid"]) == PASS:
            return "passed out"
        return f"{self.call_names[int(state['bid'])]} {'makes' if reward > 0 else 'fails'}"
