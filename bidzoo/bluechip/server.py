"""The table manager: a duplicate match between two pairs, each of them programs, policies of ours, or one of each.

A ``Room`` is one table of it: who acts, who is told what, and what happens when somebody fails. Everything said about a
board is a *script* of events; each seat counts how many of them its program has heard. A program that comes back after
a broken connection hears the board from its start and must act again as it did; the others just wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bidzoo.bluechip import message as say
from bidzoo.bluechip.boards import ROOMS, DealtBoard, Record, Result
from bidzoo.bluechip.connection import Limits, Listener, Log, PeerError
from bidzoo.bluechip.message import NAMES, team_name
from bidzoo.bluechip.seat import Act, Event, Seat, Shown, choose
from bidzoo.core.cards import NUM_CALLS, PBN_VULNERABLE, SEATS, call_text, card_text, hand_text
from bidzoo.core.kernels import State
from bidzoo.envs.bridge import board as files
from bidzoo.envs.bridge.engine import SCORE, Rules, result_row
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.game import Table

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

    Pair = tuple[Policy | None, Policy | None]  # at North or East, at South or West; None: a program

_STRIKES = 2  # faults of one seat on one board before the board is given up
_MAX_PORT = 65535
T = TypeVar("T")


class _UnplayedError(Exception):
    """This board cannot be finished."""


class _DesertedError(Exception):
    """A seat stays empty."""


@dataclass(frozen=True)
class Settings:
    """How a match is run."""

    host: str = "127.0.0.1"  # who may connect: programs on this machine only
    port: int = 2000  # of the open room; 0: any free one
    closed_port: int | None = None  # of the closed room; None: the next one, or the same if in turn
    rooms: Sequence[str] = ROOMS  # "open", "closed"
    in_turn: bool = False  # the closed room opens when the open room is done, so two programs serve for eight seats
    limits: Limits = field(default_factory=Limits)
    grace: float = 60.0  # s that a lost program has to come back
    seating: float = 600.0  # s that programs have to come at all
    double_dummy: bool = False  # the score is that of the double-dummy tricks, also where cards are played
    policy_seed: int = 0  # of our policies; they act as in ``bidzoo.benchmarks.match.duplicate``

    def __post_init__(self) -> None:
        if self.port == _MAX_PORT and "closed" in self.rooms and self.closed_port is None and not self.in_turn:
            raise ValueError(
                f"port {self.port}: expected one to {_MAX_PORT - 1}, as the closed room has the next, or a closed_port"
            )


# ---- one table -------------------------------------------------------------------------------


class Room:
    """A table with its four seats.

    Args:
        game: ``Bridge(play=True)`` plays the cards; else the auction's contract is scored double dummy.
        policies: ``[4]``; None is a seat for a program.
        pairs: which pair, 0 or 1, sits N/S and which E/W.
        listener: accepts the programs; it holds the names of the pairs, and reports every fault.
        settings: patience, and what is scored.
        seed: of the local policies.
    """

    def __init__(
        self,
        game: Bridge,
        policies: list[Policy | None],
        pairs: tuple[int, int],
        listener: Listener,
        settings: Settings,
        seed: int,
    ) -> None:
        self.game, self.listener = game, listener
        self._pairs, self._settings, self._seed = pairs, settings, seed
        self._seats = [Seat(number, policy) for number, policy in enumerate(policies)]
        self._guests = [seat for seat in self._seats if seat.policy is None]
        self._script: list[Event] = []
        self._faults: list[str] = []
        self._board_seconds = [0.0, 0.0]  # by side
        self._total_seconds = [0.0, 0.0]

    @property
    def teams(self) -> say.Teams:
        """Names of the teams N/S and E/W."""
        ns, ew = self._pairs
        names = self.listener.names
        return say.Teams(names.get(ns, "?"), names.get(ew, "?"))

    def run(self, boards: Iterable[DealtBoard], on_result: Callable[[Result], None]) -> None:
        """Play ``boards`` and call ``on_result`` after each; stop early if a seat stays empty.

        Raises:
            PeerError: the table is not complete for the first board in time.
        """
        try:
            self._fill()
            for board in boards:
                result, desertion = self._play(board)
                on_result(result)
                if desertion:
                    self.listener.report(
                        f"{self.listener.room} room: {desertion}; from board {board.number} on it is not played"
                    )
                    return
        finally:
            self._tell_all(say.EndOfSession())
            self.listener.close()

    # ---- boards ----------------------------------------------------------------------------

    def _play(self, board: DealtBoard) -> tuple[Result, str]:
        """The result, and why the room must stop, or an empty text."""
        table = board.table(self.game)
        self._script, self._faults, self._board_seconds = [board], [], [0.0, 0.0]
        for seat in self._seats:
            seat.heard = seat.strikes = 0
        start, desertion = time.monotonic(), ""
        try:
            self._tell_script()
            while not table.out.over[0]:
                self._turn(table)
        except _UnplayedError:
            pass  # the faults say why
        except _DesertedError as problem:
            desertion = str(problem)
        self._total_seconds = [total + used for total, used in zip(self._total_seconds, self._board_seconds)]
        ns, ew = ((round(used), round(total)) for used, total in zip(self._board_seconds, self._total_seconds))
        self._tell_all(say.Timing(ns, ew))
        return self._result(board, table.states[0], time.monotonic() - start), desertion

    def _result(self, board: DealtBoard, state: State, seconds: float) -> Result:
        messages = [event.message for event in self._script if isinstance(event, Act)]
        (contract, declarer, taken), over = files.outcome(state), state["turn"] < 0
        if taken is not None and declarer is not None and self._settings.double_dummy:
            taken = int(state["tricks"][5 * declarer + int(state["bid"]) % 5])
        points = result_row(state, Rules(not self._settings.double_dummy, SCORE, 1.0, 0)) if over else None
        values = {
            "room": self.listener.room,
            "number": board.number,
            "dealer": SEATS[board.dealer],
            "vulnerable": PBN_VULNERABLE[board.vulnerable],
            "hands": [hand_text(int(hand)) for hand in board.hands],
            "names": [self.teams.north_south, self.teams.east_west],
            "calls": [[call_text(m.call), *["!", m.note] * m.alert] for m in messages if isinstance(m, say.CallMade)],
            "cards": [card_text(m.card) for m in messages if isinstance(m, say.Play)],
            "contract": contract,
            "declarer": None if declarer is None else SEATS[declarer],
            "taken": taken,
            "points": points,
            "double_dummy": self._settings.double_dummy,
            "faults": self._faults,
            "seconds": round(seconds, 3),
        }
        return Result.of(values)

    def _turn(self, table: Table) -> None:
        """Get one call or card, and tell every program of it."""
        state, seat = table.states[0], self._seats[int(table.out.player[0])]
        calling = state["phase"] == AUCTION
        hand = seat.number if calling else int(state["hand_to_play"])
        trick = 0 if calling else int(state["plays"]) // 4 + 1
        lead = not calling and state["plays"] % 4 == 0
        start = time.monotonic()
        if seat.policy is not None:
            act = Act(seat.number, choose(seat.policy, table, self._seed), trick, lead)
        else:
            act = self._attempt(seat, partial(seat.ask, hand, trick, lead, table.out.mask[0].tolist()))
        self._board_seconds[seat.number % 2] += time.monotonic() - start
        self._script.append(act)
        seat.heard = len(self._script)
        table.step(act.action)
        if trick == 1 and lead:
            dummy = (seat.number + 1) % 4
            self._script.append(Shown(dummy, int(state["hands"][dummy])))
        self._tell_script()

    def _tell_script(self) -> None:
        for seat in self._guests:
            self._attempt(seat, partial(seat.catch_up, self._script))

    def _tell_all(self, message: say.Message) -> None:
        """Send ``message`` to every program; those that cannot be reached are dropped."""
        for seat in self._guests:
            try:
                seat.say(message)
            except PeerError as fault:
                self._drop(seat, fault)

    # ---- coming and going ------------------------------------------------------------------

    def _fill(self) -> None:
        deadline, empty = time.monotonic() + self._settings.seating, []
        for seat in self._guests:
            arrival = self.listener.take(seat.number, max(0.0, deadline - time.monotonic()))
            if arrival is None:
                empty.append(NAMES[seat.number])
            else:
                seat.sit(arrival)
        room = f"{self.listener.room} room"
        if empty:
            raise PeerError(room, f"nobody at {', '.join(empty)}", f"programs in {self._settings.seating:g} s")
        try:
            for seat in self._guests:
                self._attempt(seat, partial(seat.start, self.teams))
        except (_UnplayedError, _DesertedError):
            raise PeerError(room, self._faults[-1], "a complete table to start with") from None

    def _attempt(self, seat: Seat, action: Callable[[], T]) -> T:
        """Return ``action()`` with the program of ``seat``; try again if that fails and comes back in time."""
        while True:
            try:
                if seat.connection is None:
                    self._welcome(seat)
                return action()
            except PeerError as fault:
                self._drop(seat, fault)
                seat.strikes += 1
                if seat.strikes >= _STRIKES:
                    raise _UnplayedError from fault

    def _welcome(self, seat: Seat) -> None:
        """Seat a program that comes back, and tell it all events of this board."""
        arrival = self.listener.take(seat.number, self._settings.grace)
        if arrival is None:
            raise _DesertedError(f"nobody came back to {NAMES[seat.number]} in {self._settings.grace:g} s")
        seat.sit(arrival)
        seat.start(self.teams)
        seat.catch_up(self._script)

    def _drop(self, seat: Seat, fault: PeerError) -> None:
        self._faults.append(str(fault))
        self.listener.report(str(fault))
        seat.leave(fault)


# ---- the match -------------------------------------------------------------------------------


class TableManager:
    """A match of ``first`` (N/S in the open room, E/W in the closed room) against ``second``.

    Args:
        game: ``Bridge(play=True)`` to play the cards, ``Bridge(play=False)`` to stop after the auction;
            ``reward="score"``.
        first: the first pair.
        second: the second pair.
        settings: ports, patience, what is scored. Without play that is always ``double_dummy``, for which the boards
            must have their double-dummy tricks.
        report: gets a line on every fault and refusal; default: they are not reported.
    """

    def __init__(
        self,
        game: Bridge,
        first: Pair,
        second: Pair,
        settings: Settings | None = None,
        report: Log = lambda line: None,
    ) -> None:
        if game.reward != "score":
            raise ValueError(f"a match compares scores; make the game with reward='score', not {game.reward!r}")
        self.game, self.pairs, self._report = game, (first, second), report
        self.settings = settings or Settings()
        if game.num_actions == NUM_CALLS:
            self.settings = replace(self.settings, double_dummy=True)
        unknown = [room for room in self.settings.rooms if room not in ROOMS]
        if unknown or not self.settings.rooms:
            raise ValueError(f"rooms {list(self.settings.rooms)}: expected one or both of {', '.join(ROOMS)}")
        self.names = {number: name for number, pair in enumerate(self.pairs) if (name := _local_name(pair))}
        self._rooms: dict[str, Room] = {}
        self._stopped = False
        if not self.settings.in_turn:
            self._open_rooms(self.settings.rooms)

    @property
    def ports(self) -> dict[str, int]:
        """Ports on which rooms listen, by room."""
        return {name: room.listener.port for name, room in self._rooms.items()}

    def run(self, boards: Sequence[DealtBoard], record: Record | None = None) -> Record:
        """Play all ``boards`` that ``record`` does not hold yet, once; returns when both rooms are done.

        Raises:
            PeerError: a room was not complete in time.
            ValueError: a local policy made an illegal call, a board lacks the double-dummy tricks to score it by, or
                the record has other cards.
        """
        record = record or Record(None, {})
        try:
            self._check(boards, record)
            rooms = self.settings.rooms
            for names in [[name] for name in rooms] if self.settings.in_turn else [rooms]:
                busy = [name for name in names if self._remaining(name, boards, record)]
                for name in self._rooms.keys() - busy:
                    self._rooms[name].listener.close()
                if not self._stopped:
                    self._open_rooms([name for name in busy if name not in self._rooms])
                    self._run(busy, boards, record)
        finally:
            self.stop()
        record.write_pbn()
        return record

    def _check(self, boards: Sequence[DealtBoard], record: Record) -> None:
        cards = {result.number: result.board().hands for result in record.results.values()}
        for board in boards:
            if cards.get(board.number, tuple(board.hands)) != tuple(board.hands):
                raise ValueError(f"board {board.number}: the record has other cards, expected those of this match")
            if self.settings.double_dummy and (board.tricks < 0).any():
                raise ValueError(f"board {board.number}: no complete double-dummy table, expected one to score it by")

    def stop(self) -> None:
        """End the match after the line that is being sent; finished boards stay on record."""
        self._stopped = True
        for room in list(self._rooms.values()):
            room.listener.close()

    # ---- rooms -----------------------------------------------------------------------------

    def _remaining(self, name: str, boards: Sequence[DealtBoard], record: Record) -> list[DealtBoard]:
        return [board for board in boards if not record.played(name, board.number)]

    def _run(self, names: Sequence[str], boards: Sequence[DealtBoard], record: Record) -> None:
        with ThreadPoolExecutor(max(1, len(names))) as threads:
            runs = [
                threads.submit(self._rooms[name].run, self._remaining(name, boards, record), record.add)
                for name in names
            ]
            try:
                wait(runs)
            except BaseException:  # an interrupt
                self.stop()
                raise
        for run in runs:
            run.result()

    def _open_rooms(self, names: Sequence[str]) -> None:
        settings = self.settings
        for name in names:
            closed = name == "closed"
            port = settings.port
            if closed and settings.closed_port is not None:
                port = settings.closed_port
            elif closed and not settings.in_turn and port:
                port += 1
            sides = (1, 0) if closed else (0, 1)  # pair at N/S, pair at E/W
            policies = [self.pairs[sides[seat % 2]][seat // 2] for seat in range(4)]
            seat_pairs = [sides[seat % 2] if policy is None else None for seat, policy in enumerate(policies)]
            try:
                listener = Listener(settings.host, port, seat_pairs, self.names, settings.limits, name, self._report)
            except ValueError:
                self.stop()
                raise
            self._rooms[name] = Room(self.game, policies, sides, listener, settings, 2 * settings.policy_seed + closed)


def _local_name(pair: Pair) -> str | None:
    """Name of a pair of ours; None if a program will name it."""
    names = [policy.name for policy in pair if policy is not None]
    if len(names) < 2:
        return None
    return team_name(names[0] if names[0] == names[1] else " and ".join(names))
