"""Result files and the report page."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bidzoo.benchmarks import report, results
from bidzoo.benchmarks.results import Estimate, Figure, ResultTable
from bidzoo.cli.main import app

RESULTS = Path(__file__).parents[2] / "docs" / "results"

TABLES = [
    ResultTable(
        "Table 1 <of the paper>",
        ["row", "ours", "n"],
        [
            {"row": "same & equal", "ours": Estimate(0.52, 0.01, 100, 0.519), "n": 100},
            {"row": "apart", "ours": Estimate(0.60, 0.01, 100, 0.519), "n": 1234},
            {"row": "alone", "ours": Estimate(0.6, float("nan"), 1)},
            {"row": None, "ours": 0.25, "n": True},
        ],
        note="a note",
    )
]
FIGURES = [
    Figure("lines", "line", [1, 2, 3], {"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0]}, "x", "y"),
    Figure("bars", "bars", ["one", "two"], {"a": [1.0, 2.0]}),
    Figure("heat", "heat", ["N", "E"], {"1C": [0.1, 0.2], "1D": [0.3, 0.4]}),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "suite.json"
    results.save(path, "suite", TABLES, seed=7, seconds=1.5, figures=FIGURES)
    return path


def test_a_file_is_read_back(file):
    document = results.load(file)
    assert document["tables"][0].rows[:2] == TABLES[0].rows[:2]
    assert document["figures"] == FIGURES
    assert (document["seed"], document["suite"]) == (7, "suite")


def test_a_published_command_names_no_folder(monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["/some/where/bidzoo", "bench", "x", "--json", "/home/me/x.json", "--in", "a/b.npz"]
    )
    assert results.command() == "bidzoo bench x --json x.json --in a/b.npz"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"tables": [1]}', '{"tables": []}', "\x00"])
def test_a_foreign_file_is_named(tmp_path, text):
    path = tmp_path / "foreign.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"foreign\.json"):
        results.load(path)


def test_nothing_is_half_written(tmp_path, file):
    out = tmp_path / "page.html"
    out.write_text("before")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match=r"bad\.json"):
        report.main([file, tmp_path / "bad.json"], out)
    assert out.read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "page.html", "suite.json"]


def test_marks(file):
    html = report.page([results.load(file)])
    rows = dict(re.findall(r"<tr><td>(same|apart)[^<]*</td>(.*?)</tr>", html))
    assert "≠" in rows["apart"] and "paper 0.519" in rows["apart"]
    assert "≠" not in rows["same"]
    assert "Table 1 &lt;of the paper&gt;" in html
    assert "nan" not in html
    assert html.count("data:image/svg+xml") == 3


def test_the_page_is_self_contained(file):
    html = report.page([results.load(file)])
    assert "<script" not in html
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", html)


def test_the_same_results_make_the_same_page(file):
    assert report.page([results.load(file)]) == report.page([results.load(file)])


def test_results_of_one_suite_have_sections_of_their_own(file):
    other = file.with_name("other.json")
    other.write_text(file.read_text())
    html = report.page([results.load(file), results.load(other)])
    for name in ("suite", "other"):
        assert f'<a href="#{name}">{name}</a>' in html and html.count(f'<section id="{name}"><h2>{name}</h2>') == 1


def test_command(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["report", str(file), "--out", "page.html"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="no result files"):
        CliRunner().invoke(app, ["report"], catch_exceptions=False)


def test_estimate():
    estimate = Estimate.of([1.0, 2.0, 3.0])
    assert (estimate.mean, estimate.n) == (2.0, 3)
    assert estimate.error == pytest.approx(1 / 3**0.5)
    assert str(Estimate(1.5, 0.25, 4)) == "1.50 ± 0.25"
    assert str(Estimate(73.49, 0.401, 4, 51.9)) == "73.49 ± 0.40 (paper 51.9)"
    assert str(Estimate(1.0, 0.0, 4)) == "1.000 ± 0.000"
    assert str(Estimate(1234.5, 12.0, 4)) == "1,234 ± 12"
    assert json.loads(json.dumps(estimate._asdict()))["n"] == 3


def test_every_shipped_result_is_one():
    files = sorted(RESULTS.glob("*.json"))  # what README and docs give to ``bidzoo report``
    assert len(files) > 10
    assert all(results.load(file)["tables"] for file in files)
