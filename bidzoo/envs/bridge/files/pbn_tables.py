"""Double-dummy tables in PBN: the standard's ``OptimumResultTable`` (section 5.7) and ``DoubleDummyTricks``."""

import re

from bidzoo.cards import SEATS, STRAINS, seat_number
from bidzoo.envs.bridge.files.pbn_grammar import Tag

_COLUMNS = ("Declarer", "Denomination", "Result")
HEADER = "Declarer;Denomination\\2R;Result\\2R"
_NOT_KNOWN = ("-", "?", "*")


def result_table(tag: Tag, source: str) -> tuple[int, ...]:
    """Table ``[20]`` of an ``OptimumResultTable``; -1 where it has no row."""
    heads = [re.sub(r"\\.*", "", head.strip()).lstrip("+-") for head in tag.value.split(";") if head.strip()]
    heads = heads or list(_COLUMNS)
    if not set(_COLUMNS) <= set(heads):
        raise ValueError(f"{source}:{tag.line}: {tag.name}: columns {tag.value!r}, expected {', '.join(_COLUMNS)}")
    table = [-1] * 20
    for start in range(0, len(tag.words), len(heads)):
        words = tag.words[start : start + len(heads)]
        try:
            if len(words) < len(heads):
                raise ValueError(f"row of {len(words)} words, expected {len(heads)}")
            cell, won = _row(*(words[heads.index(name)].text for name in _COLUMNS))
        except ValueError as error:
            raise ValueError(f"{source}:{words[0].line}: {tag.name}: {error}") from error
        table[cell] = won
    return tuple(table)


def _row(seat: str, strain: str, won: str) -> tuple[int, int]:
    """Place in the table, and tricks."""
    strain = "NT" if strain.upper() == "N" else strain.upper()
    if strain not in STRAINS:
        raise ValueError(f"{strain!r} is not a strain, expected one of {' '.join(STRAINS)}")
    if not (won in _NOT_KNOWN or (won.isdecimal() and int(won) <= 13)):
        raise ValueError(f"{won!r} tricks, expected 0 ... 13")
    return 5 * seat_number(seat) + STRAINS.index(strain), -1 if won in _NOT_KNOWN else int(won)


def result_rows(tricks: tuple[int, ...]) -> list[str]:
    """Rows of an ``OptimumResultTable``."""
    return [
        f"{SEATS[seat]} {STRAINS[strain]:>2} {tricks[5 * seat + strain]:2d}".replace("-1", " -")
        for seat in (0, 2, 1, 3)
        for strain in (4, 3, 2, 1, 0)
    ]


def double_dummy_tricks(tag: Tag, source: str) -> tuple[int, ...]:
    """Table ``[20]`` of a ``DoubleDummyTricks`` tag: N S E W by NT S H D C, a hexadecimal digit each."""
    if not re.fullmatch(r"[0-9a-dA-D*-]{20}", tag.value):
        expected = "20 of 0-9, a-d for 10-13, * for unknown (N S E W by NT S H D C)"
        raise ValueError(f"{source}:{tag.line}: {tag.name}: {tag.value!r}, expected {expected}")
    table = [-1] * 20
    for i, letter in enumerate(tag.value):
        table[5 * SEATS.index("NSEW"[i // 5]) + 4 - i % 5] = -1 if letter in _NOT_KNOWN else int(letter, 16)
    return tuple(table)
