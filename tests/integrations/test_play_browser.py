"""``bidzoo play`` in headless Chromium, from the first click to the result."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

pytest.importorskip("selenium", reason="no selenium here: pip install selenium")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

CLUB = Path(__file__).parents[1] / "data" / "club.pbn"


class Page:
    """The page as a person uses it."""

    def __init__(self, driver, server) -> None:
        self.driver, self.server = driver, server
        driver.get_log("browser")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.get(server.url)
        self.wait(lambda: self.js("return state !== null"))
        self.js("PAUSE.act = PAUSE.trick = PAUSE.think = 20")  # nobody waits for the agents here

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, seconds=240):  # an agent may have to be compiled first
        return WebDriverWait(self.driver, seconds, 0.03).until(lambda _: condition())

    def find(self, css):
        return self.wait(lambda: next(iter(self.driver.find_elements(By.CSS_SELECTOR, css)), None))

    def click(self, css):
        self.wait(lambda: self.find(css).is_displayed() and self.find(css).is_enabled())
        self.find(css).click()

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def settle(self):
        """Until a human is to act, or the board is over."""
        self.wait(lambda: self.js("return !pending && (state.over || state.seats[state.player].human)"))

    def deal(self, game, seats, seed=1, **options):
        if not self.js("return document.getElementById('setup').open"):
            self.click("#button-new")
        self.js("document.querySelector(`#setup-games input[value='${arguments[0]}']`).click()", game)
        for place, name in enumerate(seats):
            Select(self.find(f"#seat-{place}")).select_by_value(name)
        for name, words in options.items():
            Select(self.find(f"#option-{name}")).select_by_visible_text(words)
        self.js("document.getElementById('setup-seed').value = arguments[0]", str(seed))
        self.click("#setup-deal")
        self.wait(lambda: not self.js("return document.getElementById('setup').open"))
        self.settle()

    def state(self, path):
        return self.js(f"return state.{path}")

    def text(self, css):
        return self.find(css).text

    def fits(self):
        return self.js("return document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def page(chromium, play_server):
    found = Page(chromium, play_server)
    yield found
    found.js("onbeforeunload = null; running = false; clearTimeout(timer)")
    chromium.get("about:blank")  # or an answer that comes now asks the next agent, of a server that has gone
    complaints = [entry["message"] for entry in chromium.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    expected = ("status of 400", "status of 409")  # refusals that a test provokes are logged by the browser
    assert [text for text in complaints if not any(words in text for words in expected)] == []


def test_bridge_bidding_from_the_first_click_to_the_result(page):
    assert page.js("return document.getElementById('setup').open")
    assert "token" not in page.driver.current_url
    page.deal("bridge_bidding_v0", ["random", "random", "human", "random"], seed=3)
    while not page.state("over"):
        page.click("[data-key='call-0']")  # Pass
        page.settle()
    assert page.text("#result h2")
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".felt .rows")) == 4
    page.wait(lambda: "Par:" in page.text("#tricks"))
    page.wait(lambda: "1 board" in page.text("#total"))
    for seats, shown in ((["random"] * 4, False), (["random", "random", "human", "random"], True)):
        page.js("change('/api/sit', { seats: arguments[0] })", seats)
        page.wait(lambda shown=shown: page.find("#panel-total").is_displayed() == shown)
    page.click("#result .primary")
    page.settle()
    assert page.state("board") == 1


def test_a_whole_board_of_bridge_with_dummy(page):
    page.deal("bridge_v0", ["random", "random", "human", "random"], seed=11)
    turns = 0
    while not page.state("over"):
        page.js(
            "document.querySelector('.box button:not(:disabled), .hand button:not(:disabled), .rows button').click()"
        )
        page.settle()
        turns += 1
    assert turns >= 2
    assert page.js("return state.table.won[0] + state.table.won[1]") in (0, 13)
    assert page.text("#result p")


def test_by_keyboard_alone(page):
    page.deal("bridge_v0", ["human"] * 4, seed=4)
    page.js("document.body.focus()")
    body = page.find("body")
    body.send_keys("1n")
    page.wait(lambda: page.state("cursor") == 1)
    body.send_keys("x")
    page.wait(lambda: page.state("cursor") == 2)
    for cursor in (3, 4, 5):
        body.send_keys("p")
        page.wait(lambda cursor=cursor: page.state("cursor") == cursor)
    assert page.text(".contract") == "1NTX by North"
    card = page.js("return state.legal[0].text")  # suit, rank
    body.send_keys(card.lower())
    page.wait(lambda: page.state("cursor") == 6)
    body.send_keys(",")
    page.wait(lambda: page.state("cursor") == 5)
    body.send_keys(".")
    page.wait(lambda: page.state("cursor") == 6)
    body.send_keys(Keys.HOME)
    page.wait(lambda: page.state("cursor") == 0)
    body.send_keys("?")
    assert page.js("return document.getElementById('help').open")
    page.keys(Keys.ESCAPE)
    page.find("[data-key='call-0']").send_keys(Keys.ARROW_UP)
    assert page.js("return document.activeElement.dataset.key").startswith("call-")
    page.keys(Keys.ARROW_RIGHT, Keys.ENTER)
    page.wait(lambda: page.state("cursor") == 1)


def test_numbers_of_two_digits_are_typed(page):
    """1 waits for the next digit, or for Enter; what is no number then is no other key either."""
    page.deal("spades_v0", ["human"] * 4, seed=1)
    page.js("document.body.focus()")
    body, bids = page.find("body"), []
    for keys in ("10", "2", "1\ue007", "1x13"):
        before = page.state("cursor")
        body.send_keys(keys)
        page.wait(lambda before=before: page.state("cursor") == before + 1)
        bids.append(page.js("return state.record[state.cursor - 1].text"))
    assert bids == ["10", "2", "1", "13"]


def test_two_pages_of_a_table_show_the_same(page):
    """Who acts on what has changed meanwhile is told so, and sees how the table stands now."""
    page.deal("comm_v0", ["human", "human"], seed=1)
    page.js("call('/api/act', { action: 0, at: 0 })")  # as by another page
    page.js("act(1)")
    page.wait(lambda: page.state("cursor") == 1)
    assert page.find("#toast").is_displayed()


def test_every_control_has_a_name_and_is_reached_with_tab(page):
    page.deal("bridge_v0", ["human"] * 4)
    nameless = page.js(
        "const named = e => e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length;"
        "const all = [...document.querySelectorAll('button, input, select')];"
        "return all.filter(e => e.offsetParent && !named(e)).map(e => e.outerHTML)"
    )
    assert nameless == []
    seen = set()
    page.js("document.body.tabIndex = -1; document.body.focus()")
    for _ in range(60):
        page.keys(Keys.TAB)
        seen.add(page.js("return document.activeElement.id || document.activeElement.dataset.key"))
    assert {"button-new", "button-open", "button-save", "button-help", "step-play", "call-0"} <= seen
    assert {"switch-think", "switch-all", "ask-agent", "hint", "step-range"} <= seen


def test_spades_with_thinking_and_a_hint(page):
    page.deal("spades_v0", ["bis", "bis", "human", "bis"], seed=7)
    page.click("[data-key='hint']")
    page.wait(lambda: "nil value" in page.text("#thinking"))
    assert page.find("svg.curve").is_displayed()
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".heat")) == 3
    page.find("body").send_keys("t")
    page.click("[data-key='plain-3']")
    page.wait(lambda: page.js("return thought && state.seats[thought.player].agent === 'bis'"))
    page.settle()
    while not page.state("over"):
        page.js("document.querySelector('.hand button:not(:disabled), .plain button').click()")
        page.settle()
    assert page.text("#result h2") in ("N/S won", "E/W won", "a draw")


def test_a_small_game_with_a_solved_partner(page):
    page.deal("minibridge_v0", ["human", "jps"], seed=2)
    assert page.text(".type") and "?" in page.text(".felt")
    page.click("[data-key='hint']")
    page.wait(lambda: "Partner's hearts" in page.text("#thinking"))
    while not page.state("over"):
        page.js("document.querySelector('.plain button').click()")
        page.settle()
    assert "?" not in page.text(".seat.top")


def test_stepping_branching_and_showing_all(page):
    page.deal("bridge_bidding_v0", ["human"] * 4, seed=1)
    for call in (3, 8, 0):
        page.click(f"[data-key='call-{call}']")
        page.wait(lambda: not page.js("return pending > 0"))
    page.wait(lambda: page.state("cursor") == 3)
    page.click("#step-back")
    page.wait(lambda: page.state("cursor") == 2)
    assert page.state("length") == 3
    page.click("[data-key='call-13']")
    page.wait(lambda: page.state("cursor") == 3)
    assert page.state("length") == 3
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".felt .rows")) == 0
    page.find("body").send_keys("a")
    page.wait(lambda: len(page.driver.find_elements(By.CSS_SELECTOR, ".felt .rows")) >= 3)
    page.wait(lambda: "Par:" in page.text("#tricks"))


def test_a_file_is_opened_stepped_through_and_bid_again(page):
    page.js("document.getElementById('setup').close()")
    page.find("#file").send_keys(str(CLUB))
    page.wait(lambda: page.state("length") == 64)
    assert page.state("cursor") == 0
    assert "Sára" in page.text("#boards")
    page.click("#step-last")
    page.wait(lambda: page.state("over"))
    assert "4♥XX" in page.js("return state.table.contract")
    page.click("[data-key='board-0-rebid']")
    page.wait(lambda: page.state("game") == "bridge_bidding_v0")


def test_a_board_is_saved_as_a_file(page):
    page.deal("bridge_v0", ["human"] * 4, seed=1)
    page.click("[data-key='call-7']")
    page.wait(lambda: page.state("cursor") == 1)
    page.js("HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; }")
    page.click("#button-save")
    page.wait(lambda: page.js("return window.saved !== undefined"))
    name, address = page.js("return window.saved")
    assert (name, address[:5]) == ("board-1.pbn", "blob:")
    text = page.driver.execute_async_script("call('/api/save').then((found) => arguments[0](found.text))")
    assert "1NT" in text


def test_names_are_never_markup(page, tmp_path):
    nasty = "<img src=x onerror=window.hurt=1><script>window.hurt=1</script>"
    path = tmp_path / "<img src=x onerror=window.hurt=1>.pbn"
    path.write_text(CLUB.read_text(encoding="utf-8-sig").replace("Walt", nasty), encoding="utf-8")
    page.js("document.getElementById('setup').close()")
    page.find("#file").send_keys(str(path))
    page.wait(lambda: page.state("length") == 64)
    assert nasty in page.text("#boards")
    assert page.js("return window.hurt === undefined && document.querySelectorAll('img').length === 0")


def test_errors_stand_on_the_page(page, tmp_path):
    path = tmp_path / "bad.pbn"
    path.write_text('[Deal "N:AK"]\n')
    page.js("document.getElementById('setup').close()")
    page.find("#file").send_keys(str(path))
    page.wait(lambda: "bad.pbn:1" in page.text("#toast"))


@pytest.mark.parametrize("game", ["bridge_bidding_v0", "bridge_v0", "spades_v0", "minibridge_v0", "comm_v0"])
def test_a_phone_shows_it_all_without_scrolling_sideways(page, game):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    players = 2 if game in ("minibridge_v0", "comm_v0") else 4
    assert page.fits()
    page.deal(game, ["human"] + ["random"] * (players - 1), seed=2)
    assert page.fits()
    page.click("[data-key='hint']")
    page.wait(lambda: page.js("return thought !== null"))
    page.find("body").send_keys("a")
    page.wait(lambda: page.state("reveal"))
    assert page.fits()


def test_the_first_screen_of_a_phone_has_pass_and_double(page):
    size = {"width": 390, "height": 664, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.deal("bridge_bidding_v0", ["human"] + ["pass"] * 3, seed=2)
    page.settle()
    for name in ("pass", "double"):
        bottom = page.js("return document.querySelector(`.box .${arguments[0]}`).getBoundingClientRect().bottom", name)
        assert 0 < bottom <= 664
