"""The notebook of the tutorials runs from top to bottom, shows what it says, and is kept without outputs."""

import json
import os
from pathlib import Path

import matplotlib.pyplot  # noqa: F401
import nbformat
import pytest
from nbformat.v4 import output_from_msg

pytest.importorskip("torch._dynamo")  # which the first optimizer would load, after the fork

PATH = Path(__file__).parents[1] / "docs" / "tutorials" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def kept():
    return nbformat.read(PATH, as_version=4)


@pytest.fixture(scope="module")
def run(kept, tmp_path_factory, forked):
    """Outputs of every cell by its id, after two updates of the training."""
    folder = tmp_path_factory.mktemp("run")

    def kernel():
        from ipykernel.inprocess import InProcessKernelManager

        os.chdir(folder)
        os.environ.update(QUICKSTART_UPDATES="2", IPYTHONDIR=str(folder))
        manager, outputs = InProcessKernelManager(), {}
        manager.start_kernel()
        client = manager.client()
        client.start_channels()
        client.execute("%matplotlib inline")  # as a new kernel begins
        client.get_shell_msg(), client.iopub_channel.get_msgs()
        for cell in kept.cells:
            if cell.cell_type == "code":
                assert client.execute(cell.source) and client.get_shell_msg()["content"]["status"] == "ok", cell.id
                shown = outputs[cell.id] = []
                for said in client.iopub_channel.get_msgs():
                    if said["msg_type"] in ("stream", "display_data", "execute_result"):
                        shown.append(output_from_msg(said))
                    elif said["msg_type"] == "update_display_data":  # of the only picture
                        shown[-1].data = said["content"]["data"]
        (folder / "outputs").write_text(json.dumps(outputs))

    status, said, error = forked(kernel)
    assert status == 0, said + error
    return nbformat.from_dict(json.loads((folder / "outputs").read_text()))


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
