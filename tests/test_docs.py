"""Every Python block of README and docs runs, and the generated pages can be generated."""

import re
import shutil
import sys
from pathlib import Path

import pytest

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


def test_environment_pages_are_made(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import pages

    pages.write(tmp_path)
    made = {path.stem for path in (tmp_path / "environments").iterdir()}
    from bidzoo.registry import GAMES

    assert made == {"index", *GAMES}
    assert "| `0:" in (tmp_path / "environments" / "bridge_bidding_v0.md").read_text()
    sys.modules.pop("pages")
