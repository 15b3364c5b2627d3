"""The table manager: a duplicate match between two pairs, each of them programs, policies of ours, or one of each."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from bidzoo.bluechip.boards import Board
from bidzoo.bluechip.listener import Listener, Names, Report
from bidzoo.bluechip.message import team_name
from bidzoo.bluechip.result import ROOMS, Record
from bidzoo.bluechip.room import Room, Settings
from bidzoo.core.cards import NUM_CALLS
from bidzoo.envs.bridge.game import Bridge

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

    Pair = tuple[Policy | None, Policy | None]  # at North or East, at South or West; None: a program


class TableManager:
    """A match of ``first`` (N/S in the open room, E/W in the closed room) against ``second``.

    Args:
        game: ``Bridge(play=True)`` to play the cards, ``Bridge(play=False)`` to stop after the auction;
            ``reward="score"``.
        first: the first pair.
        second: the second pair.
        settings: ports, patience, what is scored. Without play that is always ``double_dummy``, for which the boards
            must have their double-dummy tricks.
        report: gets a line on every fault and refusal; default: nobody does.
    """

    def __init__(
        self,
        game: Bridge,
        first: Pair,
        second: Pair,
        settings: Settings | None = None,
        report: Report = lambda line: None,
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
        self.names = Names(*(_local_name(pair) for pair in self.pairs))
        self._rooms: dict[str, Room] = {}
        self._stopped = False
        if not self.settings.in_turn:
            self._open_rooms(self.settings.rooms)

    @property
    def ports(self) -> dict[str, int]:
        """Where the open rooms listen."""
        return {name: room.listener.port for name, room in self._rooms.items()}

    def run(self, boards: Sequence[Board], record: Record | None = None) -> Record:
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
                busy = [name for name in names if self._left(name, boards, record)]
                for name in self._rooms.keys() - busy:
                    self._rooms[name].listener.close()
                if not self._stopped:
                    self._open_rooms([name for name in busy if name not in self._rooms])
                    self._run(busy, boards, record)
        finally:
            self.stop()
        record.write_pbn()
        return record

    def _check(self, boards: Sequence[Board], record: Record) -> None:
        cards = {result.number: result.hands for result in record.results.values()}
        for board in boards:
            if cards.get(board.number, tuple(board.hands)) != tuple(board.hands):
                raise ValueError(f"board {board.number}: the record has other cards, expected those of this match")
            if self.settings.double_dummy and (board.tricks < 0).any():
                raise ValueError(f"board {board.number}: no complete double-dummy table, expected one to score it by")

    def stop(self) -> None:
        """End the match after the words that are being spoken; what is finished stays on record."""
        self._stopped = True
        for room in list(self._rooms.values()):
            room.listener.close()

    # ---- rooms -----------------------------------------------------------------------------

    def _left(self, name: str, boards: Sequence[Board], record: Record) -> list[Board]:
        return [board for board in boards if not record.played(name, board.number)]

    def _run(self, names: Sequence[str], boards: Sequence[Board], record: Record) -> None:
        with ThreadPoolExecutor(max(1, len(names))) as threads:
            runs = [
                threads.submit(self._rooms[name].run, self._left(name, boards, record), record.add) for name in names
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
            kept = [sides[seat % 2] if policy is None else None for seat, policy in enumerate(policies)]
            try:
                listener = Listener(settings.host, port, kept, self.names, settings.limits, name, self._report)
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
