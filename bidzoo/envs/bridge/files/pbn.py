"""Boards from and to PBN files (Portable Bridge Notation 2.1).

The reader is our own. endplay's (0.5.12) does not name the line of a wrong value, knows no byte order mark and no
``##`` inheritance, keeps the notes of one game for the next, and takes illegal auctions and cards without a word;
it serves as the judge in the tests. Sections other than auction, play and double-dummy tables are skipped.
"""

from pathlib import Path

from bidzoo.cards import NUM_CARDS, SEAT_NAMES, SEATS, call_text, card_text, hand_text
from bidzoo.envs.bridge.files.board import VULNERABLE, Board
from bidzoo.envs.bridge.files.deal_file import replace_file
from bidzoo.envs.bridge.files.pbn_game import Game
from bidzoo.envs.bridge.files.pbn_grammar import Tag, decode, games
from bidzoo.envs.bridge.files.pbn_tables import HEADER, result_rows


def read(path: str | Path) -> list[Board]:
    """The boards of a file; ValueError names file, line, tag and what was expected."""
    return loads(decode(Path(path).read_bytes(), str(path)), str(path))


def loads(text: str, source: str = "text") -> list[Board]:
    """The boards of a PBN text; ``source`` is what errors call it."""
    boards = []
    before: dict[str, Tag] = {}  # tags of the game before: "#" stands for its value
    forever: dict[str, Tag] = {}  # tags given as "##value": they hold until given again
    for tags in games(text, source):
        game: dict[str, Tag] = {}
        for tag in tags:
            if tag.value == "#":
                if tag.name not in before:
                    raise ValueError(f"{source}:{tag.line}: {tag.name}: '#', expected that tag in the game before")
                tag = before[tag.name]._replace(line=tag.line)
            elif tag.value.startswith("##"):
                tag = forever[tag.name] = tag._replace(value=tag.value[2:])
            if tag.name in ("Board", "Deal") and tag.name in game:
                raise ValueError(f"{source}:{tag.line}: {tag.name}: a second one, expected an empty line between games")
            if tag.name != "Note":
                game.setdefault(tag.name, tag)  # a tag given twice: the first one counts (section 3.3)
        game = {**forever, **game}
        boards.append(Game(game, _notes(tags, source), source).board())
        before = game
    return boards


def _notes(tags: list[Tag], source: str) -> dict[str, dict[str, str]]:
    """Text of each note, by the section it follows (``Auction`` or ``Play``) and number."""
    notes: dict[str, dict[str, str]] = {"Auction": {}, "Play": {}}
    section = "Auction"
    for tag in tags:
        if tag.name in notes:
            section = tag.name
        elif tag.name == "Note":
            number, colon, text = tag.value.partition(":")
            if not colon or not number.strip().isdigit():
                raise ValueError(
                    f"{source}:{tag.line}: Note: {tag.value[:40]!r}, expected a number, a colon and the text"
                )
            notes[section][number.strip()] = text.strip()
    return notes


# ---- writing -----------------------------------------------------------------------------


def write(path: str | Path, boards: list[Board]) -> None:
    """Write ``boards`` to a file, whole or not at all."""
    replace_file(Path(path), dumps(boards).encode())


def dumps(boards: list[Board]) -> str:
    """PBN text of ``boards``; reading it gives them back."""
    return "% PBN 2.1\n\n" + "\n".join(_game(board) for board in boards)


def _game(board: Board) -> str:
    """One game: the tags of the standard's mandatory set first, in its order (section 3.4)."""
    other = dict(board.tags)
    lines = [_tag(name, other.pop(name, "?")) for name in ("Event", "Site", "Date")]
    lines.append(_tag("Board", "?" if board.number is None else str(board.number)))
    lines += [_tag(SEAT_NAMES[seat], board.names[seat]) for seat in (3, 0, 1, 2)]
    lines.append(_tag("Dealer", _seat(board.dealer)))
    lines.append(_tag("Vulnerable", "?" if board.vulnerable is None else VULNERABLE[board.vulnerable]))
    hands = [hand_text(hand) if hand else "-" for hand in board.hands or ()]
    lines.append(_tag("Deal", f"N:{' '.join(hands)}" if hands else "?"))
    lines.append(_tag("Scoring", other.pop("Scoring", "?")))
    lines.append(_tag("Declarer", "" if board.contract == "Pass" else _seat(board.declarer)))
    lines.append(_tag("Contract", board.contract or "?"))
    lines.append(_tag("Result", "" if board.contract == "Pass" else _number(board.result)))
    lines += [_tag(name, value) for name, value in other.items()]
    lines += _auction(board) + _play(board)
    if board.tricks is not None:
        lines += [f'[OptimumResultTable "{HEADER}"]', *result_rows(board.tricks)]
    return "\n".join(lines) + "\n"


def _tag(name: str, value: str) -> str:
    escaped = " ".join(value.split("\n")).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _seat(seat: int | None) -> str:
    return "?" if seat is None else SEATS[seat]


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)


def _auction(board: Board) -> list[str]:
    """The auction section, four calls to a line, and its notes."""
    if not board.auction or board.dealer is None:
        return []
    words: list[str] = []
    notes: list[str] = []
    for call in board.auction:
        text = "Pass" if call.call == 0 else call_text(call.call)
        if call.alert or call.note:
            notes.append(_tag("Note", f"{len(notes) + 1}:{call.note}"))
            text += f" ={len(notes)}="
        words.append(text)
    if board.contract is None:
        words.append("+")
    rows = [" ".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return [_tag("Auction", SEATS[board.dealer]), *rows, *notes]


def _play(board: Board) -> list[str]:
    """The play section: a trick to a line, the columns in the order of the opening lead."""
    if board.declarer is None or not (board.play or board.claimed):
        return []
    if not board.complete:
        raise ValueError(f"board {board.number}: play: cards are played, expected four hands")
    first = (board.declarer + 1) % 4
    lines = [_tag("Play", SEATS[first])]
    for start in range(0, len(board.play), 4):
        row = ["-"] * 4
        for card in board.play[start : start + 4]:
            row[(_holder(board, card) - first) % 4] = card_text(card)[::-1]
        lines.append(" ".join(row))
    if len(board.play) < NUM_CARDS:
        lines.append("*" if board.claimed else "+")
    return lines


def _holder(board: Board, card: int) -> int:
    """Seat the card was dealt to."""
    return next(seat for seat, hand in enumerate(board.hands or ()) if hand >> card & 1)
