"""The command line as a whole: what it lists, and one line for an error that one can do something about."""

import json
import os
import subprocess
import sys
import threading
import time
import warnings
from functools import partial
from importlib.metadata import EntryPoint
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest
import typer
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents, registry
from bidzoo.benchmarks import bridge, experts, leaderboard, printing, results
from bidzoo.cli import main, showing
from bidzoo.cli.options import LAST_BOARD
from bidzoo.cli.showing import progress
from bidzoo.core import plugins
from bidzoo.core.jobs import WorkersDiedError
from bidzoo.core.options import UnknownOptionError
from bidzoo.envs import game

RESULTS = Path(__file__).parents[2] / "docs" / "results"
MEANS = {  # of every agent with a strength: against the held-out experts in bridge, on the leaderboard in Spades
    row["agent"]: row["mean"]
    for row in leaderboard.ranking(
        leaderboard.CHALLENGES["spades-2026"],
        [leaderboard.load(path) for path in sorted(RESULTS.glob("leaderboard/spades-2026-*.json"))],
    ).rows
} | {
    row["agent"]: row["held-out mean, IMPs a board"]
    for path in sorted(RESULTS.glob("bridge-experts*.json"))
    for row in results.load(path)["tables"][0].rows
}


def run(*words):
    return CliRunner().invoke(main.app, words, env={"COLUMNS": "80", "NO_COLOR": "1"}, catch_exceptions=False)


def test_commands_are_in_order():
    text = run("--help").output
    order = ("list", "compile", "play", "match", "replay", "report", "bench", "leaderboard", "train", "bluechip")
    places = [text.index(f"\n  {name} ") for name in order]
    assert places == sorted(places)
    words = " ".join(run("train", "--help").output.split())
    assert "(joint policy search, section 7.2)" in words and "..." not in words.partition("Commands:")[2]


def test_version():
    assert run("--version").output == f"bidzoo {bidzoo.__version__}\n"


def test_list_names_everything():
    text = run("list").output
    assert all(f"\n{name} " in text for name in (*bidzoo.available(), *agents.available()))


def test_list_says_which_agent_to_take():
    listed = json.loads(run("list", "--game", "spades", "--json").output)
    assert [each["id"] for each in listed["environments"]] == ["spades_v0"]
    by_name = {each["name"]: each for each in listed["agents"]}
    assert {"bis", "learned", "random"} <= set(by_name) and not {"sayc", "exact"} & set(by_name)
    assert by_name["learned"]["mean"] > by_name["bis"]["mean"] and by_name["uct"].keys() >= {"milliseconds", "paper"}
    text = run("list", "--game", "minibridge").output
    groups = [f"Agents: {group}" for group in agents.GROUPS if group != "ablations"]
    assert [text.index(group) for group in groups] == sorted(text.index(group) for group in groups)
    assert "sayc" not in text.replace("against sayc", "") and "bidzoo list --json" in text
    with pytest.raises(KeyError, match="unknown game 'spaeds'; did you mean"):
        run("list", "--game", "spaeds")


@pytest.mark.parametrize("name", agents.AGENTS)
def test_every_agent_says_what_it_is(name):
    """A sentence that stands alone, a group, a time, and the strength that the leaderboard has."""
    command = f"python experiments/agents_table.py {name}"
    assert name in agents.measured(), f"bidzoo/data/agents.json has no {name!r}; measure it: {command}"
    entry, found = agents.AGENTS[name], agents.measured()[name]
    assert entry.group in agents.GROUPS and entry.summary[0].isupper() and entry.summary.endswith(".")
    assert found["milliseconds"] > 0
    assert ("mean" in found) == (name in MEANS), f"bidzoo/data/agents.json is older than docs/results: {command}"


@pytest.mark.parametrize("name", sorted(MEANS))
def test_strengths_are_those_of_the_result_files(name):
    """One scale: what the pages of bridge show is what ``bidzoo list`` shows."""
    found, mean = agents.measured()[name], MEANS[name]
    assert (found["mean"], found["error"]) == (round(mean.mean, 3), round(mean.error, 3))
    assert (
        found["unit"].startswith("points" if "spades_v0" in agents.AGENTS[name].games else "IMPs") or name == "random"
    )


def fails(monkeypatch, capsys, problem):
    """What ``main`` writes to standard error when a command raises ``problem``."""
    monkeypatch.setattr(main, "app", Mock(side_effect=problem))  # a function of this file would be other people's code
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
    return capsys.readouterr().err


def missing(name):
    return ModuleNotFoundError(f"No module named '{name}'", name=name)


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (ValueError("a.pbn:3: no"), "a.pbn:3: no"),
        (KeyError("unknown agent 'x'"), "unknown agent 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a.pbn"), "a.pbn: no such file or directory"),
        (PermissionError(13, "Permission denied", "a.pbn"), "a.pbn: permission denied"),
        (ImportError("pictures need matplotlib"), "pictures need matplotlib"),
        (UnknownOptionError("agent 'sayc' has no option 'x'"), "agent 'sayc' has no option 'x'"),
        (WorkersDiedError("the workers of tasks [0] died"), "the workers of tasks [0] died"),
        (missing("dask"), "No module named 'dask'; pip install \"bidzoo[cluster]\""),
        (missing("torch.nn"), "No module named 'torch.nn'; pip install \"bidzoo[train]\""),
    ],
)
def test_an_expected_error_is_one_line(monkeypatch, capsys, problem, line):
    assert fails(monkeypatch, capsys, problem) == f"bidzoo: {line}\n"


@pytest.mark.parametrize(
    "problem", [KeyError("looked"), missing("bidzoo.nowhere"), TypeError("x"), ZeroDivisionError()]
)
def test_a_slip_of_ours_keeps_its_traceback(monkeypatch, capsys, problem):
    with pytest.raises(type(problem)):
        fails(monkeypatch, capsys, problem)


def test_extras_are_those_of_the_package():
    from importlib.metadata import metadata

    assert set(main.EXTRAS.values()) <= set(metadata("bidzoo").get_all("Provides-Extra"))
    assert not set(main.EXTRAS) & sys.stdlib_module_names


# ---- what is found out before a command works ----------------------------------------------


def refused(capsys, monkeypatch, *words):
    """What ``main`` says of a command line that it refuses, its lines joined."""
    monkeypatch.setattr(sys, "argv", ["bidzoo", *map(str, words)])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_options_before_a_subcommand_are_refused(capsys, monkeypatch):
    words = ("bench", "--boards", "20", "--json", "b.json", "bridge", "--agents", "sayc,pass")
    said = refused(capsys, monkeypatch, *words)
    assert "--boards and --json before 'bridge': options of a subcommand come after it, bench bridge --..." in said


def test_a_page_is_not_written_over_results(capsys, monkeypatch, tmp_path):
    results = tmp_path / "bench.json"
    results.write_text("{}")
    said = refused(capsys, monkeypatch, "report", results, "--out", results)
    assert "ending '.json', expected .html" in said and results.read_text() == "{}"


def test_standard_input_may_be_closed(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: no boards" in refused(capsys, monkeypatch, "replay", "-")
    sys.stdin.close()


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # the latter is the C locale's
def test_tables_on_an_ascii_terminal(monkeypatch, errors):
    out = TextIOWrapper(BytesIO(), "ascii", errors)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(main, "app", lambda: print("♠4 0.5 ± 0.1 é"))
    main.main()
    out.flush()
    assert out.buffer.getvalue() == b"S4 0.5 +- 0.1 ?\n"


@pytest.mark.parametrize(
    "command", [["bench", "bridge", "--agents"], ["bench", "bridge-cost", "--agents"], ["play", "--seats"]]
)
@pytest.mark.parametrize("names", ["", "sayc,"])
def test_an_empty_name_is_not_everybody(capsys, monkeypatch, command, names):
    said = refused(capsys, monkeypatch, *command, names)
    assert f"{names!r} has an empty name; without the option the default counts" in said


def test_no_deals_are_not_the_default(capsys, monkeypatch):
    assert "deals '': no such file" in refused(capsys, monkeypatch, "match", "pass", "pass", "--deals", "")


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (
            f"show 1 --board {10**20}",
            "Invalid value for '--board': Input should be less than or equal to 4611686018427387904",
        ),
        (f"show {10**20}", "seed 100000000000000000000: expected an integer from 0 to"),
        (f"play --terminal --board {2**62 + 1}", "Input should be less than or equal to"),
        (
            f"match sayc pass --boards {10**14}",
            "Invalid value for '--boards': Input should be less than or equal to 1000000000",
        ),
        (f"match exact random --env comm --boards {10**20}", "Input should be less than or equal to"),
        (f"deals generate {10**20} --out x.npz", "Input should be less than or equal to"),
        (f"bench bridge --boards {10**14}", "Input should be less than or equal to"),
    ],
)
def test_numbers_that_no_machine_can_serve(capsys, monkeypatch, command, fault):
    assert fault in " ".join(refused(capsys, monkeypatch, *command.split()).split())
    assert LAST_BOARD == game.LAST_BOARD + 1


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("match nobody nobody --out", "x.jsonl"),
        ("show --svg", "x.svg"),
        ("bench bridge --agents pass,pass --json", "x.json"),
        ("bench bridge-analysis --agents pass --pictures", "x"),
        ("leaderboard enter bridge-2026 pass --json", "x.json"),
        ("deals generate 1 --out", "x.npz"),
        ("deals estimate 1 --out", "x.npz"),
        ("deals import nowhere.pbn --out", "x.npz"),
        ("report --out", "x.html"),
        ("train record 1 --out", "x.npz"),
        ("train sl nowhere.npz --out", "x"),
        ("train ppo --out", "x"),
        ("exploit sayc --partner", "x.safetensors"),
    ],
)
def test_what_cannot_be_written_costs_no_work(capsys, monkeypatch, tmp_path, command, name):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / name
    assert f"bidzoo: {path}: cannot be written: not a directory" in refused(capsys, monkeypatch, *command.split(), path)


@pytest.mark.parametrize(("words", "said"), [("", "for what was asked for"), ("4 TiB for x", ": 4 TiB for x")])
def test_too_little_memory_is_one_line(capsys, monkeypatch, tmp_path, words, said):
    """As for a file of terabytes, which is all holes and none of the disk."""
    monkeypatch.setattr(Path, "read_bytes", Mock(side_effect=MemoryError(*filter(None, [words]))))
    (tmp_path / "x.pbn").touch()
    assert (
        refused(capsys, monkeypatch, "replay", tmp_path / "x.pbn")
        == f"bidzoo: not enough memory{' ' * (not words)}{said}"
    )


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [
        ("matplotlib", "train", "bench bridge-analysis --agents nobody --pictures x"),
        ("torch", "train", "train a2c --out x"),
    ],
)
def test_a_package_that_is_missing_costs_no_work(capsys, monkeypatch, tmp_path, package, extra, command):
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    said = refused(capsys, monkeypatch, *command.split())
    assert package in said and said.endswith(f'; pip install "bidzoo[{extra}]"')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        "match nobody nobody --out x.jsonl",
        "deals estimate 1 --out x.npz",
        "train record 1 --policy sayc --out x.npz",
    ],
)
def test_a_file_of_work_is_not_overwritten(capsys, monkeypatch, tmp_path, command):
    path = tmp_path / command.split()[-1]
    path.write_text("an hour's")
    said = refused(capsys, monkeypatch, *command.split())
    assert said == f"bidzoo: {path.name}: exists, expected a new file; choose another name, or remove it"
    assert path.read_text() == "an hour's"


@pytest.mark.parametrize("command", ["deals estimate 1", "train record 1 --policy nobody"])
def test_another_ending_than_readers_take_is_refused_before_the_work(capsys, monkeypatch, command):
    said = refused(capsys, monkeypatch, *command.split(), "--out", "x.txt")
    assert "x.txt: ending '.txt', expected .npz" in " ".join(said.split())


@pytest.mark.parametrize("option", ["competition=maybe", "competition="])
def test_both_values_of_a_switch_are_named(capsys, monkeypatch, option):
    said = refused(capsys, monkeypatch, "match", "pass", "pass", "--set", option)
    assert said == f"bidzoo: --set {option}: expected True or False"


ESCAPE = "\x1b]0;title\x07\x1b[8m\u202e\r"
SPELT = r"\x1b]0;title\x07\x1b[8m\u202e\r"


def test_names_cannot_steer_the_terminal(monkeypatch, capsys):
    """In a table, a line, an error, a warning, a traceback."""
    table = results.ResultTable(ESCAPE, ["agent"], note=ESCAPE)
    table.add(ESCAPE)
    printing.show([table])
    showing.say(f"{ESCAPE} verified\n\twell")
    warnings.showwarning = main._show_once
    try:
        main._show_once(UserWarning(ESCAPE), UserWarning)
    finally:
        warnings.showwarning = main._show_warning
    shown = capsys.readouterr()
    assert shown.out.count(SPELT) == 4 and shown.out.endswith(" verified\n\twell\n") and SPELT in shown.err
    assert "\x1b" not in shown.out + shown.err
    assert fails(monkeypatch, capsys, ValueError(ESCAPE)) == f"bidzoo: {SPELT}\n"


# ---- what is shown -------------------------------------------------------------------------


def test_ids_are_not_shortened(monkeypatch):
    whole = run("list").output
    assert all(f" {entry.gymnasium_id} " in whole for entry in registry.entries().values())
    monkeypatch.setenv("FORCE_COLOR", "1")  # a narrow terminal
    narrow = CliRunner().invoke(main.app, ["list"], env={"COLUMNS": "40"}, catch_exceptions=False).output
    assert narrow != whole
    assert "…" not in narrow


def test_bench_says_what_it_does_alone():
    assert "Without a subcommand a short benchmark" in run("bench", "--help").output


def test_bench_bridge_says_who_plays():
    text = " ".join(run("bench", "bridge", "--help").output.split())
    for suite, before, after in (
        (experts, "the experts meet ", ", and the round"),
        (bridge, "round robin is of ", "."),
    ):
        told = text.partition(before)[2].partition(after)[0].replace(" and ", ", ").split(", ")
        assert tuple(told) == suite.DEFAULT, f"bidzoo/cli/bench.py: the help names others than {suite.__name__}.DEFAULT"


def test_no_bar_leaves_no_line(capsys):
    with progress() as report:
        report("tables", 1, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", [["show"], ["list"]])
def test_what_a_stream_cannot_encode_is_replaced(monkeypatch, command):
    content = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(content, encoding="latin-1"))
    monkeypatch.setattr(sys, "argv", ["bidzoo", *command])
    with pytest.raises(SystemExit) as caught:
        main.main()
    sys.stdout.flush()
    assert not caught.value.code
    assert {"show": b"Board 1 ", "list": b"bridge_v0"}[command[0]] in content.getvalue()


def test_a_bad_package_is_one_line(monkeypatch, capsys):
    """However many look around; a warning of the code keeps its place."""
    bad, others = EntryPoint("sayc", "bad:Sayc", "bidzoo.agents"), []

    def command():
        monkeypatch.setattr(plugins, "_entry_points", lambda group, folders: [bad])
        agents.available()
        agents.entries()
        warnings.warn("slip", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr(main, "app", command)
    monkeypatch.setattr(main, "_show_warning", lambda message, *where: others.append(str(message)))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        main.main()
    line = "bidzoo: bad:Sayc announces agent 'sayc', which bidzoo has: use bad:Sayc\n"
    assert (capsys.readouterr().err, others) == (line, ["slip"])


def leaves(command, words=()):
    for name, each in command.commands.items():
        yield from leaves(each, (*words, name)) if hasattr(each, "commands") else [((*words, name), each)]


def test_no_command_is_silent(monkeypatch):
    """Whatever a command does, standard error says after a while that it goes on; not of what waits for people."""
    said: list[str] = []
    monkeypatch.setattr(showing, "SILENCE", 0.02)
    monkeypatch.setattr(showing, "say", lambda text, err=False: said.append(text))
    group = typer.main.get_command(main.app)
    commands = dict(leaves(group))
    assert len(commands) > 30 and set(main.WAITING) <= {words[0] for words in commands}

    def work(seconds):
        ends = time.monotonic() + seconds
        while not said and time.monotonic() < ends:
            time.sleep(0.01)

    for words, command in commands.items():
        waits = words[0] in main.WAITING
        command.params, command.callback = [], partial(work, 0.06 if waits else 20)
        said.clear()
        group.main([*words], standalone_mode=False)
        assert bool(said) != waits and all(text.startswith("working, ") for text in said), words


def test_commands_of_one_process_have_one_thread_that_hears_ctrl_c():
    for _ in range(3):
        CliRunner().invoke(main.app, ["list"])
    assert [thread.name for thread in threading.enumerate()].count("Ctrl-C") == 1


@pytest.mark.parametrize(
    ("command", "name", "meaning"),
    [
        ("match bis rb --set help", "failed_nil", "how the tricks of a failed nil count"),
        ("match sayc rl --set help", "most_calls", "N/S pass automatically after this many calls"),
        ("exploit exact --env minibridge_v0 --set help", "size", "cards a hand"),
        ("train rl --set help", "value", "'scores778' or 'bmcs636'"),
        ("match openai:m rl --seat help", "fallback", "the agent that acts then"),
        ("train rpi --set help", "self_play", "on the others it plays opponents (a number from 0 to 1)"),
        ("list rpi-bmcs", "prior=0.2", "reward of a nat of the policy's log-probability beside the results"),
        ("list sl", "temperature", "0 takes the likeliest call (a number from 0)"),
        ("list bis", "nil_limits", "highest rank of a suit's lowest three cards"),
        ("list spades", "bag_penalty", "points lost for ten bags"),
        ("list cfr", "noise", "where no regret is positive"),
        ("train jps --set help", "entropy", "a number from 0"),  # of the class that it is built on
        ("train jps --set help", "rollouts", "an integer from 1"),
    ],
)
def test_help_says_what_an_option_means(command, name, meaning):
    lines = run(*command.split()).output.splitlines()
    assert max(map(len, lines)) <= 78
    starts = [k for k, line in enumerate(lines) if not line.startswith(" ")] + [len(lines)]
    told = [" ".join(" ".join(lines[a:b]).split()) for a, b in pairwise(starts)]
    assert any(text.startswith(name) and meaning in text for text in told)


class Brave:
    """Bids on.

    Args:
        level: how high.
    """

    name = "brave"

    def __init__(self, level: int = 3):
        self.level = level

    def act(self, views, legal, rng):
        return legal.argmax(1)


def first(observation, mask):
    return int(mask.argmax())


def test_list_of_one_says_what_it_is():
    assert run("list", "bmcs").output.splitlines()[0].startswith("bmcs: Plays as ppo and searches")
    assert "IMPs a board, mean against expert-polish, expert-acol: +" in run("list", "rpi").output
    assert run("list", "minibridge").output.splitlines()[:2] == [
        "minibridge_v0: 2-suit MiniBridge (JPS, Definition 3)",
        "Gymnasium id: bidzoo/MiniBridge-v0",
    ]
    assert run("list", "exact").output.splitlines()[-1] == "no options"
    assert run("list", "searcher=bmcs(policy=rl)").output == run("list", "bmcs").output
    assert run("list", f"{__name__}:Brave").output.splitlines()[0].endswith(":Brave: Bids on.")
    assert run("list", f"{__name__}:Brave").output.splitlines()[-1] == "level=3  how high (an integer)"
    assert run("list", f"{__name__}:first").output.splitlines()[-1] == "no options"
    for words, problem in (("bmsc", "unknown name 'bmsc'; did you mean 'bmcs'?"), ("rl --json", "expected without")):
        with pytest.raises((KeyError, ValueError), match=problem):
            run("list", *words.split())


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of its own")
@pytest.mark.parametrize(
    ("streams", "status", "out", "error"),
    [
        ("2>&-", 0, "sayc against pass: ", ""),  # as under a daemon
        (">&-", 0, "", ""),
        ("<&- >&- 2>&-", 0, "", ""),
        ("> /dev/full", 2, "", "bidzoo: standard output: cannot be written: no space left on device\n"),
    ],
)
def test_standard_streams_may_be_closed_or_full(tmp_path, streams, status, out, error):
    command = f'"{sys.executable}" -m bidzoo match sayc pass --boards 3 --json here.json {streams}'
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == status and out in done.stdout and done.stderr.startswith(error), done
    assert bool(error) or results.load(tmp_path / "here.json")["tables"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are text")
def test_names_of_files_may_hold_bytes_that_are_no_text(tmp_path, monkeypatch):
    """What is written of them can be read again."""
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    monkeypatch.chdir(folder)
    boards, deals = (os.fsdecode(b"cl\xe9b" + ending) for ending in (b".pbn", b".npz"))
    small = ("--set", "iterations=1", "--set", "boards=16", "--boards", "4", "--threads", "1")
    for command in (
        ("match", "sayc", "pass", "--boards", "4", "--out", boards),
        ("deals", "import", boards, "--out", deals, "--json", os.fsdecode(b"left\xe9.json")),
        ("deals", "info", deals),
        ("match", "sayc", "pass", "--deals", boards, "--json", os.fsdecode(b"m\xe9.json")),
        ("bench", "bridge", "--agents", "sayc,pass", "--boards", "4", "--json", f"{folder}/bench.json"),
        ("train", "ppo", "--deals", deals, "--out", os.fsdecode(b"p\xe9"), *small),
        ("train", "ppo", "--start", f"{os.fsdecode(b'p')}\udce9/network.safetensors", "--out", "again", *small),
        ("train", "ppo", "--start", f"{os.fsdecode(b'p')}\udce9/network.safetensors", "--out", "again", *small),
        ("match", "again/network.safetensors", "pass", "--boards", "4"),
    ):
        monkeypatch.setattr(sys, "argv", ["bidzoo", *command])
        assert run(*command).exit_code == 0, command
    assert results.load(folder / os.fsdecode(b"m\xe9.json"))["command"].startswith("bidzoo match sayc pass")
