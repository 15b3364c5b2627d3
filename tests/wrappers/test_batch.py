"""The batched engine as users of vector environments meet it."""

import pickle
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo.benchmarks import match
from bidzoo.core.threads import kernel_threads
from bidzoo.envs.game import with_encoder
from bidzoo.registry import GAMES
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.gymnasium import SingleAgent, SingleAgentVector


def test_a_batch_has_what_a_vector_environment_has():
    batch = bidzoo.make_vec("bridge_bidding_v0", 3)
    assert (batch.num_envs, batch.num_agents) == (3, 4)
    assert batch.single_observation_space == gymnasium.spaces.Box(0, 1, (480,), np.int8)
    assert batch.single_action_space == gymnasium.spaces.Discrete(38)
    observation, info = batch.reset(seed=1)
    assert observation is batch.observation and info["action_mask"] is batch.action_mask
    before = batch.player.copy()
    assert info["player"] is batch.player and (before == [0, 1, 2]).all()
    rewards = np.zeros((3, 4))
    rewards[np.arange(3), batch.player] = 1
    assert (rewards.argmax(1) == before).all()
    observation, reward, terminated, truncated, info = batch.step(np.array([0, 3, -1]))
    assert observation is batch.observation and reward is batch.reward and terminated is batch.terminated
    assert not truncated.any() and truncated.shape == (3,)
    assert (info["player"] == [1, 2, 2]).all()
    batch.close()


@pytest.mark.parametrize("tables", ["2", 0, -1, 2.0, None, True])
def test_wrong_numbers_of_tables(tables):
    with pytest.raises(ValueError, match=r"^num_envs .*: expected an integer from 1"):
        bidzoo.make_vec("minibridge_v0", tables)


@pytest.mark.parametrize(
    "make", [lambda: bidzoo.make_vec("comm_v0", 2), lambda: gymnasium.make_vec("bidzoo/Comm-v0", 2).unwrapped]
)
def test_unsigned_actions_do_not_wrap(make):
    """2**64 - 1 is no way to write -1."""
    batch = make()
    batch.reset()
    with pytest.raises(ValueError, match=f"action {2**64 - 1}: expected 0 ... 7, or -1 for none"):
        batch.step(np.array([0, 2**64 - 1], np.uint64))
    batch.step(np.array([0, 1], np.uint64))


def test_boards_do_not_wrap():
    last = 2**62 - 1
    for reset in (
        lambda board: bidzoo.make_vec("comm_v0", 1).reset(boards=[board]),
        lambda board: bidzoo.make("comm_v0").reset(options={"board": board}),
        lambda board: bidzoo.make("bridge_bidding_v0").reset(options={"board": board}),
    ):
        reset(last)
        with pytest.raises(ValueError, match=f"from 0 to {last}"):
            reset(last + 1)
    batch = bidzoo.make_vec("comm_v0", 2)
    batch.reset(boards=[last - 1, last])
    for _ in range(9):
        batch.step(batch.action_mask.argmax(axis=1))
    assert (batch.boards > last).all()


def test_players_without_a_legal_action_are_named():
    batch = Batch(bidzoo.make_game("comm_v0"), 3)
    batch.reset()
    assert batch.need_legal().all()
    batch.buffers.mask[1] = 0
    with pytest.raises(ValueError, match=r"player_0 has no legal action at table 1 \(board 1\); bidzoo.check_game"):
        batch.need_legal()
    batch.buffers.player[1] = -1
    assert batch.need_legal().tolist() == [True, False, True]


def test_what_is_written_into_the_arrays_makes_nothing_legal_and_does_not_last():
    batch, other = (bidzoo.make_vec("bridge_bidding_v0", 3) for _ in range(2))
    _, info = batch.reset()
    other.reset()
    info["action_mask"], info["more"] = None, "mine"
    batch.action_mask[:], batch.player[:] = 1, 3
    with pytest.raises(ValueError, match=r"illegal action 2 at table 0 \(board 0\) by player_0; legal: \[0, 3, "):
        batch.step(np.array([2, -1, -1]))
    assert (batch.views() == other.views()).all() and batch.need_legal().all()
    truncated, info = batch.step(np.array([0, -1, -1]))[3:]
    other.step(np.array([0, -1, -1]))
    assert sorted(info) == ["action_mask", "player"] and info["action_mask"] is batch.action_mask
    truncated[:] = True
    for name in ("player", "action_mask", "observation", "reward", "terminated"):
        assert (getattr(batch, name) == getattr(other, name)).all(), name
    assert not batch.step(np.array([0, 0, 0]))[3].any()


def test_what_is_written_into_a_vector_makes_nothing_legal_and_does_not_last():
    both = [gymnasium.make_vec("bidzoo/BridgeBidding-v0", 3, opponents="pass").unwrapped for _ in range(2)]
    for venv in both:
        observation, infos = venv.reset(seed=1)
        infos["action_mask"][:], observation[:] = 1, 0
    both[0].batch.action_mask[:], both[0].batch.player[:] = 1, 3
    for _ in range(6):
        steps = [venv.step(np.array([2, 0, 5])) for venv in both]  # a redouble that nobody may make
        for ours, theirs in zip(*(step[:4] for step in steps)):
            assert (ours == theirs).all()
        assert steps[0][2][0] and (steps[0][4]["action_mask"] == both[1].action_masks()).all()
        for array in (steps[0][0], steps[0][3], steps[0][4]["action_mask"], both[0].batch.action_mask):
            array[:] = 1


class Cheat:
    """Calls every action legal, in what it is given, and takes one that is not."""

    name = "cheat"

    def act(self, views, legal, rng):
        legal[:] = 1
        return np.full(len(legal), 2)


def test_a_policy_that_writes_into_its_mask_makes_nothing_legal():
    """A redouble as opening call is refused wherever a policy is asked."""
    game = bidzoo.make_game("bridge_bidding_v0")
    with pytest.raises(ValueError, match="cheat: illegal action 2 at board 0; legal: "):
        match.play(game, [Cheat()] * 4, np.arange(3))
    with pytest.raises(ValueError, match="cheat: illegal action 2 at board 0; legal: "):
        SingleAgent(game, [Cheat()] * 4, 2).reset(seed=0)
    with pytest.raises(ValueError, match="cheat: illegal action 2 at board 0; legal: "):
        SingleAgentVector(game, 2, [Cheat()] * 4, 2).reset(seed=0)


# ---- packed observations -----------------------------------------------------------------

ENCODERS = [(env_id, name) for env_id in GAMES for name in bidzoo.make_game(env_id).encoders]


def assert_unpacked_is_plain(plain, packed, steps, seed=1):
    """The same calls at the same tables show the same, with ``steps`` of random actions, some of them none."""
    size, rng = plain.observation.shape[1], np.random.default_rng(seed)
    shown = [batch.reset(seed=seed)[0] for batch in (plain, packed)]
    assert packed.single_observation_space == gymnasium.spaces.Box(0, 255, (-(-size // 8),), np.uint8)
    for _ in range(steps):
        assert shown[1] is packed.observation and packed.observation.dtype == np.uint8
        np.testing.assert_array_equal(
            np.unpackbits(packed.observation, axis=1, count=size, bitorder="little"), plain.observation
        )
        mask = plain.action_mask.astype(np.float64)
        actions = np.where(mask.any(1), (rng.random(mask.shape) * mask).argmax(1), -1)
        actions[rng.random(len(actions)) < 0.1] = -1
        shown = [batch.step(actions)[0] for batch in (plain, packed)]
        for name in ("player", "action_mask", "reward", "terminated"):
            np.testing.assert_array_equal(getattr(packed, name), getattr(plain, name), err_msg=name)


@pytest.mark.parametrize(("env_id", "name"), ENCODERS)
def test_unpacked_is_plain(env_id, name):
    assert_unpacked_is_plain(*(bidzoo.make_vec(env_id, 70, observation=name, packed=p) for p in (False, True)), 30)


def test_unpacked_is_plain_in_shares_of_threads_in_copies_and_to_the_end():
    for autoreset in (True, False):
        game = bidzoo.make_game("bridge_bidding_v0", observation="bidder1375")
        plain, packed = (Batch(game, 3000, autoreset, packed) for packed in (False, True))
        with kernel_threads(3):
            assert_unpacked_is_plain(plain, pickle.loads(pickle.dumps(packed)), 12)
    assert packed.observation.shape == (3000, 172)


def test_unpacked_is_plain_where_no_kernel_does_all():
    """An encoder of one's own, which says that it is of bits, and cards that agents play between two bids."""
    given = bidzoo.make_game("minibridge_v0")
    encoder = replace(given.encoder, name="mine", kernel=lambda views, out: given.encoder.kernel(views, out))
    game = with_encoder(given, encoder)
    assert_unpacked_is_plain(Batch(game, 20), Batch(game, 20, packed=True), 12)
    options = {"phase": "bidding"}
    assert_unpacked_is_plain(*(bidzoo.make_vec("spades_v0", 8, packed=p, **options) for p in (False, True)), 20)


def test_torch_unpacks_where_the_bits_are():
    torch = pytest.importorskip("torch")
    plain, packed = (bidzoo.make_vec("bridge_bidding_v0", 40, packed=p) for p in (False, True))
    shown = [torch.from_numpy(batch.reset(seed=3)[0]) for batch in (plain, packed)]
    bits = (shown[1][:, :, None] >> torch.arange(8, device=shown[1].device) & 1).flatten(1)[:, :480]
    assert torch.equal(bits.to(torch.int8), shown[0])


def test_what_cannot_be_packed():
    given = bidzoo.make_game("minibridge_v0")
    game = with_encoder(given, replace(given.encoder, name="mine", bits=False))
    with pytest.raises(ValueError, match=r"packed: encoder 'mine' does not say that every entry .*bits=True"):
        Batch(game, 2, packed=True)
    with pytest.raises(ValueError, match="packed 1: expected"):
        bidzoo.make_vec("comm_v0", 2, packed=1)


def test_a_batch_whose_arrays_joblib_has_mapped_to_be_read(tmp_path):
    import joblib

    batch = Batch(bidzoo.make_game("bridge_bidding_v0"), 3000)
    batch.reset(seed=4)
    joblib.dump(batch, tmp_path / "batch")
    other = joblib.load(tmp_path / "batch", mmap_mode="r")
    for _ in range(4):
        actions = batch.action_mask.argmax(1)
        batch.step(actions)
        other.step(actions)
    assert other.observation is other.buffers.observation
    np.testing.assert_array_equal(other.observation, batch.observation)
    np.testing.assert_array_equal(other.reward, batch.reward)
