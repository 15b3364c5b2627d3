"""Render modes are the same in every form; what ``"human"`` shows, and what environments show of themselves."""

import os
import pickle
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.envs import comm_v0, minibridge_v0, render
from bidzoo.registry import GAMES
from bidzoo.wrappers.gymnasium import single_agent, single_agent_vector

TABLES = 3


def first(mask):
    """The first legal action, a table or many."""
    return np.asarray(mask).argmax(-1)


def test_what_a_wrapper_adds_to_the_modes_of_an_environment_is_its_own():
    """As PettingZoo's ``CaptureStdoutWrapper`` adds one."""
    for make in (bidzoo.make, single_agent, lambda name, **more: single_agent_vector(name, 2, **more)):
        env = make("comm_v0", **({} if make is bidzoo.make else {"partner": "random"}))
        changed = env.metadata["render_modes"]
        changed.append("own")
        others = [make("minibridge_v0", **({} if make is bidzoo.make else {"partner": "random"})), type(env.unwrapped)]
        others += [single_agent, bidzoo.make("comm_v0"), comm_v0.raw_env, comm_v0.raw_env.__base__]
        assert all(other.metadata["render_modes"] == [*render.MODES] for other in others)
    assert minibridge_v0.raw_env.metadata["render_modes"] is not comm_v0.raw_env.metadata["render_modes"]


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
@pytest.mark.parametrize("env_id", GAMES)
def test_a_vector_renders_what_its_tables_render(env_id, mode):
    """Table ``b`` is on board ``b``, which the single environment plays as well."""
    if mode == "rgb_array":
        pytest.importorskip("PIL")
    name = GAMES[env_id].gymnasium_id
    envs = gymnasium.make_vec(name, TABLES, render_mode=mode, opponents="random")
    _, infos = envs.reset(seed=4)
    found = [envs.render()]
    actions = first(infos["action_mask"])
    *_, ended, _, _ = envs.step(actions)
    found.append(envs.render())
    assert type(found[0]) is tuple
    for b in range(TABLES):
        env = gymnasium.make(name, render_mode=mode, opponents="random", disable_env_checker=True)
        env.reset(seed=4, options={"board": b})
        assert np.array_equal(env.render(), found[0][b])
        env.step(int(actions[b]))
        assert ended[b] or np.array_equal(env.render(), found[1][b])


FORMS = {
    "aec": lambda: bidzoo.make("comm_v0", render_mode="rgb_arry"),
    "single": lambda: single_agent("comm_v0", render_mode="rgb_arry"),
    "vector": lambda: single_agent_vector("comm_v0", 2, render_mode="rgb_arry"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_mode_is_named_everywhere(form):
    with pytest.raises(ValueError, match=r"render_mode 'rgb_arry'; did you mean 'rgb_array'\? choose from ansi, svg"):
        FORMS[form]()


# ---- "human" ---------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Pictures that do not wait for each other."""
    monkeypatch.setattr(render, "FPS", 1e9)


def watched(env_id="minibridge_v0"):
    """An environment for people, two actions into its first episode."""
    env = bidzoo.make(env_id, render_mode="human")
    env.reset(seed=1)
    for _ in range(2):
        env.step(int(first(env.infos[env.agent_selection]["action_mask"])))
    return env


class TestTerminal:
    @pytest.fixture(autouse=True)
    def no_display(self, monkeypatch):
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.delenv("DISPLAY", raising=False)

    def test_every_step_is_printed(self, capsys):
        env = watched()
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 3
        assert [line.count("P") for line in lines] == [0, 1, 2]
        assert env.render() is None
        assert capsys.readouterr().out.splitlines() == lines[-1:]

    def test_gymnasium(self, capsys):
        env = gymnasium.make("bidzoo/MiniBridge-v0", render_mode="human", disable_env_checker=True)
        env.reset(seed=1)
        env.step(0)
        assert len(capsys.readouterr().out.splitlines()) == 2

    def test_all_tables_of_a_vector(self, capsys):
        envs = gymnasium.make_vec("bidzoo/MiniBridge-v0", TABLES, render_mode="human")
        envs.reset(seed=1)
        shown = capsys.readouterr().out
        assert len(shown.split("\n\n")) == shown.count("hearts") == TABLES
        assert envs.render() is None
        assert capsys.readouterr().out == shown


class TestNotebook:
    @pytest.fixture
    def notebook(self, monkeypatch):
        """A shell with a kernel: the number of its cell, and what stands under each."""
        ipython = pytest.importorskip("IPython")
        display = pytest.importorskip("IPython.display")
        shell = SimpleNamespace(kernel=object(), execution_count=1, outputs=[])

        def show(picture, display_id):
            assert display_id
            shell.outputs.append((shell.execution_count, [picture]))
            return SimpleNamespace(update=shell.outputs[-1][1].append)

        monkeypatch.setattr(ipython, "get_ipython", lambda: shell)
        monkeypatch.setattr(display, "display", show)
        return shell

    def test_a_picture_changes_under_its_cell(self, notebook, quick, capsys):
        env = watched()
        notebook.execution_count = 2
        env.render()
        assert [(cell, len(pictures)) for cell, pictures in notebook.outputs] == [(1, 3), (2, 1)]
        last = [pictures[-1]._repr_svg_() for _, pictures in notebook.outputs]
        assert last == [env.game.svg(env._states[0])] * 2
        assert capsys.readouterr().out == ""

    def test_pictures_wait_for_each_other(self, notebook, monkeypatch):
        waited = []
        monkeypatch.setattr(render.time, "sleep", waited.append)
        watched()
        assert len(waited) == 2
        assert all(0 < seconds <= 1 / render.FPS for seconds in waited)

    def test_a_copy_has_a_place_of_its_own(self, notebook, quick):
        env = watched()
        pickle.loads(pickle.dumps(env)).render()
        assert [len(pictures) for _, pictures in notebook.outputs] == [3, 1]


class TestWindow:
    @pytest.fixture
    def seen(self):
        """Runs a program under a display of 1000 x 1000 pixels that nobody sees; what it prints, line by line.

        A process of its own: Tk keeps its connection, and ends the process when the display goes.
        """
        for module in ("PIL", "tkinter"):
            pytest.importorskip(module)
        if shutil.which("Xvfb") is None:
            pytest.skip("no Xvfb here: apt-get install xvfb")
        xvfb = ["Xvfb", "-displayfd", "1", "-screen", "0", "1000x1000x24"]
        with subprocess.Popen(xvfb, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            name = f":{int(server.stdout.readline())}"

            def run(program):
                whole = "from tests.test_render import *\nrender.FPS = 1e9\n" + dedent(program)
                done = subprocess.run(
                    [sys.executable, "-c", whole],
                    env={**os.environ, "DISPLAY": name},
                    cwd=Path(__file__).parents[2],
                    capture_output=True,
                    text=True,
                )
                assert done.returncode == 0, done.stderr
                return done.stdout.splitlines()

            yield run
            server.terminate()

    def test_it_shows_the_pixels_and_opens_again(self, seen):
        size, same, title, closed, opened = seen("""
            env = watched()
            window = env._screen._place
            image, pixels = window._label.image, env.game.image(env._states[0])
            print(image.width(), image.height())
            print(all(image.get(x, y) == tuple(pixels[y, x]) for x in range(0, 460, 7) for y in range(0, 230, 7)))
            print(window._root.title())
            window._root.tk.call(window._root.protocol("WM_DELETE_WINDOW"))  # as the button at its corner does
            print(window.open)
            env.render()
            print(env._screen._place is not window and env._screen._place.open)
            env.close()
            """)
        assert (size, same, closed, opened) == ("460 230", "True", "False", "True")
        assert "minibridge_v0" in title

    def test_many_tables_fit_the_display(self, seen):
        (size,) = seen("""
            envs = gymnasium.make_vec("bidzoo/MiniBridge-v0", 7, render_mode="human")  # 3 rows of 3 of 460 x 230
            envs.reset(seed=1)
            image = envs.unwrapped._screen._place._label.image
            print(image.width(), image.height())
            """)
        assert size == "900 450"

    def test_without_pillow_the_error_names_the_extra(self, seen):
        (words,) = seen("""
            sys.modules["PIL"] = None
            try:
                watched()
            except ImportError as problem:
                print(problem)
            """)
        assert "bidzoo[picture]" in words

    @pytest.mark.parametrize("place", ["thread", "ssh"])
    def test_on_macos_there_is_text_where_a_window_would_end_the_process(self, monkeypatch, place):
        def end():
            raise AssertionError("tkinter ends the process")

        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setitem(sys.modules, "tkinter", SimpleNamespace(Tk=end, TclError=ValueError))
        monkeypatch.delenv("SSH_CONNECTION", raising=False)
        if place == "ssh":
            monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
            assert render._find_place("bidzoo") is None
        else:
            with ThreadPoolExecutor(1) as thread:
                assert thread.submit(render._find_place, "bidzoo").result() is None
            with pytest.raises(AssertionError, match="tkinter"):
                render._find_place("bidzoo")

    def test_without_tkinter_the_error_says_what_to_install(self, monkeypatch):
        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.setitem(sys.modules, "tkinter", None)
        with pytest.raises(ImportError, match="apt install python3-tk"):
            watched()

    def test_a_display_that_nobody_answers_at_is_none(self, monkeypatch, capsys):
        pytest.importorskip("tkinter")
        monkeypatch.setenv("DISPLAY", ":9999")
        watched()
        assert len(capsys.readouterr().out.splitlines()) == 3


# ---- in a notebook ---------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", GAMES)
def test_an_environment_shows_itself(env_id):
    env = bidzoo.make(env_id)
    assert ElementTree.fromstring(env._repr_html_()).text.startswith(f"<AEC environment {env.game}")
    env.reset(seed=3, options={"board": 2})
    picture, words = ElementTree.fromstring(f"<div>{env._repr_html_()}</div>")
    assert picture.tag.endswith("svg")
    assert words.text == f"{env_id}, seed 3, board 2: {env.agent_selection} is to act"
    while not any(env.terminations.values()):
        env.step(int(first(env.infos[env.agent_selection]["action_mask"])))
    assert f": rewards player_0 {env.rewards['player_0']:g}, player_1 " in env._repr_html_()


def test_a_learner_s_table_shows_itself():
    env = single_agent("minibridge_v0", partner="random")
    assert ElementTree.fromstring(env._repr_html_()).text.startswith(f"{env!r}, before")
    env.reset(seed=3)
    picture, words = ElementTree.fromstring(f"<div>{env._repr_html_()}</div>")
    assert picture.tag.endswith("svg") and words.text == f"{env!r}"[1:-1] + "; seed 3, board 0"
    env.step(-1)
    assert env._repr_html_().endswith("; seed 3, board 0, over</p>")


def test_a_batch_shows_its_arrays():
    batch = bidzoo.make_vec("comm_v0", 5)
    words, table = ElementTree.fromstring(f"<div>{batch._repr_html_()}</div>")
    assert words.text == repr(batch)
    rows = [["".join(cell.itertext()) for cell in row] for row in table]
    assert [(name, kind.split()[0]) for name, kind in rows] == [
        (name, getattr(batch, name).dtype.name)
        for name in ("player", "observation", "action_mask", "reward", "terminated")
    ]
    assert rows[1][1].endswith(str(list(batch.observation.shape)))


def test_a_table_of_results_is_escaped():
    table = ResultTable("a < b", ["<agent>", "n", "IMPs"], note="1 & 2")
    table.add("<script>", 1234, Estimate(1.0, 0.25, 4))
    table.add(None, 5, None)
    title, shown, note = ElementTree.fromstring(f"<div>{table._repr_html_()}</div>")
    assert (title.text, note.text) == ("a < b", "1 & 2")
    assert [[cell.text or "" for cell in row] for row in shown] == [
        ["<agent>", "n", "IMPs"],
        ["<script>", "1,234", str(table.rows[0]["IMPs"])],
        ["", "5", ""],
    ]
    assert [cell.get("style") for cell in shown[1]] == [f"text-align: {side}" for side in ("left", "right", "right")]
