"""The record of one Spades table, and what one seat may know of it.

Seats N E S W = 0 1 2 3. A *side* is what scores together: ``side = seat % sides``, so ``sides`` is 2 in the
partnership games (partners share parity) and 4 in cutthroat; arrays by side use their first ``sides`` entries.
``-1`` means "not yet". Numbers are wide enough that no kernel overflows compiled or not.
"""

import numpy as np

from bidzoo.core.kernels import I64, State, States, batched, row

BIDDING, PLAY, OVER = 0, 1, 2  # phases
NIL, BLIND_NIL, LOOK, FIRST_CARD = 0, 14, 15, 16  # actions: 0 ... 13 bid that many tricks, 16 + card plays it
NUM_BIDDING_ACTIONS, NUM_ACTIONS = FIRST_CARD, FIRST_CARD + 52
SPADES = 3  # the trump suit
NO_GOAL = -(1 << 30)  # ``lose_goal`` of a game that cannot be lost by points

VARIANTS = ("partnership", "cutthroat", "mirror", "whiz", "suicide")
PARTNERSHIP, CUTTHROAT, MIRROR, WHIZ, SUICIDE = range(5)
DECKS = ("standard", "jokers", "jokers_deuces")
FAILED_NIL = ("bags", "partner", "nothing")  # what the tricks of a failed nil are to the side
BAGS, PARTNER, NOTHING = range(3)

PUBLIC = [
    ("board", "i8"),  # number of the game; (seed, board, round) addresses each deal
    # rules, the same at every table of a game
    ("variant", "i2"),  # index into VARIANTS
    ("deck", "i2"),  # index into DECKS
    ("sides", "i2"),  # 2, or 4 in cutthroat
    ("failed_nil", "i2"),  # index into FAILED_NIL
    ("blind_nil", "i2"),  # 1: a player may bid blind nil before looking at the hand
    ("bag_penalty", "i2"),  # points lost with ten bags
    ("blind_deficit", "i4"),  # points a side must trail by before it may bid blind nil
    ("win_goal", "i4"),  # the game ends when a side has this many points or more
    ("lose_goal", "i4"),  # ... or this few or fewer; NO_GOAL: never
    ("max_rounds", "i4"),  # ... or after this many rounds
    # game
    ("length", "i4"),  # actions taken so far, in all rounds
    ("scores", "i4", (4,)),  # by side, before this round
    ("bags", "i4", (4,)),  # by side: 0 ... 9, the units digit of the score
    ("gains", "i4", (4,)),  # by side: points of the last round that ended
    ("last_bids", "i2", (4,)),  # by seat: bids and tricks of that round
    ("last_won", "i2", (4,)),
    ("last_blind", "i2"),
    ("rounds", "i2"),  # rounds that ended
    ("winner", "i2"),  # side that won; -1 before the end and after a draw
    ("phase", "i2"),  # BIDDING, PLAY, OVER
    ("dealer", "i2"),  # the seat left of it bids first and leads first
    ("turn", "i2"),  # seat that acts next; -1 when over
    # bidding
    ("bids", "i2", (4,)),  # by seat; a blind nil is 0
    ("blind", "i2"),  # bit of a seat: its nil is blind
    ("looked", "i2"),  # bit of a seat: it has seen its hand
    # play
    ("plays", "i2"),  # cards played this round
    ("leader", "i2"),  # seat that led to the current trick, or will
    ("led", "i2"),  # suit led to the current trick; -1 before the lead
    ("best", "i2"),  # card that is winning the current trick; -1 before the lead
    ("taker", "i2"),  # seat that played it
    ("broken", "i2"),  # 1: a spade has been played this round
    ("won", "i2", (4,)),  # tricks won, by seat
    ("voids", "i2", (4,)),  # by seat: bit of a suit it is known not to hold
    ("gone", "i8"),  # cards played this round
    ("played", "i1", (52,)),  # cards in the order played; the current trick starts at 4 * (plays // 4)
    ("players", "i1", (52,)),  # seat whose card each was
]

STATE = np.dtype(
    [
        *PUBLIC,
        ("seed", "i8"),  # deals the rounds to come
        ("hands", "i8", (4,)),  # cards dealt this round
        ("held", "i8", (4,)),  # cards still held
    ],
    align=True,
)

VIEW = np.dtype(
    [
        *PUBLIC,
        ("seat", "i2"),  # whose view this is
        ("hand", "i8"),  # cards dealt to it this round; 0 before it has looked
        ("held_here", "i8"),  # cards it still holds; 0 before it has looked
    ],
    align=True,
)


@row
def copy_public_row(source: State, target: State) -> None:
    """Every public field of ``source`` into ``target``; states and views in any combination."""
    target.board, target.variant, target.deck, target.sides = source.board, source.variant, source.deck, source.sides
    target.failed_nil, target.blind_nil, target.bag_penalty = source.failed_nil, source.blind_nil, source.bag_penalty
    target.blind_deficit, target.win_goal, target.lose_goal = source.blind_deficit, source.win_goal, source.lose_goal
    target.max_rounds, target.length, target.rounds = source.max_rounds, source.length, source.rounds
    target.last_blind, target.winner, target.phase = source.last_blind, source.winner, source.phase
    target.dealer, target.turn, target.blind, target.looked = source.dealer, source.turn, source.blind, source.looked
    target.plays, target.leader, target.led, target.gone = source.plays, source.leader, source.led, source.gone
    target.best, target.taker, target.broken = source.best, source.taker, source.broken
    for k in range(4):
        target.scores[k] = source.scores[k]
        target.bags[k] = source.bags[k]
        target.gains[k] = source.gains[k]
        target.last_bids[k] = source.last_bids[k]
        target.last_won[k] = source.last_won[k]
        target.bids[k] = source.bids[k]
        target.won[k] = source.won[k]
        target.voids[k] = source.voids[k]
    for k in range(52):
        target.played[k] = source.played[k]
        target.players[k] = source.players[k]


@row
def view_row(state: State, player: int, out: State) -> None:
    """View of ``player``: the public fields and, once it has looked, its own hand."""
    copy_public_row(state, out)
    out.seat = player
    seen = state.looked >> player & 1
    out.hand = state.hands[player] if seen else 0
    out.held_here = state.held[player] if seen else 0


@row
def known_row(view: State, state: State) -> None:
    """Write what ``view`` shows into ``state``: the public fields and its own hand; the other seats hold nothing."""
    copy_public_row(view, state)
    for seat in range(4):
        state.hands[seat] = view.hand if seat == view.seat else 0
        state.held[seat] = view.held_here if seat == view.seat else 0


@batched
def views(start: int, stop: int, states: States, players: I64, out: States) -> None:
    """``view_row`` at every table."""
    for b in range(start, stop):
        view_row(states[b], players[b], out[b])
