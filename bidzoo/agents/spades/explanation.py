"""The numbers behind a Spades bid (takes, nil value, success curve, values of a network), and those behind a card.

Every ``state`` is what the seat on turn knows (``known_row``).
"""

import numpy as np

from bidzoo.agents.explanation import Curve, Explanation
from bidzoo.agents.spades.bis import (
    factor_row,
    hand_nil_value_row,
    hand_takes_row,
    nearest_row,
    offered_row,
    threshold_row,
)
from bidzoo.agents.spades.curves import chance_row, sequence_row
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    choice_bid_row,
    compare_row,
    features_row,
    forward_row,
    new_seen_row,
    think_row,
)
from bidzoo.agents.spades.situation import ROUND_TYPES, goal_row, round_type_row, situation_row
from bidzoo.agents.spades.uct import Workspace, imagine_row, open_workspace_row, rollout_row
from bidzoo.core.cards import hand_cards
from bidzoo.core.kernels import State, allocate, when_compiled
from bidzoo.core.streams import Streams
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import gap_row
from bidzoo.envs.spades.state import CUTTHROAT, FIRST_CARD, PARTNERSHIP, STATE, VIEW

GOALS = ("keep the nil", "cover partner's nil", "take tricks", "avoid tricks")
STEPS = 41  # points of a curve
WORLDS = 60  # deals in which every card of UCT is tried


def explain_bid(state: State, kind: str, bidder: State, lookup: State) -> Explanation:
    """Takes of the hand; of BIS also the nil value, its success curve and the threshold; values of a network."""
    if not int(state["looked"]) >> int(state["turn"]) & 1:
        return Explanation(text="It has not looked at its hand yet.")
    if kind == "learned":
        return _explain_learned_bid(state, bidder, lookup)
    hand = int(state["hands"][state["turn"]])
    raw = float(hand_takes_row(state, hand, lookup))
    takes = raw + float(factor_row(state, bidder))
    facts = [("takes of the hand", f"{raw:.2f}"), ("takes after earlier bids", f"{takes:.2f}")]
    if kind != "bis":
        return Explanation(text=f"Bids by the rules of {kind.upper()}.", facts=tuple(facts[:1]))
    covered = bool(bidder["conventions"]) and bool(offered_row(state))
    value = float(hand_nil_value_row(state, hand, lookup, covered))
    curve, chance = None, value
    if int(state["variant"]) != CUTTHROAT:
        line = lookup["curves"][int(bidder["single_curve"]), int(sequence_row(state))]
        chance = float(chance_row(line, value))
        points = tuple((float(x), float(chance_row(line, float(x)))) for x in np.linspace(0, 1, STEPS))
        curve = Curve("Success curve of nil after these bids", "nil value", "chance", points, (value, chance))
    threshold = float(threshold_row(state, bidder, takes, covered))
    worth = 200 * chance - 100
    facts += [
        ("nil value", f"{value:.2f}"),
        ("chance that nil succeeds", f"{chance:.0%}"),
        ("nil is worth", f"{worth:+.0f} points"),
        ("... and is bid above", f"{threshold:+.0f} points"),
    ]
    text = (
        "Nil beats its threshold." if worth > threshold else f"Nil is not worth it; the hand takes about {takes:.1f}."
    )
    return Explanation(text=text, facts=tuple(facts), curve=curve)


PER_CENT = "% of games, beside "


@when_compiled()
def _explain_learned_bid(state: State, bidder: State, lookup: State) -> Explanation:
    """What the network gives each bid it considers, beside the best."""
    hand, values = int(state["hands"][state["turn"]]), np.empty(CHOICES, np.float32)
    x = np.empty(FEATURES, np.float32)
    regular = int(features_row(state, hand, bidder, lookup, x))
    forward_row(x, lookup, np.empty((2, HIDDEN), np.float32), values)
    legal, found = int(legal_bids_row(state, hand)), {}
    for choice in map(int, np.argsort(values)):
        bid = int(nearest_row(legal, choice_bid_row(choice, regular)))
        found[bid] = (100 * float(values[choice] - values.max()), float("nan"))
    facts = (("takes after earlier bids", f"{3 * float(x[0]):.2f}"), ("nil value", f"{float(x[1]):.2f}"))
    return Explanation(
        text="Bids what the network values most.", values=found, unit=PER_CENT + "the choice taken", facts=facts
    )


@when_compiled()
def explain_learned_play(state: State, worlds: int, lookup: State, rng: Streams) -> Explanation:
    """What the network gives each card beside the best; with search what the ``worlds`` that were tried say."""
    held, values, seen = int(state["held"][state["turn"]]), np.empty(13, np.float32), new_seen_row()
    number, own = map(int, think_row(state, held, lookup, seen, values))
    cards = [FIRST_CARD + int(card) for card in seen.cards[:number]]
    if number == 1 or not worlds:
        found = {card: (100 * float(values[k] - values[own]), float("nan")) for k, card in enumerate(cards)}
        text = "Plays what the network values most."
        return Explanation(text=text, values=found, unit=PER_CENT + "the choice taken")
    gains, errors, key = np.empty(13), np.empty(13), rng.keys[0]
    workspace = Workspace(allocate(STATE, 2), allocate(VIEW, 1))
    compare_row(state, held, worlds, seen, number, own, lookup, key, workspace, gains, errors)
    found = {card: (100 * float(gains[k]), 100 * float(errors[k])) for k, card in enumerate(cards)}
    text = f"Tries its cards on {worlds} deals; the network would play the one at 0."
    return Explanation(text=text, values=found, unit=PER_CENT + "the network's card")


def explain_play(state: State, kind: str) -> Explanation:
    """The goal of the moment, and what the contract lacks."""
    situation = situation_row(state, int(state["held"][state["turn"]]), kind != "wrp")
    facts = [("goal", GOALS[int(goal_row(situation))]), ("tricks still needed", str(max(0, int(situation.need))))]
    if int(state["variant"]) == PARTNERSHIP:
        facts.append(("kind of round", ROUND_TYPES[int(round_type_row(state, int(state["turn"])))]))
    return Explanation(text=f"Plays by {kind.upper()}.", facts=tuple(facts))


@when_compiled()
def explain_search(state: State, infer: int, lookup: State, rng: Streams) -> Explanation:
    """UCT's estimate of each card without its tree: all cards in the same worlds, each played out by SRP."""
    held, side = int(state["held"][state["turn"]]), int(state["turn"]) % int(state["sides"])
    cards = hand_cards(int(legal_cards_row(state, held)))
    states = allocate(STATE, 3)
    workspace, trial, key = Workspace(states[:2], allocate(VIEW, 1)), states[2:], rng.keys[0]
    open_workspace_row(state, held, infer, workspace.views[0])
    gaps, samples = np.empty((WORLDS, len(cards))), []
    for n in range(WORLDS):
        key = np.uint64(imagine_row(state, infer, lookup, key, workspace))
        samples.append({seat: int(states[0]["held"][seat]) for seat in range(4) if seat != int(state["turn"])})
        for k, card in enumerate(cards):
            trial[0] = states[0]
            play_row(trial[0], card)
            rollout_row(trial[0])
            gaps[n, k] = gap_row(trial[0], side)
    errors = gaps.std(axis=0, ddof=1) / np.sqrt(WORLDS)
    values = {FIRST_CARD + card: (float(gaps[:, k].mean()), float(errors[k])) for k, card in enumerate(cards)}
    text = f"Deals the unseen cards {WORLDS} times and plays each card out by SRP."
    return Explanation(
        text=text, values=values, unit="points ahead at the end of the round", samples=tuple(samples[:3])
    )
