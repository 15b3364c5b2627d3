"""Boards of a PBN file played again: deals, dealers, vulnerabilities and tables are the file's."""

import numpy as np
import pytest

import bidzoo
from bidzoo.envs.bridge.deals import DATA
from bidzoo.envs.bridge.formats import pbn

SAMPLE = DATA / "sample.pbn"


def begun(boards, **options):
    game = bidzoo.make_game("bridge_bidding_v0", deals=SAMPLE, **options)
    tables, out = game.new(boards), game.buffers(boards)
    game.begin(tables, np.arange(boards), 1, out)
    return tables


def test_boards_in_order_are_the_files():
    boards = pbn.read(SAMPLE)
    tables = begun(len(boards), shuffle=False, augment=False)
    for table, board in zip(tables, boards, strict=True):
        assert tuple(table["hands"]) == board.hands
        assert table["dealer"] == table["turn"] == board.dealer
        assert table["vulnerable"] == board.vulnerable
        assert tuple(table["tricks"]) == board.tricks


def test_a_file_need_not_follow_the_cycle(tmp_path):
    boards = pbn.read(SAMPLE)[:5]
    path = tmp_path / "odd.pbn"
    path.write_text(
        SAMPLE.read_text().replace('[Dealer "N"]', '[Dealer "S"]').replace('[Vulnerable "None"]', '[Vulnerable "All"]')
    )
    game = bidzoo.make_game("bridge_bidding_v0", deals=path, shuffle=False, augment=False)
    tables, out = game.new(5), game.buffers(5)
    game.begin(tables, np.arange(5), 1, out)
    expected = [(2 if b.dealer == 0 else b.dealer, 3 if b.vulnerable == 0 else b.vulnerable) for b in boards]
    assert [(int(t["dealer"]), int(t["vulnerable"])) for t in tables] == expected


def test_turned_boards_keep_who_deals_and_who_is_vulnerable():
    """The dealer's hand goes where the dealer goes, and its side's vulnerability with it."""
    boards = pbn.read(SAMPLE)
    shapes = {}
    for board in boards:
        hand = board.hands[board.dealer]
        shape = tuple(sorted((hand >> suit & 0x1111111111111).bit_count() for suit in range(4)))
        vulnerable = board.vulnerable >> board.dealer % 2 & 1
        shapes[int(np.sort([h.bit_count() for h in board.hands])[0]), shape, vulnerable] = True
    for table in begun(200, augment=True):
        dealer = int(table["dealer"])
        hand = int(table["hands"][dealer])
        shape = tuple(sorted((hand >> suit & 0x1111111111111).bit_count() for suit in range(4)))
        assert (13, shape, int(table["vulnerable"]) >> dealer % 2 & 1) in shapes


def test_errors(tmp_path):
    path = tmp_path / "bad.pbn"
    path.write_text('[Board "1"]\n[Deal "N:AKQ"]\n')
    with pytest.raises(ValueError, match=r"bad\.pbn"):
        bidzoo.make_game("bridge_bidding_v0", deals=path)
    with pytest.raises(FileNotFoundError):
        bidzoo.make_game("bridge_bidding_v0", deals=tmp_path / "none.pbn")
