"""Agents that misbehave, wherever agents are asked: the error names the agent and what is wrong, and no game changes.

An agent that never answers is waited for, like any other that takes its time (``docs/tutorials/own-agent.md``).
"""

from dataclasses import replace

import numpy as np
import pytest
from numba import config as numba_config

import bidzoo
from bidzoo import agents
from bidzoo.agents.bridge.card_play import WithCards
from bidzoo.agents.policy import Pool
from bidzoo.benchmarks import bridge as bench
from bidzoo.benchmarks import exploit, leaderboard, match
from bidzoo.bluechip.seat import BidderAndPlayer
from bidzoo.core.streams import Streams
from bidzoo.play.session import Setup
from bidzoo.wrappers.gymnasium import SingleAgent, SingleAgentVector
from bidzoo.wrappers.text import TextTable

BRIDGE = "bridge_bidding_v0"
CHALLENGE = replace(leaderboard.CHALLENGES["bridge-2026"], boards=2, opponents=("pass",))


def raises(views, legal):
    raise ZeroDivisionError("it divides by nothing")


def leaves(views, legal):
    raise SystemExit(3)


def generates(views, legal):
    yield from np.zeros(len(views), int)


ANSWERS = {  # what it does with views and mask, and what is said of it
    "nothing": (lambda views, legal: None, r"act\(\) gave object \[\], expected one integer a row"),
    "one for all": (lambda views, legal: 0, r"act\(\) gave int64 \[\], expected one integer a row"),
    "one too many": (lambda views, legal: [0] * (len(views) + 1), r"act\(\) gave int64 \[\d+\], expected one integer"),
    "a column": (lambda views, legal: np.zeros((len(views), 1), int), r"act\(\) gave int64 \[\d+, 1\], expected one"),
    "fractions": (lambda views, legal: np.full(len(views), 0.7), r"act\(\) gave float64 \[\d+\], expected one integer"),
    "not a number": (lambda views, legal: np.full(len(views), np.nan), r"act\(\) gave float64 \[\d+\], expected one"),
    "truth": (lambda views, legal: np.zeros(len(views), bool), r"act\(\) gave bool \[\d+\], expected one integer"),
    "words": (lambda views, legal: ["P"] * len(views), r"act\(\) gave <U1 \[\d+\], expected one integer"),
    "a generator": (generates, r"act\(\) gave object \[\], expected one integer a row"),
    "below": (lambda views, legal: np.full(len(views), -1), "illegal action -1 at board "),
    "beyond": (lambda views, legal: np.full(len(views), 38), "illegal action 38 at board "),
    "far beyond": (lambda views, legal: np.full(len(views), 2**40), f"illegal action {2**40} at board "),
    "unsigned": (lambda views, legal: np.full(len(views), 2**64 - 1, np.uint64), "illegal action -1 at board "),
    "a redouble": (lambda views, legal: [legal.fill(1), np.full(len(views), 2)][1], "illegal action 2 at board "),
}
BREAKS = {
    "raises": (raises, ZeroDivisionError, "it divides by nothing"),
    "leaves": (leaves, RuntimeError, "odd.*SystemExit"),
}


class Odd:
    """Called ``odd``; does what it is told."""

    name = "odd"

    def __init__(self, how):
        self.how = how

    def act(self, views, legal, rng):
        return {**ANSWERS, **BREAKS}[self.how][0](views, legal)


def bridge(**options):
    return bidzoo.make_game(BRIDGE, deals="test", shuffle=False, augment=False, **options)


def gymnasium(agent):
    env = SingleAgent(bridge(), [agent, None, agent, agent], 1)
    env.reset(seed=1)
    env.step(0)


def vector(agent):
    env = SingleAgentVector(bridge(), 2, [agent, None, agent, agent], 1)
    env.reset(seed=1)
    env.step(np.zeros(2, int))


def ask(agent):
    env = bidzoo.make(BRIDGE)
    env.reset(seed=1)
    env.ask(agent)


def entered(agent):
    agents.register("odd", lambda: agent)
    leaderboard.enter(CHALLENGE, "odd")


def respond(agent):
    pytest.importorskip("torch")
    options = exploit.Options(start="sl-small", boards=4, measurements=1, validation=2, test=2)
    exploit.best_response(agent, exploit.Budget(8), options)


def called(agent):
    hands = ["AKQ2.K54.QJ3.A92", "KQT97.4.AJ83.K52"]
    bidzoo.bridge.call_batch(agent, hands, calls=["", "1C X"])


def whole(agent):
    game = bidzoo.make_game("bridge_v0", deals="test")
    match.play(game, [agent] * 4, [0])


FORMS = {
    "match": lambda agent: match.play(bridge(), [agent] * 4, np.arange(3)),
    "duplicate": lambda agent: match.duplicate(bridge(), agent, "pass", np.arange(3)),
    "bench": lambda agent: bench.main([agent, "pass"], bench.Options(boards=2)),
    "leaderboard": entered,
    "exploit": respond,
    "gymnasium": gymnasium,
    "vector": vector,
    "ask": ask,
    "a hand": called,
    "page": lambda agent: Setup(BRIDGE, {}, seed=1, board=0, fixed={}).played([agent] * 4),
    "pool": lambda agent: match.play(bridge(), [Pool([agent, agent])] * 4, np.arange(3)),
    "with cards": lambda agent: whole(WithCards(agent, deals=1)),
    "bidder and player": lambda agent: whole(BidderAndPlayer(agent, agents.make("random"))),
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_answer_is_named(form, answer):
    with pytest.raises(ValueError, match=f"odd: {ANSWERS[answer][1]}"):
        FORMS[form](Odd(answer))


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("form", FORMS)
def test_an_agent_that_breaks_is_named(form, how):
    _, error, words = BREAKS[how]
    with pytest.raises(error, match=words) as caught:
        FORMS[form](Odd(how))
    assert any("'odd'" in text for text in [str(caught.value), *getattr(caught.value, "__notes__", [])])


# ---- what it is given is its own -------------------------------------------------------------


class Vandal:
    """The agent ``random``, which leaves nothing of what it was given."""

    name = "vandal"

    def act(self, views, legal, rng):
        actions = agents.make("random").act(views, legal, Streams(rng.keys.copy()))
        views.view(np.uint8)[:] = 255
        legal[:] = 1
        rng.keys[:] = 0
        return actions


@pytest.mark.parametrize("env_id", bidzoo.registry.GAMES)
def test_what_an_agent_writes_changes_no_game(env_id):
    game = bidzoo.make_game(env_id)
    boards, players = np.arange(3), game.num_players
    clean = match.play(game, ["random"] * players, boards, seed=2, actions=True)
    for seats in ([Vandal()] * players, [Vandal(), *["random"] * (players - 1)], [Pool([Vandal()])] * players):
        torn = match.play(game, seats, boards, seed=2, actions=True)
        np.testing.assert_array_equal(torn.actions, clean.actions)
        np.testing.assert_array_equal(torn.reward, clean.reward)
        for name in game.state.names:
            np.testing.assert_array_equal(torn.states[name], clean.states[name], err_msg=name)


@pytest.mark.parametrize("env_id", bidzoo.registry.GAMES)
def test_what_an_opponent_writes_changes_no_environment(env_id):
    """One table and several, of which the learner takes the lowest legal action."""
    game = bidzoo.make_game(env_id)
    seen = {}
    for name, other in (("clean", agents.make("random")), ("torn", Vandal())):
        seats = [None, *[other] * (game.num_players - 1)]
        one, some = SingleAgent(game, seats, 0), SingleAgentVector(game, 3, seats, 0)
        rows = [one.reset(seed=4)[0], some.reset(seed=4)[0]]
        for _ in range(12):
            step = one.step(int(one.action_masks().argmax()))
            rows += [*step[:4], *some.step(some.action_masks().argmax(1))[:4]]
            if step[2] or step[3]:
                rows.append(one.reset()[0])
        seen[name] = rows
    for ours, theirs in zip(seen["clean"], seen["torn"], strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ---- parts of other kinds ---------------------------------------------------------------------


def test_an_agent_that_no_file_can_tell_from_others_is_named():
    pytest.importorskip("torch")
    odd = agents.make("random")
    odd.name, odd.file = "odd", lambda: None
    with pytest.raises(ValueError, match="odd: cannot be pickled, to tell it from others in a file: "):
        respond(odd)


class Chances(Odd):
    """With ``probabilities``, which are what exploitability is computed of."""

    def __init__(self, answer):
        self.answer = answer

    def probabilities(self, views, legal):
        return self.answer(views, legal)


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the tree takes minutes uncompiled")
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda views, legal: legal * np.nan, r"odd: probabilities\(\) gave \[nan, .* to the legal actions"),
        (lambda views, legal: -legal.astype(float), r"odd: probabilities\(\) gave \[-1.0, .* to the legal actions"),
        (lambda views, legal: legal.astype(float), r"odd: probabilities\(\) gave \[1.0, .* expected numbers that add"),
        (lambda views, legal: legal[:1, :1] / 1, r"odd: probabilities\(\) gave float64 \[1, 1\], expected one number"),
        (lambda views, legal: None, r"odd: probabilities\(\) gave object \[\], expected one number an action"),
    ],
)
def test_probabilities_that_are_none_are_named(answer, words):
    with pytest.raises(ValueError, match=words):
        exploit.nash_conv_table(bidzoo.make_game("minibridge_v0", size=2), [Chances(answer)])


@pytest.mark.parametrize("answer", ["nothing", "fractions", "below"])
def test_a_playing_module_is_named(answer):
    game = bidzoo.make_game("spades_v0", phase="bidding", player=Odd(answer))
    with pytest.raises(ValueError, match=f"playing module 'odd': {ANSWERS[answer][1]}"):
        match.play(game, ["bis"] * 4, [0])


class Flaky:
    """Uniform play, but its call number ``fails`` takes too long, as a server may."""

    name = "flaky"

    def __init__(self, fails):
        self.player, self.calls, self.fails = agents.make("random"), 0, fails

    def act(self, views, legal, rng):
        self.calls += 1
        if self.calls == self.fails:
            raise TimeoutError("no answer")
        return self.player.act(views, legal, rng)


def lowest(mask):
    """The lowest legal call but a pass: auctions are long."""
    masked = np.array(mask)
    masked[..., 0] = 0
    return masked.argmax(-1)


@pytest.mark.parametrize("fails", range(1, 9))
def test_a_step_that_fails_halfway_leaves_no_seat_to_another_player(fails):
    """Who tries again is told to reset, and plays the next boards as if nothing had been."""
    game = bidzoo.make_game(BRIDGE, deals="test")

    def boards(env, steps=12):
        failed = 0
        for _ in range(steps):
            try:
                if env.batch.ready:
                    env.step(lowest(env.action_masks()))
                else:
                    env.reset()
            except TimeoutError:
                failed += 1
                with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
                    env.step(np.zeros(5, int))
        return failed

    for mode in ("SameStep", "NextStep"):
        policies = [None, *[Flaky(fails)] * 3]
        env = SingleAgentVector(game, 5, policies, autoreset_mode=mode)
        try:
            env.reset(seed=4)
        except TimeoutError:
            with pytest.raises(ValueError, match=r"call reset\(\) before action_masks\(\)"):
                env.action_masks()
            env.reset()
        boards(env)
        assert policies[1].calls > fails
        env.reset(seed=9)
        other = SingleAgentVector(game, 5, [None, *[agents.make("random")] * 3], autoreset_mode=mode)
        other.reset(seed=9)
        assert (env.batch.states == other.batch.states).all()


@pytest.mark.parametrize("fails", range(1, 9))
def test_a_table_is_over_where_another_agent_fails(fails):
    game = bidzoo.make_game(BRIDGE, deals="test")
    single, table = SingleAgent(game, [None, *[Flaky(fails)] * 3]), TextTable(game, [0], Flaky(fails))
    for env, act, begin in (
        (single, lambda: single.step(int(lowest(single.action_masks()))), lambda: single.reset(seed=2)),
        (
            table,
            lambda: table.reply(game.action_text(int(lowest(table._batch.action_mask[0])))),
            lambda: table.reset(1),
        ),
    ):
        failed = False
        for _ in range(40):
            try:
                begin()
                while not (env.over if env is table else env._over):
                    act()
            except TimeoutError:
                failed = True
                with pytest.raises(ValueError, match=r"is over: call reset\(\)"):
                    single.step(8) if env is single else table.reply("P")
                break
        assert failed
        begin()
        act()
