"""A game, an encoder and agents from outside bidzoo: announced by a package, registered, or named by their place."""

import json
import os
import pickle
import re
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pettingzoo
import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents, registry
from bidzoo.agents.policy import FunctionPolicy
from bidzoo.benchmarks import match, records
from bidzoo.cli import bluechip, main
from bidzoo.cli import play as play_command
from bidzoo.cli.match import _bridge_agent
from bidzoo.play import api, catalog
from bidzoo.play.session import Session
from bidzoo.wrappers.gymnasium import SingleAgent, seat_policies


def run(*words):
    return CliRunner().invoke(main.app, words, env={"COLUMNS": "160", "NO_COLOR": "1"}, catch_exceptions=False)


# ---- the package in examples/ ----------------------------------------------------------------


def apart(*words, folder):
    """Status, output and errors of ``python words`` in ``folder``, a new process with this one's path."""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_its_own_tests(example, tmp_path):
    words = ["-q", "-p", "no:cacheprovider", "--rootdir", str(example), str(example / "tests")]
    status, said, _ = apart("-m", "pytest", *words, folder=tmp_path)
    assert status == 0, said


def test_it_is_listed(example):
    text = run("list").output
    for name in ("hint_v0", "opener", "longest"):
        entry = text[text.index(f"\n{name} ") :]
        assert "(bidzoo-hint 1.0)" in " ".join(entry.split())[:150]
    assert "One word of three tells a number of many." in text and "Opens with twelve points" in text


def test_nothing_of_it_is_imported_before_it_is_used(example):
    assert {"hint_v0"} < set(bidzoo.available()) and {"opener", "longest"} < set(agents.available())
    with pytest.raises(KeyError, match=r"unknown agent 'oponer'; did you mean 'opener'\? .*; or give package\."):
        agents.make("oponer")
    assert not [name for name in sys.modules if name.split(".")[0] == "bidzoo_hint"]


def test_its_game_has_every_face(example, tmp_path):
    env = bidzoo.make("hint", size=4)
    env.reset(seed=2)
    env.step(0)
    twin = pickle.loads(pickle.dumps(env))
    twin.step(1)
    env.step(1)
    assert env.rewards == twin.rewards and type(twin) is type(env)
    learner = gymnasium.make("bidzoo/Hint-v0", size=4, partner="exact", learner="player_1")
    _, info = learner.reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    if hasattr(pettingzoo, "make"):
        assert str(pettingzoo.make("aec", "bidzoo/hint-v0")) == "hint_v0"
    out = tmp_path / "hint.jsonl"
    text = run("match", "exact", "random", "--env", "hint", "--boards", "60", "--out", str(out)).output
    assert "hint_v0(size=6)" in text
    played = records.read(out)
    assert len(played) == 240 and {record["env"] for record in played} == {"hint_v0"}
    assert all(records.replay(record)["length"][0] == 2 for record in played)
    offer = next(one for one in catalog.menu() if one["id"] == "hint_v0")
    assert {"exact", "cfr", "random"} <= {one["name"] for one in offer["agents"]} and "opener" not in str(
        offer["agents"]
    )
    session = Session()
    session.start("hint_v0", {}, ["human", "jps"])
    session.act(1, 0)
    session.agent_turn(1)
    assert api.page(session)["over"]


def test_openspiel_plays_it(example):
    pyspiel = pytest.importorskip("pyspiel")
    from bidzoo.wrappers import openspiel

    registry.watch(openspiel._register_or_warn)  # it may have been imported before the package was there
    game = pyspiel.load_game(f"{openspiel.NAMES['hint_v0']}(size=4)")
    assert game.num_distinct_actions() == 4 and game.max_utility() == 3
    state = game.new_initial_state()
    for action in (2, 0, 2):
        state.apply_action(action)
    assert state.is_terminal() and state.returns() == [3, 3]


def test_the_tabular_agents_solve_it(example):
    game, boards = bidzoo.make_game("hint", size=4), np.arange(400)
    means = {name: match.play(game, [name] * 2, boards).reward.mean() for name in ("random", "cfr", "exact")}
    assert means["random"] + 0.3 < means["cfr"] <= means["exact"] + 1e-6


# ---- packages that have slips -----------------------------------------------------------------

OTHER = '''
from bidzoo_hint.game import Hint

class Same(Hint):
    """Has the id of Hint."""

def needs(size):
    return Hint(size)
'''


@pytest.fixture
def slips(example, tmp_path, monkeypatch):
    """A second package, installed beside the example, with entry points that lead nowhere or are taken."""
    folder = tmp_path / "slips"
    about = folder / "slips-2.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slips\nVersion: 2.0\n")
    (about / "entry_points.txt").write_text(
        "[bidzoo.games]\ngone_v0 = slips:Gone\nbroken_v0 = slips_broken:Game\nneeds_v0 = slips:needs\n"
        "other_v0 = slips:Same\nspades_v0 = slips:Same\nhint_v0 = slips:Same\nquits_v0 = slips_quits:Game\n"
        "[bidzoo.agents]\nopener = slips:Same\nleaver = slips_quits:Agent\n"
    )
    (folder / "slips.py").write_text(OTHER)
    (folder / "slips_broken.py").write_text("def Game(:\n")
    (folder / "slips_quits.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    monkeypatch.setattr(registry, "_listeners", {})  # PettingZoo and the others keep what they are told
    yield
    sys.modules.pop("slips", None)


@pytest.mark.filterwarnings("ignore:slips 2.0 announces")
def test_a_package_that_cannot_be_loaded_stands_in_nobodys_way(slips):
    text = " ".join(run("list").output.split())
    for words in (
        "game 'gone_v0' of slips 2.0",
        "game 'broken_v0' of slips 2.0",
        "game 'quits_v0' of slips 2.0",
        "cannot be loaded: SystemExit: 0",
        "leaver",
        "minibridge_v0",
    ):
        assert words in text
    with pytest.warns(UserWarning, match="of slips 2.0") as said:
        assert {"hint_v0", "minibridge_v0"} <= {one["id"] for one in catalog.menu()}
    assert {"game 'gone_v0' of slips 2.0", "game 'broken_v0' of slips 2.0"} <= {
        str(one.message).partition(":")[0] for one in said
    }
    assert "needs_v0 of slips 2.0: option 'size' has no default" in {str(one.message) for one in said}
    with pytest.raises(ValueError, match=r"'broken_v0' of slips 2.0: slips_broken cannot be loaded: SyntaxError"):
        bidzoo.make("broken_v0")


def test_of_two_packages_with_one_name_the_first_has_it(slips):
    with pytest.warns(UserWarning) as said:
        assert registry.entries()["hint_v0"].source == agents.entries()["opener"].source == "bidzoo-hint 1.0"
    for words in (
        "slips 2.0 announces game 'hint_v0', which bidzoo-hint 1.0 has",
        "slips 2.0 announces game 'spades_v0', which bidzoo has",
        "slips 2.0 announces agent 'opener', which bidzoo-hint 1.0 has: use slips:Same",
    ):
        assert any(words in str(one.message) for one in said)


@pytest.mark.filterwarnings("ignore:slips 2.0 announces")
@pytest.mark.parametrize("make", [bidzoo.make, bidzoo.make_game, bidzoo.check_game])
def test_a_game_has_the_id_it_is_known_by(slips, make):
    """Matches look it up by that id."""
    with pytest.raises(ValueError, match="game 'other_v0': its rules have the id 'hint_v0', expected the same"):
        make("other_v0")


def test_a_game_registers_by_its_id(example, monkeypatch):
    from bidzoo_hint.game import Hint

    monkeypatch.setattr(registry, "_listeners", {})
    with pytest.raises(ValueError, match="game 'other_v0': its rules have the id 'hint_v0'"):
        bidzoo.register_game(Hint, env_id="other_v0")
    bidzoo.register_game(lambda: Hint(size=3), env_id="other_v0")
    with pytest.raises(ValueError, match="game 'other_v0': its rules have the id 'hint_v0'"):
        bidzoo.make("other_v0")


# ---- by place, by file, as a function -----------------------------------------------------------

MINE = '''
class Agent:
    """Bids whatever is cheapest."""

    name = "mine"
    games = ("bridge_bidding_v0",)

    def __init__(self, step=1):
        self.step = step

    def act(self, views, legal, rng):
        return legal.argmax(1)


ready = Agent()
number = 3


class Nameless:
    pass


class Text(Agent):
    games = "bridge_bidding"


class Loaded(Agent):
    def __init__(self, path, step=1):
        self.path = path


class Whole:
    name = "whole"

    def act(self, views, legal, rng):
        return legal.argmax(1)


def first(observation, mask):
    assert observation.ndim == mask.ndim == 1
    return mask.argmax()


def half(observation, mask):
    return 0.5
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of one's own in the working folder."""
    (tmp_path / "mine_too.py").write_text(MINE)
    (tmp_path / "needs.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mine_too", None)


def test_the_working_folder_is_only_for_what_is_named(tmp_path):
    """Libraries look for optional packages, which whoever else writes in the folder could put there."""
    optional = [tmp_path / f"{name}.py" for name in ("coverage", "cython", "colorama", "cffi")]
    for path in optional:
        path.write_text("open('run', 'w')\n")

    def plays(agent):
        command = [sys.executable, "-P", "-m", "bidzoo", "match", agent, "pass", "--boards", "2"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return (tmp_path / "run").exists()

    assert not plays("sayc")
    for path in optional:
        path.unlink()
    (tmp_path / "helper.py").write_text("open('run', 'w')\n")
    (tmp_path / "mine_too.py").write_text(f"import helper\n{MINE}")
    assert plays("mine_too:Agent")


def test_agents_by_their_place(mine):
    assert agents.make("mine_too:Agent", step=2).step == 2
    assert agents.make("mine_too:Loaded", path="w.npz").path == "w.npz"
    assert agents.make("mine_too:ready") is sys.modules["mine_too"].ready
    named = agents.make("other=mine_too:ready")
    assert named.name == "other" and sys.modules["mine_too"].ready.name == "mine"
    assert agents.options("mine_too:Agent") == {"step": 1}
    assert agents.games_of("x=mine_too:Agent") == agents.games_of("mine_too:Text") == ("bridge_bidding_v0",)


@pytest.mark.parametrize(
    ("text", "game", "error", "words"),
    [
        ("mine_tow:Agent", None, ValueError, "no module 'mine_tow' in this folder or installed"),
        ("mine_too:Agend", None, ValueError, "mine_too.py; did you mean 'Agent'? choose from"),
        (
            "mine_too:number",
            None,
            ValueError,
            "'mine_too:number' is 3, expected a class with act(), a function or an agent",
        ),
        ("mine_too:Nameless", None, ValueError, "expected a class with act(), a function or an agent"),
        (
            "mine_too:Agent",
            "minibridge",
            ValueError,
            "'mine_too:Agent' does not play minibridge_v0; choose from random, ",
        ),
        ("mine_too:first", None, TypeError, "bidzoo.agents.resolve(function, game)"),
        ("mine_too:Loaded", None, ValueError, "'mine_too:Loaded' needs 'path'; give it a default"),
        ("mine_too.py", None, ValueError, "expected a module and a name in it, 'mine_too:Name'"),
        (
            "mine_too.py:Agent",
            None,
            ValueError,
            "'mine_too.py:Agent': expected a module and a name in it, 'mine_too:Agent'",
        ),
        ("bots/mine_too.py:Agent", None, ValueError, "a name in it, 'bots.mine_too:Agent'"),
        ("../mine_too.py:Agent", None, ValueError, "a name in it, 'mine_too:Agent'"),
        ("needs:Agent", None, ImportError, "nowhere_to_be_found"),
        ("a/b.safetensors", None, FileNotFoundError, "a/b.safetensors: no such file of weights"),
        (lambda: 3, "minibridge", TypeError, "not a policy"),
        (FunctionPolicy, None, TypeError, "make one: FunctionPolicy()"),
    ],
)
def test_what_is_no_agent(mine, text, game, error, words):
    with pytest.raises(error) as caught:
        agents.resolve(text, game)
    assert words in str(caught.value)


def test_options_of_an_agent_from_outside(mine):
    with pytest.raises(TypeError, match=r"no option 'stop'; did you mean 'step'\? choose from step"):
        agents.make("mine_too:Agent", stop=2)
    with pytest.raises(TypeError, match="it is there already"):
        agents.make("mine_too:ready", step=2)


def test_a_function_is_a_policy(mine):
    game = bidzoo.make_game("minibridge", size=3)
    seen = []

    def lowest(observation, mask):
        seen.append(observation)
        return int(mask.argmax())

    played = match.play(game, [lowest, lowest], np.arange(5))
    assert played.reward.shape == (5, 2) and {one.shape for one in seen} == {(game.encoder.layout.size,)}
    assert len({id(policy) for policy in match.seated(game, [lowest, lowest])}) == 1
    bridge = bidzoo.make_game("bridge_bidding", deals="test")
    assert match.duplicate(bridge, "mine_too:first", "pass", np.arange(5)).imps.tolist() == [0] * 5
    assert seat_policies(game, "player_1", lowest)[0].name == "lowest"
    with pytest.raises(ValueError, match=r"half: gave 0.5, expected the number of an action"):
        match.play(game, ["mine_too:half"] * 2, np.arange(2))
    again = match.play(game, [lambda observation, mask: np.array(mask.argmax()), lowest], np.arange(5))  # as of torch
    assert again.reward.tolist() == played.reward.tolist()
    for wrong in (True, np.bool_(True), np.array([1]), None):
        with pytest.raises(ValueError, match="expected the number of an action"):
            match.play(game, [lambda observation, mask, wrong=wrong: wrong, lowest], np.arange(2))


def test_every_command_takes_them(mine):
    assert run("match", "mine_too:Agent", "pass", "--boards", "4").output.startswith("mine against pass: +0 IMPs")
    assert run("match", "me=mine_too:first", "pass", "--boards", "4").output.startswith("me against pass")
    assert "\nfirst" in run("match", "mine_too:first", "random", "--env", "mini_hanabi", "--boards", "4").output
    text = run("bench", "bridge", "--agents", "mine_too:Agent,pass", "--boards", "4", "--json", "b.json").output
    assert "\nmine " in text
    assert json.loads((mine / "b.json").read_text())["tables"]
    assert bluechip._policy("me=mine_too:Agent", "random").name == "me"
    env = gymnasium.make(
        "bidzoo/BridgeBidding-v0", learner="East", opponents="mine_too:first", partner="mine_too:Agent"
    )
    assert env.reset(seed=1)[1]["action_mask"].any()
    run("train", "record", "3", "--policy", "mine_too:Agent", "--out", "a.npz")
    assert (mine / "a.npz").exists()


def test_the_page_takes_what_the_command_line_named(mine):
    with pytest.raises(ValueError, match="does not play"):
        Session().start("bridge_bidding_v0", {}, ["mine_too:Agent", "pass", "pass", "pass"])
    assert agents.admit("me=mine_too:Agent") == "me" and agents.admit("mine_too:Agent") == "mine_too:Agent"
    for text in ("human=mine_too:first", "openai:m"):
        with pytest.raises(ValueError, match=r"is you, expected another name|language models play in match"):
            play_command._seated(text)
    for text in ("sayc=rpi", "me=sayc", "me=mine_too:first"):
        with pytest.raises(ValueError, match="is there already, and means another one"):
            agents.admit(text)
    searcher = agents.admit("bmcs(policy=rl)")
    assert searcher == "bmcs(policy=rl)" and searcher not in catalog.agents_for("comm_v0")
    session = Session()
    session.start("bridge_bidding_v0", {}, ["mine_too:Agent", "pass", "me", "pass"])
    while not session.position().over:
        session.agent_turn(session.cursor)
    assert api.page(session)["table"]["contract"] == "passed out"
    for name in ("mine_too:first", "mine_too:Whole"):  # which say no games: they play their cards themselves
        session.start("bridge_v0", {}, [agents.admit(name)] * 4)
        position = session.position()
        while not position.over:
            legal = position.out.mask[0]
            session.agent_turn(session.cursor)
            assert session.actions[-1] == legal.argmax()
            position = session.position()
        assert isinstance(
            _bridge_agent(bidzoo.make_game("bridge_v0"), name), FunctionPolicy | sys.modules["mine_too"].Whole
        )
    assert "mine_too:Agent" in catalog.agents_for("bridge_v0") and "mine_too:Agent" not in catalog.agents_for("comm_v0")


def test_register(mine):
    agents.register("cheap", "mine_too:Agent", "in a line")
    assert agents.entries()["cheap"].games == ("bridge_bidding_v0",) and "cheap" in agents.available()
    assert agents.make("cheap").name == "mine"
    with pytest.raises(ValueError, match="'sayc' is there already"):
        agents.register("sayc", "mine_too:Agent")


# ---- files of weights -------------------------------------------------------------------------


def test_the_kind_of_weights_is_found(tmp_path):
    game = bidzoo.make_game("mini_hanabi")
    table = agents.make("exact").policy(game)
    table.save(tmp_path / "code.safetensors")
    found = agents.resolve(str(tmp_path / "code.safetensors"), game)
    assert found.name == "code" and (found.strategy == table.strategy).all()
    with pytest.raises(ValueError, match="does not play comm_v0"):
        agents.resolve(str(tmp_path / "code.safetensors"), "comm")
    data = registry.import_module("bidzoo.envs.bridge.deals").DATA
    small = agents.resolve(f"small={data / 'bridge' / 'sl-small.safetensors'}", "bridge_bidding")
    assert small.name == "small" and small.network.architecture.kind == "jps"
    learned = agents.resolve(str(data / "spades" / "learned.safetensors"), "spades")
    assert (learned.lookup["w1"] == agents.make("learned").lookup["w1"]).all()
    for name, words in (("belief", "a network of 156 outputs"), ("evaluator", "weights of another kind")):
        with pytest.raises(ValueError, match=words):
            agents.make(str(data / "bridge" / f"{name}.safetensors"))
    (tmp_path / "no.safetensors").write_bytes(b"no")
    with pytest.raises(ValueError, match="not a safetensors file"):
        agents.make(str(tmp_path / "no.safetensors"))


# ---- games registered by hand -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "options", "words"),
    [
        (dict, {}, "game id None: expected lower-case letters and a version"),
        (dict, {"env_id": "Mine-v0"}, "game id 'Mine-v0'"),
        (dict, {"env_id": "spades_v0"}, "game 'spades_v0' is there already, from bidzoo"),
    ],
)
def test_what_is_no_game(rules, options, words):
    with pytest.raises(ValueError) as caught:
        bidzoo.register_game(rules, **options)
    assert words in str(caught.value)


def test_a_class_that_leaves_something_out():
    from bidzoo.envs.game import Game

    class Half(Game):
        id = "half_v0"

    with pytest.raises(ValueError, match="'half_v0': Half leaves out action_number, action_text, begin"):
        bidzoo.register_game(Half)


# ---- seats ------------------------------------------------------------------------------------


def test_seats_by_name():
    game = bidzoo.make_game("bridge_bidding", deals="test")
    assert [game.player_at(place) for place in ("South", "s", "player_2", 2)] == [2] * 4
    assert SingleAgent(game, ["pass", "pass", None, "pass"], "South").learner == 2
    policies = seat_policies(game, "W", {"North": "pass", "player_1": "sayc", 2: "random"})
    assert [policy and policy.name for policy in policies] == ["pass", "sayc", "random", None]
    with pytest.raises(
        ValueError, match=r"'South' is no player of comm_v0; expected 0 \.\.\. 1, player_0 \.\.\. player_1$"
    ):
        bidzoo.make_game("comm").player_at("South")


# ---- errors of other people's code --------------------------------------------------------------

FAULTS = '''
import sys
import numpy as np

class Wrong:
    """Adds what cannot be added."""

    name = "wrong"

    def act(self, views, legal, rng):
        return self.added(legal)

    def added(self, legal):
        return np.ones((1, 38)) + np.ones(37)

class Reads(Wrong):
    name = "reads"

    def added(self, legal):
        return open("nowhere.npz")

class Leaves(Wrong):
    name = "leaves"

    def added(self, legal):
        sys.exit(0)

class Later(Wrong):
    """Is not asked for a single table."""

    name = "later"

    def added(self, legal):
        return legal.argmax(1) if len(legal) == 1 else super().added(legal)

class Nameless(Wrong):
    name = None

def made():
    raise KeyError("a key")

def function(observation, mask):
    raise ValueError("of a function")
'''


@pytest.fixture
def faults(mine):
    (mine / "faults.py").write_text(FAULTS)
    (mine / "bad_module.py").write_text("x = 1\nint('seven')\n")
    yield mine
    for name in ("faults", "bad_module"):
        sys.modules.pop(name, None)


PROGRESS = re.compile(r".*\b\d+ s")  # a busy machine takes more than eight seconds, and the command says so


@pytest.fixture
def said_by(monkeypatch, capsys):
    """``said_by(*words)``: exit status and lines of standard error of the command."""

    def said(*words):
        monkeypatch.setattr(sys, "argv", ["bidzoo", *words])
        monkeypatch.setattr("warnings.showwarning", warnings.showwarning)  # the command has its own
        with pytest.raises(SystemExit) as ended:
            main.main()
        return ended.value.code, without_progress(capsys.readouterr().err)

    return said


def without_progress(error):
    return [line for line in error.splitlines() if not PROGRESS.fullmatch(line)]


@pytest.mark.parametrize(
    ("words", "first", "place", "last"),
    [
        (["faults:Wrong", "pass"], "agent 'wrong', board 0, turn 0", "in act", "broadcast together"),
        (["pass", "faults:Reads"], "agent 'reads', board 0, turn 0", "in act", "FileNotFoundError"),
        (["faults:function", "pass"], "agent 'function', board 0, turn 0", "in function", "of a function"),
        (["faults:made", "pass"], "agent 'faults:made'", "in made", "KeyError: 'a key'"),
        (["bad_module:X", "pass"], "agent 'bad_module:X': bad_module cannot", "line 2", "literal for int()"),
    ],
)
def test_an_agent_keeps_its_traceback(faults, said_by, words, first, place, last):
    """From its first frame on. It is headed by agent, boards and turn."""
    has_kept(*said_by("match", *words, "--boards", "130"), first, place, last)


def has_kept(status, lines, first, place, last):
    """One that failed in a file of the working folder says so from its first frame on."""
    assert status == 1
    assert lines[0].startswith(f"bidzoo: {first}") and lines[1] == "Traceback (most recent call last):"
    assert place in lines[2] and ("faults.py" in lines[2] or "bad_module.py" in lines[2])
    assert last in "".join(lines[3:]) and not any("/bidzoo/" in line for line in lines)


def test_options_that_a_constructor_refuses_are_one_line(mine, said_by):
    """Of an agent and of a game; the same ValueError without options is a slip of the code, with its traceback."""
    (mine / "refusing.py").write_text(REFUSING)
    status, lines = said_by("match", "refusing:Agent(step=9)", "pass", "--boards", "2")
    assert (status, lines) == (2, ["bidzoo: agent 'refusing:Agent' with step=9: step: 9, expected at most 3"])
    import refusing

    bidzoo.register_game(refusing.Small)
    status, lines = said_by("match", "random", "random", "--env", "small_v0", "--set", "size=9", "--boards", "2")
    assert (status, lines) == (2, ["bidzoo: game 'small_v0' with size=9: size: 9, expected at most 3"])
    status, lines = said_by("match", "refusing:Broken", "pass", "--boards", "2")
    assert status == 1 and lines[1] == "Traceback (most recent call last):"


REFUSING = '''
class Agent:
    name = "refusing"

    def __init__(self, step=1):
        if step > 3:
            raise ValueError(f"step: {step}, expected at most 3")

    def act(self, views, legal, rng):
        return legal.argmax(1)


class Broken(Agent):
    def __init__(self):
        int("seven")


class Small:
    """A game with an option."""

    id, num_players, max_turns, reward_range, features = "small_v0", 2, 1, (-1, 1), {"seen": 1}
    actions = ("go", "stay")
    player = 0

    def __init__(self, size: int = 2):
        if size > 3:
            raise ValueError(f"size: {size}, expected at most 3")

    def deal(self, rng):
        self.player = 0

    def legal(self):
        return range(2)

    def act(self, action):
        self.player = None

    def reward(self):
        return [0, 0]

    def view(self, player):
        return {"seen": 0}
'''


def test_workers_find_an_agent_of_the_working_folder(faults):
    """One that plays; then one that fails, which keeps its traceback there, too."""
    match_of = ["-m", "bidzoo", "match", "--boards", "130", "--workers", "2"]
    status, said, error = apart(*match_of, "mine_too:Agent", "random", folder=faults)
    assert status == 0 and said.startswith("mine against random"), error
    status, _, error = apart(*match_of, "faults:Later", "pass", folder=faults)
    has_kept(status, without_progress(error), "agent 'later', boards ", "in act", "broadcast together")


def test_who_leaves_in_the_middle_fails(faults, said_by):
    words = ["-m", "bidzoo", "match", "faults:Leaves", "pass", "--boards", "30"]
    status, _, error = apart(*words, folder=faults)
    lines = without_progress(error)
    assert status == 1 and lines[0] == "bidzoo: agent 'leaves', board 0, turn 0: SystemExit: 0"
    assert any("faults.py" in line for line in lines)
    for words in (["sys:exit", "pass"], ["pass", "os:abort"]):
        status, lines = said_by("match", *words)
        assert (status, len(lines)) == (2, 1) and "expected a class with act(), a function or an agent" in lines[0]


def test_a_note_says_who_was_asked(faults):
    game = bidzoo.make_game("bridge_bidding", deals="test")
    with pytest.raises(ValueError, match="broadcast") as caught:
        match.play(game, ["pass", "pass", "faults:Wrong", "pass"], [7])
    assert caught.value.__notes__[0].startswith("agent 'wrong', board 7, turn ")


def test_an_agent_has_a_name(faults):
    with pytest.raises(ValueError, match="its name is None, expected a text"):
        agents.resolve("faults:Nameless")
    with pytest.raises(ValueError, match="its name is None, expected a text"):
        agents.resolve(sys.modules["faults"].Nameless())


def test_act_takes_random_numbers(monkeypatch, tmp_path):
    source = "class Two:\n    name = 'two'\n    def act(self, views, legal):\n        return legal.argmax(1)\n"
    (tmp_path / "two.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    expected = r"agent two:Two: its method is act\(views, legal\), expected act\(views, legal, rng\)"
    with pytest.raises(ValueError, match=expected):
        agents.resolve("two:Two", "bridge_bidding")
    with pytest.raises(ValueError, match=expected.replace("two:Two", ".*")):
        agents.resolve(sys.modules["two"].Two())


@pytest.mark.parametrize("name", [None, 3, ["sl"]])
def test_a_name_is_a_text(name):
    with pytest.raises(TypeError, match="expected a text"):
        agents.make(name)


def test_an_option_may_be_called_name():
    assert agents.make("sl", name="mine").name == "mine"


# ---- families of games ------------------------------------------------------------------------


def test_a_bridge_game_from_outside_is_for_agents_of_bridge():
    """Not for those of small games: a game says which family it is of, whatever attributes it has."""
    from bidzoo.envs.bridge.game import Bridge

    class Quiet(Bridge):
        id = "quiet_v0"

        def __init__(self, observation: str | None = None):
            super().__init__(play=False, competition=False, observation=observation)

    bidzoo.register_game(Quiet)
    game = bidzoo.make_game("quiet_v0")
    assert (game.id, game.family) == ("quiet_v0", "bridge_bidding")
    assert match.play(game, ["sayc", "random", "sayc", "random"], range(3)).reward.shape == (3, 4)
    for asked in ("quiet_v0", game):
        with pytest.raises(ValueError, match="agent 'cfr' does not play quiet_v0; choose from random, pass, sayc"):
            agents.resolve("cfr", asked)


def test_an_id_of_a_small_game_is_of_one_class():
    from bidzoo.envs.signalling.minibridge import Minibridge

    with pytest.raises(ValueError, match=r"game 'minibridge_v0' is .*minibridge:Minibridge already; choose another id"):

        class Minibridge2(Minibridge):
            id = "minibridge_v0"
