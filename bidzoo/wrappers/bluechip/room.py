"""One table of a match: who acts, who is told what, and what happens when somebody fails.

Everything said about a board is a *script* of events; each program has heard so many of them. Whoever comes back
after a broken connection hears the board from its start and must act again as it did; the others just wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bidzoo.cards import NUM_CALLS
from bidzoo.envs.bridge.engine import SCORE, Rules, result_row
from bidzoo.envs.bridge.files import board as files
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.game import Buffers
from bidzoo.kernels import Table, Tables
from bidzoo.wrappers.bluechip import message as say
from bidzoo.wrappers.bluechip.boards import Board
from bidzoo.wrappers.bluechip.chair import Act, Chair, Event, Opening, Shown
from bidzoo.wrappers.bluechip.door import Door, Names, Report
from bidzoo.wrappers.bluechip.message import NAMES
from bidzoo.wrappers.bluechip.players import choose
from bidzoo.wrappers.bluechip.record import Result
from bidzoo.wrappers.bluechip.wire import PeerError

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

_STRIKES = 2  # faults of one seat on one board before the board is given up
T = TypeVar("T")


class _UnplayedError(Exception):
    """This board cannot be finished."""


class _DesertedError(Exception):
    """A seat stays empty."""


class Room:
    """A table with its four chairs.

    Args:
        game: ``Bridge(play=True)`` plays the cards; else the auction's contract is scored double dummy.
        policies: ``[4]``; None is a seat for a program.
        pairs: which pair, 0 or 1, sits N/S and which E/W.
        names: of the pairs.
        door: where programs come in.
        report: gets a line on every fault.
        double_dummy: the score is that of the double-dummy tricks, also where cards are played.
        seed: of the local policies.
        grace: seconds that a lost program has to come back.
        seating: seconds that programs have to come at all.
    """

    def __init__(
        self,
        game: Bridge,
        policies: list[Policy | None],
        pairs: tuple[int, int],
        names: Names,
        door: Door,
        report: Report,
        double_dummy: bool = False,
        seed: int = 0,
        grace: float = 60.0,
        seating: float = 600.0,
    ) -> None:
        self.game, self.door, self._report, self._seed = game, door, report, seed
        self._double_dummy = double_dummy
        self._names, self._pairs, self._grace, self._seating = names, pairs, grace, seating
        self._chairs = [Chair(seat, policy) for seat, policy in enumerate(policies)]
        self._guests = [chair for chair in self._chairs if chair.policy is None]
        self._script: list[Event] = []
        self._faults: list[str] = []
        self._used = [0.0, 0.0]  # seconds by side, this board
        self._total = [0.0, 0.0]

    @property
    def teams(self) -> say.Teams:
        """Who sits N/S and E/W."""
        return say.Teams(self._names[self._pairs[0]], self._names[self._pairs[1]])

    def run(self, boards: Iterable[Board], done: Callable[[Result], None]) -> None:
        """Play ``boards``, each reported to ``done``; it ends early if a seat stays empty.

        Raises:
            PeerError: the table is not complete for the first board in time.
        """
        try:
            self._fill()
            for board in boards:
                result, deserted = self._play(board)
                done(result)
                if deserted:
                    self._report(f"{self.door.room} room: {deserted}; from board {board.number} on it is not played")
                    return
        finally:
            self._tell_all(say.EndOfSession())
            self.door.close()

    # ---- boards ----------------------------------------------------------------------------

    def _play(self, board: Board) -> tuple[Result, str]:
        """The result, and who is missing for good."""
        tables, out = board.table(self.game)
        self._script, self._faults, self._used = [Opening(board)], [], [0.0, 0.0]
        for chair in self._chairs:
            chair.heard = chair.strikes = 0
        began, deserted = time.monotonic(), ""
        try:
            self._tell_script()
            while not out.over[0]:
                self._turn(tables, out)
        except _UnplayedError:
            pass  # the faults say why
        except _DesertedError as missing:
            deserted = str(missing)
        self._total = [total + used for total, used in zip(self._total, self._used)]
        ns, ew = (round(used) for used in self._used)
        self._tell_all(say.Timing((ns, ew), (round(self._total[0]), round(self._total[1]))))
        return self._result(board, tables[0], time.monotonic() - began), deserted

    def _result(self, board: Board, table: Table, seconds: float) -> Result:
        said = [event.said for event in self._script if isinstance(event, Act)]
        north, east, south, west = (int(hand) for hand in board.hands)
        declarer, bid = int(table["declarer"]), int(table["bid"])
        over, called = table["turn"] < 0, table["phase"] != AUCTION
        solved = -1 if declarer < 0 else int(table["tricks"][5 * declarer + bid % 5])
        won = solved if self._double_dummy else int(table["won"][declarer % 2])
        points = result_row(table, Rules(not self._double_dummy, SCORE, 1.0, 0)) if over else None
        return Result(
            room=self.door.room,
            number=board.number,
            dealer=board.dealer,
            vulnerable=board.vulnerable,
            hands=(north, east, south, west),
            names=(self.teams.north_south, self.teams.east_west),
            calls=tuple(files.Call(s.call, s.alert, s.note) for s in said if isinstance(s, say.Call)),
            cards=tuple(s.card for s in said if isinstance(s, say.Play)),
            contract=files.contract_text(bid, int(table["stake"])) if called else None,
            declarer=declarer if declarer >= 0 else None,
            taken=won if over and declarer >= 0 else None,
            points=points,
            double_dummy=self._double_dummy,
            faults=tuple(self._faults),
            seconds=round(seconds, 3),
        )

    def _turn(self, tables: Tables, out: Buffers) -> None:
        """One call or card, then everybody hears of it."""
        table, chair = tables[0], self._chairs[int(out.player[0])]
        calling = table["phase"] == AUCTION
        hand = chair.seat if calling else int(table["hand_to_play"])
        trick = 0 if calling else int(table["plays"]) // 4 + 1
        lead = not calling and table["plays"] % 4 == 0
        began = time.monotonic()
        if chair.policy is not None:
            action, note = choose(chair.policy, table, out.mask[0], self._seed)
            call = say.Call(hand, action, note is not None, note or "")
            act = Act(chair.seat, call if calling else say.Play(hand, action - NUM_CALLS), trick, lead)
        else:
            act = self._attempt(chair, partial(chair.ask, hand, trick, lead, out.mask[0].tolist()))
        self._used[chair.seat % 2] += time.monotonic() - began
        self._script.append(act)
        chair.heard = len(self._script)
        self.game.step_one(tables, act.action, out)
        if trick == 1 and lead:
            dummy = (chair.seat + 1) % 4
            self._script.append(Shown(dummy, int(table["hands"][dummy])))
        self._tell_script()

    def _tell_script(self) -> None:
        for chair in self._guests:
            self._attempt(chair, partial(chair.catch_up, self._script))

    def _tell_all(self, message: say.Message) -> None:
        """Programs that cannot be told are dropped."""
        for chair in self._guests:
            try:
                chair.say(message)
            except PeerError as fault:
                self._drop(chair, fault)

    # ---- coming and going ------------------------------------------------------------------

    def _fill(self) -> None:
        deadline, empty = time.monotonic() + self._seating, []
        for chair in self._guests:
            arrival = self.door.take(chair.seat, max(0.0, deadline - time.monotonic()))
            if arrival is None:
                empty.append(NAMES[chair.seat])
            else:
                chair.sit(*arrival)
        if empty:
            raise PeerError(
                f"{self.door.room} room", f"nobody at {', '.join(empty)}", f"programs in {self._seating:g} s"
            )
        try:
            for chair in self._guests:
                self._attempt(chair, partial(chair.start, self.teams))
        except (_UnplayedError, _DesertedError):
            raise PeerError(f"{self.door.room} room", self._faults[-1], "a complete table to start with") from None

    def _attempt(self, chair: Chair, action: Callable[[], T]) -> T:
        """``action`` with the program of ``chair``; again if that fails and comes back in time."""
        while True:
            try:
                if chair.wire is None:
                    self._welcome(chair)
                return action()
            except PeerError as fault:
                self._drop(chair, fault)
                chair.strikes += 1
                if chair.strikes >= _STRIKES:
                    raise _UnplayedError from fault

    def _welcome(self, chair: Chair) -> None:
        """Whoever comes back hears all that was said of this board."""
        arrival = self.door.take(chair.seat, self._grace)
        if arrival is None:
            raise _DesertedError(f"nobody came back to {NAMES[chair.seat]} in {self._grace:g} s")
        chair.sit(*arrival)
        chair.start(self.teams)
        chair.catch_up(self._script)

    def _drop(self, chair: Chair, fault: PeerError) -> None:
        self._faults.append(str(fault))
        self._report(str(fault))
        chair.leave(fault)
