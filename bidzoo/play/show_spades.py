"""A Spades table as plain data."""

from typing import Any

from bidzoo.cards import hand_cards
from bidzoo.envs.spades.deck import STRENGTHS, SUITS
from bidzoo.envs.spades.deck import deck_card_text as card_text
from bidzoo.envs.spades.features import sides_named
from bidzoo.envs.spades.render import bid_text
from bidzoo.envs.spades.state import BIDDING, OVER, PLAY
from bidzoo.kernels import Table
from bidzoo.play.session import Session

PHASES = {BIDDING: "bidding", PLAY: "play", OVER: "over"}


def spades(session: Session, table: Table) -> dict[str, Any]:
    """Hands that may be seen, bids, tricks, scores, and the current trick."""
    phase, sides, deck = int(table["phase"]), int(table["sides"]), int(table["deck"])
    viewer = session.viewer
    seen = {0, 1, 2, 3} if session.open else {viewer} if int(table["looked"]) >> max(viewer, 0) & 1 else set()
    held = table["hands" if phase != PLAY else "held"]
    names = sides_named(sides)
    ended = phase == OVER or (int(table["rounds"]) > 0 and phase == BIDDING and (table["bids"] < 0).all())
    winner = int(table["winner"])
    return {
        "kind": "spades",
        "phase": PHASES[phase],
        "dealer": int(table["dealer"]),
        "turn": int(table["turn"]),
        "hands": [_sorted(deck, int(hand)) if seat in seen else None for seat, hand in enumerate(held)],
        "counts": [int(hand).bit_count() for hand in held],
        "texts": {card: card_text(deck, card) for card in range(52)} if deck else {},
        "suits": [int(suit) for suit in SUITS[deck]],
        "bids": [
            bid_text(int(bid), bool(int(table["blind"]) >> seat & 1)) if bid >= 0 else ""
            for seat, bid in enumerate(table["last_bids"] if phase == OVER else table["bids"])
        ],
        "won": [int(n) for n in (table["last_won"] if phase == OVER else table["won"])],
        "scores": [
            {
                "side": names[s],
                "score": int(table["scores"][s]),
                "bags": int(table["bags"][s]),
                "gain": int(table["gains"][s]) if ended else None,
            }
            for s in range(sides)
        ],
        "round": int(table["rounds"]) + (phase != OVER),
        "broken": bool(table["broken"]),
        "trick": _trick(table),
        "tricks": int(table["plays"]) // 4,
        "result": "" if phase != OVER else f"{names[winner]} won" if winner >= 0 else "a draw",
    }


def _sorted(deck: int, hand: int) -> list[int]:
    """Cards of a hand, weakest first."""
    return sorted(hand_cards(hand), key=lambda card: (int(STRENGTHS[deck, card]), int(SUITS[deck, card])))


def _trick(table: Table) -> dict[str, Any] | None:
    """The trick on the table: the current one, or the last as long as nobody has led to the next."""
    plays = int(table["plays"])
    if plays == 0:
        return None
    start = (plays - 1) // 4 * 4
    cards = [-1] * 4
    for t in range(start, plays):
        cards[int(table["players"][t])] = int(table["played"][t])
    done = plays - start == 4
    return {"cards": cards, "leader": int(table["players"][start]), "winner": int(table["leader"]) if done else -1}
