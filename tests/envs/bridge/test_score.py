"""Score, IMPs and par against the laws, OpenSpiel and endplay's DDS."""

from itertools import product

import numpy as np
import pytest

from bidzoo.core.kernels import I8
from bidzoo.envs.bridge.deals import packaged
from bidzoo.envs.bridge.score import (
    MAX_POINTS,
    SCALE,
    best_row,
    imps,
    imps_row,
    north_south,
    north_south_row,
    par,
    par_row,
    score,
    score_row,
)


@pytest.mark.parametrize(
    ("contract", "points"),
    [
        ((4, 2, 1, 11, True), 650),
        ((4, 1, 1, 10, True), 130),
        ((3, 4, 1, 6, False), -150),
        ((3, 4, 2, 6, False), -500),
        ((2, 3, 2, 8, True), 670),
        ((1, 0, 4, 7, False), 230),  # 80 + 50 + 100
        ((1, 4, 2, 9, False), 380),  # 80 + 50 + 50 + 2 x 100
        ((7, 4, 4, 13, True), 2980),
        ((7, 4, 4, 0, True), -MAX_POINTS),
        ((6, 3, 1, 12, True), 1430),
        ((2, 0, 2, 3, False), -1100),  # 100, 300, 500, 800, 1100
        ((2, 0, 4, 6, True), -1000),
    ],
)
def test_law_77_examples(contract: tuple[int, int, int, int, bool], points: int) -> None:
    assert score_row(*contract) == points
    assert score(*contract) == points


def test_every_score_equals_openspiel() -> None:
    """420 contracts x 14 tricks x both vulnerabilities."""
    pyspiel = pytest.importorskip("pyspiel")
    level, strain, declarer, stake = (np.array(x) for x in zip(*product(range(1, 8), range(5), range(4), (1, 2, 4))))
    for vulnerable, tricks in product((False, True), range(14)):
        game = pyspiel.load_game("bridge", {"dealer_vul": vulnerable, "non_dealer_vul": vulnerable})
        lines = [*map(str, range(52)), "Double Dummy Results", *[str(tricks)] * 20]
        theirs = game.deserialize_state("\n".join(lines) + "\n").score_by_contract()
        ours = score(level, strain, stake, tricks, vulnerable) * np.where(declarer % 2 == 0, 1, -1)
        assert ours.tolist() == theirs[1:]
        each = np.full_like(level, 3 * vulnerable), np.full_like(level, tricks)
        assert north_south(5 * (level - 1) + strain, stake, declarer, *each).tolist() == theirs[1:]
        assert theirs[0] == 0


@pytest.mark.parametrize(("vulnerable", "points"), [(0, -420), (1, -420), (2, -620), (3, -620)])
def test_each_side_has_its_own_vulnerability(vulnerable: int, points: int) -> None:
    four_spades = 18
    assert north_south_row(four_spades, 1, 1, vulnerable, 10) == points
    assert north_south_row(-1, 1, -1, vulnerable, 0) == 0


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ((0, 3, 1, 9, 0), "level 0: expected 1 ... 7"),
        ((4, 5, 1, 9, 0), "strain 5: expected 0 ... 4"),
        ((4, 3, 3, 9, 0), "stake 3: expected 1, 2 or 4"),
        ((4, 3, 5, 9, 0), "stake 5: expected 1 ... 4"),
        ((4, 3, 1, [9, 14], 0), "tricks 14: expected 0 ... 13"),
        ((4, 3, 1, 9, 2), "vulnerable 2: expected 0 ... 1"),
    ],
)
def test_an_impossible_contract_is_named(wrong: tuple[int, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text.replace(".", r"\.")):
        score(*wrong)


def test_law_78b_the_scale() -> None:
    """The table of the law, by the last difference worth 0, 1, 2 ... IMPs; 15 200 is the largest there is."""
    last_of = [10, 40, 80, 120, 160, 210, 260, 310, 360, 420, 490, 590, 740, 890, 1090, 1290, 1490, 1740, 1990]
    last_of += [2240, 2490, 2990, 3490, 3990, 15200]
    for won in range(1, 25):
        first, last = last_of[won - 1] + 10, last_of[won]
        assert imps([first - 10, first, last, -first, -last]).tolist() == [won - 1, won, won, -won, -won]
        assert imps([first - 1, last + 9]).tolist() == [won - 1, won]  # no sum of scores, but below the next
    assert imps(0) == 0
    assert len(SCALE) == 24


def test_imps_of_a_kernel_and_an_array() -> None:
    points = np.arange(-16000, 16000, 10)
    assert imps(points).tolist() == [imps_row(int(p)) for p in points]
    assert imps(points.astype(np.int32).reshape(2, -1)).shape == (2, 1600)


def _dds_par(tricks: I8, dealer: int, vulnerable: int) -> int:
    from endplay import _dds
    from endplay.dds import par as solver
    from endplay.dds.ddtable import DDTable
    from endplay.types import Player, Vul

    data = _dds.ddTableResults()
    for seat, strain in product(range(4), range(5)):
        data.resTable[(3, 2, 1, 0, 4)[strain]][seat] = int(tricks[5 * seat + strain])
    vul = (Vul.none, Vul.ns, Vul.ew, Vul.both)[vulnerable]
    return int(solver(DDTable(data), vul, Player(dealer)).score)


def test_par_equals_dds_on_real_tables() -> None:
    tricks = packaged("test").tricks[:3000]
    dealer, vulnerable = np.arange(len(tricks)) % 4, np.arange(len(tricks)) // 4 % 4
    ours = par(tricks, dealer, vulnerable)
    assert ours.tolist() == [_dds_par(t, int(d), int(v)) for t, d, v in zip(tricks, dealer, vulnerable, strict=True)]
    assert len(np.unique(ours)) > 50


def test_par_equals_dds_on_made_up_tables() -> None:
    """Partners take the same tricks and the sides at most thirteen together, else anything goes."""
    random = np.random.default_rng(0)
    north = random.integers(0, 14, (2000, 5))
    east = (random.random(north.shape) * (14 - north)).astype(int)
    tricks = np.concatenate([north, east, north, east], 1).astype(np.int8)
    dealer, vulnerable = random.integers(0, 4, (2, len(tricks)))
    ours = par(tricks, dealer, vulnerable)
    assert ours.tolist() == [_dds_par(t, int(d), int(v)) for t, d, v in zip(tricks, dealer, vulnerable, strict=True)]


def test_par_is_the_value_of_the_auction_as_a_game() -> None:
    """Full recursion over bids, doubles that pay, and both sides' passes; the declarers of a side may differ."""
    random = np.random.default_rng(1)
    for _ in range(20):
        north = random.integers(3, 11, (2, 5))
        tricks = np.clip(np.concatenate([north, 13 - north]) + random.integers(-1, 2, (4, 5)), 0, 13)
        table = tricks[[0, 2, 1, 3]].reshape(20).astype(np.int8)
        for dealer, vulnerable in product(range(2), range(4)):
            assert par_row(table, dealer, vulnerable) == _value(table, dealer, vulnerable)


def _value(tricks: I8, first: int, vulnerable: int) -> int:
    """N/S score under best play when side ``first`` speaks first and sides alternate."""
    best: dict[tuple[int, int], int] = {}  # (last bid, side to speak) -> N/S score

    def stop(bid: int, side: int) -> int:
        level, strain = bid // 5 + 1, bid % 5
        won = int(max(tricks[5 * side + strain], tricks[5 * side + 10 + strain]))
        sums = [int(score_row(level, strain, stake, won, bool(vulnerable >> side & 1))) for stake in (1, 2)]
        return min(sums) if side == 0 else -min(sums)

    for bid, side in product(range(34, -1, -1), range(2)):
        answers = [stop(bid, 1 - side), *(best[higher, 1 - side] for higher in range(bid + 1, 35))]
        best[bid, side] = max(answers) if side == 0 else min(answers)
    choose = (max, min)
    second = choose[1 - first]([0, *(best[bid, first] for bid in range(35))])
    return choose[first]([second, *(best[bid, 1 - first] for bid in range(35))])


def test_the_best_contract_of_a_side() -> None:
    """Every bid by both declarers, scored with the array form."""
    bid, seat = (np.array(x) for x in zip(*product(range(35), (0, 2))))
    for tricks in packaged("test").tricks[:200]:
        won = tricks.astype(int)[5 * seat + bid % 5]
        for vulnerable in range(4):
            alone = score(bid // 5 + 1, bid % 5, 1, won, vulnerable % 2)
            assert best_row(tricks, vulnerable) == max(0, alone.max())


def test_par_needs_every_trick() -> None:
    with pytest.raises(ValueError, match="every contract known"):
        par(np.full((1, 20), -1, np.int8), 0, 0)
