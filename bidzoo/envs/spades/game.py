"""Spades as a ``Game``: whole games, single rounds, or the bidding alone with a module that plays the cards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from bidzoo.core.calls import Call
from bidzoo.core.cards import HAND_SIZE, NUM_CARDS, seat_number
from bidzoo.core.kernels import I64, U64, State, States, allocate
from bidzoo.core.options import index_of, truth, whole
from bidzoo.envs.engine import KernelGame
from bidzoo.envs.game import (
    Bits,
    Buffers,
    Encoder,
    Game,
    Moves,
    MovesAt,
    Table,
    choose_encoder,
    read_board,
    read_deal,
    read_options,
)
from bidzoo.envs.picture import Picture
from bidzoo.envs.spades import engine
from bidzoo.envs.spades.deals import deck_card_number, deck_card_played, deck_hand_text, open_row
from bidzoo.envs.spades.determinize import determinize
from bidzoo.envs.spades.observation import encoders, state_encoder
from bidzoo.envs.spades.players import PlayingModule, check_player, playing_module
from bidzoo.envs.spades.render import picture, text
from bidzoo.envs.spades.score import BAG_LIMIT
from bidzoo.envs.spades.state import (
    BLIND_NIL,
    CUTTHROAT,
    DECKS,
    FAILED_NIL,
    FIRST_CARD,
    LOOK,
    NIL,
    NO_GOAL,
    NUM_ACTIONS,
    NUM_BIDDING_ACTIONS,
    PARTNERSHIP,
    PLAY,
    STATE,
    VARIANTS,
    VIEW,
    views,
)

MOST_POINTS = 100_000  # of a goal or a score, so that no sum leaves int32
PHASES, EPISODES, REWARDS = ("game", "round", "bidding"), ("game", "round"), ("win", "points")
_NAMES = {NIL: "nil", BLIND_NIL: "blind nil", LOOK: "look"}
_MOST_A_ROUND = 2 * 200 + 13  # two blind nils and every trick a bag; no other round moves a side further


def _read_scores(sides: int, value: Any) -> I64:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != sides:
        raise ValueError(f"{value!r} is not {sides} scores, one for each side")
    scores = np.zeros(4, np.int64)
    for side, score in enumerate(value):
        scores[side] = whole(f"side {side}", score, -MOST_POINTS, MOST_POINTS)
    return scores


@dataclass(eq=False, repr=False)
class Spades(KernelGame):
    """``spades_v0``; actions 0 ... 13 bid (0 is nil), 14 is blind nil, 15 looks at the hand, 16 + card plays it.

    Args:
        phase: ``"game"`` and ``"round"``: the agents bid and play; ``"bidding"``: they bid, ``player`` plays.
        episode: ``"game"`` until a goal, or one ``"round"``; None is what ``phase`` says, a game for ``"bidding"``.
        variant: one of ``VARIANTS``.
        deck: one of ``DECKS``.
        win_goal: points that end a game.
        lose_goal: points that end a game from below; None: none.
        max_rounds: the game ends after so many rounds in any case.
        bag_penalty: points lost with ten bags: 110 as in the paper's example, 100 by the common rule.
        failed_nil: what the tricks of a failed nil are, one of ``FAILED_NIL``.
        blind_nil: whether a player may bid nil before seeing the hand.
        blind_deficit: points its side must trail by for that.
        reward: ``"win"``: 1 or -1 (cutthroat: 1 or -1/3), 0 for a draw; ``"points"``: the difference of points
            (cutthroat: from the mean of the others) in the round or at the end of the game.
        player: who plays the cards with ``phase="bidding"``, see ``players.py``: a name, a policy of the whole game, or
            a function of the observation ``"full"`` and the mask of all actions.
        observation: name of an encoder; default ``"bidding"`` with ``phase="bidding"``, else ``"full"``.

    Raises:
        ValueError: an unknown name, or a number out of range.
    """

    phase: Literal["game", "round", "bidding"] = "game"
    episode: Literal["game", "round"] | None = None
    variant: str = "partnership"
    deck: str = "standard"
    win_goal: int = 500
    lose_goal: int | None = None
    max_rounds: int = 50
    bag_penalty: int = 110
    failed_nil: str = "bags"
    blind_nil: bool = False
    blind_deficit: int = 0
    reward: Literal["win", "points"] = "win"
    player: str | PlayingModule | Any = "srp"
    observation: str | None = None

    id, family = "spades_v0", "spades"
    num_players = 4
    utility = "zero_sum"
    state, view, kernels = STATE, VIEW, engine.kernels

    def __post_init__(self) -> None:
        bidding = self.phase == "bidding"
        index_of("phase", self.phase, PHASES)
        if self.episode is None:
            self.episode = "round" if self.phase == "round" else "game"
        index_of("episode", self.episode, EPISODES)
        if self.phase == "round" and self.episode == "game":
            raise ValueError("phase 'round' is an episode of one round; use phase 'game' for a game")
        rounds = 1 if self.episode == "round" else self.max_rounds
        self.blank = self._blank(rounds)
        self._sides, self._deck = int(self.blank["sides"][0]), int(self.blank["deck"][0])
        check_player(self.player)
        available = encoders(self._sides, self._deck)
        self.module = playing_module(self.player, available["full"]) if bidding else None  # plays the cards
        self.plays_random = self.module is None
        self.num_actions = NUM_BIDDING_ACTIONS if bidding else NUM_ACTIONS
        self.max_turns = rounds * (8 + (0 if bidding else NUM_CARDS))
        self.encoders = {name: available[name] for name in (("bidding", "full") if bidding else ("full", "bidding"))}
        self.encoder = choose_encoder(self.encoders, self.observation)
        self._source = self.blank
        self._rules = engine.Rules(reward=index_of("reward", self.reward, REWARDS), code=self.encoder.code)
        # bounds, not reached, of a difference of points from 0:0
        penalties = (BAG_LIMIT - 1 + HAND_SIZE) // BAG_LIMIT  # of a side in a round at most
        most = 1.0 if self.reward == "win" else rounds * (2.0 * _MOST_A_ROUND + penalties * self.bag_penalty)
        self.reward_range = (-most, most)

    def _blank(self, rounds: int) -> States:
        """A state ``[1]`` with these rules, checked, before its first deal: nobody with a point."""
        blank = allocate(STATE, 1)
        state = blank[0]
        state["variant"] = index_of("variant", self.variant, VARIANTS)
        state["deck"] = index_of("deck", self.deck, DECKS)
        state["failed_nil"] = index_of("failed_nil", self.failed_nil, FAILED_NIL)
        state["sides"] = 4 if state["variant"] == CUTTHROAT else 2
        state["blind_nil"] = truth("blind_nil", self.blind_nil)
        if self.blind_nil and state["variant"] not in (PARTNERSHIP, CUTTHROAT):
            raise ValueError(f"blind_nil: there is no blind nil in {self.variant}")
        state["blind_deficit"] = whole("blind_deficit", self.blind_deficit, -MOST_POINTS, MOST_POINTS)
        state["bag_penalty"] = penalty = whole("bag_penalty", self.bag_penalty, 0, 1000)
        if penalty % BAG_LIMIT:
            raise ValueError(f"bag_penalty {penalty}: expected tens of points (the units digit of a score is its bags)")
        state["win_goal"] = goal = whole("win_goal", self.win_goal, -MOST_POINTS, MOST_POINTS)
        lose = NO_GOAL if self.lose_goal is None else whole("lose_goal", self.lose_goal, -MOST_POINTS, goal - 1)
        state["lose_goal"] = lose
        state["max_rounds"] = whole("max_rounds", rounds, 1, 10_000)
        state["winner"] = -1
        state["last_bids"][:] = -1
        state["last_won"][:] = -1
        return blank

    @cached_property
    def state_encoder(self) -> Encoder:
        return state_encoder(self.phase != "bidding", self._sides, self._deck)

    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int = 0, seats: int = 0) -> None:
        if self.module is None:
            super().step(states, actions, seed, out, stride, seats)
            return
        self.kernels.take(states, actions, self._rules, out.over)
        self.module.finish(states)
        self.kernels.follow(states, out.over, seed, stride, self._rules, self._source, out)

    def moves(self, states: States, out: Buffers) -> Moves:
        return super().moves(states, out) if self.module is None else Game.moves(self, states, out)

    def packed_moves(self, states: States, out: Buffers, bits: Bits) -> Moves:
        if self.module is None:
            return super().packed_moves(states, out, bits)
        return Game.packed_moves(self, states, out, bits)

    def moves_at(self, table: Table) -> MovesAt:
        moves, module = super().moves_at(table), self.module
        if module is None:
            return moves
        states, out = table.states, table.out

        def step(action: int, seed: int, seats: int) -> None:
            out.over[0] = self.kernels.take_row(states[0], action, self._rules)
            if states["phase"][0] == PLAY:
                module.finish(states)
            self.kernels.follow(states, out.over, seed, 0, self._rules, self._source, out)

        return moves._replace(step=Call(step))

    def views(self, states: States, players: I64, out: States) -> None:
        views(states, players, out)

    def determinize(self, views: States, keys: U64, out: States) -> None:
        """As ``Game`` says; the deals of later rounds are random too."""
        determinize(views, keys, out)

    def action_text(self, action: int) -> str:
        """``"nil"``, ``"4"``, ``"blind nil"``, ``"look"``; cards suit first, ``"SA"``; jokers ``"BJ"`` and ``"LJ"``."""
        whole("action", action, 0, self.num_actions - 1)
        if action < FIRST_CARD:
            return _NAMES.get(action, str(action))
        return deck_card_played(self._deck, action - FIRST_CARD)

    def action_number(self, text: str) -> int:
        word = " ".join(str(text).lower().split())
        for action in range(FIRST_CARD):
            if word in (_NAMES.get(action), str(action) if action < BLIND_NIL else None):
                return action
        bids = "nil, 1 ... 13, blind nil, look"
        if self.num_actions == NUM_BIDDING_ACTIONS:
            raise ValueError(f"not an action: {text!r} (expected {bids}; player= plays the cards)")
        try:
            return FIRST_CARD + deck_card_number(self._deck, word)
        except ValueError as error:
            raise ValueError(f"not an action: {text!r} (expected {bids} or a card)") from error

    def text(self, state: State) -> str:
        return text(state)

    def picture(self, state: State) -> Picture:
        return picture(state)

    def _hand_text(self, hand: int) -> str:
        return deck_hand_text(self._deck, hand)

    def private_text(self, view: State) -> str:
        text, sides = super().private_text(view), int(view["sides"])
        if view["rounds"] or view["scores"].any():  # what no action of this round tells
            scores, bags = (" ".join(map(str, view[name][:sides])) for name in ("scores", "bags"))
            text += f" scores {scores} bags {bags}"
        if view["rounds"]:
            text += f" round {int(view['rounds']) + 1} after tricks {' '.join(map(str, view['last_won']))}"
        return text

    def allies(self, player: int) -> tuple[int, ...]:
        """The partners; in cutthroat ``player`` alone."""
        return tuple(range(player % self._sides, self.num_players, self._sides))

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``board`` int from 0, ``deal`` (or ``hands``) int64 ``[4]``, ``dealer`` 0 ... 3, ``scores`` int64 ``[4]``."""
        scores = partial(_read_scores, self._sides)
        readers: dict[str, Callable[[Any], Any]] = {
            "board": read_board,
            "deal": read_deal,
            "dealer": seat_number,
            "scores": scores,
        }
        return read_options(options, readers)

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:
        """Set up table 0 as ``options`` (checked) say, before the first bid; the rest stays as dealt.

        Bags are the units digit of each score; a hand given is for the first round, later ones are dealt.
        """
        state = states[0]
        state["hands"] = options.get("deal", state["hands"])
        state["dealer"] = options.get("dealer", state["dealer"])
        state["scores"] = options.get("scores", state["scores"])
        state["bags"] = state["scores"] % BAG_LIMIT
        open_row(state)
        self.kernels.show_row(state, self._rules, out.player, out.observation[0], out.mask[0])
