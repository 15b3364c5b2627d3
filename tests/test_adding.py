"""What CONTRIBUTING says of adding a game, an option, an agent and an encoder, done in a copy of the package.

What was added is played there. The copy has the pages and the tests of names too: they must name every step that was
left out, and pass after the last.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bidzoo
from bidzoo.envs.bridge.observation import ENCODERS as BRIDGE
from bidzoo.envs.game import Table
from bidzoo.registry import GAMES, family_of, make_game

PACKAGE = Path(bidzoo.__file__).parent
ROOT = Path(__file__).parents[1]
BESIDE = (  # of what is beside the package
    "docs/pages.py docs/papers.py docs/agents docs/observations docs/results docs/environments/index.md"
    " experiments/agents_table.py tests/test_names.py tests/test_architecture.py examples/bidzoo-hint/pyproject.toml"
)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, with ``BESIDE``; kernels that are compiled already come along."""
    target = tmp_path / "bidzoo"
    shutil.copytree(PACKAGE, target, copy_function=os.link, ignore=shutil.ignore_patterns("*.pyc"))
    for name in BESIDE.split():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, path)
    return target


def edit(path, *changes):
    """Make each change ``(old, new)``; in a new file, since the copy shares its files with the package."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, f"{path.name} has no {old!r}"
        text = text.replace(old, new, 1)
    path.unlink()
    path.write_text(text, encoding="utf-8")


def start(copy, *words):
    """Run Python with these words in a new process that has the copy on its path."""
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
    return subprocess.run([sys.executable, *words], cwd=copy.parent, env=environment, capture_output=True, text=True)


def run(copy, script):
    """What ``script`` prints in such a process."""
    done = start(copy, "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def failures(copy):
    """What the tests of names and of file names print where they fail in the copy; an empty text if they pass."""
    files = ("tests/test_names.py", "tests/test_architecture.py")
    tests = "literals or help_names_games or every_option or example_are_free or shadows or one_way or has_its_place"
    done = start(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", tests)
    return done.stdout if done.returncode else ""


def pages(copy, script):
    """What ``script`` prints with ``docs/pages.py`` of the copy imported."""
    return run(copy, f"import sys; sys.path.insert(0, 'docs'); import pages\n{script}")


def lacking(copy):
    """What these pages lack, a sentence a line."""
    return pages(copy, "for sentence in pages.lacking(): print(sentence)").splitlines()


def test_adding_a_game(copy):
    """A copy of the model that CONTRIBUTING names: every form and every agent of the family plays it."""
    folder = copy / "envs"
    text = (folder / "signalling" / "minibridge.py").read_text(encoding="utf-8")
    (folder / "signalling" / "whist.py").write_text(text.replace("minibridge_v0", "whist_v0"), encoding="utf-8")
    text = (folder / "minibridge_v0.py").read_text(encoding="utf-8")
    (folder / "whist_v0.py").write_text(text.replace("minibridge", "whist"), encoding="utf-8")
    line = '    "whist_v0": _own("signalling.whist", "signalling", "Whist-v0", "Whist", "2-suit MiniBridge again"),\n'
    edit(
        copy / "registry.py",
        ('    "spades_v0": _own(\n', f'{line}    "spades_v0": _own(\n'),
    )
    assert "bidzoo/registry.py: GameId lists every game" in (told := failures(copy)) and "needs a row" in told
    edit(
        copy / "registry.py",
        ('    "spades_v0",\n]', '    "whist_v0",\n    "spades_v0",\n]'),
        ("    spades_v0           phase", "    whist_v0            size, observation\n    spades_v0           phase"),
    )
    assert failures(copy) == ""
    index = copy.parent / "docs" / "environments" / "index.md"
    before, refused = index.read_text(), start(copy, "docs/pages.py")
    assert refused.returncode == 1 and refused.stderr.startswith("Nothing was written:") and index.read_text() == before
    text, scene = lacking(copy)
    assert text.startswith("bidzoo/data/games/whist_v0.txt lacks '## The reward of one deal'")
    assert scene == "docs/pages.py lacks the Scene of 'whist_v0' in SCENES, which its picture shows"
    (copy / "data" / "games" / "whist_v0.txt").write_text("## The reward of one deal\n\nThat of MiniBridge.\n")
    edit(copy.parent / "docs" / "pages.py", ("SCENES = {\n", 'SCENES = {\n    "whist_v0": Scene(1, "exact"),\n'))
    assert lacking(copy) == []
    made = pages(copy, "print(pages.environment('whist_v0'), pages.picture('whist_v0').shape)")
    assert "That of MiniBridge." in made and made.endswith(", 3)\n")
    said = run(
        copy,
        """
import gymnasium, numpy as np, bidzoo
from bidzoo.benchmarks.match import play
from bidzoo.envs import whist_v0
print(bidzoo.make("whist", size=2), whist_v0.env(size=2), gymnasium.make("bidzoo/Whist-v0", size=2).unwrapped.game)
game, model = (bidzoo.make_game(name, size=2) for name in ("whist_v0", "minibridge_v0"))
for agent in ("random", "cfr", "exact"):
    print(agent, *(round(play(each, [agent] * 2, np.arange(300)).reward.mean(), 3) for each in (game, model)))
bidzoo.check_game("whist_v0")
""",
    )
    forms, *means = said.splitlines()
    assert forms.split() == ["whist_v0", "whist_v0", "whist_v0(size=2)"]
    assert all(mean.split()[1] == mean.split()[2] for mean in means)
    value = {mean.split()[0]: float(mean.split()[1]) for mean in means}
    assert value["random"] < value["cfr"] <= value["exact"]


def test_adding_an_option(copy):
    """Its words; rules would be compiled for minutes."""
    edit(copy / "envs" / "spades" / "game.py", ("    reward: Literal", "    reserve: int = 7\n    reward: Literal"))
    told = failures(copy)
    assert "data/games/spades_v0.options.txt: its table of options needs a row for each of {'reserve'}" in told
    assert "bidzoo/registry.py: in the docstring of make the row of spades_v0 has" in told
    row = "| `reserve` | 6 | tricks in reserve |"
    edit(copy / "data" / "games" / "spades_v0.options.txt", ("| `reward` |", f"{row}\n| `reward` |"))
    edit(copy / "registry.py", ("blind_deficit, reward,", "blind_deficit, reserve, reward,"))
    assert "the values of reserve begin with 6, expected the default 7" in failures(copy)
    edit(copy / "data" / "games" / "spades_v0.options.txt", (row, row.replace("6", "7")))
    assert failures(copy) == ""
    assert "\nreserve=7            tricks in reserve\n" in start(copy, "-m", "bidzoo", "list", "spades").stdout


def test_adding_an_agent(copy):
    (copy / "agents" / "lowest.py").write_text('''"""The lowest legal action."""


class Lowest:
    """Takes the lowest legal action."""

    name = "lowest"

    def act(self, views, legal, rng):
        """Actions ``[B]``."""
        return legal.argmax(1)
''')
    names = (copy / "data" / "agents.csv").read_text(encoding="utf-8")
    edit(copy / "data" / "agents.csv", (names, f"{names}lowest,all,lowest:Lowest,yardsticks,,,Lowest legal action.\n"))
    assert (
        "bidzoo/agents/__init__.py: AgentName lists every agent" in (told := failures(copy)) and "needs a row" in told
    )
    edit(
        copy / "agents" / "__init__.py",
        ("_Bridge, _Spades, _Small]", '_Bridge, _Spades, _Small, "lowest"]'),
        ("exact             none", "exact, lowest     none"),
    )
    assert failures(copy) == ""
    assert [sentence.partition(" lacks ")[0] for sentence in lacking(copy)] == [
        "docs/agents/lowest.md",
        "docs/agents/index.md",
        "bidzoo/data/agents.json",
    ]
    folder = copy.parent / "docs" / "agents"
    (folder / "lowest.md").write_text("# Lowest\n")
    edit(folder / "index.md", ("\nexact\n", "\nexact\nlowest\n"))
    (sentence,) = lacking(copy)
    measured = start(copy, *sentence.partition(": python ")[2].split())
    assert measured.returncode == 0 and lacking(copy) == [], measured.stderr
    said = run(
        copy,
        """
import numpy as np, bidzoo
from bidzoo.benchmarks.match import play
for name in bidzoo.available():
    game = bidzoo.make_game(name)
    play(game, ["lowest", *["random"] * (game.num_players - 1)], np.arange(3))
print(len(bidzoo.agents.AGENTS["lowest"].games), bidzoo.agents.make("lowest").name)
""",
    )
    assert said == f"{len(GAMES)} lowest\n"


def test_adding_an_encoder(copy):
    """Of the hand alone: a layout, a code with its branch, a row of ``ENCODERS``."""
    edit(
        copy / "envs" / "bridge" / "features.py",
        ("OPENSPIEL480 = Layout((", 'HAND52 = Layout((_HAND,))\nOPENSPIEL480 = Layout(('),
        ("def openspiel480(", 'def hand52(vector: Any) -> str:\n    """``HAND52`` as text."""\n'
         '    return f"hand {vector.sum()} cards"\n\n\ndef openspiel480('),
    )  # fmt: skip
    codes = re.search(r"^(_OPENSPIEL480.*) = range\((\d+)\)", (copy / "envs/bridge/observation.py").read_text(), re.M)
    branch = "    elif code == _OPENSPIEL571:\n        whole571_row("
    edit(
        copy / "envs" / "bridge" / "observation.py",
        ("    OPENSPIEL480,\n", "    HAND52,\n    OPENSPIEL480,\n"),
        (codes[0], f"{codes[1]}, _HAND52 = range({int(codes[2]) + 1})"),
        (branch, f"    elif code == _HAND52:\n        cards_row(hand, 0, out)\n{branch}"),
        (
            '        ("openspiel480", OPENSPIEL480,',
            '        ("hand52", HAND52, features.hand52, _HAND52),\n        ("openspiel480", OPENSPIEL480,',
        ),
    )
    said = run(
        copy,
        """
import bidzoo
batch = bidzoo.make_vec("bridge_bidding_v0", 5, observation="hand52")
batch.reset(1)
print(batch.observation.shape, batch.observation.sum(1).tolist())
env = bidzoo.make("bridge_bidding_v0", observation="hand52")
env.reset(seed=1)
print((env.last()[0]["observation"] == batch.observation[0]).all())
""",
    )
    assert said == "(5, 52) [13, 13, 13, 13, 13]\nTrue\n"


@pytest.mark.parametrize("env_id", GAMES)
def test_every_encoder_has_its_branch(env_id):
    """One whose branch of ``encode_row`` is missing would show zeros."""
    game = make_game(env_id)
    table = Table(game)
    table.begin(1, 1)
    views = game.view_of(table.states, table.out.player)
    for name, encoder in game.encoders.items():
        assert encoder(views).any(), f"{name} shows nothing: does encode_row have its code?"
    if "bridge" in env_id:
        assert len({encoder.code for encoder in BRIDGE.values()}) == len(BRIDGE)


@pytest.mark.parametrize("env_id", GAMES)
def test_a_game_says_what_its_entry_says(env_id):
    assert make_game(env_id).family == family_of(env_id) == GAMES[env_id].family
