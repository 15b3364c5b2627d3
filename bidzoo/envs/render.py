"""Render modes, the same in every form, and the screen of ``"human"``: a notebook's cell, a window, or the terminal."""

import os
import sys
import threading
import time
from html import escape
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from bidzoo.core.cards import HAND_SIZE
from bidzoo.core.kernels import State, States
from bidzoo.core.options import choose_from
from bidzoo.core.schema import printable
from bidzoo.envs.game import Game
from bidzoo.envs.picture import Picture, tiled

if TYPE_CHECKING:
    from tkinter import Tk

MODES = ("ansi", "svg", "rgb_array", "human")
FPS = 2  # pictures a second, on a screen and in a video


def checked_mode(mode: str | None) -> str | None:
    """``mode``; ValueError unless it is None or one of ``MODES``."""
    if mode is not None and mode not in MODES:
        raise ValueError(f"unknown render_mode {mode!r}; {choose_from(mode, MODES)}")
    return mode


def cards_left(state: State, seat: int) -> int:
    """How many cards ``seat`` still holds at a table of bridge or Spades, also where its hand is not shown."""
    return HAND_SIZE - int((state["players"][: int(state["plays"])] == seat).sum())


def notebook() -> Any:
    """The shell of IPython whose cells this process runs; None if it is no kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if getattr(shell, "kernel", None) is not None else None


def warn_of_no_mode() -> None:
    """Gymnasium's warning that ``render()`` without a mode shows nothing."""
    gymnasium.logger.warn(
        f"render() without a render_mode shows nothing; make the environment with one of {', '.join(MODES)}"
    )


def table_html(game: Game, state: State, about: str) -> str:
    """What a notebook shows of an environment: the whole table, and a line about it."""
    return f"{game.svg(state)}\n<p>{escape(about)}</p>"


class Screen:
    """The display of ``"human"``: one picture after the other, ``FPS`` a second at most.

    In a notebook the picture stands under the cell and changes there. Elsewhere it has a window of tkinter, at most as
    large as the display, for which Pillow draws. Where there is no display, the tables are printed as text.
    """

    def __init__(self, title: str) -> None:
        self._title, self._last_drawn = title, -np.inf
        self._place: _Cell | _Window | None = None

    def __reduce__(self) -> tuple[type["Screen"], tuple[str]]:
        return Screen, (self._title,)  # a copy looks for a place of its own

    def show(self, game: Game, states: States) -> None:
        """The tables ``states`` ``[B]`` side by side.

        Raises:
            ImportError: there is a display, but no tkinter or no Pillow; says how to install it.
        """
        if self._place is not None:
            self._place.wait(max(0.0, self._last_drawn + 1 / FPS - time.monotonic()))
        if self._place is None or not self._place.open:
            self._place = _find_place(self._title)
        if self._place is None:
            text = "\n\n".join(game.text(state) for state in states)
            print(printable(text, sys.stdout))  # the one place that prints
        else:
            self._place.show(tiled([game.picture(state) for state in states]))
            self._last_drawn = time.monotonic()

    def close(self) -> None:
        """Close the window; the next picture opens another."""
        if isinstance(self._place, _Window):
            self._place.close()
        self._place = None


def _find_place(title: str) -> "_Cell | _Window | None":
    """A place for pictures, None where there is only text."""
    if (shell := notebook()) is not None:
        return _Cell(shell)
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        return None
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "darwin" and (not is_main or os.environ.get("SSH_CONNECTION")):
        return None  # where tkinter ends the process instead of raising an error
    try:
        import tkinter
    except ImportError as problem:
        raise ImportError(
            "render_mode='human' opens a window of tkinter, which this Python lacks (Debian, Ubuntu: "
            "apt install python3-tk); render_mode='ansi' needs none, nor does a notebook"
        ) from problem
    try:
        return _Window(tkinter.Tk(), title)
    except tkinter.TclError:  # a display that nobody answers at
        return None


class _Cell:
    """The output of the notebook's cell that is running."""

    open = True

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._number, self._output = -1, None

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def show(self, picture: Picture) -> None:
        from IPython.display import display

        if self._output is None or self._number != self._shell.execution_count:
            self._number = self._shell.execution_count
            self._output = display(picture, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._output.update(picture)


class _Window:
    """A window of tkinter around a picture."""

    def __init__(self, root: "Tk", title: str) -> None:
        from tkinter import Label

        self._root, self._label, self.open = root, Label(root, borderwidth=0), True
        root.title(title)
        root.protocol("WM_DELETE_WINDOW", self.close)
        self._label.pack()

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.open:
            self._root.update()  # it is moved, covered or closed meanwhile
            if time.monotonic() >= end:
                return
            time.sleep(0.02)

    def show(self, picture: Picture) -> None:
        from tkinter import PhotoImage

        scale = min(
            1.0,
            0.9 * self._root.winfo_screenwidth() / picture.width,
            0.9 * self._root.winfo_screenheight() / picture.height,
        )
        pixels = picture.pixels(scale)
        height, width, _ = pixels.shape
        image = PhotoImage(master=self._root, data=b"P6 %d %d 255\n" % (width, height) + pixels.tobytes())
        self._label.configure(image=image)
        self._label.image = image  # type: ignore[attr-defined]  # tkinter keeps no reference of its own
        self._root.update()

    def close(self) -> None:
        if self.open:
            self.open = False
            self._root.destroy()
