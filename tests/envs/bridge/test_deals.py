"""Deal sets: files, the packaged splits, random deals, and augmentation as an exact group action."""

import zipfile
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FULL_DECK, hand_cards
from bidzoo.core.kernels import I64
from bidzoo.envs.bridge.deals import (
    DATA,
    NUM_RELABELLINGS,
    NUM_ROTATIONS,
    RELABELLINGS,
    SPLITS,
    DealSet,
    alike,
    augment,
    augment_row,
    pack_hands,
    pack_tricks,
    packaged,
    random_deals,
    read_deals,
    unpack_hands,
    unpack_tricks,
)


def few(n: int = 5) -> DealSet:
    hands, tricks = packaged("test")
    return DealSet(hands[:n].copy(), tricks[:n].copy())


def broken(path: Path, **fields: object) -> Path:
    """A deal file with some fields replaced; ``None`` leaves one out."""
    deals = few()
    owner, tricks = pack_hands(deals.hands), pack_tricks(deals.tricks)
    content = {"format": np.array(1), "owner": owner, "tricks": tricks, **fields}
    given: dict[str, Any] = {name: value for name, value in content.items() if value is not None}
    np.savez(path, **given)
    return path


def test_deals_are_told_apart_by_their_cards() -> None:
    hands = few().hands[[3, 0, 3, 1, 0]]
    assert alike(hands).tolist() == [0, 1, 0, 3, 1]


# ---- files -------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**40), st.integers(1, 30))
def test_bytes_and_back(seed: int, n: int) -> None:
    hands = random_deals(seed, np.arange(n))
    tricks = np.random.default_rng(seed).integers(-1, 14, (n, 20)).astype(np.int8)
    assert np.array_equal(unpack_hands(pack_hands(hands)), hands)
    assert np.array_equal(unpack_tricks(pack_tricks(tricks)), tricks)


def test_owner_bytes_are_those_of_the_data_readme() -> None:
    hands = random_deals(3, np.arange(4))
    owner = pack_hands(hands)
    for b, seat in product(range(4), range(4)):
        for card in hand_cards(int(hands[b, seat])):
            assert owner[b, card // 4] >> 2 * (card % 4) & 3 == seat


def test_save_and_load(tmp_path: Path) -> None:
    deals = few()
    deals.save(tmp_path / "new" / "deals.npz", {"seed": 3})
    loaded = DealSet.load(tmp_path / "new" / "deals.npz")
    assert np.array_equal(loaded.hands, deals.hands)
    assert np.array_equal(loaded.tricks, deals.tricks)
    assert loaded.checksum() == deals.checksum()
    assert read_deals(tmp_path / "new" / "deals.npz")[2] == {"seed": 3}
    deals.save(tmp_path / "again.npz", {"seed": 3})
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "new" / "deals.npz").read_bytes()
    with pytest.raises(ValueError, match="read-only"):
        loaded.hands[0, 0] = 0


def test_a_file_without_format_is_format_1(tmp_path: Path) -> None:
    assert np.array_equal(DealSet.load(broken(tmp_path / "d.npz", format=None)).hands, few().hands)


def test_a_truncated_file_is_refused_at_any_length(tmp_path: Path) -> None:
    few().save(tmp_path / "d.npz")
    whole = (tmp_path / "d.npz").read_bytes()
    for length in range(0, len(whole), 37):
        (tmp_path / "cut.npz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut\.npz: .*expected an \.npz deal file"):
            DealSet.load(tmp_path / "cut.npz")


def test_a_changed_byte_never_gives_other_deals(tmp_path: Path) -> None:
    few().save(tmp_path / "d.npz", {"seed": 3})
    whole = (tmp_path / "d.npz").read_bytes()
    for at in range(0, len(whole), 23):
        (tmp_path / "bad.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            loaded = DealSet.load(tmp_path / "bad.npz")
        except ValueError as error:
            assert "bad.npz: " in str(error)
        else:
            assert loaded.checksum() == few().checksum()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": np.array(2)}, "format 2: expected 1 ... 1"),
        ({"owner": None}, "owner: missing; the file holds format, tricks"),
        ({"tricks": None}, "tricks: missing"),
        ({"owner": np.zeros((5, 12), np.uint8)}, r"owner: uint8 \[5, 12\], expected integers \[n, 13\]"),
        ({"tricks": np.zeros((5, 10))}, r"tricks: float64 \[5, 10\], expected integers \[n, 10\]"),
        ({"tricks": np.zeros((4, 10), np.uint8)}, "tricks: 4 rows, expected 5 as in owner"),
        ({"tricks": np.full((5, 10), 0x0F, np.uint8)}, "tricks: deal 0: declarer N in C takes 15 tricks, expected 0"),
        ({"owner": np.zeros((5, 13), np.uint8)}, "hands: deal 0: N holds 52 cards, expected 13"),
        ({"provenance": np.array("{")}, "provenance: not JSON"),
        ({"provenance": np.array("[]")}, r"provenance: \[\], expected an object"),
        ({"provenance": np.array("[" * 10**5)}, "provenance: not JSON .lists and objects 65 deep"),
        ({"owner": np.full((5, 13), 300)}, r"owner\[0, 0\] 300: expected 0 ... 255"),
        ({"tricks": np.full((5, 10), 256)}, r"tricks\[0, 0\] 256: expected 0 ... 255"),
        ({"owner": np.array([{}], object)}, "owner: an array of object"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=rf"d\.npz: {message}"):
        DealSet.load(broken(tmp_path / "d.npz", **fields))


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.arange(3))
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    for name in ("array.npy", "text.npz"):
        with pytest.raises(ValueError, match=f"{name}: (ending .*these formats are read|.*expected an .npz deal file)"):
            DealSet.load(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        DealSet.load(tmp_path / "none.npz")


def test_an_impossible_deal_is_named_and_not_saved(tmp_path: Path) -> None:
    hands, tricks = few()
    moved = hands.copy()
    card = moved[2, 1] & -moved[2, 1]
    moved[2, 1] ^= card
    moved[2, 3] ^= card
    with pytest.raises(ValueError, match="deals: hands: deal 2: E holds 12 cards, expected 13"):
        DealSet(moved, tricks).save(tmp_path / "d.npz")
    twice = hands.copy()
    twice[3, 0] = twice[3, 1]
    with pytest.raises(ValueError, match=r"deal 3: .. is held by N and by E, expected 52 different cards"):
        DealSet.of(twice, tricks)
    many = tricks.copy()
    many[4, 7] = 14
    with pytest.raises(ValueError, match=r"tricks: deal 4: declarer E in H takes 14 tricks, expected 0 \.\.\. 13"):
        DealSet.of(hands, many)
    with pytest.raises(ValueError, match=r"tricks has shape \(4, 20\), expected \[5, 20\]"):
        DealSet.of(hands, tricks[:4])
    with pytest.raises(ValueError, match=r"hands has shape \(5, 3\), expected \[n, 4\]"):
        DealSet.of(hands[:, :3], tricks)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few().save(tmp_path / "d.npz")
    before = (tmp_path / "d.npz").read_bytes()

    def fail(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        few(3).save(tmp_path / "d.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["d.npz"]
    assert (tmp_path / "d.npz").read_bytes() == before


# ---- packaged ----------------------------------------------------------------------------


def test_packaged_sets_are_solved_disjoint_and_small() -> None:
    sets = {split: packaged(split) for split in SPLITS}
    assert all(deals.solved == len(deals.hands) for deals in sets.values())
    assert all(len(sets[split].hands) >= 2000 for split in SPLITS)
    assert sum(path.stat().st_size for path in DATA.glob("deals-*.npz")) < 1_000_000
    assert packaged("test") is packaged("test")
    signatures = np.concatenate([signature(deals.hands) for deals in sets.values()])
    assert len(np.unique(signatures)) == len(signatures)


def signature(hands: I64) -> I64:
    """A number per deal that renaming suits and turning seats leaves alone: its shape by suit and seat, sorted."""
    lanes = np.array([sum(((hands >> 4 * rank + suit & 1) << rank) for rank in range(13)) for suit in range(4)])
    turned = [np.sort(np.array([fold(lanes[suit], k) for suit in range(4)]), axis=0) for k in range(4)]
    folded = [(rows * np.array([1, 3, 9, 27], object)[:, None]).sum(0) for rows in turned]
    lowest: I64 = np.minimum.reduce([np.array([hash(int(x)) for x in row]) for row in folded])
    return lowest


def fold(suit: I64, rotation: int) -> Any:
    """Who holds what of one suit, seats turned, as one number."""
    seats = np.roll(suit, rotation, axis=1).astype(object)
    return seats[:, 0] + (seats[:, 1] << 13) + (seats[:, 2] << 26) + (seats[:, 3] << 39)


def test_packaged_points_and_tricks_look_like_random_deals() -> None:
    hands, tricks = packaged("train")
    worth = np.repeat([0] * 9 + [1, 2, 3, 4], 4)
    points = (hands[:, :, None] >> np.arange(52) & 1) @ worth
    assert np.all(points.sum(1) == 40)
    assert np.all(np.abs(points.mean(0) - 10) < 5 * 4.13 / np.sqrt(len(hands)))  # sd of a hand's points: 4.13
    north_south = points[:, 0] + points[:, 2]
    assert np.corrcoef(north_south, tricks[:, 4])[0, 1] > 0.8  # North in no trump


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ValueError, match="'dev'; choose from train, validation, test"):
        packaged(cast(Any, "dev"))


# ---- random deals ------------------------------------------------------------------------


def test_random_deals_depend_on_seed_and_index_alone() -> None:
    deals = random_deals(7, np.arange(200))
    DealSet.of(deals)
    assert np.array_equal(random_deals(7, np.array([199, 3])), deals[[199, 3]])
    assert not np.any(np.all(random_deals(8, np.arange(200)) == deals, axis=1))
    assert len(np.unique(deals, axis=0)) == 200


def test_random_deals_give_every_card_to_every_seat() -> None:
    hands = random_deals(1, np.arange(40_000))
    share = (hands[:, :, None] >> np.arange(52) & 1).mean(0)
    assert np.abs(share - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 40_000)


# ---- augmentation ------------------------------------------------------------------------

CHOICES = list(product(range(NUM_RELABELLINGS), range(NUM_ROTATIONS)))


def same(a: DealSet, b: DealSet) -> bool:
    return np.array_equal(a.hands, b.hands) and np.array_equal(a.tricks, b.tricks)


def test_augmentation_is_a_group_action() -> None:
    deals = few(20)
    assert same(augment(deals, 0, 0), deals)
    number = {tuple(row): i for i, row in enumerate(RELABELLINGS.tolist())}
    rng = np.random.default_rng(0)
    for relabelling, rotation in CHOICES:
        after, turn = int(rng.integers(24)), int(rng.integers(4))
        both = number[tuple(RELABELLINGS[after][RELABELLINGS[relabelling]].tolist())]
        assert same(
            augment(augment(deals, relabelling, rotation), after, turn), augment(deals, both, (rotation + turn) % 4)
        )
    images = {augment(few(1), *choice).checksum() for choice in CHOICES}
    assert len(images) == NUM_RELABELLINGS * NUM_ROTATIONS


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1999), st.integers(0, 23), st.integers(0, 3))
def test_augmentation_moves_cards_and_table_as_said(deal: int, relabelling: int, rotation: int) -> None:
    before = DealSet(packaged("test").hands[deal : deal + 1], packaged("test").tricks[deal : deal + 1])
    after = augment(before, relabelling, rotation)
    DealSet.of(*after)
    suits = [*RELABELLINGS[relabelling].tolist(), 4]
    for seat in range(4):
        turned = (seat + rotation) % 4
        moved = {4 * (card // 4) + suits[card % 4] for card in hand_cards(int(before.hands[0, seat]))}
        assert set(hand_cards(int(after.hands[0, turned]))) == moved
        for strain in range(5):
            assert after.tricks[0, 5 * turned + suits[strain]] == before.tricks[0, 5 * seat + strain]


def test_augmentation_of_one_deal_matches_the_batch() -> None:
    deals = few(96)
    relabelling, rotation = np.array(CHOICES).T.copy()
    batch = augment(deals, relabelling, rotation)
    hands, tricks = np.zeros(4, np.int64), np.zeros(20, np.int8)
    for b, choice in enumerate(CHOICES):
        augment_row(deals.hands[b], deals.tricks[b], *choice, hands, tricks)
        assert np.array_equal(hands, batch.hands[b])
        assert np.array_equal(tricks, batch.tricks[b])
        assert np.bitwise_or.reduce(hands) == FULL_DECK


def test_augmentation_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match=r"relabelling 24: expected 0 \.\.\. 23"):
        augment(few(), 24, 0)
    with pytest.raises(ValueError, match=r"rotation -1: expected 0 \.\.\. 3"):
        augment(few(), 0, np.array([0, 1, -1, 0, 0]))
