"""``bidzoo deals generate``: same bytes whatever the workers, killed or not; and the other deals commands."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo.benchmarks import results
from bidzoo.cli.deals import app
from bidzoo.cli.main import app as everything
from bidzoo.core.cards import STRAINS
from bidzoo.core.kernels import I8, I64
from bidzoo.core.storage import Journal
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.deals import SPLITS, DealSet, packaged, random_deals, read_boards
from bidzoo.envs.bridge.double_dummy import generate

DATA = Path(__file__).parents[1] / "data"

CHILD = """
from bidzoo.envs.bridge import double_dummy
double_dummy.DEALS_A_TASK = 2
double_dummy.generate(4, 7, {out!r}, report=lambda done: print(done, flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_run_goes_on_and_makes_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "killed.npz"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.format(out=str(out))],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    while int(child.stdout.readline()) < 2:
        pass
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert not out.exists()
    seen: list[int] = []
    monkeypatch.setattr(double_dummy, "DEALS_A_TASK", 2)
    generate(4, 7, out, report=seen.append)
    assert 2 <= seen[0] <= 4
    generate(4, 7, tmp_path / "whole.npz", workers=2)
    assert out.read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.npz", "whole.npz"]
    deals = DealSet.load(out)
    assert np.array_equal(deals.hands, random_deals(7, np.arange(4)))
    assert np.array_equal(deals.tricks, double_dummy.dd_tricks(deals.hands))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Callable[[I64], I8]:
    """A solver that knows nothing of bridge but always says the same of a deal."""

    def tables(hands: I64) -> I8:
        mixed: I8 = ((hands[:, :, None] >> np.arange(0, 50, 10)) % 14).reshape(-1, 20).astype(np.int8)
        return mixed

    monkeypatch.setattr(double_dummy, "dd_tricks", tables)
    monkeypatch.setattr(double_dummy, "DEALS_A_TASK", 3)
    return tables


def test_a_journal_cut_anywhere_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: Callable[[I64], I8]
) -> None:
    whole = tmp_path / "whole.npz"
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    generate(10, 3, whole)
    monkeypatch.undo()
    monkeypatch.setattr(double_dummy, "dd_tricks", quick)
    journal = Path(f"{whole}.journal").read_bytes()
    start, record = journal.index(b"\n") + 1, 14
    assert len(journal) == start + 10 * record
    for length in range(0, len(journal) + 1, 3):
        out = tmp_path / f"{length}.npz"
        Path(f"{out}.journal").write_bytes(journal[:length])
        seen: list[int] = []
        generate(10, 3, out, report=seen.append)
        assert seen[0] == max(0, (length - start) // record)
        assert seen[-1] == 10
        assert out.read_bytes() == whole.read_bytes()
    changed = bytearray(journal)
    changed[start + 5 * record + 2] ^= 1  # one bit of deal 5
    Path(f"{tmp_path / 'bit.npz'}.journal").write_bytes(bytes(changed))
    generate(10, 3, tmp_path / "bit.npz")
    assert (tmp_path / "bit.npz").read_bytes() == whole.read_bytes()


def test_a_stopped_run_may_end_with_fewer_or_more_deals(tmp_path: Path, quick: object) -> None:
    def stop(done: int) -> None:
        if done >= 6:
            raise KeyboardInterrupt

    for count in (4, 20):
        out = tmp_path / f"{count}.npz"
        with pytest.raises(KeyboardInterrupt):
            generate(10, 3, out, report=stop)
        generate(count, 3, out)
        generate(count, 3, tmp_path / "straight.npz")
        assert out.read_bytes() == (tmp_path / "straight.npz").read_bytes()
        (tmp_path / "straight.npz").unlink()


def test_a_file_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: Callable[[I64], I8]) -> None:
    """More deals of a seed: what the file has is not solved again, in a run that is stopped either."""
    out, solved, seen = tmp_path / "d.npz", [], []

    def counted(hands: I64) -> I8:
        solved.append(len(hands))
        return quick(hands)

    def stop(done: int) -> None:
        if done > 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(double_dummy, "dd_tricks", counted)
    generate(5, 3, out)
    with pytest.raises(KeyboardInterrupt):
        generate(12, 3, out, report=stop)
    assert len(DealSet.load(out).hands) == 5
    generate(12, 3, out, report=seen.append)
    assert seen[0] == 8 and sum(solved) == 12
    generate(12, 3, tmp_path / "straight.npz")
    assert out.read_bytes() == (tmp_path / "straight.npz").read_bytes()
    with pytest.raises(
        ValueError, match=r"d\.npz: exists and holds 12 deals of this seed, expected no file or 4 at most"
    ):
        generate(4, 3, out)


def test_what_stands_in_the_way_is_named(tmp_path: Path, quick: object) -> None:
    out = tmp_path / "d.npz"
    made = generate(5, 3, out)
    assert generate(5, 3, out).checksum() == made.checksum()  # nothing left to do
    with pytest.raises(ValueError, match=r"d\.npz: exists and holds other deals .*'seed': 3.*, expected .*'seed': 4"):
        generate(5, 4, out)
    with pytest.raises(ValueError, match="deals: 0, expected 1 or more"):
        generate(0, 3, tmp_path / "none.npz")
    with pytest.raises(ValueError, match="seed -1: expected an integer from 0"):
        generate(5, -1, tmp_path / "none.npz")
    with pytest.raises(ValueError, match="workers: 0, expected 1"):
        generate(5, 1, tmp_path / "none.npz", workers=0)
    (tmp_path / "other.npz.journal").write_bytes(b'{"seed": 9}\n')
    with pytest.raises(ValueError, match=r"other\.npz\.journal: header: .*9.*, expected .*\"seed\": 3"):
        generate(5, 3, tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="file locks are POSIX's")
def test_two_runs_at_once_are_refused(tmp_path: Path, quick: object) -> None:
    def second(done: int) -> None:
        with pytest.raises(ValueError, match="already being written, by process"):
            generate(10, 3, tmp_path / "d.npz")

    generate(10, 3, tmp_path / "d.npz", report=second)


def test_a_journal_of_another_record_size_is_another_file(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", {"size": 4}, 4) as journal:
        journal.append(np.arange(8, dtype=np.uint8).reshape(2, 4))
    with Journal(tmp_path / "j", {"size": 4}, 4) as journal:
        assert np.array_equal(journal.at_opening, np.arange(8).reshape(2, 4))
    with pytest.raises(ValueError, match="header"):
        Journal(tmp_path / "j", {"size": 5}, 5)


# ---- command line ------------------------------------------------------------------------


def test_generate_and_info_commands(tmp_path: Path, quick: object) -> None:
    out = tmp_path / "d.npz"
    result = CliRunner().invoke(app, ["generate", "7", "--out", str(out), "--seed", "5"])
    assert result.exit_code == 0
    assert "7 (7 different, 7 solved)" in result.stdout
    assert DealSet.load(out).checksum() == generate(7, 5, tmp_path / "e.npz").checksum()
    shown = CliRunner().invoke(app, ["info", str(out)]).stdout
    assert DealSet.load(out).checksum() in shown
    assert "provenance: seed:      5" in shown


def test_info_of_a_file_without_boards(tmp_path: Path) -> None:
    path = tmp_path / "empty.pbn"
    path.write_text("")
    with pytest.raises(ValueError, match=r"empty\.pbn: no boards, expected at least one"):
        CliRunner().invoke(app, ["info", str(path)], catch_exceptions=False)
    path.write_text("hello\n")
    told = CliRunner().invoke(app, ["info", str(path)])
    assert told.exit_code == 3 and "empty.pbn:1: 'hello', expected tags such as" in told.output


def test_info_of_the_packaged_sets() -> None:
    shown = CliRunner().invoke(app, ["info", "packaged"]).stdout
    for split in SPLITS:
        deals = packaged(split)
        assert f"deals-{split}.npz" in shown
        assert deals.checksum() in shown
        assert f"{len(deals.hands)} ({len(deals.hands)} different, {deals.solved} solved)" in shown


def test_import_command(tmp_path: Path, quick: Callable[[I64], I8]) -> None:
    text = (DATA / "two-deals.pbn").read_text()
    (tmp_path / "two.pbn").write_text(text)
    out = tmp_path / "d.npz"
    result = CliRunner().invoke(app, ["import", str(tmp_path / "two.pbn"), "--out", str(out)])
    assert result.exit_code == 0
    assert "2 (2 different, 1 with a table as the imported file had it)" in result.stdout
    assert "provenance: solved on import: False" in result.stdout
    plain = DealSet.load(out)
    CliRunner().invoke(app, ["import", str(tmp_path / "two.pbn"), "--out", str(out), "--solve"])
    solved = DealSet.load(out)
    assert np.array_equal(solved.hands, plain.hands)
    assert np.array_equal(solved.tricks[0], plain.tricks[0])
    assert np.array_equal(solved.tricks[1:], quick(plain.hands[1:]))
    missing = CliRunner().invoke(app, ["import", str(tmp_path / "two.rbn"), "--out", str(out)])
    assert isinstance(missing.exception, ValueError)
    assert "ending '.rbn'; these formats are read: .pbn, .lin" in str(missing.exception)


def test_estimates_are_called_so(tmp_path: Path) -> None:
    """Where they are made, and where they are measured by."""
    out = tmp_path / "e.npz"
    made = CliRunner().invoke(app, ["estimate", "3", "--out", str(out)])
    assert "3 (3 different, 3 with an estimated table)" in made.stdout
    words = ["match", "sayc", "pass", "--deals", str(out), "--boards", "3"]
    played = CliRunner().invoke(everything, words, catch_exceptions=False)
    (kept,) = Path("runs").glob("match-*.json")
    note = results.load(kept)["tables"][0].note
    for text in (played.stderr, note):
        assert "e.npz: tables are estimates, drawn and not solved: made to train on, not to measure by" in text


def test_commands_name_a_wrong_ending_and_look_into_pbn(tmp_path: Path) -> None:
    path = tmp_path / "two.pbn"
    path.write_text((DATA / "two-deals.pbn").read_text())
    for words, expected in (
        (["generate", "2"], ".npz"),
        (["estimate", "2"], ".npz"),
        (["import", str(path)], ".npz or .pbn"),
    ):
        result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "d.lin")], env={"COLUMNS": "200"})
        assert result.exit_code == 2 and f"ending '.lin', expected {expected}" in result.output
    shown = CliRunner().invoke(app, ["info", str(path)]).stdout
    assert "2 (2 different, 1 with a table as the file has it)" in shown
    tricks = np.reshape([board.tricks for board in read_boards(path) if board.tricks], (4, 5)).mean(0)  # of one deal
    assert "mean tricks:" in shown and all(f"{strain} {mean:.2f}" in shown for strain, mean in zip(STRAINS, tricks))
    points = shown[shown.index("mean points:") :].splitlines()[0].split()[3::2]
    assert sum(map(float, points)) == 40
