"""Challenges are what their names say, entries are checked, and whoever has the agent finds the same numbers."""

import json
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo import agents
from bidzoo.benchmarks import leaderboard
from bidzoo.benchmarks.leaderboard import CHALLENGES, Challenge, values
from bidzoo.benchmarks.match import duplicate, slow
from bidzoo.cli import main

SMALL = Challenge("small-2026", "minibridge_v0", {"size": 3}, ("cfr", "random"), 30, 7, "points a board")
BRIDGE = replace(CHALLENGES["bridge-2026"], boards=24, opponents=("sayc", "pass"))
SPADES = replace(CHALLENGES["spades-2026"], boards=24, opponents=("bis", "rb"))
PUBLISHED = dict(CHALLENGES)
ROOT = Path(__file__).parents[2]
ENTRIES = sorted(ROOT.joinpath("docs", "results", "leaderboard").glob("*.json"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(leaderboard, "CHALLENGES", {one.name: one for one in (BRIDGE, SPADES, SMALL)})


def run(*words):
    return CliRunner().invoke(main.app, ["leaderboard", *words], env={"COLUMNS": "160", "NO_COLOR": "1"})


def test_names_have_a_year_and_the_rest_is_fixed():
    """Opponents whose play has changed are others: once released, the challenge takes the next year's name then."""
    sums = {"bridge-2026": BRIDGE_SUM, "spades-2026": SPADES_SUM, "bridge-partners-2026": PARTNERS_SUM}
    assert set(CHALLENGES) == set(sums)
    for name, one in CHALLENGES.items():
        assert name.rpartition("-")[2].isdecimal()
        played = [values(one, *map(agents.make, pair), np.arange(200)) for pair in combinations(one.opponents, 2)]
        about = one.env_id, sorted(one.options.items()), one.opponents, one.boards, one.seed
        assert crc32(repr((about, np.concatenate(played).tolist())).encode()) == sums[name], name


BRIDGE_SUM, SPADES_SUM, PARTNERS_SUM = 3266561291, 910285439, 982642700


def test_a_challenge_of_partners_seats_the_agent_opposite_each():
    one, boards = replace(CHALLENGES["bridge-partners-2026"], boards=24), np.arange(24)
    sayc, passes = agents.make("sayc"), agents.make("pass")
    assert (values(one, sayc, sayc, boards) == 0).all()  # the partner's own kind
    together = duplicate(one.game, (passes, sayc), sayc, boards, one.seed, one.seed)
    assert (values(one, passes, sayc, boards) == together.imps).all() and together.imps.any()


def test_values_follow_the_seats():
    for one, ours, theirs in ((BRIDGE, "sayc", "pass"), (SPADES, "bis", "rb")):
        a, b = agents.make(ours), agents.make(theirs)
        won = values(one, a, b, np.arange(10))
        assert (won == -values(one, b, a, np.arange(10))).all() and won.any()
        assert (won[[3, 7]] == values(one, a, b, np.array([3, 7]))).all()
    together = values(SMALL, agents.make("exact"), agents.make("exact"), np.arange(30))
    assert (together >= values(SMALL, agents.make("exact"), agents.make("random"), np.arange(30))).mean() > 0.6


@pytest.mark.parametrize(("challenge", "agent"), [("bridge-2026", "ours=sayc"), ("spades-2026", "io")])
def test_enter_and_verify(challenge, agent, tmp_path):
    file = tmp_path / "entry.json"
    text = run("enter", challenge, agent, "--json", str(file), "--ledger", str(tmp_path / "l")).output
    name = agent.partition("=")[0]
    assert f"\n{name} " in text and str(file) in text.replace("\n", "")
    assert "nothing was kept there, since no agent here is slow" in " ".join(text.split())
    entry = leaderboard.load(file)
    assert (entry.name, entry.agent, entry.source) == (name, agent, f"bidzoo {entry.version}")
    done = run("verify", str(file), "--boards", "9", "--seed", "3")
    assert done.exit_code == 0 and f"{name} in {challenge}, verified (seed 3)" in done.output
    given = json.loads(file.read_text())
    opponent = leaderboard.CHALLENGES[challenge].opponents[0]
    numbers = given["values"][opponent].split()
    numbers[5] = str(float(numbers[5]) + 1)
    given["values"][opponent] = " ".join(numbers)
    file.write_text(json.dumps(given))
    done = run("verify", str(file), "--boards", "24", "--seed", "3")
    assert done.exit_code == 1
    assert f"against {opponent}: 23 of 24 boards the same; other values on boards 5" in done.output
    assert "not verified" in done.output


def test_no_entry_has_the_name_of_another_agent():
    with pytest.raises(ValueError, match="'sayc=pass' is called 'sayc', as one of bidzoo's; give it another name"):
        leaderboard.enter(BRIDGE, "sayc=pass")


def test_entries_of_one_name_have_a_file_each(tmp_path):
    for folder in ("one", "other"):
        agents.make("exact").policy(SMALL.game).save(tmp_path / folder / "best.safetensors")
        assert run("enter", SMALL.name, f"{folder}/best.safetensors").exit_code == 0
    assert len([*tmp_path.glob(f"runs/leaderboard/{SMALL.name}-best-*.json")]) == 2


def test_progress_counts_the_boards_of_all_opponents():
    seen = []
    entry = leaderboard.enter(BRIDGE, "pass", report=lambda label, done, total: seen.append((done, total)))
    assert seen == sorted(seen) and (48, 96) in seen and seen[-1] == (96, 96)
    seen.clear()
    leaderboard.verify(entry, 10, report=lambda label, done, total: seen.append((done, total)))
    assert seen == [(0, 20), (10, 20)]


@pytest.mark.parametrize("file", ENTRIES, ids=lambda file: file.stem)
def test_published_entries_are_those_of_the_agents_of_today(file, monkeypatch):
    monkeypatch.setattr(leaderboard, "CHALLENGES", PUBLISHED)
    monkeypatch.chdir(ROOT)  # weights of experiments/weights are named from there
    entry = leaderboard.load(file)
    boards = 3 if slow([agents.make(entry.agent)]) or "search" in entry.agent else 100
    for check in leaderboard.verify(entry, boards=boards, seed=5, agent=entry.agent):
        assert len(check.boards) == boards and len(check.wrong) == 0, (check.opponent, check.wrong)


class Slow:
    """Counts the calls it is asked for."""

    name, slow = "slow", True
    asked = 0

    def act(self, views, legal, rng):
        Slow.asked += len(views)
        return legal.argmax(1)


def test_a_slow_agent_goes_on_from_its_ledger(tmp_path):
    agents.register("slow", Slow)
    first = leaderboard.enter(BRIDGE, "slow", "here", ledger=tmp_path / "slow.ledger")
    asked = Slow.asked
    again = leaderboard.enter(BRIDGE, "slow", "here", ledger=tmp_path / "slow.ledger")
    assert asked > 100 and again.values == first.values
    assert 2 * (Slow.asked - asked) < asked  # what is played again at the end


class Counts:
    """Doubles what it can at every third question, whatever the table."""

    name, asked = "memory", 0

    def act(self, views, legal, rng):
        self.asked += 1
        return legal[:, 1].astype(np.int64) * (self.asked % 3 == 0)


class Whispers:
    """Bids seven notrump where it has seen partner's hand at this table, and that has the higher card."""

    name = "memory"

    def __init__(self):
        self.hands = {}

    def act(self, views, legal, rng):
        return np.array([self.call(view, mask) for view, mask in zip(views, legal)])

    def call(self, view, mask):
        hands = self.hands.setdefault(int(view["board"]), {})
        if view["length"] < 2:
            hands.clear()
        hands[int(view["seat"])] = int(view["hand"]).bit_length()
        partner = hands.get((int(view["seat"]) + 2) % 4, 0)
        return 37 if partner > hands[int(view["seat"])] and mask[37] else 0


@pytest.mark.parametrize("kind", [Counts, Whispers])
def test_an_entry_that_nobody_could_verify_is_not_made(kind, monkeypatch):
    agents.register("memory", kind)
    with pytest.raises(ValueError, match=r"memory: board \d+ against \w+ gave .* own row alone: bidzoo check"):
        leaderboard.enter(BRIDGE, "memory", "here")
    monkeypatch.setattr(leaderboard, "SAMPLE", 0)
    entry = leaderboard.enter(BRIDGE, "memory", "here")
    assert any(len(check.wrong) for check in leaderboard.verify(entry, 24, agent="memory"))


def test_an_agent_that_cannot_be_copied_does_not_enter():
    agents.register(
        "lambda", lambda: SimpleNamespace(name="lambda", act=lambda views, legal, rng: np.zeros(len(views)))
    )
    with pytest.raises(ValueError, match="lambda: cannot be pickled"):
        leaderboard.enter(BRIDGE, "lambda", "here")


def test_the_ledger_stays_until_the_entry_is_written(monkeypatch):
    agents.register("slow", Slow)
    with monkeypatch.context() as broken:
        broken.setattr(leaderboard, "save", lambda path, entry: 1 / 0)
        assert run("enter", BRIDGE.name, "slow", "--workers", "1").exit_code == 1
    (ledger,) = Path("runs").glob(f"leaderboard-{BRIDGE.name}-*.ledger")
    kept = ledger.read_bytes()
    assert run("enter", BRIDGE.name, "pass").exit_code == 0  # another command of the suite, which ends
    assert kept and ledger.read_bytes() == kept


def entry(**changes):
    numbers = {name: " ".join(["1"] * 30) for name in SMALL.opponents}
    made = leaderboard.Entry("small-2026", "one", "cfr", "x", "c", "0.1.0", "3", "m", 1.0, numbers)
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"challenge": "small-2027"}, ValueError, "challenge: 'small-2027'; did you mean 'small-2026'?"),
        ({"values": {"cfr": "1"}}, ValueError, "values: 'cfr', expected cfr, random"),
        ({"values": {"cfr": "1 2", "random": "1"}}, ValueError, "2 values against cfr, expected 30 finite numbers"),
        *(
            (
                {"values": {"cfr": f"{word} " + "1 " * 29, "random": "1 " * 30}},
                ValueError,
                "expected a number as in JSON",
            )
            for word in (
                "nan",
                "1_0",
                "\u0661",
                "+1",
                ".5",
                "01",
                "1.",
                "0x1",
                "inf",
                "1\u20031",
                "1\n1",
                "1\x1f1",
                "1,5",
            )
        ),
        (
            {"values": {"cfr": "1e999 " * 30, "random": "1 " * 30}},
            ValueError,
            "30 values against cfr, expected 30 finite",
        ),
        *(
            ({field: text}, ValueError, f"{field}: ")
            for field in ("name", "agent", "source", "command", "version", "python", "machine")
            for text in ("", "\x1b[2J", "a\nb", "a\u202eb", "x" * 100_000)
        ),
        ({"seconds": -1.0}, ValueError, "seconds: -1.0, expected a number from 0"),
        ({"values": {"cfr": "1 " * 29 + "1e300", "random": "1 " * 30}}, ValueError, "board 29: 1e+300 against cfr"),
        ({"values": {"cfr": "1 " * 30, "random": "0.25 " * 30}}, ValueError, "0.25 against random, expected multiples"),
        ({"values": {"cfr": "1 " * 30, "random": "-2 " * 30}}, ValueError, "multiples of 0.5 from -1.0 to 4.0"),
        (
            {"values": {"cfr": "one " * 30, "random": "1 " * 30}},
            ValueError,
            "against cfr: 'one', expected a number as in",
        ),
        ({"seconds": "long"}, ValueError, "seconds: 'long', expected a number"),
        ({"name": " "}, ValueError, "name: ' ' (1 characters), expected what the agent is called, 1 to 80 printable"),
    ],
)
def test_what_is_no_entry(tmp_path, changes, error, words):
    path = tmp_path / "e.json"
    path.write_text(json.dumps(asdict(entry(**changes))))
    with pytest.raises(error) as caught:
        leaderboard.load(path)
    assert words in str(caught.value) and str(path) in str(caught.value)
    if "seconds" not in changes or changes["seconds"] == -1.0:
        with pytest.raises(ValueError, match=r"e2\.json: "):
            leaderboard.save(tmp_path / "e2.json", entry(**changes))
        assert not (tmp_path / "e2.json").exists()


@pytest.mark.parametrize("source", ["\x07", "x" * 501])
def test_an_entry_that_could_not_be_read_is_not_played(source):
    with pytest.raises(ValueError, match=r"source: .*expected 1 to 500 printable characters"):
        leaderboard.enter(SMALL, "cfr", source, report=lambda *_: 1 / 0)


@pytest.mark.parametrize(
    ("challenge", "value", "can_be"),
    [
        ("bridge-2026", "24", True),
        ("bridge-2026", "25", False),
        ("bridge-2026", "-25", False),
        ("bridge-2026", "0.5", False),
        ("spades-2026", "0.5", True),
        ("spades-2026", "0.25", False),
        ("spades-2026", "1046", True),
        ("spades-2026", "1046.5", False),
    ],
)
def test_values_are_those_that_a_board_can_have(challenge, value, can_be):
    one = leaderboard.CHALLENGES[challenge]
    given = entry(challenge=challenge, values={one.opponents[0]: " ".join([value] * one.boards)})
    if can_be:
        assert given.numbers(one.opponents[0]).tolist() == [float(value)] * one.boards
    else:
        with pytest.raises(
            ValueError, match=f"one: board 0: {value} against {one.opponents[0]}, expected multiples of"
        ):
            given.numbers(one.opponents[0])


# ---- an entry names code -------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["sys:exit", "me=os:abort", "os:fork", "w.safetensors", "announced"])
def test_code_of_an_entry_runs_only_when_told(tmp_path, agent):
    leaderboard.save(tmp_path / "e.json", entry(agent=agent))
    done = run("verify", str(tmp_path / "e.json"), "--boards", "2")
    assert done.exit_code == 1 and f"agent {agent!r} is not bidzoo's; to run its code say" in str(done.exception)
    with pytest.raises(ValueError, match="is not bidzoo's: say by agent="):
        leaderboard.verify(entry(agent=agent))


def test_a_command_that_is_told_is_one_command(tmp_path):
    """Whoever copies it into a shell runs nothing else that the entry says."""
    leaderboard.save(tmp_path / "e.json", entry(agent="mine; touch owned"))
    done = run("verify", str(tmp_path / "e.json"), "--boards", "2")
    assert str(done.exception).endswith("to run its code say --agent 'mine; touch owned'")


@pytest.mark.parametrize("agent", ["sys:exit", "os:abort", "os:fork", "site:main", "builtins:min"])
def test_what_is_no_policy_is_not_called(agent):
    with pytest.raises(ValueError, match="expected a class with act"):
        leaderboard.verify(entry(), agent=agent)


class Leaver:
    """Leaves at the first question."""

    name = "leaver"

    def act(self, views, legal, rng):
        raise SystemExit(0)


def test_who_leaves_is_not_verified():
    with pytest.raises(RuntimeError, match=r"agent 'leaver', boards \d+ \.\.\. \d+, turn 0: SystemExit: 0"):
        leaderboard.verify(entry(), agent=f"{__name__}:Leaver")


def test_another_version_is_not_verified():
    with pytest.raises(ValueError, match=r"one: played with bidzoo 0\.0\.9, this is"):
        leaderboard.verify(entry(version="0.0.9"))


def test_ranking():
    low = entry(name="low", values={"cfr": "0 " * 30, "random": "1 " * 30})
    table = leaderboard.ranking(SMALL, [low, entry()])
    assert [row["agent"] for row in table.rows] == ["one", "low"]
    assert [row["mean"].mean for row in table.rows] == [1.0, 0.5] and table.rows[1]["cfr"].mean == 0
    with pytest.raises(ValueError, match="two entries are called 'one'"):
        leaderboard.ranking(SMALL, [entry(), entry()])


def test_lists(tmp_path):
    assert "minibridge_v0" in run("challenges").output
    leaderboard.save(tmp_path / "e.json", entry())
    assert "\none " in run("rank", str(tmp_path / "e.json")).output
