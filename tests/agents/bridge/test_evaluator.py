"""The double-dummy evaluator: exact symmetries, the same bytes in any batch, how well it knows, and its files."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from bidzoo.agents.bridge import network as weights
from bidzoo.agents.bridge.evaluator import CLASSES, NOTRUMP, Evaluator, SuitNetwork, Suits, suits
from bidzoo.core.cards import RANKS, hand_number
from bidzoo.core.threads import get_threads, set_threads
from bidzoo.envs.bridge.deals import RELABELLINGS, DealSet, augment, packaged, random_deals

FORMAT, OTHER = SuitNetwork.form, weights.Network.form
TINY = Suits(cards=24, suits=16, hidden=32)
CELL = np.arange(20)


def random_network(architecture=TINY, seed=0, scale=0.4):
    rng = np.random.default_rng(seed)
    return SuitNetwork(
        architecture, {n: rng.normal(0, scale, shape).astype(np.float32) for n, shape in architecture.shapes.items()}
    )


def cells(n, seed=3):
    rng = np.random.default_rng(seed)
    return random_deals(seed, np.arange(n)), rng.integers(0, 4, n), rng.integers(0, 5, n)


def every_cell(hands):
    """All 20 cells of some deals."""
    cell = np.tile(CELL, len(hands))
    return np.repeat(hands, 20, axis=0), cell // 5, cell % 5


@pytest.fixture(scope="module", params=["packaged", "random"])
def evaluator(request):
    return Evaluator(random_network() if request.param == "random" else None)


# ---- what is exact -----------------------------------------------------------------------


def test_suit_codes_by_hand():
    """West declares in hearts; a code lists the holders from the deuce up: West 0, North 1, East 2, South 3."""
    deal = [
        hand_number(text) for text in ("AKQJT98765432...", ".AKQJT98765432..", "..AKQJT98765432.", "...AKQJT98765432")
    ]
    code = {holder: sum(holder << 2 * rank for rank in range(13)) for holder in range(4)}
    spades, hearts, diamonds, clubs = 1, 2, 3, 0
    found = suits(np.array([deal, deal]), np.array([3, 3]), np.array([2, NOTRUMP]))
    assert found[0].tolist() == [code[hearts], *sorted(code[s] for s in (spades, diamonds, clubs))]
    assert found[1].tolist() == sorted(code.values())


def network_by_hand(network, code, notrump):
    """The formula of the module's docstring, in float64, one cell."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in network.tensors.items()}
    z = tensors["places.bias"].copy()
    for place in range(4):
        kind = 0 if notrump else (2 if place == 0 else 1)
        x = np.zeros(52)
        x[[13 * (int(code[place]) >> 2 * rank & 3) + rank for rank in range(13)]] = 1
        h = np.maximum(tensors["cards.weight"][kind] @ x + tensors["cards.bias"][kind], 0)
        g = np.maximum(tensors["suits.weight"][kind] @ h + tensors["suits.bias"][kind], 0)
        z += tensors["places.weight"][place] @ g
    y = np.maximum(tensors["middle.weight"] @ np.maximum(z, 0) + tensors["middle.bias"], 0)
    logits = tensors["last.weight"] @ y + tensors["last.bias"]
    chance = np.exp(logits - logits.max())
    return chance / chance.sum()


def test_kernel_is_the_formula():
    network = random_network()
    hands, declarer, strain = cells(40)
    codes = suits(hands, declarer, strain)
    expected = [network_by_hand(network, code, s == NOTRUMP) for code, s in zip(codes, strain, strict=True)]
    np.testing.assert_allclose(network(codes, strain), expected, atol=5e-3)


def test_chances_add_up(evaluator):
    chances = evaluator.chances(*cells(600))
    assert chances.dtype == np.float32 and chances.shape == (600, CLASSES) and (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(1, dtype=np.float64), 1, atol=1e-6)
    np.testing.assert_allclose(evaluator.tricks(*cells(600)), chances @ np.arange(14.0), atol=1e-5)


def test_same_bytes_in_any_batch_and_on_any_threads(evaluator):
    hands, declarer, strain = cells(700)
    together, tricks = evaluator.chances(hands, declarer, strain), evaluator.tricks(hands, declarer, strain)
    for part in (slice(0, 1), slice(1, 130), slice(130, 700)):
        np.testing.assert_array_equal(together[part], evaluator.chances(hands[part], declarer[part], strain[part]))
        np.testing.assert_array_equal(tricks[part], evaluator.tricks(hands[part], declarer[part], strain[part]))
    before = get_threads()
    set_threads(1)
    alone = evaluator.chances(hands, declarer, strain)
    set_threads(before)
    np.testing.assert_array_equal(together, alone)


def test_names_of_suits_and_seats_change_no_bit(evaluator):
    hands = random_deals(8, np.arange(6))
    table = evaluator.dd_tricks(hands)
    for relabelling in range(len(RELABELLINGS)):
        turn = relabelling % 4
        moved = augment(DealSet(hands, np.full((6, 20), -1, np.int8)), relabelling, turn).hands
        strain = np.append(RELABELLINGS[relabelling], NOTRUMP)
        there = 5 * ((CELL // 5 + turn) % 4) + strain[CELL % 5]
        np.testing.assert_array_equal(evaluator.dd_tricks(moved)[:, there], table)


def test_table_is_in_the_order_of_deal_sets(evaluator):
    hands = packaged("test").hands[:5]
    table = evaluator.dd_tricks(hands)
    for cell in CELL:
        one = evaluator.tricks(hands, np.full(5, cell // 5), np.full(5, cell % 5))
        np.testing.assert_array_equal(table[:, cell], one)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"declarer": [0, 4]}, r"cell 1: declarer 4, expected 0 \.\.\. 3"),
        ({"strain": [-1, 0]}, r"cell 0: strain -1, expected 0 \.\.\. 4"),
        ({"strain": [0]}, r"strain has shape \(1,\), expected \(2,\)"),
        ({"hands": [[1, 2, 3, 4]] * 2}, r"cell 0: hands \[1, 2, 3, 4\], expected four hands of 13 cards"),
    ],
)
def test_cells_that_do_not_exist(change, words):
    given = {"hands": random_deals(0, np.arange(2)), "declarer": np.zeros(2, int), "strain": np.zeros(2, int)}
    with pytest.raises(ValueError, match=words):
        Evaluator(random_network()).chances(**{**given, **{name: np.array(value) for name, value in change.items()}})


# ---- how well it knows -------------------------------------------------------------------


def test_packaged_weights_know_the_test_deals():
    """Bounds well below what docs/results/evaluator.json reports, on all 20 cells of a deal."""
    test = packaged("test")
    chances = Evaluator().chances(*every_cell(test.hands)).reshape(-1, 20, CLASSES)
    off, error = np.abs(chances.argmax(2) - test.tricks), chances @ np.arange(14) - test.tricks
    trumps, notrump = CELL % 5 < NOTRUMP, CELL % 5 == NOTRUMP
    assert (off[:, trumps] == 0).mean() > 0.68 and (off[:, notrump] == 0).mean() > 0.62
    assert (off <= 1).mean() > 0.98
    assert abs(error.mean()) < 0.02 and np.abs(error).mean() < 0.41


def fans(holders):
    """A deal by who holds each rank, from the ace down, in S H D C."""
    hands = [0] * 4
    for suit, text in zip((3, 2, 1, 0), holders, strict=True):
        for rank, seat in zip(reversed(range(len(RANKS))), text, strict=True):
            hands["NESW".index(seat)] |= 1 << 4 * rank + suit
    return hands


def test_obvious_deals():
    """Thirteen tricks off the top at notrump, (almost) none for the other side; thirteen trumps in one hand."""
    deal = fans(["NNNNSSSSEEWWW", "NNNEEEESSSWWW", "NNNEEEESSSWWW", "NNNEEESSSWWWW"])
    expected = Evaluator().chances(np.array([deal] * 2), np.array([0, 1]), np.array([NOTRUMP] * 2))
    assert expected[0].argmax() == 13 and expected[0, 13] > 0.8
    assert expected[1, :2].sum() > 0.9
    one = np.array([[sum(1 << 4 * rank + suit for rank in range(13)) for suit in (3, 2, 1, 0)]])  # N has the spades
    assert Evaluator().tricks(one, np.array([0]), np.array([3]))[0] > 10
    assert Evaluator().tricks(one, np.array([1]), np.array([3]))[0] < 3


# ---- files -------------------------------------------------------------------------------


def spoil(path, out, tensors=None, **about):
    """The file at ``path`` with other tensors or metadata."""
    held = from_bytes(path.read_bytes())
    with safe_open(path, framework="numpy") as file:
        metadata = {**json.loads(file.metadata()["bidzoo"]), **about}
    out.write_bytes(to_bytes({**held, **(tensors or {})}, {"bidzoo": json.dumps(metadata)}))


def load(path):
    return weights.load_weights(path, SuitNetwork)


def written(path):
    network = random_network()
    weights.save_weights(path, network, {"command": "x"})
    return network


def test_file_holds_network_and_provenance(tmp_path):
    network = written(tmp_path / "w.safetensors")
    found, about = load(tmp_path / "w.safetensors")
    assert found.architecture == TINY and about == {"command": "x"}
    codes, strain = suits(*cells(20)), cells(20)[2]
    np.testing.assert_allclose(found(codes, strain), network(codes, strain), atol=0.02)  # half precision


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tensors": {"last.bias": np.zeros(7, np.float16)}}, r"'last.bias' is F16 \[7\], expected floats \[14\]"),
        ({"tensors": {"more.bias": np.zeros(7, np.float16)}}, "'more.bias' is not part of this architecture"),
        ({"tensors": {"last.bias": np.full(14, np.inf, np.float16)}}, "'last.bias' holds numbers that are not finite"),
        ({"format": OTHER}, f"format '{OTHER}', expected '{FORMAT}'"),
        (
            {"architecture": {"cards": 25, "suits": 16, "hidden": 32}},
            r"'cards.weight' is .*expected floats \[3, 25, 52\]",
        ),
        ({"architecture": {"width": 3}}, "metadata: .*width"),
        ({"architecture": {"cards": 0}}, "architecture.cards: 0, expected an integer from 1 to 65536"),
    ],
)
def test_wrong_weights_are_named(tmp_path, changes, words):
    written(tmp_path / "w.safetensors")
    out = tmp_path / "spoilt.safetensors"
    spoil(tmp_path / "w.safetensors", out, **changes)
    with pytest.raises(ValueError, match=words):
        Evaluator(out).chances(*cells(2))


@pytest.mark.parametrize("cut", [0, 5, 100, 3000])
def test_truncated_weights(tmp_path, cut):
    path = tmp_path / "w.safetensors"
    written(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"w\.safetensors: not a safetensors file, or a truncated one"):
        load(path)


def test_weights_of_another_network():
    with pytest.raises(ValueError, match=f"sl.safetensors: format '{OTHER}', expected '{FORMAT}'"):
        load(weights.PACKAGED / "sl.safetensors")
