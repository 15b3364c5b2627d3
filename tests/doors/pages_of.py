"""The pages that a user reads, their code, and what they ask for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
HINT = "pip install ./examples/bidzoo-hint"  # a page that says so is read with that package installed
LAID = {"club.pbn": "bidzoo/data/sample.pbn", "kuhn_poker.py": "examples/kuhn_poker.py"}  # beside pages that name them

Opens = Callable[..., str]


def blocks(page: Path, languages: str) -> list[str]:
    """The code blocks of ``page`` in ``languages``, a regular expression."""
    return re.findall(rf"^```(?:{languages})\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
