"""The notebook of the tutorials runs from top to bottom in a kernel of its own, as Jupyter starts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages_of import ROOT

nbformat = pytest.importorskip("nbformat")  # the environment of the doors has it
NotebookClient = pytest.importorskip("nbclient").NotebookClient

PATH = ROOT / "docs" / "tutorials" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def kept() -> Any:
    return nbformat.read(PATH, as_version=4)


@pytest.fixture(scope="module")
def run(kept: Any, home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Outputs of every cell by its id, after two updates of the training."""
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("QUICKSTART_UPDATES", "2")
        done = NotebookClient(kept.copy(), timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: cell.outputs for cell in done.cells if cell.cell_type == "code"}


def shown(outputs, kind):
    """What of ``kind`` the only output that is no text of a stream shows."""
    (output,) = [output for output in outputs if output.output_type != "stream"]
    return output.data[kind]


def test_it_is_kept_without_outputs(kept):
    nbformat.validate(kept)
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert len(code) > 8
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_nothing_is_installed_where_it_is(run):
    assert run["install"] == []


def test_environments_are_pictures(run):
    dealt, bid = (shown(run[cell], "text/html") for cell in ("board-reset", "agents-bid"))
    assert dealt.startswith("<svg") and "player_0 is to act" in dealt
    assert bid.startswith("<svg") and "rewards player_0" in bid


def test_tables_and_batches_are_tables(run):
    assert "int8 [1024, 9]" in shown(run["batch-make"], "text/html")
    rows = shown(run["partners-table"], "text/html").split("<tr>")[2:]
    assert [row.count("mine") for row in rows] == [2, 0, 1, 1]


def test_the_curve_is_drawn(run):
    assert len(shown(run["plot-curve"], "image/png")) > 1000


def test_a_game_is_watched_in_one_picture(run):
    (picture,) = run["watch-episode"]
    assert "makes" in picture.data["image/svg+xml"] or "fails" in picture.data["image/svg+xml"]
