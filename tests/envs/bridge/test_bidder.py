"""What a bidder counts, against the same counted from texts of cards and calls."""

import re

import numpy as np
import pytest

from bidzoo.core.cards import FIRST_BID, SEATS, STRAINS, call_text, hand_text
from bidzoo.envs.bridge.bidder import (
    BIDDER1375,
    SHAPES,
    STAGES,
    SYSTEMS,
    SYSTEMS288,
    bidder1375,
    stages,
)
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS
from bidzoo.envs.bridge.state import AUCTION

ENCODER, GAME = ENCODERS["bidder1375"], Bridge(play=False)
WHO = ("me", "LHO", "partner", "RHO")
POINTS = {"A": 4, "K": 3, "Q": 2, "J": 1}


def random_tables(count, seed, turns=18):
    """Tables somewhere in the auction, doubles and long auctions among them."""
    rng = np.random.default_rng(seed)
    tables, out = GAME.new(count), GAME.buffers(count)
    GAME.begin(tables, np.arange(count), seed, out)
    for _ in range(turns):
        going = (tables["phase"] == AUCTION) & (rng.random(count) < 0.9)
        calls = np.full(count, -1)
        for b in np.flatnonzero(going):
            legal = np.flatnonzero(out.mask[b])
            near = [a for a in legal if a < FIRST_BID or a < FIRST_BID + max(0, tables["bid"][b]) + rng.choice([6, 17])]
            calls[b] = 0 if rng.random() < 0.45 else rng.choice(near)
        GAME.step(tables, calls, seed, out, 0)
    return tables[tables["phase"] == AUCTION]


def upto(number, most, least=0):
    return f"{most}+" if number >= most else str(max(number, least))


def stopped(ranks):
    return any(rank in ranks and len(ranks) > k for k, rank in enumerate("AKQJ"))


def counted_hand(hand):
    """Labels of the hand; ``hand`` by suit: ranks as text."""
    points = {suit: sum(POINTS.get(rank, 0) for rank in ranks) for suit, ranks in hand.items()}
    length = {suit: len(ranks) for suit, ranks in hand.items()}
    total, lengths = sum(points.values()), sorted(length.values(), reverse=True)
    short = sum({0: 5, 1: 3, 2: 1}.get(n, 0) for n in lengths)
    aces, kings = ("".join(hand.values()).count(rank) for rank in "AK")
    yield from (f"hand[{rank}{suit}]" for suit, ranks in hand.items() for rank in ranks)
    yield f"points[{upto(total, 25)}]"
    yield f"length points[{upto(total + sum(max(0, n - 4) for n in lengths), 27)}]"
    yield f"support points[{upto(total + short, 27)}]"
    yield f"rule[{upto(total + lengths[0] + lengths[1], 29, 14)}]"
    yield f"shape[{''.join(map(str, lengths))}]"
    yield f"aces[{aces}]"
    yield f"kings[{kings}]"
    for suit, ranks in hand.items():
        yield f"length[{suit} {upto(length[suit], 9)}]"
        yield f"suit points[{suit} {points[suit]}]"
        yield f"honours[{suit} {sum(rank in 'AKQJT' for rank in ranks)}]"
        yield f"tops[{suit} {sum(rank in 'AKQ' for rank in ranks)}]"
        yield f"key cards[{suit} {aces + ('K' in ranks)}]"
        if stopped(ranks):
            yield f"stopper[{suit}]"
        yield from (f"longer[{suit} than {other}]" for other in hand if length[suit] > length[other])


def counted_auction(calls, hand):
    """Labels of the auction; ``calls`` in order: who, text."""
    bids, named, sides = [], [], {}
    for who, call in calls:
        if call in ("X", "XX"):
            yield f"doubled[{bids[-1][1]}]"
        elif call == "P":
            if not bids:
                yield f"passed[{who}]"
        else:
            level, strain = int(call[0]), call[1:]
            partner = WHO[(WHO.index(who) + 2) % 4]
            over = (int(bids[-1][1][0]), STRAINS.index(bids[-1][1][1:])) if bids else (1, -1)
            jump = level - over[0] - (STRAINS.index(strain) <= over[1])
            whose = [one for one, other in named if other == strain]
            kind = "new strain"
            if who in whose:
                kind = "own strain again"
            elif partner in whose:
                kind = "partner's strain"
            elif whose:
                kind = "opponents' strain"
            bids.append((who, call, jump, kind))
            named.append((who, strain))
            sides.setdefault("ours" if who in ("me", "partner") else "theirs", call)
            yield f"bid[{call} bid by {who}]"
            yield f"strains[{who} {strain}]"
    for who in WHO:
        own = [call for one, call in calls if one == who]
        if own:
            yield f"first call[{who} {own[0]}]"
            yield f"last call[{who} {own[-1]}]"
        if len(own) > 1:
            yield f"call before[{who} {own[-2]}]"
        made = [bid for bid in bids if bid[0] == who]
        for which, (_, call, jump, kind) in zip(("first", "last"), [made[0], made[-1]] if made else ()):
            ranks = hand.get(call[1:])
            found = [f"jump {upto(jump, 2)}", kind]
            if ranks is not None:
                found += [f"length {upto(len(ranks), 8)}", f"points {sum(POINTS.get(rank, 0) for rank in ranks)}"]
                found += ["stopped"] * stopped(ranks)
            yield from (f"bids[{who} {which} {text}]" for text in found)
    for side in ("ours", "theirs"):
        yield f"side's bid[{side} {sides.get(side, 'none')}]"
    if bids:
        since = [call for _, call in calls][[call for _, call in calls].index(bids[-1][1]) :]
        stake = "redoubled" if "XX" in since else "doubled" if "X" in since else "undoubled"
        yield from (f"opener[{bids[0][0]}]", f"standing[{bids[-1][1]}]", f"bidder[{bids[-1][0]}]", f"stake[{stake}]")
    last = [k for k, (_, call) in enumerate(calls) if call != "P"]
    yield f"passes[{len(calls) - 1 - last[-1] if last else len(calls)}]"
    yield f"my calls[{upto(sum(who == 'me' for who, _ in calls), 6)}]"


@pytest.mark.parametrize("seed", [0, 1])
def test_every_entry_is_what_its_label_says(seed):
    tables = random_tables(150, seed)
    seen = set()
    for b in range(len(tables)):
        table = tables[b : b + 1]
        for seat in range(4):
            x = ENCODER(GAME.view_of(table, np.array([seat])))[0]
            suits = hand_text(int(table["hands"][0, seat])).split(".")
            hand = dict(zip("CDHS", suits[::-1], strict=True))
            made = table["calls"][0, : table["length"][0]]
            calls = [
                (WHO[(int(table["dealer"][0]) + t - seat) % 4], call_text(int(call))) for t, call in enumerate(made)
            ]
            vulnerable = int(table["vulnerable"][0])
            ours, theirs = (vulnerable >> side & 1 for side in (seat % 2, 1 - seat % 2))
            labels = {f"vulnerable[we are{'' if ours else ' not'}]", f"vulnerable[they are{'' if theirs else ' not'}]"}
            labels |= {*counted_hand(hand), *counted_auction(calls, hand)}
            assert {BIDDER1375.label(int(i)) for i in np.flatnonzero(x)} == labels, (SEATS[seat], calls, hand)
            seen |= labels
    for kind in ("doubled", "jump 2+", "opponents' strain", "partner's strain", "redoubled", "stopped", "passes[2]"):
        assert any(kind in label for label in seen), kind


def test_stage_is_what_its_name_says():
    """One stage, by its text, has the numbers of bids of either side; all of them occur."""

    def holds(text, number):
        numbers = [int(word) for word in re.findall(r"\d+", text)]
        return not numbers or number in numbers or ("+" in text and number > numbers[0])

    seen = set()
    for turns in (2, 3, 4, 6, 9, 18):
        tables = random_tables(150, turns, turns)
        for seat in range(4):
            found = stages(ENCODER(GAME.view_of(tables, np.full(len(tables), seat))))
            for table, stage in zip(tables, found, strict=True):
                bidders = [(int(table["dealer"]) + t) % 2 for t in range(table["length"]) if table["calls"][t] >= 3]
                ours = bidders.count(seat % 2)
                texts = [text.split(", ") for text in STAGES]
                fit = [n for n, (a, b) in enumerate(texts) if holds(a, ours) and holds(b, len(bidders) - ours)]
                assert fit == [stage]
                seen.add(int(stage))
    assert seen == set(range(len(STAGES)))


def test_shapes_and_sizes():
    assert len(SHAPES) == 39  # of hands of 13 cards
    assert all(sum(shape) == 13 and list(shape) == sorted(shape, reverse=True) for shape in SHAPES)
    assert SYSTEMS288.size == 2 * len(SYSTEMS) * 36


def test_text_tells_the_row_back():
    table = random_tables(20, 5)[:1]
    x = ENCODER(GAME.view_of(table, np.array([2])))[0]
    text = bidder1375(x)
    assert sum(line.count(", ") + 1 for line in text.splitlines()[1:]) == x.sum() - 13
    with pytest.raises(ValueError, match="1375 entries"):
        bidder1375(x[1:])
