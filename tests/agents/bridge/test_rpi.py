"""``rpi``: whom it meets, what it is asked to learn, that it learns, and the agents it makes."""

from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo import agents
from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.evaluator import Evaluator, sample_tricks
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.rpi import Options, Rpi, Trainer
from bidzoo.agents.bridge.sayc import Pass, Sayc
from bidzoo.cli.train import app
from bidzoo.core.bits import unpack
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps, north_south_row

SMALL = {"iterations": 2, "boards": 24, "minibatch": 16}


def small_network(seed=1):
    shape = Architecture("openspiel480", 38, width=16, depth=1)
    return network.network_of(shape, network.module(shape, seed))


def trainer(start=None, opponents=(), **options):
    start = small_network() if start is None else start
    game = Bridge(False, observation=start.architecture.observation, deals="validation")
    return Trainer(start, game, Options(**{**SMALL, **options}), opponents=opponents)


def lessons(run, monkeypatch):
    """What one iteration asks to learn: of decisions with several plausible calls, and of those with one."""
    asked = []
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_learn", lambda _, gains, kept, iteration: asked.extend([gains, kept]) or {})
        metrics = run.iterate(0)
    return *asked, metrics


def test_an_iteration_without_a_choice_teaches_nothing():
    """No call has a chance of 1, so none is tried, and the network stays as it is."""
    run = trainer(min_prob=1.0)
    before = run.player().digest
    metrics = run.iterate(0)
    assert run.player().digest == before and all(np.isfinite(value) for value in metrics.values())


def test_the_policy_is_the_start_at_another_temperature():
    run, start = trainer(start_unit=0.1, unit=0.5), small_network()
    seen = np.random.default_rng(1).integers(0, 2, (50, 480), np.int8)
    np.testing.assert_allclose(run.player()(seen), start(seen) * 0.1 / 0.5, rtol=2e-3, atol=2e-3)


def test_it_starts_from_a_network_with_a_critic():
    """The value beside the calls is left out."""
    shape = Architecture("openspiel480", 39, width=16, depth=1)
    start = network.network_of(shape, network.module(shape, 1))
    seen = np.random.default_rng(1).integers(0, 2, (50, 480), np.int8)
    run = trainer(start, start_unit=0.1, unit=0.1)
    np.testing.assert_allclose(run.player()(seen), start(seen)[:, :38], rtol=2e-3, atol=2e-3)
    assert run.iterate(0)["decisions"] > 0


def test_past_selves_take_their_turn_and_are_kept(goes_on):
    """Each of them plays the likeliest calls of a snapshot; a run in parts meets the same ones."""
    run = trainer(start=network.packaged_network("sl"), opponents=[Pass()], self_play=0.25, past=2, snapshot_every=1)
    assert len(run.snapshots) == 1
    for iteration in range(2):
        run.iterate(iteration)
        assert len(run.snapshots) == iteration + 2
    assert run._drawn(2).shape == (2,) and set(np.concatenate([*map(run._drawn, range(40))])) == {0, 1, 2}
    boards = np.arange(24)
    assert set(run._opponent_numbers(boards)) == {0, 1, 2, 3}
    policy = selfplay.actor_of(run.learner, run.architecture, greedy=True)
    pool, sides = run._other_side(policy), np.full(24, selfplay.NORTH_SOUTH)
    start = network.NetworkPolicy("sl")
    met, expected = (
        selfplay.play(run.game, boards, 0, policy, other, sides, 0)[0]["calls"] for other in (run._past_self(0), start)
    )
    np.testing.assert_array_equal(met, expected)
    assert len(pool.players) == 4
    goes_on(lambda seed=0: trainer(self_play=0.25, past=2, snapshot_every=1, iterations=3, seed=seed), 1)


def test_gains_are_the_differences_of_what_calls_lead_to(monkeypatch):
    """Every likely call's target is its result over the likeliest one's, from the same cards, in IMPs of the caller."""
    run = trainer(network.packaged_network("sl"), boards=40, one_call=1.0, unit=0.5, start_unit=0.5)
    *batches, metrics = lessons(run, monkeypatch)
    found, single = (SimpleNamespace(**{k: column.numpy() for k, column in one.columns.items()}) for one in batches)
    model = network.module_of(run.player())
    act = (selfplay.actor_of(model, run.architecture, greedy=greedy) for greedy in (False, True))
    drawing, likeliest = act
    sides = np.full(40, selfplay.BOTH)
    _, decisions = selfplay.play(run.game, np.arange(40), 0, drawing, drawing, sides, 0)
    chances = np.exp(decisions.log_chances)
    open_ = np.flatnonzero((chances >= 0.02).sum(1) > 1)
    assert len(found.likeliest) == len(open_) > 20 and len(single.likeliest) == len(chances) - len(open_)
    assert metrics["several_calls"] == pytest.approx(len(open_) / len(chances))
    order = open_[np.lexsort((decisions.board[open_], decisions.length[open_]))]
    for row, decision in enumerate(order):
        here = decisions.select(np.array([decision]))
        calls = np.argsort(-chances[decision], kind="stable")[: min(5, int((chances[decision] >= 0.02).sum()))]
        first, both = np.zeros(1, int), sides[:1]
        points = [
            selfplay.finish(run.game, here.states, first, call[None], likeliest, likeliest, both).points
            for call in calls
        ]
        gains = here.sign[0] * imps(np.concatenate(points) - points[0])
        assert found.likeliest[row] == calls[0] and found.weight[row, calls[0]] == 0
        np.testing.assert_array_equal(found.target[row, calls[1:]], gains[1:])
        assert sorted(np.flatnonzero(found.tried[row])) == sorted(calls)
        np.testing.assert_array_equal(
            found.weight[row] > 0, (unpack(decisions.legal, 38)[decision] > 0) & (np.arange(38) != calls[0])
        )
    assert not single.tried.any() and (single.target <= 0).all() and (single.target >= -3).all()
    rows, calls = np.nonzero(single.weight)
    logits = run.player()(unpack(single.observation, run.architecture.inputs))
    here, best = logits[rows, calls], logits[rows, single.likeliest[rows]]
    apart = np.abs(single.target[rows, calls] - np.maximum(0.5 * (here - best), -3))
    largest = np.abs(logits).max(1)[rows]
    assert (apart / largest).max() < 2**-9, "more than bfloat16 rounds the row's largest logit by"


@pytest.mark.parametrize("others", [(), ("sayc", "random", "sl-small")])
def test_calls_that_were_made_are_not_bid_out_again(monkeypatch, others):
    """What is read off the auctions of the round is what bidding them out gives, whoever plays by chance."""
    run = trainer(opponents=[agents.make(name) for name in others], boards=200, self_play=0.3 if others else 1)
    bid_out, finish, given = list[int](), selfplay.finish, {}

    def counted(game, states, rows, *arguments):
        bid_out.append(len(rows))
        return finish(game, states, rows, *arguments)

    def explore(played, call, rows, sides, policy, iteration):
        given.update(played=played, call=call, rows=rows, sides=sides, policy=policy, iteration=iteration)
        given["results"] = Trainer._explore(run, played, call, rows, sides, policy, iteration)
        return given["results"]

    with monkeypatch.context() as patch:
        patch.setattr(selfplay, "finish", counted)
        patch.setattr(run, "_explore", explore)
        run.iterate(3)
    played, rows = given["played"], given["rows"]
    call, policy, key = given["call"][rows], given["policy"], selfplay.key_of(0, 3)
    sides = given["sides"][played.board[rows]]
    expected = selfplay.explore(run.game, played.states_at(rows), call, policy, run._other_side(policy), sides, key)
    np.testing.assert_array_equal(given["results"].points, expected)
    made = (call == played.call[rows, None]).sum()
    assert made > 100 and sum(bid_out) < (call >= 0).sum() - 0.8 * made


def tried(run, monkeypatch):
    """The results that an iteration tried, the boards' states, the board of each row, and the gains of N/S."""
    given, gains = {}, Trainer._gains

    def kept(self, results, states, board):
        given.update(results=results, states=states, board=board)
        given["gains"] = gains(self, results, states, board)
        return given["gains"]

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_gains", kept)
        run.iterate(0)
    return given["results"], given["states"], given["board"], given["gains"]


def test_gains_are_means_over_draws_of_the_tricks(monkeypatch):
    """Every draw is a table of tricks as estimated deals have it, the same one for all calls tried on the board."""
    run = trainer(start=network.packaged_network("sl"), boards=60, draws=3, seed=5)
    results, states, board, gains = tried(run, monkeypatch)
    expected = np.zeros(gains.shape)
    for draw in range(3):
        luck = [Streams.at(5, states["board"].astype(int), (1 << 48) + 1).random(15)[:, 5 * draw : 5 * draw + 5]]
        tables = sample_tricks(Evaluator(), states["hands"], SimpleNamespace(random=lambda n, luck=luck: luck[0]))
        points = [
            [
                north_south_row(bid, stake, declarer, states["vulnerable"][b], int(tables[b, 5 * declarer + bid % 5]))
                for bid, stake, declarer in zip(*row)
            ]
            for b, *row in zip(board, results.bid, results.stake, results.declarer)
        ]
        expected += imps(np.array(points) - np.array(points)[:, :1])
    np.testing.assert_allclose(gains, expected / 3, rtol=1e-6)
    assert len(np.unique(gains)) > 20


def test_where_tricks_are_certain_draws_are_the_table(monkeypatch):
    results, states, board, _ = tried(trainer(start=network.packaged_network("sl"), boards=60), monkeypatch)
    tables = {tuple(hands): tricks for hands, tricks in zip(states["hands"].tolist(), states["tricks"])}

    class Solver(Evaluator):
        def chances(self, hands, declarer, strain):
            cells = zip(hands.tolist(), declarer, strain)
            return np.eye(14, dtype=np.float32)[[tables[tuple(h)][5 * d + s] for h, d, s in cells]]

    luck = np.random.default_rng(3).random((60, 2, 5))
    gains = selfplay.mean_gains(Solver(), luck, states, board, results)
    np.testing.assert_array_equal(gains, imps(results.points - results.points[:, :1]))
    assert (gains != 0).mean() > 0.05


def test_whom_it_is_trained_against(monkeypatch):
    run = trainer(opponents=[Pass(), Sayc()], self_play=0.5)
    drawn, sides = run._opponent_numbers(np.arange(48)).reshape(2, 24), run._sides(np.arange(48)).reshape(2, 24)
    assert (drawn[:, :12] == 0).all() and set(drawn[:, 12:].flat) == {1, 2}
    assert (sides[:, :12] == selfplay.BOTH).all() and set(sides[:, 12:].flat) == {0, 1}
    alone, _, _ = lessons(trainer(one_call=0.0), monkeypatch)
    met, _, _ = lessons(run, monkeypatch)
    assert 0 < len(met.likeliest) < len(alone.likeliest)
    for slip, options in ((r"self_play 0.5 with 0", {"self_play": 0.5}), (r"unit 0.0 and", {"unit": 0.0})):
        with pytest.raises(ValueError, match=slip):
            trainer(**options)
    with pytest.raises(ValueError, match=r"self_play 1\.0 with 1"):
        trainer(opponents=[Pass()])


def test_of_decisions_after_calls_of_both_sides_a_share_is_learned_from():
    """All before which one side has passed, and those of as many boards of the others as asked for, the same ones."""
    boards = np.arange(300)
    learned = {}
    for share in (0.0, 0.4, 1.0):
        run = trainer(start=network.packaged_network("sl"), contested=share, boards=300)
        policy = selfplay.actor_of(network.module_of(run.player()), run.architecture)
        played = run._play(boards, np.full(300, selfplay.BOTH), policy, 0)
        learned[share] = run._learned_from(played, boards)
    states = played.states  # before the call: how the auction ends must not choose
    calls, dealer = states["calls"][:, :60], states["dealer"][:, None]
    side = (dealer + np.arange(60)) % 2
    bids = (calls != 0) & (np.arange(60) < states["length"][:, None])
    quiet = ~(bids & (side == 0)).any(1) | ~(bids & (side == 1)).any(1)
    assert 0.3 < quiet.mean() < 0.9
    np.testing.assert_array_equal(learned[0.0], quiet)
    assert learned[1.0].all() and (learned[0.4] >= quiet).all() and 0.2 < learned[0.4][~quiet].mean() < 0.6
    together = np.unique(np.stack([played.board, learned[0.4]])[:, ~quiet], axis=1)[0]
    assert len(together) == len(set(together))  # all of a board or none


def test_it_learns_gains_and_keeps_the_rest(monkeypatch):
    """Asked the same twice and more, values of tried calls go to their gains; the other calls stay as they are kept."""
    moved_by = {}
    for anchor in (20.0, 0.0):
        rates = {"learning_rate": 3e-3, "anchor": anchor, "one_call": 1.0, "start_unit": 1.0}
        run = trainer(boards=48, epochs=60, minibatch=64, **rates)
        found, single, _ = lessons(run, monkeypatch)
        first, last = (run._learn(found, single, iteration) for iteration in (0, 0))
        assert last["fit"] < 0.9 * first["fit"]
        kept = single.target.numpy()
        rows, calls = np.nonzero((kept > -3) & (kept < 0))
        assert len(rows) > 50
        values = network.network_of(run.architecture, run.learner)(
            unpack(single.observation.numpy(), run.architecture.inputs)
        )
        moved = values[rows, calls] - values[rows, single.likeliest.numpy()[rows]] - kept[rows, calls]
        moved_by[anchor] = float(np.square(moved).mean())
    assert moved_by[20.0] < 0.5 * moved_by[0.0]


def test_a_run_in_parts_is_a_whole_one(goes_on):
    goes_on(lambda seed=0: trainer(seed=seed), 1)


def test_the_command(undrawn, tmp_path):
    small = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    words = ["rpi", "--start", "sl", "--out", str(tmp_path), "--every", "1", "--boards", "10", *small]
    words += ["--opponent", "sayc", "--set", "self_play=0.5"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0 and "fit" in result.output and "imps" in result.output
    _, about = network.load_weights(tmp_path / "network.safetensors")
    assert about["algorithm"] == "rpi" and about["start"] == "sl" and about["opponents"] == "sayc"
    refused = CliRunner().invoke(app, [*words, "--opponent", "expert-polish"])
    assert refused.exit_code != 0 and "expert-polish" in str(refused.exception)


def test_the_agents():
    policy, search = agents.make("rpi"), agents.make("rpi-bmcs", r_max=10)
    assert isinstance(policy, Rpi) and search.policy.name == "rpi" and search.opponents.name == "sl"
