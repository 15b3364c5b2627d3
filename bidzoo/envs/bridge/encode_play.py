"""The play half of OpenSpiel's 571-entry observation."""

from bidzoo.bits import cards_row
from bidzoo.cards import HAND_SIZE, NUM_CARDS
from bidzoo.envs.bridge.features import PLAY571
from bidzoo.envs.bridge.state import PLAY
from bidzoo.kernels import I8, Table, row

_DECLARING, _DEFENDING = 2, 3  # type entries
_LEVEL, _STRAIN, _STAKE = (PLAY571.start(name) for name in ("level", "strain", "stake"))
_DECLARER, _VULNERABLE = PLAY571.start("declarer"), PLAY571.start("vulnerable")
_HAND, _DUMMY = PLAY571.start("hand"), PLAY571.start("dummy")
_TRICK = PLAY571.start("trick")  # the last trick follows
_MADE, _LOST = PLAY571.start("made"), PLAY571.start("lost")


@row
def tricks_row(record: Table, seat: int, at: int, out: I8) -> None:
    """The cards of the current trick and of the one before, as ``seat`` counts seats, into zeroed entries."""
    plays = int(record.plays)
    current = plays - plays % 4
    for i in range(max(current - 4, 0), plays):
        trick = at if i >= current else at + 4 * NUM_CARDS
        out[trick + NUM_CARDS * ((int(record.players[i]) - seat) & 3) + int(record.played[i])] = 1


@row
def play_row(record: Table, held: int, seat: int, out: I8) -> None:
    """What ``seat`` sees once a card is played, into zeroed ``out`` ``[571]``; layout ``PLAY571``."""
    bid, declarer = int(record.bid), int(record.declarer)
    if record.phase == PLAY:
        out[_DECLARING if (declarer - seat) & 1 == 0 else _DEFENDING] = 1
    out[_LEVEL + bid // 5] = 1
    out[_STRAIN + bid % 5] = 1
    out[_STAKE + int(record.stake) // 2] = 1
    out[_DECLARER + ((declarer - seat) & 3)] = 1
    out[_VULNERABLE + ((int(record.vulnerable) >> (declarer & 1)) & 1)] = 1
    cards_row(held, _HAND, out)
    cards_row(int(record.dummy), _DUMMY, out)
    tricks_row(record, seat, _TRICK, out)
    made, lost = int(record.won[declarer & 1]), int(record.won[1 - (declarer & 1)])
    if made < HAND_SIZE:
        out[_MADE + made] = 1
    if lost < HAND_SIZE:
        out[_LOST + lost] = 1
