"""Finished jobs of a long run in a file, so that the run goes on where it was killed."""

import json
from pathlib import Path
from typing import Any, Generic, TypeVar

Job = TypeVar("Job", bound=tuple[Any, ...])
Outcome = TypeVar("Outcome", bound=tuple[Any, ...])


class Ledger(Generic[Job, Outcome]):
    """``done``: outcomes by job, both named tuples of JSON values; one line each in ``path``, in memory only without.

    Raises:
        ValueError: ``path`` holds something else; names the line. A last line that a kill cut short is dropped.
    """

    def __init__(self, path: str | Path | None, job: type[Job], outcome: type[Outcome]) -> None:
        self.path = None if path is None else Path(path)
        self.done: dict[Job, Outcome] = {}
        if self.path is None or not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self.done[job(**entry["job"])] = outcome(**entry["outcome"])
            except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as problem:
                raise ValueError(f"{path}, line {number}: not a finished job ({problem})") from problem
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep ``outcome``; on return it is with the operating system."""
        self.done[job] = outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            entry = {"job": job._asdict(), "outcome": outcome._asdict()}  # type: ignore[attr-defined]
            with self.path.open("ab") as file:
                file.write(json.dumps(entry).encode() + b"\n")
