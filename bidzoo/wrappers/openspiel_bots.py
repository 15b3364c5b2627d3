"""bidzoo's policies as OpenSpiel bots and policies, its bots as policies, and bridge tables translated both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy as SpielPolicy

from bidzoo.cards import NUM_CALLS, NUM_CARDS, hand_cards
from bidzoo.envs.bridge.boards import seat_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.kernels import I8, I64, Table, Tables
from bidzoo.streams import Streams
from bidzoo.wrappers import openspiel

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

FIRST_CALL = NUM_CARDS  # OpenSpiel's bridge: actions 0 ... 51 are cards, 52 + call are calls


def to_openspiel(table: Table) -> Any:
    """A state of OpenSpiel's ``bridge`` (cards played, no double-dummy scoring) at the same point as ``table``."""
    dealer, vulnerable = int(table["dealer"]), int(table["vulnerable"])
    dealer_vul, other_vul = bool(vulnerable >> dealer % 2 & 1), bool(vulnerable >> 1 - dealer % 2 & 1)
    game = pyspiel.load_game(
        "bridge",
        {
            "use_double_dummy_result": False,
            "dealer": dealer,
            "dealer_vul": dealer_vul,
            "non_dealer_vul": other_vul,
        },
    )
    state = game.new_initial_state()
    hands = [hand_cards(int(hand)) for hand in table["hands"]]
    for place in range(NUM_CARDS):  # OpenSpiel gives the i-th card to seat i % 4
        state.apply_action(hands[place % 4][place // 4])
    for call in table["calls"][: table["length"]]:
        state.apply_action(FIRST_CALL + int(call))
    for card in table["played"][: table["plays"]]:
        state.apply_action(int(card))
    return state


def from_openspiel(state: Any) -> Tables:
    """The bidzoo table ``[1]`` of a state of OpenSpiel's ``bridge`` with all cards dealt."""
    parameters = state.get_game().get_parameters()
    history = state.history()
    if len(history) < NUM_CARDS:
        raise ValueError(f"only {len(history)} cards are dealt, expected {NUM_CARDS}")
    game = Bridge(play=True)
    tables, out = game.new(1), game.buffers(1)
    hands = np.zeros(4, np.int64)
    for place, card in enumerate(history[:NUM_CARDS]):
        hands[place % 4] |= np.int64(1) << np.int64(card)
    tables["hands"][0], tables["tricks"][0] = hands, -1
    dealer = int(parameters.get("dealer", 0))
    sides = (bool(parameters.get("dealer_vul", False)), bool(parameters.get("non_dealer_vul", False)))
    seat_row(tables[0], dealer, int(sides[dealer % 2]) | int(sides[1 - dealer % 2]) << 1)
    for action in history[NUM_CARDS:]:
        game.step_one(tables, action - FIRST_CALL if action >= FIRST_CALL else NUM_CALLS + action, out)
    return tables


class PolicyBot(pyspiel.Bot):
    """``policy`` at one seat of a registered bidzoo game or of OpenSpiel's own ``bridge``."""

    def __init__(self, policy: Policy, player: int, seed: int = 0) -> None:
        super().__init__()
        self.policy, self.player, self.seed = policy, player, seed

    def restart(self) -> None:
        """Nothing is remembered between moves."""

    def restart_at(self, state: Any) -> None:
        """Nothing is remembered between moves."""

    def player_id(self) -> int:
        """The seat it plays."""
        return self.player

    def step(self, state: Any) -> int:
        """The policy's action in OpenSpiel's numbering."""
        stream = Streams.at(self.seed, np.array([len(state.history())]), self.player)
        if isinstance(state, openspiel.State):
            legal = np.zeros((1, state.get_game().num_distinct_actions()), np.int8)
            legal[0, state.legal_actions()] = 1
            return int(self.policy.act(state.view(self.player), legal, stream)[0])
        game, tables = Bridge(play=True), from_openspiel(state)
        legal = np.zeros((1, game.num_actions), np.int8)
        for action in state.legal_actions():
            legal[0, action - FIRST_CALL if action >= FIRST_CALL else NUM_CALLS + action] = 1
        action = int(self.policy.act(game.view_of(tables, np.array([self.player])), legal, stream)[0])
        return FIRST_CALL + action if action < NUM_CALLS else action - NUM_CALLS


class AgentPolicy(SpielPolicy):
    """``policy`` as OpenSpiel's ``Policy`` of a registered bidzoo game: for ``nash_conv`` and expected returns.

    Args:
        game: as ``pyspiel.load_game`` gives it.
        policy: one with ``probabilities(views, legal)``: the tabular agents and the bridge networks.

    Raises:
        ValueError: ``policy`` has no probabilities.
    """

    def __init__(self, game: Any, policy: Any) -> None:
        super().__init__(game, list(range(game.num_players())))
        if not hasattr(policy, "probabilities"):
            raise ValueError(f"{policy.name} has no probabilities(views, legal); PolicyBot plays any policy")
        self.policy = policy

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Chance of every legal action of the player to act at ``state``."""
        actions = state.legal_actions()
        legal = np.zeros((1, self.game.num_distinct_actions()), np.int8)
        legal[0, actions] = 1
        chances = self.policy.probabilities(state.view(state.current_player()), legal)[0]
        return {action: float(chances[action]) for action in actions}


class BotPolicy:
    """An OpenSpiel bot for its ``bridge`` as a policy for ours.

    Args:
        make_bot: ``make_bot(game, player)`` gives the bot; it is asked on a state of OpenSpiel's bridge in which the
            hidden cards are drawn at random, so it learns nothing that the view does not hold.
        name: what result tables call it.
    """

    def __init__(self, make_bot: Callable[[Any, int], Any], name: str = "openspiel") -> None:
        self.make_bot, self.name = make_bot, name

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` in bidzoo's numbering, one bot call a row."""
        game = Bridge(play=True)
        tables = game.new(len(views))
        game.determinize(views, rng.keys.copy(), tables)
        actions = np.empty(len(views), np.int64)
        for b, table in enumerate(tables):
            state = to_openspiel(table)
            bot = self.make_bot(state.get_game(), state.current_player())
            bot.restart_at(state)
            action = bot.step(state)
            actions[b] = action - FIRST_CALL if action >= FIRST_CALL else NUM_CALLS + action
        return actions
