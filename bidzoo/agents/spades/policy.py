"""The Spades agents as policies: a bidder and a player, each a kind and its numbers, which act and explain themselves.

The numbers stand in a record, so that one kernel bids for any bidder and one plays for any player.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np

from bidzoo.agents.explanation import Curve, Explanation
from bidzoo.agents.spades.bis import (
    bis_row,
    chance_row,
    factor_row,
    hand_nil_value_row,
    hand_takes_row,
    nearest_row,
    offered_row,
    sequence_row,
    threshold_row,
)
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    choice_bid_row,
    compare_row,
    features_row,
    forward_row,
    learned_card_row,
    learned_row,
    load_network,
    new_seen_row,
    searched_card_row,
    think_row,
)
from bidzoo.agents.spades.lookup import LOOKUP, shipped_lookup, with_parts
from bidzoo.agents.spades.rule_based import io_row, ms_row, rb_row
from bidzoo.agents.spades.situation import ROUND_TYPES, goal_row, round_type_row, situation_row
from bidzoo.agents.spades.srp import srp_row, wrp_row
from bidzoo.agents.spades.uct import (
    Workspace,
    open_workspace_row,
    rollout_row,
    sample_world_row,
    uct_bid_row,
    uct_card_row,
)
from bidzoo.core.bits import pick_row
from bidzoo.core.calls import Call
from bidzoo.core.cards import hand_cards
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import I8, I64, U64, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.options import Checked, Count, Length, Range, Share, Weight, Whole, checked, takes
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import Answer, AtTable
from bidzoo.envs.spades.bidding import legal_bids_row
from bidzoo.envs.spades.play import legal_cards_row, play_row
from bidzoo.envs.spades.score import gap_row
from bidzoo.envs.spades.state import BIDDING, CUTTHROAT, FIRST_CARD, LOOK, PARTNERSHIP, PLAY, STATE, VIEW, known_row


def _record(fields: Any, **codes: int) -> States:
    """The dataclass ``fields`` as a record ``[1]``, each ``f8`` or ``i8`` like its default; ``codes`` for its texts."""
    defaults = {name: np.asarray(value) for name, value in vars(type(fields)()).items()}
    kinds = [(name, "f8" if value.dtype.kind == "f" else "i8", value.shape) for name, value in defaults.items()]
    record = allocate(np.dtype(kinds, align=True), 1)
    for name, value in {**vars(fields), **codes}.items():
        record[name][0] = value
    return record


# ---- bidders ---------------------------------------------------------------------------------

BidderName = Literal["bis", "rb", "ms", "io", "random", "uct", "learned"]
BIDDERS: tuple[BidderName, ...] = get_args(BidderName)
BIS, RB, MS, IO, UNIFORM, UCT, LEARNED = range(7)

# docs/agents/bis.md and rb.md say how these were found.
_BIS: dict[str, Any] = {"bias": (-0.4,) * 4, "slope": -0.1}
CALIBRATED = {"bis": _BIS, "learned": _BIS, "uct": _BIS, "rb": {"bias": (-0.38,) * 4}}


Rank = Annotated[int, Range(0, 14)]  # 11 is the jack; 0 is below every card
NilLimits = Annotated[tuple[Rank, ...], Length(3, 3)]
PRINTED_LIMITS = (5, 8, 10)  # F.2


@dataclass(frozen=True)
class Bidder(Checked):
    """A bidding algorithm. Only ``kind`` matters to IO and random, RB reads ``bias``, ``slope`` and ``nil_limits``."""

    kind: BidderName = "bis"  # the algorithm
    nil_threshold: float = 25.0  # points (section 4)
    single_curve: bool = False  # 5.3.1: one success curve whatever was bid before
    endgame: bool = True  # it bids for the end of a game (4.4, G.1)
    conventions: bool = True  # Big 5 and Big 6 (G.2)
    blind: bool = True  # it bids blind nil (G.3)
    bid_sensitive: bool = False  # BIS*, 5.3.3
    bias: Annotated[tuple[float, ...], Length(4, 4)] = (0.0,) * 4  # added to the takes of the 1st ... 4th bidder
    slope: float = 0.0  # added to the takes for each trick that the earlier bids are above their mean
    nil_limits: NilLimits = PRINTED_LIMITS  # RB, MS: highest rank of a suit's lowest three cards
    noise: Share = 0.0  # chance of an exploring bid (4.3)
    iterations: Count = 200  # rollouts a bid of UCT
    infer: bool = False  # UCT weights deals by the bids already made
    exploration: Weight = 1.0  # C of UCT, in spreads of the points gap

    @classmethod
    def named(cls, kind: BidderName, **changes: Any) -> "Bidder":
        """The bidder of that kind with the calibrated ``bias`` and ``slope`` the paper does not give."""
        return cls(kind=kind, **{**CALIBRATED.get(kind, {}), **changes})

    def record(self) -> States:
        """The numbers as kernels read them, ``[1]``."""
        return _record(self, kind=BIDDERS.index(self.kind), infer=2 * int(self.infer))


@row
def bid_choice_row(state: State, hand: int, bidder: State, lookup: State, key: np.uint64, workspace: Workspace) -> int:
    """The bidding action of the seat to bid, which holds ``hand``; ``workspace`` for UCT."""
    if bidder.kind == BIS:
        return bis_row(state, hand, bidder, lookup, key)
    if bidder.kind == UNIFORM:
        return pick_row(legal_bids_row(state, hand), key)
    if not state.looked >> int(state.turn) & 1:
        return LOOK
    if bidder.kind == RB:
        return rb_row(state, hand, bidder)
    if bidder.kind == MS:
        return ms_row(state, hand, bidder)
    if bidder.kind == IO:
        return io_row(state, hand)
    if bidder.kind == LEARNED:
        return learned_row(state, hand, bidder, lookup, key)
    return uct_bid_row(state, hand, bidder, lookup, key, workspace)


# ---- players ---------------------------------------------------------------------------------

WORLDS = 40  # of the agent ``learned-search``
PlayerName = Literal["srp", "wrp", "uct", "random", "learned"]
PLAYERS: tuple[PlayerName, ...] = get_args(PlayerName)
SRP, WRP, UCT_PLAYER, RANDOM, LEARNED_PLAYER = range(5)

Inference = Literal["none", "voids", "bids"]
INFERENCES: tuple[Inference, ...] = get_args(Inference)
Tricks = Annotated[int, Range(0, 13)]


@dataclass(frozen=True)
class Player(Checked):
    """A playing algorithm; the fields after ``kind`` are for "uct", the last two and ``last`` for "learned"."""

    kind: PlayerName = "srp"
    last: Tricks = 13  # UCT(X): X
    iterations: Count = 300  # rollouts a card
    infer: Inference = "none"  # "none" deals unseen cards uniformly (the paper); "voids"; "bids": voids and bids
    exploration: Weight = 1.0  # C of Algorithm 2, in spreads of the points gap
    worlds: Whole = 0  # deals on which "learned" tries its cards; 0: no search
    certain: Weight = 1.0  # standard errors by which another card must be better there

    def record(self) -> States:
        """The numbers as kernels read them, ``[1]``."""
        return _record(self, kind=PLAYERS.index(self.kind), infer=INFERENCES.index(self.infer))


@row
def late_row(state: State, player: State) -> bool:
    """It is one of the last tricks, in which ``player`` searches."""
    return 13 - state.plays // 4 <= player.last


@row
def card_choice_row(state: State, held: int, player: State, lookup: State, key: np.uint64, workspace: Workspace) -> int:
    """The card of the seat to play, which holds ``held``; ``workspace`` for UCT."""
    if player.kind == WRP:
        return wrp_row(state, held)
    if player.kind == RANDOM:
        return pick_row(legal_cards_row(state, held), key)
    if player.kind == LEARNED_PLAYER:
        if player.worlds and late_row(state, player):
            return searched_card_row(state, held, player, lookup, key, workspace)
        return learned_card_row(state, held, lookup)
    if player.kind == UCT_PLAYER and late_row(state, player):
        return uct_card_row(state, held, player, lookup, key, workspace)
    return srp_row(state, held)


# ---- the numbers behind a bid and behind a card ----------------------------------------------
# Every ``state`` is what the seat on turn knows (``known_row``).

GOALS = ("keep the nil", "cover partner's nil", "take tricks", "avoid tricks")
STEPS = 41  # points of a curve
TRIALS = 60  # deals on which every card of UCT is played out


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
    value_of_nil = 200 * chance - 100
    facts += [
        ("nil value", f"{value:.2f}"),
        ("chance that nil succeeds", f"{chance:.0%}"),
        ("value of nil", f"{value_of_nil:+.0f} points"),
        ("... and is bid above", f"{threshold:+.0f} points"),
    ]
    text = (
        "Nil beats its threshold."
        if value_of_nil > threshold
        else f"Nil does not beat its threshold; the hand takes about {takes:.1f}."
    )
    return Explanation(text=text, facts=tuple(facts), curve=curve)


PER_CENT = "% of games, beside "


@when_compiled()
def _explain_learned_bid(state: State, bidder: State, lookup: State) -> Explanation:
    """The value of each bid that the network considers, relative to the best."""
    hand, values = int(state["hands"][state["turn"]]), np.empty(CHOICES, np.float32)
    x = np.empty(FEATURES, np.float32)
    regular = int(features_row(state, hand, bidder, lookup, x))
    forward_row(x, lookup, np.empty((2, HIDDEN), np.float32), values)
    legal, estimates = int(legal_bids_row(state, hand)), {}
    for choice in map(int, np.argsort(values)):
        bid = int(nearest_row(legal, choice_bid_row(choice, regular)))
        estimates[bid] = (100 * float(values[choice] - values.max()), float("nan"))
    facts = (("takes after earlier bids", f"{3 * float(x[0]):.2f}"), ("nil value", f"{float(x[1]):.2f}"))
    return Explanation(
        text="Bids what the network values most.", values=estimates, unit=PER_CENT + "the choice taken", facts=facts
    )


@when_compiled()
def explain_learned_play(state: State, worlds: int, lookup: State, rng: Streams) -> Explanation:
    """The network's value of each card relative to the best; with search, the mean gain of each on ``worlds`` deals."""
    held, values, seen = int(state["held"][state["turn"]]), np.empty(13, np.float32), new_seen_row()
    number, baseline = map(int, think_row(state, held, lookup, seen, values))
    cards = [FIRST_CARD + int(card) for card in seen.cards[:number]]
    if number == 1 or not worlds:
        estimates = {card: (100 * float(values[k] - values[baseline]), float("nan")) for k, card in enumerate(cards)}
        text = "Plays what the network values most."
        return Explanation(text=text, values=estimates, unit=PER_CENT + "the choice taken")
    gains, errors, key = np.empty(13), np.empty(13), rng.keys[0]
    workspace = Workspace(allocate(STATE, 2), allocate(VIEW, 1))
    compare_row(state, held, worlds, seen, number, baseline, lookup, key, workspace, gains, errors)
    estimates = {card: (100 * float(gains[k]), 100 * float(errors[k])) for k, card in enumerate(cards)}
    text = f"Tries its cards on {worlds} deals; the network would play the one at 0."
    return Explanation(text=text, values=estimates, unit=PER_CENT + "the network's card")


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
    gaps, samples = np.empty((TRIALS, len(cards))), []
    for n in range(TRIALS):
        key = np.uint64(sample_world_row(state, infer, lookup, key, workspace))
        samples.append({seat: int(states[0]["held"][seat]) for seat in range(4) if seat != int(state["turn"])})
        for k, card in enumerate(cards):
            trial[0] = states[0]
            play_row(trial[0], card)
            rollout_row(trial[0])
            gaps[n, k] = gap_row(trial[0], side)
    errors = gaps.std(axis=0, ddof=1) / np.sqrt(TRIALS)
    values = {FIRST_CARD + card: (float(gaps[:, k].mean()), float(errors[k])) for k, card in enumerate(cards)}
    text = f"Deals the unseen cards {TRIALS} times and plays each card out by SRP."
    return Explanation(
        text=text, values=values, unit="points ahead at the end of the round", samples=tuple(samples[:3])
    )


# ---- policies --------------------------------------------------------------------------------


@row
def action_row(
    view: State, key: np.uint64, bidder: State, player: State, lookup: State, states: States, spare: States
) -> int:
    """The action of the seat to act; ``states`` ``[3]`` and ``spare`` ``[1]`` are scratch. 0 once the game is over."""
    state = states[0]
    known_row(view, state)
    workspace = Workspace(states[1:3], spare)
    if view.phase == BIDDING:
        return int(bid_choice_row(state, view.hand, bidder, lookup, key, workspace))
    if view.phase == PLAY:
        return int(FIRST_CARD + card_choice_row(state, view.held_here, player, lookup, key, workspace))
    return 0


@row
def _act_one(
    views: States, keys: U64, bidder: States, player: States, lookup: States, states: States, spare: States
) -> int:
    return int(action_row(views[0], keys[0], bidder[0], player[0], lookup[0], states, spare))


@batched
@rows_a_thread(64)
def _act(
    start: int,
    stop: int,
    views: States,
    keys: U64,
    bidder: States,
    player: States,
    lookup: States,
    states: States,
    spare: States,
    out: I64,
) -> None:
    for b in range(start, stop):
        scratch, one = states[3 * b : 3 * b + 3], spare[b : b + 1]
        out[b] = action_row(views[b], keys[b], bidder[0], player[0], lookup[0], scratch, one)


class SpadesPolicy(AtTable):
    """Bids by one algorithm and plays by another; any variant of ``spades_v0``, any phase.

    Args:
        bidder: one of ``BIDDERS``, or such a bidder with its numbers.
        player: one of ``PLAYERS``, or such a player with its numbers.
        lookup: the record they look up in (see ``lookup.py``); default: the shipped one.
    """

    @checked
    def __init__(
        self, bidder: BidderName | Bidder = "bis", player: PlayerName | Player = "srp", lookup: State | None = None
    ) -> None:
        if lookup is not None and getattr(lookup, "dtype", None) != LOOKUP:
            raise ValueError(f"lookup {lookup!r}: expected a record as of lookup.shipped_lookup()")
        self.bidder = Bidder.named(bidder) if isinstance(bidder, str) else bidder
        self.player = Player(player) if isinstance(player, str) else player
        self.name = f"{self.bidder.kind}+{self.player.kind}" + "-search" * (self.player.worlds > 0)
        # records ``[1]``, as kernels read them
        self.bidder_record, self.player_record = self.bidder.record(), self.player.record()
        self.lookup = allocate(LOOKUP, 1)
        self.lookup[0] = shipped_lookup() if lookup is None else lookup

    def __repr__(self) -> str:
        return f"<SpadesPolicy {self.name}>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; ``legal`` is not needed, the rules are known. ``rng`` serves UCT and random."""
        out = np.zeros(len(views), np.int64)
        states, spare = allocate(STATE, 3 * len(views)), allocate(VIEW, len(views))
        playing = bool((views["phase"] == PLAY).any())
        searches = self.bidder.kind == "uct" or (playing and (self.player.kind == "uct" or self.player.worlds > 0))
        with when_compiled() if searches else nullcontext():  # minutes as plain Python
            _act(views, rng.keys, self.bidder_record, self.player_record, self.lookup, states, spare, out)
        return out

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        if "uct" in (self.bidder.kind, self.player.kind) or self.player.worlds:
            return None  # a search waits for its kernels to be compiled
        scratch = allocate(STATE, 3), allocate(VIEW, 1)
        return Call(_act_one, views, keys, self.bidder_record, self.player_record, self.lookup, *scratch)

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """BIS's takes, nil value and curve, or a network's values; in the play SRP's goal, rollouts or values."""
        state = allocate(STATE, 1)[0]
        known_row(views[0], state)
        if int(state["phase"]) == BIDDING:
            return explain_bid(state, self.bidder.kind, self.bidder_record[0], self.lookup[0])
        late = bool(late_row(state, self.player_record[0]))
        if self.player.kind == "uct" and late:
            return explain_search(state, int(self.player_record["infer"][0]), self.lookup[0], rng)
        if self.player.kind == "learned":
            return explain_learned_play(state, self.player.worlds if late else 0, self.lookup[0], rng)
        return explain_play(state, self.player.kind)


io = partial(SpadesPolicy, "io")  # the bids of cardgames.io
srp = partial(SpadesPolicy, player="srp")
wrp = partial(SpadesPolicy, player="wrp")


@checked
def rb(
    player: PlayerName | Player = "srp", nil_limits: NilLimits = PRINTED_LIMITS, lookup: State | None = None
) -> SpadesPolicy:
    """The rule-based bidder of the paper.

    Args:
        player: who plays the cards.
        nil_limits: the highest rank that the lowest, the second and the third lowest card of each suit may have if it
            bids nil; 11 is the jack. With the printed limits it bids nil with 1.4 % of hands, with ``(7, 11, 12)`` as
            often as BIS.
        lookup: the lookup record (see ``lookup.py``); default: the shipped one.
    """
    return SpadesPolicy(Bidder.named("rb", nil_limits=nil_limits), player, lookup)


@checked
def ms(
    player: PlayerName | Player = "srp", nil_limits: NilLimits = PRINTED_LIMITS, lookup: State | None = None
) -> SpadesPolicy:
    """The bids of the book Master Spades, with the nil rule of ``rb``.

    Args:
        player: who plays the cards.
        nil_limits: as of ``rb``.
        lookup: the lookup record (see ``lookup.py``); default: the shipped one.
    """
    return SpadesPolicy(Bidder.named("ms", nil_limits=nil_limits), player, lookup)


@takes(Bidder)
@checked
def bis(player: PlayerName = "srp", **components: Any) -> SpadesPolicy:
    """BIS.

    Args:
        player: who plays the cards.
        components: fields of ``Bidder``, which switch parts of it off.
    """
    return SpadesPolicy(Bidder.named("bis", **components), player)


@checked
def uct(
    bidder: BidderName = "bis",
    last: Tricks = 13,
    iterations: Count = 300,
    infer: Inference = "none",
    exploration: Weight = 1.0,
) -> SpadesPolicy:
    """UCT in the last tricks, SRP before.

    Args:
        bidder: who bids; ``"uct"`` searches for its bids too.
        last: it searches in the last so many tricks.
        iterations: rollouts a decision.
        infer: what deals of the unseen cards agree with beside the cards played: nothing, voids, or bids too.
        exploration: C of UCT, in spreads of the points gap.
    """
    return SpadesPolicy(bidder, Player("uct", last, iterations, infer, exploration))


@checked
def learned(
    weights: str | Path | None = None,
    player: PlayerName = "learned",
    worlds: Whole = 0,
    last: Tricks = 13,
    certain: Weight = 1.0,
    lookup: State | None = None,
) -> SpadesPolicy:
    """Bids and cards by networks (beyond the paper).

    Args:
        weights: a file of ``experiments/learned_training.py``; default: the packaged one.
        player: ``"learned"``, or another of ``PLAYERS``, which plays what the network has bid.
        worlds: deals of the unseen cards on which it tries its cards before it plays one; 0: no search.
        last: it searches in the last so many tricks.
        certain: standard errors by which another card must then be better than the network's.
        lookup: the rest of its lookup record (see ``lookup.py``); default: the shipped one.

    Raises:
        ValueError: settings of the search for another ``player``, which does not search.
    """
    if player != "learned" and (worlds, last, certain) != (0, 13, 1.0):
        raise ValueError(f"player {player!r} tries no cards: expected no worlds, last and certain, or player 'learned'")
    card_player = Player("learned", last, certain=certain, worlds=worlds) if player == "learned" else player
    if weights is not None:
        lookup = with_parts(shipped_lookup() if lookup is None else lookup, **load_network(weights))
    return SpadesPolicy("learned", card_player, lookup)


@checked
def learned_search(
    worlds: Count = WORLDS,
    last: Tricks = 13,
    certain: Weight = 1.0,
    weights: str | Path | None = None,
    lookup: State | None = None,
) -> SpadesPolicy:
    """``learned``, which tries its cards at the table.

    Args:
        worlds: deals of the unseen cards on which it tries its cards before it plays one.
        last: it searches in the last so many tricks.
        certain: standard errors by which another card must then be better than the network's.
        weights: a file of ``experiments/learned_training.py``; default: the packaged one.
        lookup: the rest of its lookup record (see ``lookup.py``); default: the shipped one.
    """
    return learned(weights, "learned", worlds, last, certain, lookup)
