"""An agent asked at one table, and the same agent asked for a batch of one."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.agents.bridge.sayc import Pass, Sayc
from bidzoo.agents.policy import Pool, Uniform
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import MOST_SEATS, AtTable, ask_one
from bidzoo.registry import GAMES

SLOW = {"bmcs", "bmcs-sl", "rpi-bmcs", "bmcs-weighted", "rl-mcs", "pi-search", "uct", "learned-search"}
IN_BATCH_FORM = {"baseline16", "pbl"}  # of agents without ``AtTable``; they are asked for a batch of one
OPTIONS = {"a2c": {"epochs": 1, "updates": 2}, "bad": {"epochs": 1, "updates": 2}, "cfr": {"iterations": 3}}
PLAYED = [(env_id, name) for env_id in GAMES for name in agents.AGENTS if env_id in agents.AGENTS[name].games]


def in_batch_form(policy, table, seed):
    """The action of ``policy`` asked as a batch is."""
    board, clock = table.states["board"].astype(np.int64), table.game.clock(table.states)
    views = table.game.view_of(table.states, table.out.player)
    return int(policy.act(views, table.out.mask.copy(), Streams.at(seed, board, clock))[0])


def compare(env, policy, boards, most=1000):
    """Play ``boards`` with ``policy`` in all seats, at most so many turns; as many decisions as were compared."""
    decisions = 0
    for _ in range(boards):
        env.reset(seed=3 if decisions == 0 else None)
        while not env.terminations[env.agent_selection] and decisions < most:
            expected = in_batch_form(policy, env._table, 3)
            assert env.ask(policy) == expected, (env.state(), policy)
            env.step(expected)
            decisions += 1
    return decisions


@pytest.mark.parametrize(("env_id", "name"), PLAYED)
def test_one_table_makes_the_calls_of_the_batch(env_id, name):
    policy = agents.make(name, **OPTIONS.get(name, {}))
    env = bidzoo.make(env_id)
    assert compare(env, policy, *((1, 2) if name in SLOW else (6, 150))) >= 2
    answer = env._table.seats[id(policy)]._answer
    form, change = ("no form", "add it to") if answer is None else ("a form", "take it out of")
    assert (answer is None) == (name in SLOW | IN_BATCH_FORM), (
        f"{name} has {form} for one table (at_table): {change} IN_BATCH_FORM or SLOW in tests/envs/test_asking.py"
    )


@pytest.mark.parametrize("temperature", [0, 0.5, 1.0])
@pytest.mark.parametrize("name", ["sl-small", "expert-light", "baseline19"])
def test_drawn_calls_are_those_of_the_batch(name, temperature):
    assert compare(bidzoo.make("bridge_bidding_v0"), agents.make(name, temperature=temperature), 4)


def test_what_changes_in_a_network_policy_counts_from_the_next_call():
    env, policy = bidzoo.make("bridge_bidding_v0"), NetworkPolicy("sl-small")
    compare(env, policy, 1)
    policy.temperature = 1
    compare(env, policy, 1)
    policy._network = agents.make("a2c-bridge").network
    compare(env, policy, 1)


def test_a_pool_answers_by_the_member_of_the_board():
    """Also one that was added since, and one that has no form for one table."""
    env = bidzoo.make("bridge_bidding_v0")
    pool = Pool([Sayc(), agents.make("sl-small", temperature=1.0), Pass(), Uniform()], seed=4)
    assert compare(env, pool, 8) > 30
    pool.add(agents.make("a2c-bridge"))
    pool.members[0] = Uniform()
    assert compare(env, pool, 8) > 30
    pool.seed = 5
    assert compare(env, pool, 4) > 10


class Last(Sayc):
    """A class that overrides ``act`` of an agent with a form for one table."""

    def act(self, views, legal, rng):
        return np.array([np.flatnonzero(row)[-1] for row in legal])


class Flat(NetworkPolicy):
    """A class that overrides what the form for one table is made of."""

    def logits(self, views):
        return np.zeros((len(views), 38), np.float32)


def test_an_override_is_asked():
    env = bidzoo.make("bridge_bidding_v0")
    env.reset(seed=1)
    assert env.ask(Last()) == 37
    assert env.ask(Flat("sl-small")) == 0
    patched = Sayc()
    patched.act = lambda views, legal, rng: np.array([36])
    assert env.ask(patched) == 36


class Wrong(AtTable):
    """Its form for one table fails or answers what is illegal; ``act`` is asked then."""

    name = "wrong"

    def __init__(self, answer):
        self.answer = answer

    def act(self, views, legal, rng):
        return np.array([5])

    def at_table(self, views, legal, keys):
        return self

    def run(self):
        if self.answer is None:
            raise ValueError("never seen")
        return self.answer


@pytest.mark.parametrize("answer", [None, -1, 1, 38, 10**9])
def test_act_has_the_last_word(answer):
    env = bidzoo.make("bridge_bidding_v0")
    env.reset(seed=1)
    assert env.ask(Wrong(answer)) == 5


class Keeper:
    """An agent from outside, which keeps what it was given, and writes into it."""

    name = "keeper"

    def __init__(self):
        self.kept = []

    def act(self, views, legal, rng):
        self.kept.append((views, views.copy(), rng.keys.copy(), rng.random(2)))
        legal[:] = 0
        return np.array([0])


def test_an_agent_from_outside_has_arrays_of_its_own():
    env, keeper = bidzoo.make("bridge_bidding_v0"), Keeper()
    env.reset(seed=5)
    while not env.terminations[env.agent_selection]:
        expected = Streams.one(5, 0, int(env._states["length"][0]))
        env.step(env.ask(keeper))
        assert keeper.kept[-1][2] == expected.keys
    assert len({tuple(numbers[0]) for *_, numbers in keeper.kept}) == len(keeper.kept) == 4
    assert all(given == copied for given, copied, *_ in keeper.kept)


def test_a_table_remembers_few_agents_and_no_copy_of_it_any():
    env = bidzoo.make("bridge_bidding_v0")
    env.reset(seed=5)
    for _ in range(3 * MOST_SEATS):
        ask_one(Uniform(), env._table, 5)
        assert len(env._table.seats) <= MOST_SEATS
    for copied in (deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert not copied._table.seats
        assert copied.ask(Sayc()) == env.ask(Sayc())
