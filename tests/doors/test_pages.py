"""Every Python block of README and docs stands alone, and all blocks of a page are one script, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages_of import HINT, PAGES, ROOT, Opens, blocks

BLOCKS = [
    pytest.param(page, code, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, code in enumerate(blocks(page, "python"), 1)
]
LONG = [page for page in PAGES if len(blocks(page, "python")) > 1]


def needed(page: Path, request: pytest.FixtureRequest) -> Path | None:
    """The package that ``page`` tells its reader to install."""
    return request.getfixturevalue("hint") if HINT in page.read_text("utf-8") else None


@pytest.mark.parametrize(("page", "code"), BLOCKS)
def test_a_block_runs_alone(script: Opens, page: Path, code: str, request: pytest.FixtureRequest) -> None:
    script(code, page=page, hint=needed(page, request))


@pytest.mark.parametrize("page", LONG, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run_one_after_the_other(
    script: Opens, page: Path, request: pytest.FixtureRequest
) -> None:
    script("\n".join(blocks(page, "python")), page=page, hint=needed(page, request))


def test_the_first_block_of_the_readme_runs_on_a_cold_cache(script: Opens, tmp_path: Path) -> None:
    """As after an installation: no kernel is compiled yet."""
    (tmp_path / "cache").mkdir()
    text = script(blocks(PAGES[0], "python")[0], NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert "player_0" in text
