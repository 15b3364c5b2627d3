"""WRP, SRP and UCT: legal, blind to hidden cards, and as strong as they should be."""

import numpy as np
import pytest
from numba import config as numba_config

from bidzoo.agents.spades.policy import Player, SpadesPolicy, bis, io, learned, ms, rb, srp, uct, wrp
from bidzoo.agents.spades.situation import ROUND_TYPES, round_type_row, sure_takes_row
from bidzoo.core.cards import RANKS, card_number, hand_number
from bidzoo.core.kernels import States
from bidzoo.core.streams import Streams
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.state import FIRST_CARD, PLAY

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact states take minutes uncompiled")

FACTORIES = {"bis": bis, "rb": rb, "ms": ms, "io": io, "srp": srp, "wrp": wrp, "uct": uct, "learned": learned}


def play_some(game: Spades, policy: SpadesPolicy, states: States, turns: int, seed: int) -> None:
    """``turns`` turns of ``policy`` in every seat; every action is checked against the mask."""
    out = game.buffers(len(states))
    boards = np.arange(len(states))
    game.begin(states, boards, seed, out)
    for turn in range(turns):
        seats = states["turn"].astype(np.int64)
        live = seats >= 0
        views = game.view_of(states, np.maximum(seats, 0))
        actions = policy.act(views, out.mask, Streams.at(seed, boards, turn))
        assert out.mask[np.arange(len(states)), actions][live].all()
        game.step(states, np.where(live, actions, -1), seed, out, 0)


@pytest.mark.parametrize("deck", ["standard", "jokers", "jokers_deuces"])
@pytest.mark.parametrize("variant", ["partnership", "cutthroat", "mirror", "whiz", "suicide"])
def test_every_action_is_legal_in_every_variant(variant: str, deck: str) -> None:
    game = Spades(phase="round", variant=variant, deck=deck, blind_nil=variant in ("partnership", "cutthroat"))
    for policy in (bis(), rb("wrp"), ms(), io(), learned()):
        states = game.new(12)
        play_some(game, policy, states, 60, seed=3)
        assert (states["phase"] > PLAY).all()


def shuffled_worlds(game: Spades, views: States, seed: int) -> States:
    """Other states that show the same views: hidden cards and the seed of later rounds are drawn anew."""
    out = game.new(len(views))
    keys = np.random.default_rng(seed).integers(1, 2**63, len(views)).astype(np.uint64)
    game.determinize(views, keys, out)
    return out


@pytest.mark.parametrize("policy", [bis(), rb("wrp"), learned(), uct(iterations=8, infer="bids"), uct("uct", 3, 8)])
def test_hidden_cards_never_change_a_choice(policy: SpadesPolicy) -> None:
    """Views carry no hidden card by construction; here the worlds behind them change and the actions do not."""
    game, boards = Spades(phase="round"), np.arange(24)
    states, out = game.new(24), game.buffers(24)
    game.begin(states, boards, 7, out)
    for turn in range(56):
        seats = states["turn"].astype(np.int64)
        views = game.view_of(states, seats)
        actions = policy.act(views, out.mask, Streams.at(7, boards, turn))
        other = game.view_of(shuffled_worlds(game, views, turn), seats)
        np.testing.assert_array_equal(policy.act(other, out.mask, Streams.at(7, boards, turn)), actions)
        game.step(states, actions, 7, out, 0)


def test_the_playing_module_on_states_plays_as_the_policy_does_on_views() -> None:
    """The fast module reads states; it must not play otherwise than the policy, which sees views alone."""
    fast, slow = Spades(phase="bidding", episode="round", player="srp"), Spades(phase="round")
    boards, bids = np.arange(40), np.array([3, 2, 0, 4])
    states, out = fast.new(40), fast.buffers(40)
    fast.begin(states, boards, 5, out)
    shown, slow_out = slow.new(40), slow.buffers(40)
    slow.begin(shown, boards, 5, slow_out)
    for turn in range(4):
        fast.step(states, np.full(40, bids[turn]), 5, out, 0)
        slow.step(shown, np.full(40, bids[turn]), 5, slow_out, 0)
    policy = srp()
    for turn in range(52):
        views = slow.view_of(shown, shown["turn"].astype(np.int64))
        slow.step(shown, policy.act(views, slow_out.mask, Streams.at(0, boards, turn)), 5, slow_out, 0)
    np.testing.assert_array_equal(states["last_won"], shown["last_won"])
    np.testing.assert_array_equal(states["gains"], shown["gains"])


@pytest.mark.parametrize("name", list(FACTORIES))
def test_a_row_does_not_depend_on_its_neighbours(name: str) -> None:
    policy, game = FACTORIES[name](), Spades(phase="round")
    if name == "uct":
        policy = uct(iterations=10)
    boards = np.arange(9)
    states, out = game.new(9), game.buffers(9)
    game.begin(states, boards, 2, out)
    for turn in range(30):
        views = game.view_of(states, states["turn"].astype(np.int64))
        rng = Streams.at(2, boards, turn)
        together = policy.act(views, out.mask, rng)
        alone = [policy.act(views[b : b + 1], out.mask[b : b + 1], rng[b : b + 1])[0] for b in range(9)]
        np.testing.assert_array_equal(together, alone)
        game.step(states, together, 2, out, 0)


def ranks(text: str) -> int:
    return sum(1 << RANKS.index(rank) for rank in text)


@pytest.mark.parametrize(
    ("own", "unseen", "sure"),
    [
        ("A", "KQJT98765432", 1),  # the paper's three examples (D.1)
        ("KQ", "AJT98765432", 1),
        ("9876", "AK", 2),
        ("Q", "AK", 0),
        ("", "A", 0),
        ("QJT", "AK", 1),
    ],
)
def test_sure_future_takes(own: str, unseen: str, sure: int) -> None:
    assert sure_takes_row(ranks(own), ranks(unseen)) == sure


def least_takes(own: int, unseen: int, known: dict[tuple[int, int], int]) -> int:
    """We lead each time, the others' cards are in one hand, which follows as it likes while it has any."""
    if not own or not unseen:
        return own.bit_count()
    if (own, unseen) not in known:
        known[own, unseen] = max(
            min(
                (card > other) + least_takes(own & ~(1 << card), unseen & ~(1 << other), known)
                for other in range(unseen.bit_length())
                if unseen >> other & 1
            )
            for card in range(own.bit_length())
            if own >> card & 1
        )
    return known[own, unseen]


def test_sure_takes_are_those_of_exact_play() -> None:
    """Every sharing of up to eight spades; the ace and the deuce against the king are two."""
    known: dict[tuple[int, int], int] = {}
    for number in range(1, 9):
        for own in range(1 << number):
            unseen = ~own & (1 << number) - 1
            assert sure_takes_row(own, unseen) == least_takes(own, unseen, known), (bin(own), bin(unseen))
    assert sure_takes_row(ranks("A2"), ranks("K")) == 2


@pytest.mark.parametrize(
    ("bids", "name"),
    [
        ((2, 2, 2, 2), "strong under"),
        ((3, 2, 2, 2), "under"),
        ((3, 3, 3, 4), "over"),
        ((3, 3, 4, 4), "14"),
        ((4, 4, 4, 4), "strong over"),
        ((0, 3, 3, 3), "we nil"),
        ((3, 3, 0, 3), "partner nil"),
        ((3, 0, 3, 3), "opponents nil"),
        ((0, 0, 3, 3), "nil vs. nil"),
        ((3, 0, 3, 0), "double nil"),
    ],
)
def test_the_ten_round_types(bids: tuple[int, ...], name: str) -> None:
    states = Spades(phase="round").new(1)
    states["bids"] = bids
    assert ROUND_TYPES[round_type_row(states[0], 0)] == name


def next_card(hands: dict[str, str], bids: tuple[int, ...], played: str, policy: SpadesPolicy) -> int:
    """The card ``policy`` adds after ``played``; seats missing from ``hands`` share what is left."""
    game = Spades(phase="round")
    states, out = game.new(1), game.buffers(1)
    game.begin(states, np.array([3]), 1, out)  # west deals: north bids and leads first
    fixed = {seat: hand_number(text) for seat, text in hands.items()}
    left = [c for c in range(52) if not any(hand >> c & 1 for hand in fixed.values())]
    for k, seat in enumerate("NESW"):
        if seat not in fixed:
            fixed[seat] = sum(1 << left.pop() for _ in range(13))
        states["hands"][0, k] = states["held"][0, k] = fixed[seat]
    for bid in bids:
        game.step(states, np.array([bid]), 1, out, 0)
    for text in played.split():
        game.step(states, np.array([FIRST_CARD + card_number(text)]), 1, out, 0)
    views = game.view_of(states, states["turn"].astype(np.int64))
    return int(policy.act(views, np.ones((1, 68), np.int8), Streams.at(0, np.array([0])))[0]) - FIRST_CARD


def test_a_niler_throws_the_highest_card_under_the_trick() -> None:
    hands = {"N": "AK.AK2.AK32.AK32", "E": "432.QJ3.987.QJT9"}
    assert next_card(hands, (5, 0, 3, 3), "AH", srp()) == card_number("QH")


def test_partner_of_a_niler_takes_over_the_nilers_card() -> None:
    hands = {"N": "432.T98.987.QJT9", "E": "765.765.654.8765", "S": "AKQ.AKQ2.AK2.AK2"}
    assert next_card(hands, (0, 3, 5, 3), "TH 5H", srp()) in (card_number("AH"), card_number("KH"), card_number("QH"))


def test_nobody_takes_the_trick_from_a_niler_who_wins_it() -> None:
    hands = {"N": "T98.T98.T98.T987", "E": "765.765.765.6543", "S": "432.43.Q432.AKQJ"}
    assert next_card(hands, (0, 3, 3, 3), "TH 5H 3H", srp()) // 4 < RANKS.index("T")  # west ducks if west can


def test_wrp_goes_for_an_opponents_nil() -> None:
    """West is last: it ducks under the niler's ten though its contract lacks tricks, and takes a trick of anybody."""
    hands = {"N": "T98.T98.T98.T987", "E": "765.765.765.6543", "S": "432.43.Q432.AKQJ"}
    assert next_card(hands, (0, 3, 3, 3), "TH 5H 3H", wrp()) // 4 < RANKS.index("T")
    assert next_card(hands, (1, 3, 3, 3), "TH 5H 3H", wrp()) // 4 > RANKS.index("T")


def test_high_low_shows_a_doubleton() -> None:
    hands = {"N": "K2.AK432.A32.432", "E": "A3.QJ.KQJT.KQJT9", "S": "9876.75.9876.A87"}
    assert next_card(hands, (4, 3, 3, 3), "AH JH", srp()) == card_number("7H")


@pytest.mark.parametrize("kind", ["none", "voids", "bids"])
def test_uct_takes_the_last_trick_it_needs(kind: str) -> None:
    hands = {"N": "AKQJT98765432...", "E": ".AKQJT98765432..", "S": "..AKQJT98765432."}
    policy = SpadesPolicy("bis", Player("uct", 13, 20, kind))
    assert next_card(hands, (13, 1, 1, 1), "", policy) % 4 == 3


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="player 'grp': expected 'srp' or 'wrp'"):
        SpadesPolicy("bis", "grp")
    with pytest.raises(ValueError, match="bidder 'bid': expected 'bis' or 'rb'"):
        SpadesPolicy("bid")
    with pytest.raises(ValueError, match="infer 'all': expected 'none' or 'voids' or 'bids'"):
        uct(infer="all")
