"""A copy of any environment, by ``copy.deepcopy`` or by pickle, goes on as its original does and shares nothing."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo.language import action_texts
from bidzoo.registry import GAMES
from bidzoo.wrappers.text import TextTable


def plain(value):
    """``value`` as one can compare it."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


class AlwaysFirst:
    """A policy that can be copied."""

    name = "first"

    def act(self, views, legal, rng):
        return legal.argmax(1)


class Gym:
    """Everything that a learner sees, at one table or at many."""

    def __init__(self, env_id, others, tables=None):
        name = GAMES[env_id].gymnasium_id
        given = {"opponents": others}
        made = gymnasium.make(name, **given) if tables is None else gymnasium.make_vec(name, tables, **given)
        self.env = made.unwrapped

    def begin(self, env, seed=None):
        observation, info = env.reset(seed=seed)
        return [observation, info["action_mask"]]

    def act(self, env, rng):
        masks = np.atleast_2d(env.action_masks())
        actions = [int(rng.choice(np.flatnonzero(mask))) for mask in masks]
        single = env.action_masks().ndim == 1
        *shown, info = env.step(actions[0] if single else np.array(actions))
        return [*shown, info["action_mask"], *(self.begin(env) if single and shown[2] else [])]


class Every:
    """The batched engine."""

    def __init__(self, env_id, others):
        self.env = bidzoo.make_vec(env_id, 3)

    def begin(self, env, seed=None):
        return [*env.reset(seed=seed or 0)]

    def act(self, env, rng):
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in env.action_mask]))
        return [array.copy() for array in env.buffers]


class Aec:
    """PettingZoo's loop."""

    def __init__(self, env_id, others):
        self.env = bidzoo.make(env_id)

    def begin(self, env, seed=None):
        env.reset(seed=seed)
        return []

    def act(self, env, rng):
        observation, *shown, info = env.last()
        live = not any(shown[1:])
        env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))) if live else None)
        if not env.agents:
            env.reset()
        return [observation["observation"], observation["action_mask"], *shown, env.agent_selection]


class Text:
    """Questions and replies."""

    def __init__(self, env_id, others):
        self.env, self.board = TextTable(bidzoo.make_game(env_id), [0], others), 0

    def begin(self, env, seed=None):
        return [env.reset(3, seed or 0)]

    def act(self, env, rng):
        if env.over:
            return [env.rewards.copy(), env.reset(4, 1)]
        legal = action_texts(env.game, env._batch.action_mask[0])
        return [env.reply(str(rng.choice(legal)))]


FORMS = {"gymnasium.make": Gym, "gymnasium.make_vec": lambda *given: Gym(*given, 3), "make_vec": Every, "env": Aec}
FORMS["text"] = Text


def seen(form, env, steps, seed):
    rng = np.random.default_rng(seed)
    return [repr(plain(form.act(env, rng))) for _ in range(steps)]


@pytest.mark.parametrize("others", ["random", AlwaysFirst()], ids=["random", "asked"])
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("env_id", GAMES)
def test_a_copy_goes_on_as_its_original(env_id, name, others):
    form = FORMS[name](env_id, others)
    copies = [copy.deepcopy(form.env), pickle.loads(pickle.dumps(form.env))]
    first = plain(form.begin(form.env, 5))
    for twin in copies:  # of one that was never reset
        assert plain(form.begin(twin, 5)) == first
    assert len({tuple(seen(form, env, 2, 1)) for env in (form.env, *copies)}) == 1
    for steps in (1, 3):  # of one in the middle of an episode
        copies = [copy.deepcopy(form.env), pickle.loads(pickle.dumps(form.env))]
        apart = copy.deepcopy(form.env)
        expected = seen(form, form.env, 12, steps)
        assert all(seen(form, twin, 12, steps) == expected for twin in copies)
        assert seen(form, apart, 12, steps) == expected, "the original has moved its copy"


@pytest.mark.parametrize("name", ["gymnasium.make", "gymnasium.make_vec", "env"])
def test_copies_of_a_new_environment_draw_seeds_of_their_own(name):
    """Workers of a DataLoader that get the environment of a dataset would all play the same deals."""
    form = FORMS[name]("bridge_bidding_v0", "random")
    envs = [form.env, copy.deepcopy(form.env), pickle.loads(pickle.dumps(form.env))]
    for env in envs:
        form.begin(env)
    hands = [(env.batch.states if name.endswith("vec") else env._table.states)["hands"].tobytes() for env in envs]
    assert len({*hands}) == 3


@pytest.mark.parametrize("name", ["gymnasium.make", "gymnasium.make_vec"])
def test_the_seed_of_a_first_reset_is_told(name):
    """``np_random_seed`` is that by which the deals come again."""
    form = FORMS[name]("bridge_bidding_v0", "random")
    first = plain(form.begin(form.env))
    again = plain(form.begin(form.env))
    assert plain(form.begin(form.env, form.env.np_random_seed)) == first != again
