"""Pictures of the play page in headless Chromium: stills for ``play.md`` and the moving one of the README.

python docs/pictures.py [NAME ...]    such as play.webp or play-bidding.png; needs selenium, chromium and chromedriver
"""

import io
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from bidzoo.play.server import PlayServer

FOLDER = Path(__file__).parent / "pictures"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
MOVING = (1280, 720)  # CSS pixels; the README shows it smaller
SHOWN = (960, 540)
LOOK, CALL, READ, END = 800, 400, 1900, 2000  # milliseconds of a frame
AGENT_WAITS = 2500  # milliseconds, long enough for a frame between two calls


class Page:
    """The play page as a person uses it."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        driver.get(url)
        self.wait("state !== null")
        self.js("PAUSE.act = PAUSE.trick = PAUSE.think = 20; onbeforeunload = null")

    def js(self, script: str, *arguments: Any) -> Any:
        """What ``script`` returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str) -> None:
        """Until ``condition``, in JavaScript, holds; an agent may have to be compiled first."""
        WebDriverWait(self.driver, 300, 0.03).until(lambda _: self.js(f"return {condition}"))

    def click(self, css: str) -> None:
        """Click what ``css`` selects as soon as it can be clicked."""
        self.js("window.wanted = arguments[0]", css)
        self.wait("document.querySelector(wanted) && !document.querySelector(wanted).disabled")
        self.driver.find_element(By.CSS_SELECTOR, css).click()

    def settle(self) -> None:
        """Until a human is to act, or the board is over."""
        self.wait("!pending && (state.over || state.seats[state.player].human)")

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Lay the page out for a screen of so many CSS pixels."""
        words = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", words)

    def deal(self, game: str, seats: list[str], seed: int, board: int = 1) -> None:
        """A table of ``game``; board numbers begin at 1."""
        if not self.js("return document.getElementById('setup').open"):
            self.click("#button-new")
        self.js("document.querySelector(`#setup-games input[value='${arguments[0]}']`).click()", game)
        for place, name in enumerate(seats):
            Select(self.driver.find_element(By.ID, f"seat-{place}")).select_by_value(name)
        for name, number in (("seed", seed), ("board", board)):
            self.js("document.getElementById(`setup-${arguments[0]}`).value = arguments[1]", name, str(number))
        self.click("#setup-deal")
        self.wait("!document.getElementById('setup').open")

    def act(self, *keys: str) -> None:
        """Take actions by their keys, each when it is our turn."""
        for key in keys:
            self.settle()
            before = self.js("return state.cursor")
            self.click(f"[data-key='{key}']")
            self.wait(f"state.cursor > {before}")
        self.settle()

    def ask(self, agent: str | None = None) -> None:
        """What would ``agent`` do here?"""
        if agent:
            Select(self.driver.find_element(By.CSS_SELECTOR, "[data-key='ask-agent']")).select_by_value(agent)
        self.click("[data-key='hint']")
        self.wait("thought !== null")

    def picture(self) -> Image.Image:
        """The page as it stands."""
        return Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")


@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium with a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


# ---- stills ------------------------------------------------------------------------------------


def bidding(page: Page) -> None:
    """Partner has bid a suit over our notrump: what does that mean?"""
    page.size(1280, 860)
    page.deal("bridge_bidding_v0", ["sayc", "sayc", "human", "sayc"], 59)
    page.act("call-7")
    page.ask("sayc")


def cards(page: Page) -> None:
    """Declarer's turn in the second trick."""
    page.size(1280, 860)
    page.deal("bridge_v0", ["sayc", "sayc", "human", "sayc"], 59)
    page.act("call-7", "call-11", "call-21")
    page.settle()
    while page.js("return state.table.won[0] + state.table.won[1]") < 1 or page.js("return state.player") != 2:
        page.js("document.querySelector('.hand button:not(:disabled), .rows button').click()")
        page.wait("!pending")
        page.settle()
    page.ask()


def spades(page: Page) -> None:
    """A bid of Spades, explained."""
    page.size(1280, 860)
    page.deal("spades_v0", ["bis", "bis", "human", "bis"], 7)
    page.settle()
    page.ask()


def search(page: Page) -> None:
    """Search at the table."""
    page.size(1280, 1100)
    page.deal("bridge_bidding_v0", ["ppo", "ppo", "human", "ppo"], 59)
    page.act("call-7", "call-11")
    page.ask("bmcs")


def phone(page: Page) -> None:
    """The same table on a phone."""
    page.size(360, 980, phone=True)
    page.deal("bridge_bidding_v0", ["sayc", "sayc", "human", "sayc"], 59)
    page.act("call-7")


STILLS = {f"play-{still.__name__}.png": still for still in (bidding, cards, spades, search, phone)}


# ---- the moving one ----------------------------------------------------------------------------


def film(page: Page) -> list[tuple[Image.Image, int]]:
    """Frames and their milliseconds: an auction with three agents, what one would call, the result."""
    frames: list[tuple[Image.Image, int]] = []
    page.size(*MOVING)
    page.js("PAUSE.act = arguments[0]", AGENT_WAITS)
    page.deal("bridge_bidding_v0", ["sayc", "sayc", "human", "sayc"], 59)

    def watch() -> None:
        """A frame of every call of the agents."""
        while not page.js("return state.over || state.seats[state.player].human"):
            cursor = page.js("return state.cursor")
            frames.append((page.picture(), CALL))
            page.wait(f"!pending && state.cursor > {cursor}")

    def call(key: str) -> None:
        cursor = page.js("return state.cursor")
        page.click(f"[data-key='{key}']")
        page.wait(f"!pending && state.cursor > {cursor}")
        watch()

    watch()
    frames.append((page.picture(), LOOK))
    call("call-7")  # 1NT
    frames.append((page.picture(), LOOK))
    page.ask("sayc")
    frames.append((page.picture(), READ))
    call("call-11")  # 2S, as partner has asked
    frames.append((page.picture(), LOOK))
    call("call-21")  # 4S
    page.wait("!pending && document.querySelector('#tricks').textContent.includes('Par:')")
    frames.append((page.picture(), END))
    return frames


def save(frames: list[tuple[Image.Image, int]], path: Path) -> None:
    """An animation that goes on for ever."""
    pictures = [picture.resize(SHOWN, Image.Resampling.LANCZOS) for picture, _ in frames]
    spans = [milliseconds for _, milliseconds in frames]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=spans, loop=0, quality=80, method=6)


def main() -> None:
    """Take those that are named, or all."""
    os.environ.setdefault("BIDZOO_COMPILE", "now")
    wanted = sys.argv[1:] or ["play.webp", *STILLS]
    with PlayServer() as server, browser() as driver:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        for name in wanted:
            page = Page(driver, server.url)
            if name in STILLS:
                STILLS[name](page)
                page.picture().save(FOLDER / name, optimize=True)
            else:
                save(film(page), FOLDER / name)
            print(FOLDER / name, (FOLDER / name).stat().st_size)
        server.shutdown()


if __name__ == "__main__":
    main()
