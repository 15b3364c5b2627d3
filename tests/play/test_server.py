"""The page's server over loopback: every route, who may ask, and what happens to bad requests."""

import io
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from bidzoo.play import api, server
from bidzoo.play.server import MOST_BYTES, PAGE, PlayServer

PAGES = Path(api.__file__).parent / "page"
CLUB = (Path(__file__).parents[1] / "data" / "club.pbn").read_text(encoding="utf-8-sig")
HUMANS = ["human"] * 4


def start(client, **more):
    body = {"game": "bridge_bidding_v0", "seats": HUMANS, "seed": 1, "board": 0, **more}
    return client.post("/api/new", body)


def test_on_windows_a_port_has_one_server():
    """There an address that may be used again may be used by two at once."""
    script = "import sys, http.server, bidzoo.play.api; sys.platform = 'win32'\n"
    script += "from bidzoo.play.server import PlayServer; print(PlayServer.allow_reuse_address)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n" and PlayServer.allow_reuse_address


# ---- every route -----------------------------------------------------------------------------


def test_the_page_and_its_parts_are_served(client):
    for path, (name, kind) in PAGE.items():
        found = client.get(path)
        assert (found.status, found.headers["content-type"]) == (200, kind)
        assert found.body == (PAGES / name).read_bytes()
    assert client.get("/icon.svg").body.startswith(b"<svg")


def test_games_and_state(client):
    found = client.get("/api/games").data
    assert [suit["color"] for suit in found["suits"]] == ["#00805a", "#3a45c4", "#c94f00", "#1d2430"]
    assert {"bridge_v0", "spades_v0", "minibridge_v0"} <= {game["id"] for game in found["games"]}
    state = client.get("/api/state").data
    assert state["fresh"] and state["cursor"] == 0


def test_a_board_from_deal_to_result(client):
    assert not start(client).data["fresh"]
    for at, call in enumerate((3, 0, 0, 0)):
        state = client.post("/api/act", {"action": call, "at": at}).data
    assert state["over"]
    assert state["table"]["contract"] == "1♣ by North"
    assert state["reward"][0] == -state["reward"][1]
    tricks = client.get("/api/tricks").data
    assert len(tricks["tricks"]) == 20
    assert re.fullmatch(r"0|(N/S|E/W) \d+", tricks["words"])
    saved = client.get("/api/save").data
    assert saved["name"] == "board-1.pbn"
    assert '[Contract "1C"]' in saved["text"]
    assert client.post("/api/go", {"cursor": 1}).data["cursor"] == 1
    assert client.post("/api/undo", {}).data["cursor"] == 0
    assert client.post("/api/next", {}).data["board"] == 1
    assert client.post("/api/sit", {"seats": ["random"] * 4}).data["seats"][0]["agent"] == "random"
    assert client.post("/api/agent", {"at": 0}).data["cursor"] == 1
    assert client.post("/api/reveal", {"on": True}).data["reveal"] is True


def test_thinking_and_asking(client):
    start(client, seats=["random", "human", "random", "human"])
    found = client.post("/api/think", {}).data
    assert found["agent"] == "random"
    assert sum(row["value"] for row in found["chances"]) == pytest.approx(1, abs=1e-3)
    client.post("/api/agent", {"at": 0})
    assert "nobody to ask" in client.post("/api/think", {}).data["error"]
    assert client.post("/api/think", {"agent": "random"}).data["player"] == 1
    assert "does not play" in client.post("/api/think", {"agent": "bis"}).data["error"]
    assert client.post("/api/think", {"agent": 3}).status == 400


def test_a_file_is_loaded_replayed_and_bid_again(client):
    state = client.post("/api/load", {"name": "club.pbn", "text": CLUB}).data
    assert state["file"]["boards"][0]["contract"] == "4HXX"
    state = client.post("/api/open", {"index": 0, "way": "replay"}).data
    assert (state["cursor"], state["length"]) == (0, 64)
    state = client.post("/api/go", {"cursor": 64}).data
    assert state["table"]["won"] == [8, 5]
    state = client.post("/api/open", {"index": 0, "way": "rebid"}).data
    assert (state["game"], state["length"]) == ("bridge_bidding_v0", 0)
    state = client.post("/api/open", {"index": 0, "way": "play"}).data
    assert (state["game"], state["length"]) == ("bridge_v0", 0)
    assert client.post("/api/next", {}).data["file"]["at"] == 1
    for index, way, words in ((99, "play", "board 99"), (True, "play", "board True"), (0, "burn", "way 'burn'")):
        assert words in client.post("/api/open", {"index": index, "way": way}).data["error"]


@pytest.mark.parametrize("game_id", ["spades_v0", "minibridge_v0", "simple_bidding_v0", "comm_v0", "mini_hanabi_v0"])
def test_other_games_end_and_are_saved_as_text(client, game_id):
    players = 4 if game_id == "spades_v0" else 2
    state = start(client, game=game_id, seats=["random"] * players).data
    while not state["over"]:
        state = client.post("/api/agent", {"at": state["cursor"]}).data
    assert state["table"]["result"]
    assert client.get("/api/save").data["name"] == f"{game_id}-board-1.txt"
    assert "only bridge deals" in client.get("/api/tricks").data["error"]


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/new", {}, "game None"),
        ("/api/new", {"game": "../bridge", "seats": HUMANS}, "unknown game"),
        ("/api/new", {"game": "bridge_v0", "seats": "x"}, "seats 'x'"),
        ("/api/new", {"game": "bridge_v0", "seats": [["a"], {}, None, 1]}, "North"),
        ("/api/new", {"game": "bridge_v0", "seats": HUMANS, "options": []}, "options"),
        ("/api/new", {"game": "bridge_bidding_v0", "seats": HUMANS, "options": {"deals": ["x"]}}, "option 'deals'"),
        ("/api/new", {"game": "bridge_v0", "seats": HUMANS, "seed": 1e300}, "seed"),
        ("/api/new", {"game": "bridge_v0", "seats": HUMANS, "seed": None}, "seed"),
        ("/api/new", {"game": "bridge_v0", "seats": HUMANS, "board": -1}, "board"),
        ("/api/act", {"action": 1, "at": 0}, "not legal here"),
        ("/api/act", {"action": "0", "at": 0}, "action '0'"),
        ("/api/act", {"action": 0}, "step None"),
        ("/api/act", {"action": 10**30, "at": 0}, "action 1000"),
        ("/api/agent", {"at": 0}, "no agent is to act"),
        ("/api/go", {"cursor": -1}, "step -1"),
        ("/api/reveal", {"on": 1}, "on 1"),
        ("/api/sit", {"seats": []}, "expected 4 names"),
        ("/api/load", {"name": "a.pbn"}, "expected its name and its text"),
        ("/api/load", {"name": "a.exe", "text": "x"}, "expected .pbn or .lin"),
        ("/api/load", {"name": "a.pbn", "text": '[Deal "N:AK.."]'}, "a.pbn:1"),
        ("/api/open", {"index": 0, "way": "play"}, "the file has 0"),
        ("/api/think", {}, "nobody to ask"),
    ],
)
def test_bad_input_is_answered_in_words_and_changes_nothing(client, path, body, words):
    start(client)
    before = client.get("/api/state").data
    found = client.post(path, body)
    assert found.status == 400
    assert words in found.data["error"]
    assert client.get("/api/state").data == before


def test_a_late_request_is_a_conflict(client):
    start(client)
    assert client.post("/api/act", {"action": 0, "at": 5}).status == 409


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b"[" * 5000, b"NaN"])
def test_bodies_that_are_no_object(client, body):
    kind = {"Cookie": client.cookie, "Content-Type": "application/json"}
    found = client.raw("POST", "/api/undo", body, kind)
    assert found.status == 400
    assert "JSON" in found.data["error"]


def test_sizes_and_kinds_of_bodies(client):
    kind = {"Cookie": client.cookie, "Content-Type": "application/json"}
    assert client.raw("POST", "/api/undo", None, kind).status == 411
    assert client.raw("POST", "/api/undo", b"", {**kind, "Transfer-Encoding": "chunked"}).status == 411
    for length in ("-1", "1e3", "²", "0x10"):
        assert client.raw("POST", "/api/undo", None, {**kind, "Content-Length": length}).status == 411, length
    assert client.raw("POST", "/api/undo", None, {**kind, "Content-Length": str(MOST_BYTES + 1)}).status == 413
    assert client.raw("POST", "/api/undo", None, {**kind, "Content-Length": "9" * 4000}).status == 413
    form = {"Cookie": client.cookie, "Content-Type": "text/plain"}
    assert client.raw("POST", "/api/undo", b"{}", form).status == 415


def test_paths_are_names_of_routes_only(client):
    for path in (
        "/../server.py",
        "/page/index.html",
        "/%2e%2e/server.py",
        "/play.js/../server.py",
        "//etc/passwd",
        "/api/state/../../server.py",
        "/api/nothing",
        "/index.html%00",
    ):
        assert client.get(path).status == 404, path
    assert client.get("/api/act").status == 405
    assert client.post("/api/state", {}).status == 405
    assert client.post("/", {}).status == 405
    assert client.raw("PUT", "/api/state", b"{}", {"Cookie": client.cookie}).status == 501


# ---- who may ask -----------------------------------------------------------------------------


def test_the_printed_address_gives_the_cookie_once_and_hides_the_token(client):
    token = client.server.url.partition("token=")[2]
    found = client.raw("GET", f"/?token={token}")
    assert (found.status, found.headers["location"]) == (303, "/")
    assert re.search(r"HttpOnly; SameSite=Strict", found.headers["set-cookie"])
    assert client.server.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("path", [*PAGE, "/icon.svg", *api.GET, "/nothing"])
def test_nothing_is_told_without_the_token(client, path):
    for headers in ({}, {"Cookie": f"{client.server.cookie}=wrong"}, {"Cookie": f"other={client.server.token}"}):
        found = client.raw("GET", path, headers=headers)
        assert found.status == 403
        assert "bidzoo play" in found.data["error"]
    assert client.raw("GET", f"{path}?token=wrong").status == 403


@pytest.mark.parametrize("path", [*api.POST, "/nothing"])
def test_nothing_is_done_without_the_token(client, path):
    kind = {"Content-Type": "application/json", "Cookie": f"{client.server.cookie}=é"}
    assert client.raw("POST", path, b"{}", {"Content-Type": "application/json"}).status == 403
    assert client.raw("POST", path, b"{}", {**kind, "Cookie": f'{client.server.cookie}="a\\303"'}).status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "a@127.0.0.1:{port}"]
)
def test_other_names_are_refused(client, host):
    named = host.format(port=client.server.server_port)
    assert client.raw("GET", "/", headers={"Host": named, "Cookie": client.cookie}).status == 421
    kind = {"Host": named, "Cookie": client.cookie, "Content-Type": "application/json"}
    assert client.raw("POST", "/api/undo", b"{}", kind).status == 421


def test_localhost_and_addresses_are_known(client):
    port = client.server.server_port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        assert client.raw("GET", "/", headers={"Host": host, "Cookie": client.cookie}).status == 200


def test_requests_of_other_pages_are_refused(client):
    kind = {"Cookie": client.cookie, "Content-Type": "application/json"}
    assert client.raw("POST", "/api/undo", b"{}", {**kind, "Origin": "http://evil.example"}).status == 403
    assert client.raw("POST", "/api/undo", b"{}", {**kind, "Origin": "null"}).status == 403
    assert client.raw("POST", "/api/undo", b"{}", {**kind, "Origin": f"http://{client.host}"}).status == 200


def test_every_answer_forbids_foreign_scripts(client):
    answers = [client.get("/"), client.get("/api/state"), client.get("/nothing"), client.raw("GET", "/")]
    for found in answers:
        assert found.headers["content-security-policy"].startswith("default-src 'self';")
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"


def test_only_this_machine_listens_unless_told(client):
    assert client.server.server_address[0] == "127.0.0.1"


def test_other_addresses_are_used_when_told():
    with PlayServer("0.0.0.0") as server:
        assert server.url.startswith("http://127.0.0.1:")
    if socket.has_dualstack_ipv6():
        with PlayServer("::1") as server:
            assert server.url.startswith("http://[::1]:")


def test_the_command_prints_its_address_and_ends_with_ctrl_c():
    # a job in the background of a script ignores Ctrl-C and passes that on to its children
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [sys.executable, "-c", listening + "from bidzoo.cli.main import main; main()", "play", "--port", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert re.fullmatch(r"bidzoo play: http://127\.0\.0\.1:\d+/\?token=\S+\n", running.stdout.readline())
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=120)
    finally:
        running.kill()
    assert (running.returncode, errors) == (0, "")


def test_an_agent_that_fails_is_an_answer_in_words(client):
    class Broken:
        name = "broken"

        def act(self, views, legal, rng):
            raise RuntimeError("out of order")

    client.session._make = lambda game, name: Broken()
    start(client, seats=["random"] * 4)
    found = client.post("/api/agent", {"at": 0})
    assert (found.status, found.data["error"]) == (400, "out of order")


def test_a_port_that_is_taken_is_an_error(client):
    with pytest.raises(OSError, match="in use"):
        PlayServer(port=client.server.server_port)


# ---- injection -------------------------------------------------------------------------------


NASTY = '<img src=x onerror="alert(1)">'


def test_names_of_files_are_only_text(client):
    found = client.post("/api/load", {"name": f"../../{NASTY}.pbn", "text": CLUB})
    assert found.status == 200
    assert found.headers["content-type"] == "application/json"
    assert found.data["file"]["name"] == f"../../{NASTY}.pbn"[:80]
    error = client.post("/api/load", {"name": f"{NASTY}.pbn", "text": '[Deal "x'})
    assert error.status == 400
    assert json.loads(error.body)["error"]


def test_names_of_players_are_only_text(client):
    client.post("/api/load", {"name": "a.pbn", "text": CLUB.replace("Walt", NASTY.replace('"', "'"))})
    found = client.get("/api/state").data["file"]["boards"][0]
    assert found["names"][3] == NASTY.replace('"', "'")


def test_the_page_builds_text_only_and_names_nobody_outside():
    script = (PAGES / "play.js").read_text()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        'setAttribute("style',
    ):
        assert word not in script, word
    for name in ("index.html", "play.css", "play.js"):
        text = (PAGES / name).read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.[a-z]", text), name
    html = (PAGES / "index.html").read_text()
    assert not re.search(r"\son\w+=|<style|style=|<script(?! src=\"play.js\" defer></script>)", html)


# ---- bad company -----------------------------------------------------------------------------


def dialled(client, *lines):
    """A connection that has sent ``lines``."""
    peer = socket.create_connection(("127.0.0.1", client.server.server_port), 30)
    peer.sendall("\r\n".join(lines).encode("latin-1"))
    return peer


@pytest.mark.parametrize("target", [f"/?{'&'.join('abcdefghi')}", "http://[::1/x", "/?token=%"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_odd_addresses_are_answered(client, method, target, capfd):
    headers = (f"Host: {client.host}", f"Cookie: {client.cookie}", "Content-Type: application/json")
    with dialled(client, f"{method} {target} HTTP/1.1", *headers, "Content-Length: 2", "", "{}") as peer:
        status = peer.recv(4096).split()[1]
    assert status in ((b"400",) if target != "/?token=%" else (b"200", b"405"))
    assert client.get("/api/state").status == 200
    assert capfd.readouterr().err == ""


def test_a_body_is_not_read_before_the_key(client):
    """Thirty bodies of 4 MB that never end and no key hold next to no memory, and nobody up."""
    headers = (f"Host: {client.host}", "Content-Type: application/json", f"Content-Length: {MOST_BYTES}", "", "")
    tracemalloc.start()
    try:
        peers = [dialled(client, "POST /api/undo HTTP/1.1", *headers) for _ in range(30)]
        for peer in peers:
            peer.sendall(b" " * (MOST_BYTES - 1))
        assert client.get("/api/state").status == 200
        assert tracemalloc.get_traced_memory()[1] < 2 * MOST_BYTES
    finally:
        tracemalloc.stop()
    for peer in peers:
        peer.sendall(b" ")
        assert peer.recv(4096).split()[1] == b"403"
        peer.close()


def test_silent_connections_keep_nobody_out(client):
    """Neither those that say nothing nor those that have the key and stay where they are."""
    head = ("GET /api/state HTTP/1.1", f"Host: {client.host}", f"Cookie: {client.cookie}", "Connection: keep-alive")
    answered = [dialled(client, *head, "", "") for _ in range(100)]
    assert {peer.recv(4096).split()[1] for peer in answered} == {b"200"}
    silent = [dialled(client, *lines) for lines in ((), head[:3]) for _ in range(100)]
    assert client.get("/api/state").status == 200
    for peer in (*answered, *silent):
        peer.close()


def test_a_long_head_is_refused(client):
    for lines in (["X-Long: " + "x" * 70_000], [f"X-{k}: x" for k in range(200)]):
        with dialled(client, "GET / HTTP/1.1", f"Host: {client.host}", *lines, "", "") as peer:
            assert peer.recv(4096).split()[1] == b"431"


def test_who_hangs_up_leaves_no_traceback(client, capfd):
    gone = struct.pack("ii", 1, 0)  # close with a reset
    for lines in (
        [],
        ["GET /"],
        ["GET / HTTP/1.1", "", ""],
        ["GET /api/games HTTP/1.1", f"Host: {client.host}", f"Cookie: {client.cookie}", "", ""],
    ):
        for _ in range(5):
            peer = dialled(client, *lines)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, gone)
            peer.close()
    assert client.get("/api/state").status == 200
    client.server.shutdown()
    assert capfd.readouterr().err == ""


def test_requests_of_broken_bytes_are_refused_and_change_nothing(client, capfd):
    """Valid requests with bytes changed, left out and doubled, cut anywhere, or binary; some come byte by byte."""
    start(client)
    before, random = client.get("/api/state").data, Random(7)
    head = f"Host: {client.host}\r\nCookie: {client.cookie}\r\nContent-Type: application/json\r\n"
    late = json.dumps({"action": 3, "at": 99})  # a valid one changes nothing either
    whole = [
        f"GET /api/state HTTP/1.1\r\n{head}\r\n",
        f"GET /api/games?table=1 HTTP/1.1\r\n{head}\r\n",
        f"POST /api/act HTTP/1.1\r\n{head}Content-Length: {len(late)}\r\n\r\n{late}",
    ]
    statuses = set()
    for number in range(400):
        content = bytearray(random.choice(whole).encode())
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(content))
            piece = random.choice(
                [b"", b"\0", b"\r\n", b"\xff\xfe", b"%", b"{" * 50, bytes(content[place : place + 30])]
            )
            content[place : place + random.randint(0, 3)] = piece
        if number % 3 == 0:
            del content[random.randrange(len(content)) :]
        if number % 50 == 0:
            content = bytearray(random.randbytes(2000))
        with socket.create_connection(("127.0.0.1", client.server.server_port), 30) as peer, suppress(OSError):
            size = 1 if number % 40 == 1 else 4096
            for part in range(0, len(content), size):
                peer.sendall(content[part : part + size])
            peer.shutdown(socket.SHUT_WR)
            answer = peer.recv(4096)
            if answer.startswith(b"HTTP/1."):
                statuses.add(int(answer.split()[1]))
    assert {200, 403, 404} <= statuses and 500 not in statuses, statuses
    assert client.get("/api/state").data == before
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "others", ["a,b=1; {}", "{}; =; ;;", 'x="unfinished; {}', "é=ü; {}", "[1]={{}}; {}", "bidzoo_1=x; {}"]
)
def test_cookies_of_other_programs_lock_nobody_out(client, others):
    assert client.raw("GET", "/api/state", headers={"Cookie": others.format(client.cookie)}).status == 200
    assert client.raw("GET", "/api/state", headers={"Cookie": others.format("x=1")}).status == 403
    twice = f"{client.server.cookie}=old; {client.cookie}"
    assert client.raw("GET", "/api/state", headers={"Cookie": twice}).status == 200


def test_a_slip_of_an_agent_is_an_answer(client, monkeypatch):
    def slip(session, body):
        raise AttributeError("it has no hands")

    said = io.StringIO()  # a thread writes on after the answer
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.setitem(api.POST, "/api/undo", slip)
    found = client.post("/api/undo", {})
    assert (found.status, found.data["error"]) == (500, "a fault of the program: AttributeError: it has no hands")
    assert client.get("/api/state").status == 200
    began = time.monotonic()
    while "AttributeError: it has no hands" not in said.getvalue() and time.monotonic() - began < 30:
        time.sleep(0.01)
    assert "Traceback" in said.getvalue() and "AttributeError: it has no hands" in said.getvalue()


# ---- several tables --------------------------------------------------------------------------


def test_every_table_is_a_session_of_its_own(client):
    start(client)
    client.post("/api/act", {"action": 3, "at": 0})
    found = client.get("/table")
    assert (found.status, found.headers["location"]) == (303, "/?table=2")
    assert client.get("/?table=2").status == 200
    second = client.get("/api/state?table=2").data
    assert second["fresh"] and second["cursor"] == 0
    client.post("/api/new?table=2", {"game": "spades_v0", "seats": HUMANS, "seed": 3, "board": 0})
    assert client.get("/api/state?table=2").data["game"] == "spades_v0"
    assert client.get("/api/state").data["cursor"] == client.get("/api/state?table=1").data["cursor"] == 1


def test_there_are_only_so_many_tables(client, monkeypatch):
    monkeypatch.setattr(server, "MOST_TABLES", 3)
    for _ in range(3):
        assert client.get("/table").status == 303
    assert client.get("/api/state").status == 200
    assert "table '2' is not here" in client.get("/api/state?table=2").data["error"]
    for number in ("2", "0", "x", "9" * 5000, "-1"):
        assert client.get(f"/api/state?table={number}").status == 410
    assert client.raw("GET", "/table").status == 403
