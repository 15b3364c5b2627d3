"""Spades as a ``Game``: whole games, single rounds, or the bidding alone with a module that plays the cards."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bidzoo.cards import NUM_CARDS
from bidzoo.envs.game import Buffers, Encoder, Game, choose_encoder
from bidzoo.envs.picture import Picture
from bidzoo.envs.spades import engine, render
from bidzoo.envs.spades.deck import deck_card_number, deck_card_text
from bidzoo.envs.spades.determinize import determinize
from bidzoo.envs.spades.encode import encoders
from bidzoo.envs.spades.encode_state import state_encoder
from bidzoo.envs.spades.options import blank_table, checked, index_of
from bidzoo.envs.spades.players import PlayingModule, check_player, playing_module
from bidzoo.envs.spades.state import (
    BLIND_NIL,
    FIRST_CARD,
    LOOK,
    NIL,
    NUM_ACTIONS,
    NUM_BIDDING_ACTIONS,
    PLAY,
    STATE,
    VIEW,
)
from bidzoo.kernels import I8, I64, U64, Bool, Table, Tables

PHASES, EPISODES, REWARDS = ("game", "round", "bidding"), ("game", "round"), ("win", "points")
_NAMES = {NIL: "nil", BLIND_NIL: "blind nil", LOOK: "look"}
_MOST_A_ROUND = 2 * 200 + 13  # two blind nils and every trick a bag; no other round moves a side further


class Spades(Game):
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
        player: who plays the cards with ``phase="bidding"``, see ``players.py``.
        observation: name of an encoder; default ``"bidding"`` with ``phase="bidding"``, else ``"full"``.

    Raises:
        ValueError: an unknown name, or a number out of range.
    """

    id = "spades_v0"
    num_players = 4
    utility = "zero_sum"
    state, view = STATE, VIEW

    def __init__(
        self,
        phase: Literal["game", "round", "bidding"] = "game",
        episode: Literal["game", "round"] | None = None,
        variant: str = "partnership",
        deck: str = "standard",
        win_goal: int = 500,
        lose_goal: int | None = None,
        max_rounds: int = 50,
        bag_penalty: int = 110,
        failed_nil: str = "bags",
        blind_nil: bool = False,
        blind_deficit: int = 0,
        reward: Literal["win", "points"] = "win",
        player: str | PlayingModule | Any = "srp",
        observation: str | None = None,
    ) -> None:
        index_of("phase", phase, PHASES)
        episode = ("round" if phase == "round" else "game") if episode is None else episode
        index_of("episode", episode, EPISODES)
        if phase == "round" and episode == "game":
            raise ValueError("phase 'round' is an episode of one round; use phase 'game' for a game")
        rounds = 1 if episode == "round" else max_rounds
        self._blank = blank_table(
            variant, deck, win_goal, lose_goal, rounds, bag_penalty, failed_nil, blind_nil, blind_deficit
        )
        self._sides, self._deck = int(self._blank[0]["sides"]), int(self._blank[0]["deck"])
        self.phase, self.episode = phase, episode
        check_player(player)
        self.player = playing_module(player) if phase == "bidding" else None
        self.num_actions = NUM_BIDDING_ACTIONS if phase == "bidding" else NUM_ACTIONS
        self.max_turns = rounds * (8 + (0 if phase == "bidding" else NUM_CARDS))
        found = encoders(self._sides, self._deck)
        self.encoders = {
            name: found[name] for name in (("bidding", "full") if phase == "bidding" else ("full", "bidding"))
        }
        self.encoder = choose_encoder(self.encoders, observation)
        self._faces = engine.Faces(reward=index_of("reward", reward, REWARDS), code=self.encoder.code)
        self.reward_range = (-1.0, 1.0) if reward == "win" else self._points_range(rounds, bag_penalty)

    def _points_range(self, rounds: int, bag_penalty: int) -> tuple[float, float]:
        """Bounds, not reached, of a difference of points from 0:0; the bags of a round cost at most two penalties."""
        most = rounds * 2.0 * (_MOST_A_ROUND + bag_penalty)
        return (-most, most)

    @cached_property
    def state_encoder(self) -> Encoder:
        return state_encoder(self.phase != "bidding", self._sides, self._deck)

    def begin(self, tables: Tables, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        rows = np.ones(len(tables), np.bool_) if rows is None else rows
        engine.begin(tables, boards, seed, rows, self._blank, self._faces, out)

    def step(self, tables: Tables, actions: I64, seed: int, out: Buffers, stride: int) -> None:
        if self.player is None:
            engine.step(tables, actions, seed, stride, self._blank, self._faces, out)
            return
        engine.take(tables, actions, out.over)
        self.player.finish(tables)
        engine.settle(tables, out.over, seed, stride, self._blank, self._faces, out)

    def step_one(self, tables: Tables, action: int, out: Buffers) -> None:
        shown = (out.player, out.observation, out.mask, out.reward, out.over)
        if self.player is None:
            engine.step_one(tables, action, self._faces, *shown)
            return
        acted = engine.take_one(tables, action)
        if tables[0]["phase"] == PLAY:
            self.player.finish(tables)
        engine.settle_one(tables, acted, self._faces, *shown)

    def observe(self, tables: Tables, b: int, player: int, out: I8) -> None:
        engine.observe_one(tables, b, player, self._faces.code, out)

    def views(self, tables: Tables, players: I64, out: Tables) -> None:
        engine.views(tables, players, out)

    def determinize(self, views: Tables, keys: U64, out: Tables) -> None:
        """As ``Game`` says; the deals of later rounds are random too."""
        determinize(views, keys, out)

    def action_text(self, action: int) -> str:
        """``"nil"``, ``"4"``, ``"blind nil"``, ``"look"``; cards suit first, ``"SA"``; jokers ``"BJ"`` and ``"LJ"``."""
        if not 0 <= action < NUM_ACTIONS:
            raise ValueError(f"not an action: {action} (expected 0 ... {NUM_ACTIONS - 1})")
        if action < FIRST_CARD:
            return _NAMES.get(action, str(action))
        text = deck_card_text(self._deck, action - FIRST_CARD)
        return text if text in ("BJ", "LJ") else text[::-1]

    def action_number(self, text: str) -> int:
        word = " ".join(text.lower().split())
        for action in range(FIRST_CARD):
            if word in (_NAMES.get(action), str(action) if action < BLIND_NIL else None):
                return action
        try:
            return FIRST_CARD + deck_card_number(self._deck, word)
        except ValueError as error:
            raise ValueError(f"not an action: {text!r} (expected nil, 1 ... 13, blind nil, look or a card)") from error

    def text(self, table: Table) -> str:
        return render.text(table)

    def picture(self, table: Table) -> Picture:
        from bidzoo.envs.spades.draw import picture

        return picture(table)

    def allies(self, player: int) -> tuple[int, ...]:
        """The partners; in cutthroat ``player`` alone."""
        return tuple(range(player % self._sides, self.num_players, self._sides))

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``board``, ``deal`` (or ``hands``), ``dealer``, ``scores``."""
        return checked(options, self._sides)

    def fix(self, tables: Tables, options: Mapping[str, Any], out: Buffers) -> None:
        """Put table 0 as ``options`` (checked) say, before the first bid; the rest stays as dealt.

        Bags are the units digit of each score; a hand given is for the first round, later ones are dealt.
        """
        table = tables[0]
        hands, scores = options.get("deal", table["hands"]), options.get("scores", table["scores"])
        dealer = int(options.get("dealer", table["dealer"]))
        engine.fix_one(tables, hands.astype(np.int64), dealer, scores.astype(np.int64))
        engine.show_one(tables, self._faces.code, out.player, out.observation, out.mask)
