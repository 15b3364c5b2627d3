"""``bidzoo bench tabular``: the same for any number of workers, resumable, and honest about the paper's figures."""

import json
import re

import pytest

pytest.importorskip("joblib")

from bidzoo.benchmarks import printing, results, tabular
from bidzoo.benchmarks.tabular import Job, Outcome, auctions, run
from bidzoo.core import digests
from bidzoo.core.storage import Ledger

TINY = ["mini_hanabi_v0()", "simple_bidding_v0(size=4)"]


def numbers(tables):
    """Cells that do not measure time."""
    return [
        {key: value for key, value in row.items() if not key.endswith(" s")} for table in tables for row in table.rows
    ]


def test_workers_change_no_result(tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    one = tabular.main(seeds=3, network_seeds=0, games=TINY, workers=1, ledger=ledger)[0]
    tables, figures = tabular.main(seeds=3, network_seeds=0, games=TINY, workers=2)
    results.save(tmp_path / "two.json", "tabular", tables, seed=0, seconds=1.0, figures=figures)
    assert numbers(one) == numbers(tables) == numbers(results.load(tmp_path / "two.json")["tables"])
    lines = ledger.read_text("utf-8").splitlines()
    assert len(lines) == 2 * (2 * 3 + 2)  # CFR10k has one seed in ten, but 2
    ledger.write_text("\n".join(lines[:5]) + "\n", "utf-8")  # interrupted
    again = tabular.main(seeds=3, network_seeds=0, games=TINY, workers=1, ledger=ledger)[0]
    assert numbers(again) == numbers(one)
    assert len(ledger.read_text("utf-8").splitlines()) == len(lines)


def test_a_job_is_what_it_says():
    outcome = run(Job("CFR1k", "mini_hanabi_v0()", 2))
    assert outcome.boosted >= outcome.value
    assert set(outcome.sampled) == {str(n) for n in tabular.SAMPLES}
    assert all(value >= outcome.value - 1e-9 for value in outcome.sampled.values())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda entry: "nonsense", "not JSON"),
        (lambda entry: {}, "job: missing"),
        (lambda entry: {**entry, "job": {"row": "CFR1k"}}, "job.game: missing"),
        (lambda entry: entry | {"job": {k: v for k, v in entry["job"].items() if k != "code"}}, "job.code: miss"),
        (lambda entry: entry | {"outcome": {**entry["outcome"], "value": "8"}}, "outcome.value: '8', expected"),
        (lambda entry: entry, "the job of line 1 again"),
    ],
)
def test_broken_ledgers_are_named(change, fault, tmp_path):
    path, job = tmp_path / "ledger.jsonl", Job("CFR1k", "mini_hanabi_v0()", 0)
    with Ledger(path, Job, Outcome) as ledger:
        ledger.add(job, Outcome(8.0, 8.0, 9.0, {}, 0.1, 0.1, 1))
        with pytest.raises(ValueError, match=r"ledger\.jsonl: already being written, by process \d+ on"):
            Ledger(path, Job, Outcome)
    whole = path.read_text("utf-8")
    path.write_text(whole + whole[:-9], "utf-8")  # killed while it wrote
    with Ledger(path, Job, Outcome) as again:
        assert again.done == ledger.done
        again.add(job._replace(code="other"), ledger.done[job])  # of other code: another job
    lines = path.read_text("utf-8").splitlines()
    assert lines[0] + "\n" == whole and len(lines) == 2
    other = change(json.loads(whole))
    path.write_text(whole + (other if isinstance(other, str) else json.dumps(other)) + "\n", "utf-8")
    with pytest.raises(ValueError, match=rf"ledger\.jsonl, line 2: .*{fault}"):
        Ledger(path, Job, Outcome)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ledger.jsonl"]


def test_a_row_is_played_again_when_its_own_code_or_settings_change(monkeypatch):
    def codes():
        tabular._code.cache_clear()
        return {(job.row, job.game): job.code for job in tabular.jobs_of(tabular.ROWS, TINY, 1, 1)}

    before = codes()
    assert len(before) == 5 * 2 and all(before.values())
    monkeypatch.setitem(tabular.SETTINGS, ("BAD", TINY[0]), {"updates": 10})
    other = {job for job, code in codes().items() if code != before[job]}
    assert other == {("BAD", TINY[0])}
    monkeypatch.undo()
    source = digests._source
    new = "bidzoo.agents.tabular.bad"
    monkeypatch.setattr(digests, "_source", lambda name: ("new", source(name)[1]) if name == new else source(name))
    assert {job for job, code in codes().items() if code != before[job]} == {("BAD", game) for game in TINY}
    tabular._code.cache_clear()


def test_unknown_rows_and_games_are_named():
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        tabular.main(games=["chess"])
    with pytest.raises(ValueError, match="unknown row 'DQN'"):
        tabular.main(rows=["DQN"])
    with pytest.raises(ValueError, match="at least 1"):
        tabular.main(seeds=0)


@pytest.mark.parametrize("name", ["mini_hanabi", "mini_hanabi_v0", "mini_hanabi_v0()"])
def test_a_game_is_known_by_less_than_its_whole_name(name):
    assert tabular._chosen("game", [name], tabular.GAMES) == ("mini_hanabi_v0()",)
    assert tabular._chosen("game", ["comm(length=5)", name], tabular.GAMES) == ("comm_v0(length=5)", "mini_hanabi_v0()")
    several = "choose from simple_bidding_v0(size=4), simple_bidding_v0(size=8), simple_bidding_v0(size=16)"
    with pytest.raises(ValueError, match=re.escape(f"game 'simple_bidding_v0' may be several; {several}")):
        tabular.main(games=["simple_bidding_v0"])


def test_names_of_games_are_not_cut(capsys):
    table = results.ResultTable("brute force", ["game", *(f"figures of {n}" for n in range(9))])
    table.add("simple_bidding_v0(size=16)", *(["1234567"] * 9))
    printing.show([table])
    said = capsys.readouterr().out
    assert "…" not in said and said.count("Simple Bidding 16\n") + said.count("Simple Bidding 16 ") >= 1


def test_the_papers_tables_are_whole():
    assert len(tabular.GAMES) == 11
    assert all(row[name] is not None for row in tabular.PAPER.values() for name in (*tabular.ROWS, "Best known"))
    assert all(
        [*row] == ["all", *map(str, tabular.SAMPLES)] and None not in row.values() for row in tabular.TABLE_2.values()
    )
    found = {game: row["BAD+JPS"] for game, row in tabular.PAPER.items() if row["BAD+JPS"] is not None}
    assert found == {game: row["all"] for (game, start), row in tabular.TABLE_2.items() if start == "BAD"}


def test_the_papers_grid_is_worth_1_84_in_our_game():
    """Table 4, replayed as a strategy: every auction of ours is the one printed."""
    from bidzoo.agents.tabular.policy import game_of
    from bidzoo.benchmarks.tabular import compiled_of
    from bidzoo.envs.signalling.compiled import evaluate, uniform

    name = "minibridge_v0(size=4)"
    game, form = game_of(name), compiled_of(name)
    strategy = uniform(form)
    for x, row in enumerate(tabular.TABLE_4):
        for y, auction in enumerate(row):
            m = 0
            for call in auction.split("-"):
                c, own = form.child[m, game.action_number(call)], (x, y)[form.player[m]]
                strategy[form.first[m] : form.first[m] + form.count[m], own] = 0.0
                strategy[c, own] = 1.0
                m = c
            assert form.leaf[m] >= 0
    assert auctions(name, strategy) == [list(row) for row in tabular.TABLE_4]
    assert evaluate(form, strategy) == pytest.approx(1.84)
