"""Every Python block of README and docs runs, and what is generated is fresh."""

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest

from bidzoo.agents import AGENTS
from bidzoo.registry import GAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(path, block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in PAGES
    for number, block in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("path", "block"), BLOCKS)
def test_block_runs(path, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "bidzoo" / "data" / "sample.pbn", "club.pbn")  # the file that the pages read
    exec(compile(block, str(path), "exec"), {"__name__": "docs"})


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("pages")
    sys.modules.pop("pages")


def test_tables_are_the_result_files(pages):
    for page in pages.with_tables():
        text = page.read_text(encoding="utf-8")
        assert text == pages.filled(text), f"{page.name} is stale: run python docs/pages.py"


def test_the_picture_is_of_the_board_above_it(pages):
    for page in ("README.md", "docs/index.md"):
        assert f"env.reset(seed={pages.SEED})" in (ROOT / page).read_text(encoding="utf-8")


def test_every_agent_has_a_row():
    page = (ROOT / "docs" / "agents" / "index.md").read_text(encoding="utf-8")
    missing = [name for name in AGENTS if f"| `{name}` |" not in page and f"\n`{name}` plays" not in page]
    assert not missing


def test_a_table_takes_some_rows_only(pages):
    whole, part = (pages.table("throughput.json", 1, first).count("\n| ") for first in (None, "bridge_v0"))
    assert 2 < part < whole


def test_environment_pages_are_made(pages, tmp_path):
    pages.write(tmp_path)
    made = {path.stem for path in (tmp_path / "environments").iterdir()}
    assert made == {"index", *GAMES}
    page = (tmp_path / "environments" / "bridge_bidding_v0.md").read_text()
    assert "| `0:" in page and "### `state`: 924 entries" in page
