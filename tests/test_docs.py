"""What is generated is fresh, and every link leads somewhere; ``tests/doors`` runs the code of the pages."""

import ast
import csv
import importlib.metadata
import itertools
import json
import re
import shlex
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from bidzoo.agents import AGENTS
from bidzoo.benchmarks import leaderboard, results
from bidzoo.benchmarks.results import Estimate
from bidzoo.cli.main import app
from bidzoo.registry import GAMES

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import papers  # noqa: E402

PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[([^]\[]*)\]\(([^)\s]+)\)")


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("pages")
    sys.modules.pop("pages")


def test_tables_are_the_result_files(pages):
    for page in pages.with_tables():
        text = page.read_text(encoding="utf-8")
        assert text == pages.filled(text), f"{page.name} is stale: run python docs/pages.py"


ROWS = [row for rows, _ in papers.PAPERS.values() for row in rows]
SHOWN = [item for _, shown in papers.PAPERS.values() for item in shown]
SMALL = sorted({row.small for row in (*ROWS, *SHOWN) if row.small})


@pytest.mark.parametrize("command", SMALL)
def test_rows_of_the_papers_have_commands_that_run(command, tmp_path):
    run = CliRunner().invoke(app, [*command.split(), "--json", str(tmp_path / "out.json")], catch_exceptions=False)
    assert run.exit_code == 0, run.output
    assert any(table.rows for table in results.load(tmp_path / "out.json")["tables"])


def test_the_papers_page_shows_what_the_files_hold():
    """Every cell of the page is read again from the raw files, and every published figure from ``data/published``."""
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    head = "| paper's table | setting | paper | ours ± error | verdict | page |"
    lines = [line for part in page.split(head)[1:] for line in part.partition("\n\n")[0].splitlines()[2:]]
    assert len(lines) == len(ROWS) > 100
    for line, row in zip(lines, ROWS, strict=True):
        item, setting, paper, ours, verdict, link = (cell.strip() for cell in line.strip("|").split("|"))
        assert (item, setting) == (row.item, row.setting) and f"({row.page})" in link
        if row.paper:
            text = (results.PUBLISHED / f"{row.paper.file}.csv").read_text(encoding="utf-8")
            found = [cells for cells in csv.DictReader(text.splitlines()) if row.paper.row.items() <= cells.items()]
            assert len(found) == 1 and float(found[0][row.paper.column]) == float(paper.replace("−", "-"))
        else:
            assert not paper and verdict.startswith("not comparable")
        mean, _, error = ours.replace("−", "-").replace(",", "").partition("\u00a0±\u00a0")
        places = len(mean.partition(".")[2])
        raw = row.ours.value()
        assert raw.mean == pytest.approx(float(mean), abs=0.51 * 10.0**-places)
        assert not error or raw.error == pytest.approx(float(error), abs=0.51 * 10.0**-places)
        assert (
            raw.paper is None or not paper or raw.paper == float(paper.replace("−", "-"))
        )  # as the result file has it
        assert verdict.partition(":")[0] in papers.WORDS
    for rows_of in papers.PAPERS.values():
        assert all(item.ours and (not item.page or (ROOT / "docs" / item.page).exists()) for item in rows_of[1])
    with pytest.raises(ValueError, match=r"spades\.json: no table 'Table 2' with a row \('BIS : us',\)"):
        papers.Cell("spades", "Table 2", ("BIS : us",), "win %").value()


def test_another_rb_bids_nil_as_often_as_bis():
    """What its row is called, and why it stands beside the printed one."""
    for name in (papers.OFTEN_WRP, papers.OFTEN_SRP):
        ours, theirs = (papers.Cell("spades", "Table 2", (name,), f"{who}nil %").value() for who in ("", "their "))
        assert theirs.mean == pytest.approx(ours.mean, rel=0.05) and theirs.error > 0


def test_the_papers_page_says_when_a_result_holds():
    claim = papers.Published("claims", {"first": "rl", "second": "sl"}, "imps")  # 0.87 ± 0.02

    class Ours(NamedTuple):
        mean: float
        error: float

        def value(self):
            return results.Estimate(self.mean, self.error, 9)

    said = {
        (mean, error): papers.verdict(papers.Row("", "", "", Ours(mean, error), claim))
        for mean, error in ((0.9, 0.05), (0.8, 0.05), (0.7, 0.05), (0.6, 0.4), (3.0, 0.1))
    }
    assert [*said.values()] == ["holds", "holds", "falls short", "falls short: may be no gain", "holds"]
    other = papers.Row("", "", "", Ours(0.9, 0.1), claim, "other boards")
    assert papers.verdict(other) == "not comparable: other boards"
    assert papers.verdict(other._replace(unlike="", paper=None)) == "not comparable: no figure in the paper"


def test_rows_of_the_papers_say_which_files_a_command_needs():
    """Files of a command that are neither in the repository nor written by it."""
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name in {row.ours.file for row in ROWS if isinstance(row.ours, papers.Cell)}:
        words = shlex.split(json.loads((papers.RESULTS / f"{name}.json").read_text("utf-8"))["command"])
        inputs = [word for before, word in itertools.pairwise(words) if before not in {"--json", "--ledger", "--out"}]
        read = re.findall(r"[\w./-]+\.(?:npz|safetensors)", " ".join(inputs))
        missing = [word for word in read if not (ROOT / word).exists()]
        assert bool(missing) == (name in papers.NEEDS), f"{name}: {missing}"
        for word in missing:
            assert f"`{Path(word).parent if 'belief-table' in word else word}`" in page, word


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "results").glob("*.json")), ids=lambda path: path.stem)
def test_commands_of_results_are_understood(path):
    """Names of commands and options, and their values; nothing is run."""
    for words in map(shlex.split, json.loads(path.read_text("utf-8"))["command"].split("; ")):
        if words[0] != "bidzoo":
            continue
        command, name, words = typer.main.get_command(app), "bidzoo", words[1:]
        while hasattr(command, "resolve_command"):
            context = command.make_context(name, ["--help"], resilient_parsing=True)
            name, command, words = command.resolve_command(context, words)
        command.make_context(name, words)


def commands(group, words="bidzoo"):
    """Every command below ``group``, with the words before it."""
    for name, command in group.commands.items():
        yield from commands(command, f"{words} {name}") if hasattr(command, "commands") else [f"{words} {name}"]


@pytest.mark.parametrize("command", [*commands(typer.main.get_command(app))])
def test_every_command_stands_on_a_page(command):
    """Beside the commands of published results, which are folded below their tables."""
    texts = (re.sub(r"<details>.*?</details>", "", page.read_text("utf-8"), flags=re.DOTALL) for page in PAGES)
    told = re.compile(rf"{re.escape(command)}(?![\w-])")
    assert any(told.search(text) for text in texts), f"no page in docs/ names {command!r}; add it to one"


def test_every_agent_has_a_row():
    page = (ROOT / "docs" / "agents" / "index.md").read_text(encoding="utf-8")
    missing = [name for name in AGENTS if not re.search(rf"^\| \[?`{re.escape(name)}`", page, re.MULTILINE)]
    assert not missing, f"docs/agents/index.md has no row of {missing}: run python docs/pages.py"


def test_agents_pages_begin_with_their_strength_outside(pages):
    """An imitation is an easier opponent: where other programs were met, their mean comes first, and who met them."""
    means = {agent: mean for (agent, program), mean in papers.outside().items() if program == "mean"}
    assert len(means) == 6
    today = {met: agent for agent, met in papers.MET_OUTSIDE.items()}
    for met, mean in means.items():
        agent = today.get(met, met)
        text = (ROOT / "docs" / "agents" / f"{agent}.md").read_text(encoding="utf-8")
        found = re.search(
            r"^\| Strength \| (\S+ ± \S+) IMPs a board over \[six outside programs\].*", text, re.MULTILINE
        )
        assert found and found[1] == pages.strength(mean.mean, mean.error), agent
        assert met == agent or f"`{met}`" in found[0]


@cache
def measured() -> frozenset[Estimate]:
    """Every number with an error of the result files and of the leaderboard."""
    found, waiting = set[Estimate](), [json.loads(path.read_bytes()) for path in (ROOT / "docs/results").glob("*.json")]
    while waiting:
        match waiting.pop():
            case {"mean": float(mean), "error": float(error), "n": n}:
                found.add(Estimate(mean, error, n))
            case dict(parts):
                waiting += parts.values()
            case list(parts):
                waiting += parts
    entries = [leaderboard.load(path) for path in (ROOT / "docs/results/leaderboard").glob("*.json")]
    for name, challenge in leaderboard.CHALLENGES.items():
        table = leaderboard.ranking(challenge, [entry for entry in entries if entry.challenge == name])
        found |= {value for row in table.rows for value in row.values() if isinstance(value, Estimate)}
    return frozenset(found | {each for each in papers.outside().values() if np.isfinite(each.error)})


@pytest.mark.parametrize("page", [*(ROOT / "docs" / "agents").glob("*.md")], ids=lambda path: path.stem)
def test_a_strength_is_measured(page):
    """An agent that is measured again has other numbers: those of its page's head stand in a result file."""
    row = re.search(r"^\| Strength \|.*", page.read_text(encoding="utf-8"), re.MULTILINE)
    figures = re.compile(r"([+−]?(\d[\d.]*+) ± (\d[\d.]*+))(?! against WBridge5)")  # which the papers' are
    for whole, mean, error in figures.findall(row[0] if row else ""):
        steps = [0.5 * 10.0 ** -len(text.partition(".")[2]) * 1.001 for text in (mean, error)]
        assert any(
            abs(own - float(mean)) <= steps[0] and abs(scale * each.error - float(error)) <= steps[1]
            for each in measured()
            for scale in (1, 100)  # a share stands there in per cent
            for own in (abs(scale * each.mean), 100 - scale * each.mean)  # or that of the other side
        ), f"{whole} is in no file of docs/results"


def test_the_mean_over_outside_programs_is_theirs():
    every = papers.outside()
    for agent in dict.fromkeys(agent for agent, _ in every):
        values = [value.mean for (name, program), value in every.items() if name == agent and program != "mean"]
        assert len(values) == 6 and np.mean(values) == pytest.approx(every[agent, "mean"].mean, abs=0.011)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_held_out_opponents_are_named(page):
    """The words promise more than they mean: a paragraph that has them says which networks these are."""
    text = re.sub(r"<details>.*?</details>|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search("held[- ]out", paragraph, re.IGNORECASE) and not paragraph.startswith("|"):
            assert "Polish" in paragraph, paragraph


def test_a_table_takes_some_rows_only(pages):
    tables = (pages.table("throughput.json", 1, words) for words in (None, "bridge_v0 comm_v0", "bridge_v0"))
    whole, two, one = (table.count("\n| ") for table in tables)
    assert 2 < one < two < whole
    with pytest.raises(ValueError, match=r"table 1 of throughput\.json has no row 'bridge_v9'"):
        pages.table("throughput.json", 1, "bridge_v0 bridge_v9")


def test_environment_pages_are_made(pages, tmp_path):
    pages.write(tmp_path)
    assert (tmp_path / "papers.md").read_text() == (ROOT / "docs" / "papers.md").read_text(), "python docs/pages.py"
    made = {path.stem for path in (tmp_path / "environments").iterdir()}
    assert made == {"index", *GAMES}
    for path in (tmp_path / "environments").iterdir():
        kept = ROOT / "docs" / "environments" / path.name
        assert path.read_text() == kept.read_text(), f"{kept.name} is stale: run python docs/pages.py"
    page = (tmp_path / "environments" / "bridge_bidding_v0.md").read_text()
    assert "| `0:" in page and "### `state`: 924 entries" in page


@pytest.mark.parametrize("env_id", GAMES)
def test_every_environment_has_its_picture(pages, env_id):
    """As an agent of today plays it; letters may be drawn a little differently by another Pillow."""
    kept = np.asarray(Image.open(ROOT / "docs" / "pictures" / f"{env_id}.png").convert("RGB"), int)
    drawn = pages.picture(env_id)
    assert kept.shape == drawn.shape
    assert np.abs(kept - drawn).mean() < 0.1, "another moment: run python docs/pages.py"


def test_the_readme_shows_a_moving_picture():
    path = ROOT / "docs" / "pictures" / "play.webp"
    assert f"](docs/pictures/{path.name})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert path.stat().st_size < 1_500_000
    with Image.open(path) as picture:
        milliseconds = 0
        for frame in range(picture.n_frames):
            picture.seek(frame)
            picture.load()  # or the duration is that of the frame before
            milliseconds += picture.info["duration"]
        assert picture.n_frames >= 10 and 8_000 <= milliseconds <= 15_000


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_have_a_text_and_a_target(page):
    """They are read on a code host, too, which fills in no titles."""
    for text, target in LINK.findall(CODE.sub("code", page.read_text(encoding="utf-8"))):
        assert text, f"{target}: no text"
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_sphinx_fills_in_is_linked(page):
    """A code host shows the directive instead: what it would bring must be one click away."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^```{(?:literal)?include} (\S+)", text, re.MULTILINE):
        assert f"]({name})" in text
    if "```{eval-rst}" in text:
        assert "`help(" in text


def test_links_lead_to_every_page():
    """From the first one, without the navigation that Sphinx adds."""
    reached, ahead = set(), [ROOT / "docs" / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        targets = {
            (page.parent / target.split("#")[0]).resolve() for _, target in LINK.findall(page.read_text("utf-8"))
        }
        ahead += (targets & {*PAGES}) - reached
    assert {*PAGES} - reached == {ROOT / "README.md"}


def test_the_quick_start_has_every_extra():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    told = re.findall(r"`bidzoo\[(\w+)\]`", (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8"))
    assert {*told} == known.keys() - {"docs", "mutations", "dev"}  # of the repository


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_tables_are_narrow_enough(page):
    """Seven columns fit the width of a laptop; more are cut on the right."""
    for line in re.findall(r"^\|(?:---\|)+$", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert line.count("---") <= 7


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_extra_can_be_installed_in_a_clone(page):
    """Until bidzoo is published there is no other way."""
    text = page.read_text(encoding="utf-8")
    for extra in re.findall(r'pip install "bidzoo\[(\w+)\]"', text):
        assert f'".[{extra}]"' in text


def test_the_readme_of_a_package_index_has_no_relative_links():
    found = LINK.findall(importlib.metadata.metadata("bidzoo").get_payload())
    assert found and all(target.startswith(("http://", "https://", "#")) for _, target in found)


def test_addresses_are_named_once():
    """They are to be set at publication, in pyproject.toml."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    known = [*filter(Path.is_file, ROOT.glob("*.*")), *PAGES, *(ROOT / "bidzoo").rglob("*.py")]
    naming = {path.name for path in known if any(url in path.read_text("utf-8") for url in urls.values())}
    assert naming == {"pyproject.toml"}


SCRIPTS = sorted([*(ROOT / "docs/training/scripts").glob("*.py"), *(ROOT / "examples").rglob("*.py")])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_call_what_is_there(path):
    """Also in their last lines, which a small run of their functions does not reach."""
    tree, modules = ast.parse(path.read_text(encoding="utf-8")), dict[str, ModuleType]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "bidzoo":
            for alias in node.names:
                try:
                    importer: dict[str, Any] = {}
                    exec(f"from {node.module} import {alias.name} as found", importer)
                except ModuleNotFoundError as missing:  # of an extra; that of bidzoo itself is a fault
                    if (missing.name or "").partition(".")[0] == "bidzoo":
                        raise
                    pytest.skip(str(missing))
                if isinstance(importer["found"], ModuleType):
                    modules[alias.asname or alias.name] = importer["found"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            assert hasattr(modules[node.value.id], node.attr), f"{path.name}:{node.lineno}: {ast.unparse(node)}"
