"""The numbers behind a Spades bid (takes, nil value, success curve of the earlier bids), and the goal in the play."""

import numpy as np

from bidzoo.agents.spades.bidder import KINDS
from bidzoo.agents.spades.bis import (
    factor_row,
    hand_nil_value_row,
    hand_takes_row,
    offered_row,
    threshold_row,
)
from bidzoo.agents.spades.curves import chance_row, sequence_row
from bidzoo.agents.spades.goal import ROUND_TYPES, goal_row, round_type_row
from bidzoo.agents.spades.policy import SpadesPolicy
from bidzoo.agents.spades.sight import sight_row
from bidzoo.agents.spades.uct import Desk, gap_row, imagine_row, open_desk_row, rollout_row
from bidzoo.agents.thoughts import Curve, Thoughts
from bidzoo.cards import hand_cards
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.state import BIDDING, CUTTHROAT, FIRST_CARD, PARTNERSHIP, STATE, VIEW
from bidzoo.kernels import Table, Tables, allocate
from bidzoo.streams import Streams

GOALS = ("keep the nil", "cover partner's nil", "take tricks", "avoid tricks")
STEPS = 41  # points of a curve
WORLDS = 60  # deals in which every card of UCT is tried


def spades_thoughts(policy: SpadesPolicy, views: Tables, rng: Streams) -> Thoughts:
    """BIS's takes, nil value and success curve in the bidding; SRP's goal, or UCT's rollouts, in the play."""
    view = views[0]
    if int(view["phase"]) == BIDDING:
        if not int(view["looked"]) >> int(view["seat"]) & 1:
            return Thoughts(text="It has not looked at its hand yet.")
        return _bid(policy, views)
    if policy.player.kind == "uct" and 13 - int(view["plays"]) // 4 <= policy.player.last:
        return _search(policy, views, rng)
    return _play(policy, views)


def _bid(policy: SpadesPolicy, views: Tables) -> Thoughts:
    view, bidder, book = views[0], policy.bidder.record(), policy._books[0]
    hand = int(view["hand"])
    raw = float(hand_takes_row(view, hand, book))
    takes = raw + float(factor_row(view, bidder))
    facts = [("takes of the hand", f"{raw:.2f}"), ("takes after earlier bids", f"{takes:.2f}")]
    if policy.bidder.kind != KINDS[0]:
        return Thoughts(text=f"Bids by the rules of {policy.bidder.kind.upper()}.", facts=tuple(facts[:1]))
    covered = bool(bidder["conventions"]) and bool(offered_row(view))
    value = float(hand_nil_value_row(view, hand, book, covered))
    curve, chance = None, value
    if int(view["variant"]) != CUTTHROAT:
        line = book["curves"][int(bidder["curve"]), int(sequence_row(view))]
        chance = float(chance_row(line, value))
        points = tuple((float(x), float(chance_row(line, float(x)))) for x in np.linspace(0, 1, STEPS))
        curve = Curve("Success curve of nil after these bids", "nil value", "chance", points, (value, chance))
    threshold = float(threshold_row(view, bidder, takes, covered))
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
    return Thoughts(text=text, facts=tuple(facts), curve=curve)


def _play(policy: SpadesPolicy, views: Tables) -> Thoughts:
    view: Table = views[0]
    sight = sight_row(view, int(view["held_here"]), policy.player.kind != "wrp")
    facts = [("goal", GOALS[int(goal_row(sight))]), ("tricks still needed", str(max(0, int(sight.need))))]
    if int(view["variant"]) == PARTNERSHIP:
        facts.append(("kind of round", ROUND_TYPES[int(round_type_row(view, int(view["seat"])))]))
    return Thoughts(text=f"Plays by {policy.player.kind.upper()}.", facts=tuple(facts))


def _search(policy: SpadesPolicy, views: Tables, rng: Streams) -> Thoughts:
    """UCT's estimate of each card without its tree: all cards in the same worlds, each played out by SRP."""
    view, player, book = views[0], policy.player.record(), policy._books[0]
    held, side = int(view["held_here"]), int(view["turn"]) % int(view["sides"])
    cards = hand_cards(int(legal_cards_row(view, held)))
    states = allocate(STATE, 3)
    desk, trial = Desk(states[:2], allocate(VIEW, 1)), states[2:]
    infer, key = int(player["infer"]), rng.keys[0]
    open_desk_row(view, held, infer, desk.views[0])
    gaps, samples = np.empty((WORLDS, len(cards))), []
    for n in range(WORLDS):
        key = np.uint64(imagine_row(view, infer, book, key, desk))
        samples.append({seat: int(states[0]["held"][seat]) for seat in range(4) if seat != int(view["seat"])})
        for k, card in enumerate(cards):
            trial[0] = states[0]
            play_row(trial[0], card)
            rollout_row(trial[0], key)
            gaps[n, k] = gap_row(trial[0], side)
    errors = gaps.std(axis=0, ddof=1) / np.sqrt(WORLDS)
    values = {FIRST_CARD + card: (float(gaps[:, k].mean()), float(errors[k])) for k, card in enumerate(cards)}
    text = f"Deals the unseen cards {WORLDS} times and plays each card out by SRP."
    return Thoughts(text=text, values=values, unit="points ahead at the end of the round", samples=tuple(samples[:3]))
