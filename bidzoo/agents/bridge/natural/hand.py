"""What a hand is worth, and whether it keeps what a call promises."""

from bidzoo.agents.bridge.natural.records import NO_SUIT
from bidzoo.kernels import Table, row


@row
def evaluate_row(cards: int, out: Table) -> None:
    """Points, lengths, honours and stoppers of ``cards`` (bit ``4 * rank + suit``) into a ``HAND`` record."""
    out.hcp, out.aces, out.kings, extra, doubletons, shortest = 0, 0, 0, 0, 0, 13
    for suit in range(4):
        length, honours = 0, 0
        for rank in range(13):
            if (cards >> (4 * rank + suit)) & 1:
                length += 1
                honours += max(rank - 8, 0)
        ace, king = (cards >> (48 + suit)) & 1, (cards >> (44 + suit)) & 1
        queen, jack = (cards >> (40 + suit)) & 1, (cards >> (36 + suit)) & 1
        out.length[suit], out.honours[suit] = length, honours
        stopped = ace or (king and length >= 2) or (queen and length >= 3) or (jack and length >= 4)
        out.stopped[suit] = 1 if stopped else 0
        out.hcp += honours
        out.aces += ace
        out.kings += king
        extra += max(length - 4, 0)
        doubletons += length == 2
        shortest = min(shortest, length)
    out.points = out.hcp + extra
    out.balanced = 1 if shortest >= 2 and doubletons <= 1 else 0


@row
def support_row(hand: Table, trump: int) -> int:
    """Points in support of ``trump``: high cards, shortness for which trumps are left, and trumps beyond the fourth."""
    trumps = hand.length[trump]
    points = hand.hcp + max(trumps - 4, 0)
    for suit in range(4):
        if suit != trump and hand.length[suit] < 3:
            short = 3 - hand.length[suit]  # 1 doubleton, 2 singleton, 3 void
            points += min(short + (1 if trumps >= 4 and short >= 2 else 0), trumps) if trumps >= 3 else 0
    return points


@row
def keeps_row(hand: Table, meaning: Table) -> bool:
    """The hand is one that ``meaning`` promises."""
    if hand.hcp >= meaning.strong:
        return True
    if hand.hcp < meaning.hcp_low or hand.hcp > meaning.hcp_high:
        return False
    points = hand.points if meaning.trump == NO_SUIT else support_row(hand, meaning.trump)
    if points < meaning.points_low or points > meaning.points_high:
        return False
    if meaning.balanced and not hand.balanced:
        return False
    for suit in range(4):
        length = hand.length[suit]
        if length < meaning.low[suit] or length > meaning.high[suit]:
            return False
        if meaning.longest != NO_SUIT and length > hand.length[meaning.longest]:
            return False
        if (meaning.stops >> suit) & 1 and not hand.stopped[suit]:
            return False
    if meaning.better != NO_SUIT:
        better, worse = hand.length[meaning.better], hand.length[meaning.worse]
        if better < worse + meaning.by or (better == worse and better < meaning.tie):
            return False
    if meaning.either != 0:
        found = False
        for suit in range(4):
            found = found or ((meaning.either >> suit) & 1 == 1 and hand.length[suit] >= meaning.either_low)
        if not found:
            return False
    if meaning.quality > 0 and hand.honours[meaning.strain] < meaning.quality:
        return False
    return meaning.aces == 0 or (meaning.aces >> hand.aces) & 1 == 1
