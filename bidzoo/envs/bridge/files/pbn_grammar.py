"""Tags and sections of a PBN file (Portable Bridge Notation 2.1, sections 2-3), before anybody asks what they mean.

A file is a list of games, separated by empty lines; a game is a list of tags ``[Name "value"]``, each perhaps
followed by the words of its section. ``%`` in the first column, ``; ...`` and ``{ ... }`` hold no game data.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Word(NamedTuple):
    """One word of a section."""

    text: str
    line: int


class Tag(NamedTuple):
    """One tag pair and the section after it."""

    name: str
    value: str
    line: int
    words: list[Word]


_TOKEN = re.compile(
    r"""\s+ | ;.* | (?P<mark>[\[\]{}]) | "(?P<string>(?:[^"\\]|\\.)*)" | (?P<word>[^\s\[\]{};"]+)""", re.X
)
_ESCAPED = re.compile(r'\\(["\\])')


def decode(content: bytes, source: str) -> str:
    """Text of a file: UTF-8 with or without a byte order mark, else Latin-1, the standard's own."""
    if b"\0" in content:
        raise ValueError(f"{source}: byte {content.index(0)} is 0, expected a text file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def lines_of(text: str) -> list[str]:
    """Lines, whichever of CR and LF end them."""
    return re.split(r"\r\n|\r|\n", text)


def games(text: str, source: str) -> Iterator[list[Tag]]:
    """Games of a PBN text, in order; ValueError names ``source``, line and what was expected."""
    reader = _Reader(source)
    for number, line in enumerate(lines_of(text), 1):
        if line.startswith("%") and not reader.comment:
            continue
        if not line.strip() and not reader.comment:
            if reader.tags:
                yield reader.finish(number)
            continue
        reader.line(number, line)
    if reader.comment:
        raise ValueError(f"{source}:{reader.comment}: comment is never closed, expected a brace")
    if reader.tags or reader.pair is not None:
        yield reader.finish(number)


class _Reader:
    """Where we are in the file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tags: list[Tag] = []  # of the game so far
        self.comment = 0  # line where an open comment began
        self.pair: list[str] | None = None  # name and value of an open tag

    def finish(self, number: int) -> list[Tag]:
        """The game so far; the next one begins."""
        if self.pair is not None:
            raise self.error(number, f"tag {' '.join(self.pair)!r} is never closed, expected ]")
        game, self.tags = self.tags, []
        return game

    def error(self, number: int, message: str) -> ValueError:
        return ValueError(f"{self.source}:{number}: {message}")

    def line(self, number: int, line: str) -> None:
        at = 0
        while at < len(line):
            if self.comment:
                at = line.find("}", at) + 1
                if not at:
                    return
                self.comment = 0
                continue
            token = _TOKEN.match(line, at)
            if token is None:
                raise self.error(number, f"{line[at:][:40]!r} has no end, expected a closing quote")
            at = token.end()
            self._token(number, token)

    def _token(self, number: int, token: re.Match[str]) -> None:
        mark, string, word = token["mark"], token["string"], token["word"]
        if mark == "{":
            self.comment = number
        elif self.pair is not None:
            self._in_tag(number, token)
        elif mark == "[":
            self.pair = []
        elif mark is not None:
            raise self.error(number, f'{mark!r} closes nothing, expected [Name "value"]')
        elif string is not None or word is not None:
            if not self.tags:
                raise self.error(number, f'{token[0][:40]!r} before any tag, expected [Name "value"]')
            self.tags[-1].words.append(Word(word if string is None else string, number))

    def _in_tag(self, number: int, token: re.Match[str]) -> None:
        assert self.pair is not None
        if token["word"] is not None and not self.pair:
            self.pair.append(token["word"])
        elif token["string"] is not None and len(self.pair) == 1:
            self.pair.append(_ESCAPED.sub(r"\1", token["string"]))
        elif token["mark"] == "]" and len(self.pair) == 2:
            self.tags.append(Tag(self.pair[0], self.pair[1], number, []))
            self.pair = None
        elif token[0].strip() and not token[0].startswith(";"):
            raise self.error(number, f'{token[0][:40]!r} in a tag, expected [Name "value"]')
