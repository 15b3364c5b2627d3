"""Result files and the report page."""

import json
import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import escape
from typer.testing import CliRunner

from bidzoo.benchmarks import printing, report, results
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


@pytest.fixture
def plain(tmp_path):
    """Without figures, which take a tenth of a second each."""
    path = tmp_path / "suite.json"
    results.save(path, "suite", TABLES, seed=7, seconds=1.5)
    return path


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The page of ``file``."""
    path = tmp_path_factory.mktemp("html") / "suite.json"
    results.save(path, "suite", TABLES, seed=7, seconds=1.5, figures=FIGURES)
    return report.page([results.load(path)])


def test_a_number_that_is_not_known_is_null(tmp_path):
    """In the file, which other programs read; read again it is NaN where a number must be."""
    table = ResultTable("One board", ["IMPs", "share"])
    table.add(Estimate.of([3.0], group=[0]), math.inf)
    figure = Figure("F", "line", [1], {"a": [math.nan]})
    results.save(tmp_path / "one.json", "match", [table], seed=0, seconds=0.0, figures=[figure])
    text = (tmp_path / "one.json").read_text()
    assert '"error": null' in text and not any(word in text for word in ("NaN", "Infinity"))
    document = results.load(tmp_path / "one.json")
    (row,) = document["tables"][0].rows
    assert str(row["IMPs"]) == "3.000" and math.isnan(row["IMPs"].error) and row["share"] is None
    assert document["figures"][0].series == {"a": [None]}


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_published_files_are_json_to_every_reader(path):
    def refused(word):
        raise AssertionError(f"{word} is no JSON")

    assert json.loads(path.read_text(encoding="utf-8"), parse_constant=refused)["tables"]


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
    monkeypatch.setattr("sys.argv", ["experiments/x.py", "--json", "/home/me/x.json"])
    assert results.command() == "python experiments/x.py --json x.json"
    monkeypatch.setattr("sys.argv", ["/some/where/bidzoo/__main__.py", "list"])
    assert results.command() == "bidzoo list"
    for program in ("-c", "-", "", "/usr/bin/ipython", "/some/where/IPython/__main__.py"):
        monkeypatch.setattr("sys.argv", [program, "--quick"])
        assert results.command() == "python"
    monkeypatch.setattr("sys.argv", ["/some/where/ipykernel_launcher.py", "-f", "/home/me/kernel-1.json"])
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object())))
    assert results.command() == "a notebook"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"tables": [1]}', '{"tables": []}', "\x00"])
def test_a_foreign_file_is_named(tmp_path, text):
    path = tmp_path / "foreign.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"foreign\.json"):
        results.load(path)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([[1]], r"tables\[0\]\.rows\[0\]: \[1\], expected an object"),
        ([1], r"tables\[0\]\.rows\[0\]: 1, expected an object"),
        ([{"row": [1]}], r"tables\[0\]: rows\[0\]: row: \[1\], expected "),
        ([{"else": 1}], r"tables\[0\]: rows\[0\]: else: unknown field, expected row, ours, n"),
        ([{"ours": {"mean": 1.0}}], r"tables\[0\]: rows\[0\]: ours: error: missing, expected a number"),
    ],
)
def test_wrong_rows_are_named(file, rows, fault):
    document = json.loads(file.read_text())
    document["tables"][0]["rows"] = rows
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=rf"suite\.json: not a bidzoo result file: {fault}"):
        results.load(file)


def test_nothing_is_half_written(tmp_path, file):
    out = tmp_path / "page.html"
    out.write_text("before")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match=r"bad\.json"):
        report.main([file, tmp_path / "bad.json"], out)
    assert out.read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "page.html", "suite.json"]


def test_marks(html):
    rows = dict(re.findall(r"<tr><td>(same|apart)[^<]*</td>(.*?)</tr>", html))
    assert "≠" in rows["apart"] and "paper 0.519" in rows["apart"]
    assert "≠" not in rows["same"]
    assert "Table 1 &lt;of the paper&gt;" in html
    assert "nan" not in html
    assert html.count("data:image/svg+xml") == 3


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=1>{{ 7*7 }}{% raw %}"


def test_no_field_of_a_file_becomes_markup(tmp_path):
    """Every text of a result file, wherever it stands, is text on the page."""

    path = tmp_path / "hostile.json"
    results.save(path, "suite", TABLES, seed=7, seconds=1.5, figures=FIGURES[:1])
    document = json.loads(path.read_text())
    for field in ("suite", "command", "version", "python", "machine"):
        document[field] = HOSTILE
    rows = [{HOSTILE: HOSTILE, "b": HOSTILE}]
    document["tables"] = [{"title": HOSTILE, "note": HOSTILE, "columns": [HOSTILE, "b"], "rows": rows}]
    document["figures"][0] |= {"title": HOSTILE, "note": HOSTILE}
    path.write_text(json.dumps(document))
    html = report.page([results.load(path)])
    text = str(escape(HOSTILE))
    assert html.count(text) == 14
    rest = html.replace(text, "")
    assert "<script" not in rest and "onerror" not in rest and "{{" not in rest


@pytest.mark.parametrize("seed", [HOSTILE, None, 1.5, [1], {"<b>": 1}, True, -1])
def test_a_seed_is_a_number(plain, seed):
    document = json.loads(plain.read_text()) | {"seed": seed}
    plain.write_text(json.dumps(document))
    try:
        html = report.page([results.load(plain)])
    except ValueError as problem:
        assert "seed" in str(problem)
    else:
        assert "<script" not in html and "<b>" not in html.split("<main>")[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(53.667, "53.7"), (-0.0, "0"), (-0.00001, "-1e-05"), (8.0, "8"), (0.25, "0.25"), (1234.56, "1,235"),
     (99.97, "100"), (99.94, "99.9"), (0.123456, "0.123"), (math.nan, "–"), (math.inf, "–"), (-0.4, "-0.4")],
)  # fmt: skip
def test_numbers_have_the_digits_that_count(value, text):
    assert report.plain(value) == text


def test_estimates_have_the_digits_that_their_error_allows():
    def cells(*estimate):
        return re.sub("<[^>]*>", "", report.cell(Estimate(*estimate)))

    assert cells(53.6671, 0.36, 10) == "53.67 ± 0.36"
    assert cells(-0.0004, 0.2, 10) == "0.00 ± 0.20"
    assert cells(53.6671, math.nan, 1) == "53.7"
    assert cells(1.0, 0.0, 5, 1.0) == "1 ± 0paper 1"


def test_no_field_of_a_table_is_markup_of_the_terminal(capsys):
    odd = "[/b][link=x]y[/link]"
    printing.show([ResultTable(odd, [odd], [{odd: odd}], note=odd)])
    assert capsys.readouterr().out.count(odd) == 4


def test_error_bars_are_drawn_and_errors_fit_their_axis(tmp_path):
    plain = Figure("T", "bars", ["a", "b"], {"n": [1.0, 2.0]})
    for kind in ("bars", "line"):
        with_errors = Figure("T", kind, [1, 2], {"n": [1.0, 2.0]}, errors={"n": [0.1, 0.2]})
        assert report.drawn(with_errors, "r") != report.drawn(Figure("T", kind, [1, 2], {"n": [1.0, 2.0]}), "r")
    path = tmp_path / "a.json"
    results.save(path, "a", TABLES, seed=0, seconds=1.0, figures=[with_errors, plain])
    again = results.load(path)["figures"]
    assert again == [with_errors, plain]
    path.write_text(path.read_text().replace("0.1,", ""))
    with pytest.raises(ValueError, match=r"figures\[0\]: errors 'n': 1 values, expected 2 as in x"):
        results.load(path)


def test_the_page_reads_what_commands_write(tmp_path):
    """Results, entries of two leaderboards, curves, records of a match; a foreign file is named."""
    results.save(tmp_path / "mine.json", "mine", TABLES, seed=0, seconds=1.0)
    entries = [
        RESULTS / "leaderboard" / f"{name}.json" for name in ("bridge-2026-rpi", "spades-2026-bis", "bridge-2026-sl")
    ]
    folder = tmp_path / "ppo"
    folder.mkdir()
    (folder / "curves.csv").write_text("iteration,imps,imps_error\n1,0.25,0.1\n2,0.5,0.1\n")
    words = ["match", "sayc", "pass", "--boards", "4", "--out", str(tmp_path / "match.jsonl")]
    assert CliRunner().invoke(app, words).exit_code == 0
    documents = report.read([tmp_path / "mine.json", *entries, folder / "curves.csv", tmp_path / "match.jsonl"])
    assert [(document["suite"], document["name"]) for document in documents] == [
        ("mine", "mine"), ("training", "ppo"), ("match", "match"),
        ("leaderboard", "bridge-2026"), ("leaderboard", "spades-2026"),
    ]  # fmt: skip
    html = report.page(documents)
    for text in ("rpi", "bis", "IMPs a board", "0.5", "sayc"):
        assert text in html
    (folder / "curves.csv").write_text(f"iteration,imps\n1,{'1' * 200_000}\n")  # more than the csv module takes
    with pytest.raises(ValueError, match=r"curves\.csv: expected a header and rows of numbers"):
        report.read([folder / "curves.csv"])
    (folder / "curves.csv").write_text("iteration,imps\n")
    with pytest.raises(ValueError, match=r"curves\.csv: expected a header and rows of numbers"):
        report.read([folder / "curves.csv"])


def test_without_matplotlib_the_page_has_the_tables_alone(file, monkeypatch):
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    html = report.page([results.load(file)])
    assert "data:image" not in html and "pip install" in html and "<table>" in html


def test_odd_figures_are_drawn():
    """Mathematics in names, values that are missing, nothing at all."""
    odd = [
        Figure("$\\frac$", kind, x, series, "$x", "$\\undefined{")
        for kind in ("line", "bars", "heat")
        for x, series in (([], {}), ([1, "$"], {"$a$": [None, 1.0]}), ([1], {"n": [math.nan]}))
    ]
    assert all(report.drawn(figure, "r").startswith("data:image/svg+xml;base64,") for figure in odd)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("errors", [{"n": [-1.0, 1.0]}, {"n": [1e308, 1e308]}])
def test_a_figure_that_cannot_be_drawn_is_named_with_its_file(errors):
    figure = Figure("T", "line", [1e308, -1e308], {"n": [1e308, -1e308]}, errors=errors)
    with pytest.raises(ValueError, match=r"^mine: figure 'T' cannot be drawn: "):
        report.drawn(figure, "mine")


def test_the_page_is_self_contained(html):
    assert "<script" not in html
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", html)


def test_the_same_results_make_the_same_page(file, html):
    assert report.page([results.load(file)]) == html


def test_results_of_one_suite_have_sections_of_their_own(plain):
    other = plain.with_name("other.json")
    other.write_text(plain.read_text())
    html = report.page([results.load(plain), results.load(other)])
    assert html.count('<h2 id="suite-1">suite</h2>') == 1  # a group
    for number, name in enumerate(("suite", "other"), 1):
        assert f'<a href="#file-{number}">{name}</a>' in html
        assert html.count(f'<section id="file-{number}"><h3>{name}</h3>') == 1


def test_suites_stand_in_the_order_of_their_titles(tmp_path):
    for suite in ("throughput", "mine", "spades", "bridge"):
        results.save(tmp_path / f"{suite}.json", suite, TABLES, seed=0, seconds=1.0)
    html = report.page([results.load(path) for path in sorted(tmp_path.iterdir())])
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", html)
    assert titles == [report.TITLES["bridge"], report.TITLES["spades"], report.TITLES["throughput"], "mine"]


@pytest.mark.parametrize(("name", "found"), [("one.txt", "ending '.txt'"), ("", "a folder")])
def test_an_ending_that_no_command_writes(tmp_path, name, found):
    with pytest.raises(ValueError, match=rf"{found}, expected \.json, \.csv, \.pbn, \.lin, \.jsonl, or - for"):
        report.read([tmp_path / name])


def test_command(file, tmp_path):
    done = CliRunner().invoke(app, ["report", str(file), "--out", "page.html"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="no result files"):
        CliRunner().invoke(app, ["report"], catch_exceptions=False)


def test_estimate():
    estimate = Estimate.of([1.0, 2.0, 3.0], group=[0, 1, 2])
    assert (estimate.mean, estimate.n) == (2.0, 3)
    assert estimate.error == pytest.approx(1 / 3**0.5)
    assert str(Estimate(1.5, 0.25, 4)) == "1.50 ± 0.25"
    assert str(Estimate(73.49, 0.401, 4, 51.9)) == "73.49 ± 0.40 (paper 51.9)"
    assert str(Estimate(1.0, 0.0, 4)) == "1.000 ± 0.000"
    assert str(Estimate(1234.5, 12.0, 4)) == "1,234 ± 12"
    assert json.loads(json.dumps(estimate._asdict()))["n"] == 3
    assert str(Estimate(98765.0, 1234.0, 4)) == "98,765 ± 1,234"
    for group in ([0, 1], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match=rf"group \({len(group)},\): expected one of each sample, \(3,\)"):
            Estimate.of([1.0, 2.0, 3.0], group=group)


def test_a_file_has_no_errors_where_a_figure_has_none(file):
    """All else that is empty is there: one form for every reader."""
    figures = json.loads(file.read_text())["figures"]
    assert all("errors" not in figure and figure["note"] == "" for figure in figures)
    bars = Figure("bars", "bars", ["one"], {"a": [1.0]}, errors={"a": [0.5]})
    results.save(file, "suite", TABLES, seed=7, seconds=1.5, figures=[bars])
    assert results.load(file)["figures"] == [bars]


def test_every_shipped_result_is_one():
    files = sorted(RESULTS.glob("*.json"))  # what README and docs give to ``bidzoo report``
    assert len(files) > 10
    assert all(results.load(file)["tables"] for file in files)
