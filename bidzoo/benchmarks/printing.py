"""Result tables in a terminal: every command prints its tables by ``show``.

A printed table has at most ``MOST`` columns. The paper's figures stand in a column of their own, the numbers of a
column have one number of decimals, games have the names that people use, no word is broken, and no cell has more than
two lines. What is too wide goes on in a second table with the same first column.
"""

from __future__ import annotations

import math
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core.schema import printable, visible
from bidzoo.core.storage import named

MOST = 7  # columns of a printed table
NARROW, WIDE = 80, 120  # columns of a terminal that says nothing of its width, and of a log or a pipe
LINES = 2  # of a cell, at most
GAP = 2  # spaces between two columns
_NAMES = {"comm": "Comm", "mini_hanabi": "Mini-Hanabi", "simple_bidding": "Simple Bidding", "minibridge": "MiniBridge"}
_NUMBER = re.compile(r"[−+-]?[\d.,]+( ± [\d.,]+)?")
_GAME = re.compile(r"(?P<game>comm|mini_hanabi|simple_bidding|minibridge)_v0(?:\((?:(?:length|size)=(?P<size>\d+))?\))")


class Column(NamedTuple):
    """A printed column: its heading and a text for each row."""

    heading: str
    cells: list[str]
    number: bool  # stands at the right


def game_name(text: str) -> str:
    """``text`` with games as people name them: ``minibridge_v0(size=4)`` is MiniBridge 4."""
    return _GAME.sub(lambda found: f"{_NAMES[found['game']]} {found['size'] or ''}".strip(), text)


# ---- numbers of a column ---------------------------------------------------------------------


def estimate_places(estimates: Sequence[Estimate]) -> int:
    """Decimals of a column: two digits of the largest error, and at least one digit of the smallest."""
    errors = [each.error for each in estimates if math.isfinite(each.error) and each.error > 0]
    if not errors:
        return float_places([each.mean for each in estimates])
    two_digits = [max(0, 1 - math.floor(math.log10(error))) for error in errors]
    return min(6, max(min(two_digits), max(two_digits) - 1))


def float_places(values: Sequence[float]) -> int:
    """Decimals of a column without errors: four digits of its largest number, and one of its smallest, up to three."""
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return 0
    largest, smallest = (math.floor(math.log10(size)) for size in (max(sizes), min(sizes)))
    return max(0, min(3, max(3 - largest, min(-smallest, 1))))


def large(values: Sequence[float]) -> tuple[float, str]:
    """In which unit numbers of this size are printed, and what the heading says of it."""
    sizes = [abs(value) for value in values if math.isfinite(value) and value] or [0.0]
    if max(sizes) >= 1e6 and min(sizes) >= 1e5:
        return 1e6, " (millions)"
    return (1e3, " (thousands)") if max(sizes) >= 1e5 else (1.0, "")


def columns_of(table: ResultTable) -> list[Column]:
    """The columns of ``table`` as they are printed."""
    columns: list[Column] = []
    for name in table.columns:
        values = [row.get(name) for row in table.rows]
        if any(isinstance(value, Estimate) for value in values):
            columns += _estimates(name, values)
        elif any(isinstance(value, float) for value in values):
            columns.append(_floats(name, values))
        else:
            cells = [_text(value) for value in values]
            columns.append(Column(name, cells, any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells if cell)))
    return [column._replace(cells=[game_name(visible(cell)) for cell in column.cells]) for column in columns]


def _estimates(name: str, values: Sequence[Any]) -> list[Column]:
    estimates = [value for value in values if isinstance(value, Estimate)]
    places = estimate_places(estimates)

    def ours(value: Any) -> str:
        if not isinstance(value, Estimate):
            return _text(value)
        error = f" ± {value.error:,.{places}f}" if math.isfinite(value.error) else ""
        return f"{value.mean:,.{places}f}{error}".replace("-", "−")

    columns = [Column(name, [ours(value) for value in values], True)]
    if any(value.paper is not None for value in estimates):
        papers = [value.paper if isinstance(value, Estimate) else None for value in values]
        printed = max(len(f"{paper:.4g}".partition(".")[2]) for paper in papers if paper is not None)
        shown = ["" if paper is None else f"{paper:,.{printed}f}".replace("-", "−") for paper in papers]
        columns.append(Column("paper", shown, True))
    return columns


def _floats(name: str, values: Sequence[Any]) -> Column:
    numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    unit, words = large(numbers)
    places = float_places([number / unit for number in numbers])

    def shown(value: Any) -> str:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return _text(value)
        return f"{value / unit:,.{places}f}".replace("-", "−")

    return Column(name + words, [shown(value) for value in values], True)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


# ---- widths ----------------------------------------------------------------------------------


def wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of ``width``, broken between words alone where they fit."""
    return textwrap.wrap(text, max(width, 1), break_on_hyphens=False) or [""]


def least_width(column: Column) -> int:
    """The least width at which no word is broken and no cell has more than ``LINES`` lines."""
    texts = [column.heading, *column.cells]
    width = max((len(word) for text in texts for word in text.split()), default=1)
    if column.number:  # a number and its error stay together
        width = max(width, *(len(cell) for cell in column.cells)) if column.cells else width
    while any(len(wrapped(text, width)) > LINES for text in texts):
        width += 1
    return width


def tables_within(width: int, columns: Sequence[Column]) -> list[list[tuple[Column, int]]]:
    """``columns`` with their widths, in as many tables as fit into ``width``; each begins with the first column."""
    key, least = columns[0], [least_width(column) for column in columns]
    tables: list[list[tuple[Column, int]]] = []
    for column, needed in zip(columns[1:], least[1:]):
        taken = sum(used for _, used in tables[-1]) + GAP * len(tables[-1]) if tables else 0
        if not tables or len(tables[-1]) == MOST or taken + needed > width:
            tables.append([(key, least[0])])
        tables[-1].append((column, needed))
    return [_widened(table, width) for table in tables or [[(key, least[0])]]]


def _widened(table: Sequence[tuple[Column, int]], width: int) -> list[tuple[Column, int]]:
    """What is left of ``width`` goes to columns that would need fewer lines with it, from the left."""
    left = width - sum(used for _, used in table) - GAP * (len(table) - 1)
    widened = []
    for column, used in table:
        wanted = max(len(text) for text in (column.heading, *column.cells)) - used
        more = max(0, min(left, wanted))
        left -= more
        widened.append((column, used + more))
    return widened


def width_of(terminal: Any) -> int:
    """Columns to print in: of the terminal or ``COLUMNS``; a log or a pipe has ``WIDE``."""
    if terminal.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return max(int(terminal.width), NARROW // 2)
    return WIDE


def lines_of(table: ResultTable, width: int, every: bool = True) -> list[str]:
    """``table`` as lines of text; of one that goes on in a second table, all parts or, without ``every``, the first."""
    printed = tables_within(width, columns_of(table))
    lines = wrapped(visible(table.title), width)
    for number, each in enumerate(printed if every else printed[:1]):
        lines += [""] * (number > 0) + _ruled(each)
    if table.note:
        lines += wrapped(visible(table.note), width)
    if not every and len(printed) > 1:
        more = sum(len(each) - 1 for each in printed[1:])
        lines += wrapped(f"{more} more column{'s' * (more > 1)}: --all, or --json FILE.", width)
    return lines


def _ruled(table: Sequence[tuple[Column, int]]) -> list[str]:
    """A table with a rule under its headings."""

    def line(cells: Sequence[str]) -> list[str]:
        split = [wrapped(cell, width) for cell, (_, width) in zip(cells, table)]
        height = max(map(len, split))
        return [
            (" " * GAP)
            .join(
                (lines[k] if k < len(lines) else "").rjust(width)
                if column.number
                else (lines[k] if k < len(lines) else "").ljust(width)
                for lines, (column, width) in zip(split, table)
            )
            .rstrip()
            for k in range(height)
        ]

    rule = (" " * GAP).join("─" * width for _, width in table)
    body = [each for row in zip(*(column.cells for column, _ in table)) for each in line(row)]
    return [*line([column.heading for column, _ in table]), rule, *body]


def show(tables: Sequence[ResultTable], every: bool = True) -> None:
    """Print the tables; ``every``: with the columns that do not fit, in tables of their own."""
    from rich.console import Console
    from rich.text import Text

    terminal = Console()
    width = width_of(terminal)
    if not terminal.is_terminal:
        terminal = Console(width=max(width, WIDE))
    with named("standard output"):
        for table in tables:
            title, *lines = (printable(line, sys.stdout) for line in lines_of(table, width, every))
            terminal.print(Text(title, "bold"), no_wrap=True, crop=False)
            for line in lines:
                terminal.print(Text(line), no_wrap=True, crop=False)
            terminal.print()
