"""Language models with the real packages: a server of OpenAI's protocol, ``verifiers``, OpenEnv, SmolLM2.

All traffic stays on loopback. ``make test-language`` runs these tests in an environment of their own.
"""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import bidzoo
from bidzoo import language
from bidzoo.benchmarks.match import play
from bidzoo.language import LanguageAgent, OpenAI, Seat

pytestmark = pytest.mark.integration
KEY = "sk-secret-4711"
MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)


def completion(text, **fields):
    message = {"role": "assistant", "content": text}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", **fields}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body["usage"] = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    return json.dumps(body).encode()


@contextmanager
def serving(*answers):
    """A server that gives ``answers`` one after the other, the last one for ever; yields its URL and the requests.

    An answer is a text, bytes of a body, a status, or a function of the handler.
    """
    requests, left = [], list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, dict(self.headers), json.loads(content)))
            answer = left.pop(0) if len(left) > 1 else left[0]
            if callable(answer):
                return answer(self)
            status = answer if isinstance(answer, int) else 200
            body = completion(answer) if isinstance(answer, str) else answer if isinstance(answer, bytes) else b"{}"
            return self.send(body, status)

        def send(self, body, status=200, length=None, **headers):
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(language.server, "_PAUSE", 0.01)


ASK = [{"role": "user", "content": "Your action?"}]


# ---- a server of OpenAI's protocol ---------------------------------------------------------


def test_a_reply_and_its_tokens():
    with serving("1NT") as (url, requests):
        assert OpenAI("m", url, Seat(temperature=0.5, most_tokens=9))(ASK, seed=7) == ("1NT", 11, 3)
    path, headers, body = requests[0]
    headers = {name.lower(): value for name, value in headers.items()}
    assert path == "/v1/chat/completions" and headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept-encoding"] == "identity"
    assert body == {"messages": ASK, "model": "m", "temperature": 0.5, "max_tokens": 9, "seed": 7}


def test_constrained_replies_ask_for_structured_outputs():
    with serving('{"action": "2S"}') as (url, requests):
        agent = LanguageAgent(MINIBRIDGE, OpenAI("m", url), seat=Seat(constrained=True))
        play(MINIBRIDGE, [agent, "random"], [0])
    schema = requests[0][2]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["action"]["enum"] == ["P", "1H", "1S", "2H", "2S"]


def cut(handler):
    handler.send(b'{"id"', length=1000)
    handler.close_connection = True
    handler.connection.close()


def too_many(handler):
    handler.send(b'{"error": {"message": "slow down"}}', 429, Retry_After="0.05")


def slowly(handler):
    """One byte at a time, so that no single read takes long."""
    body = completion("1NT")
    handler.send(b"", length=len(body))
    for byte in body:
        time.sleep(0.1)
        try:
            handler.wfile.write(bytes([byte]))
        except OSError:
            return


WRONG = [b"{", b"[]", b"{}", b'"text"', b'{"choices": []}', b'{"choices": [{"message": null}]}', b"\xff\xfe", b""]


@pytest.mark.parametrize("answer", [500, 503, 408, too_many, cut, slowly, *WRONG], ids=str)
def test_a_request_without_an_answer_is_made_again(answer):
    with serving(answer, "1NT") as (url, requests):
        assert OpenAI("m", url, timeout=0.5)(ASK).text == "1NT"
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (500, "status 500"),
        (too_many, "status 429.*slow down"),
        (slowly, r"no whole answer within 0\.3 s"),
        (cut, ""),
        (b"{", "JSON"),
        (b"[]", "expected a chat completion"),
    ],
)
def test_errors_name_the_address(answer, problem):
    with serving(answer) as (url, requests), pytest.raises(ConnectionError, match=f"{url}: .*{problem}"):
        OpenAI("m", url, timeout=0.3, tries=2)(ASK)
    assert len(requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_cannot_get_better_is_not_tried_again(status):
    with serving(status) as (url, requests), pytest.raises(ConnectionError, match=f"status {status}"):
        OpenAI("m", url)(ASK)
    assert len(requests) == 1


def endless(handler):
    """A body without an end, as fast as it is read."""
    handler.send(b"", length=10**12)
    with suppress(OSError):
        while True:
            handler.wfile.write(b" " * 65536)


def packed(handler):
    import gzip

    handler.send(gzip.compress(completion("2S")), Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("answer", "problem", "times"),
    [
        (completion("x" * 2**21), "TooLongError, an answer of more than 1,048,576 bytes", 1),
        (endless, "TooLongError, an answer of more than 1,048,576 bytes", 1),
        (lambda handler: handler.send(b"e" * 2**21, 400), "TooLongError, an answer of more than 1,048,576 bytes", 1),
        (packed, "TooLongError, an answer packed by 'gzip', expected none", 1),
        (b'{"choices": ' + b"[" * 100_000, "not JSON .lists and objects 65 deep", 2),
    ],
    ids=["long", "endless", "long error", "packed", "deep"],
)
def test_an_answer_has_a_greatest_size(answer, problem, times):
    from resource import RUSAGE_SELF, getrusage

    before = getrusage(RUSAGE_SELF).ru_maxrss
    with serving(answer) as (url, requests), pytest.raises(ConnectionError, match=f"{url}: .*{problem}"):
        OpenAI("m", url, tries=2, timeout=20)(ASK)
    assert len(requests) == times and getrusage(RUSAGE_SELF).ru_maxrss - before < 150_000  # KiB; the server's are in it


def test_a_paid_answer_is_kept_whatever_is_odd_in_it(tmp_path):
    odd = completion("2S \ud83d", usage=None).replace(b'"prompt_tokens": 11', b'"prompt_tokens": ' + b"9" * 30)
    other = b'{"choices": [{"message": {"content": "2S \xff"}}], "usage": 7}'
    with serving(odd, other) as (url, _), language.Seated(["openai:m"], url, ledger=tmp_path / "ledger") as seated:
        seated.game = MINIBRIDGE
        play(MINIBRIDGE, ["openai:m", "random"], np.arange(40))
    with language.Seated([f"ledger:{tmp_path / 'ledger'}"]) as seated:
        (ledger,) = seated._ledgers.values()
        decisions = [*ledger.done.values()]
    assert {decision.replies for decision in decisions} == {("2S \ufffd",)} and len(decisions) > 1
    assert {decision.asked_tokens for decision in decisions} == {(None,)}


def test_nobody_there():
    with serving("1NT") as (url, _):
        pass
    with pytest.raises(ConnectionError, match=url):
        OpenAI("m", url, tries=2)(ASK)


def test_the_key_is_in_no_error_reply_or_ledger(tmp_path, caplog, capsys):
    caplog.set_level("DEBUG")

    def tells(handler):
        handler.send(json.dumps({"error": {"message": f"wrong key {handler.headers['Authorization']}"}}).encode(), 401)

    with serving(f"my key is {KEY}: 2S", tells) as (url, _):
        seated = language.Seated(["openai:m"], url, ledger=tmp_path / "ledger")
        with seated, pytest.raises(ConnectionError, match=r"wrong key Bearer \[key\]") as error:
            seated.game = MINIBRIDGE
            play(MINIBRIDGE, ["openai:m", "random"], np.arange(100))
    kept = (tmp_path / "ledger").read_text()
    assert "my key is [key]: 2S" in kept
    chain, problem = "", error.value
    while problem is not None:
        chain, problem = chain + repr(problem), problem.__context__
    for text in (kept, chain, caplog.text, capsys.readouterr().out):
        assert KEY not in text


@pytest.mark.parametrize(
    "url", ["http://user:pass@127.0.0.1/v1", "http://127.0.0.1/v1?key=1", "127.0.0.1", "ftp://x/v1"]
)
def test_addresses_with_keys_are_refused(url):
    with pytest.raises(ValueError, match="expected http://host/path without user") as error:
        OpenAI("m", url)
    assert "pass" not in str(error.value).replace("password", "")


def test_a_match_on_the_command_line_and_its_replay(tmp_path, capsys):
    from bidzoo.cli.main import app

    def run(*words):
        app(["match", *words, "--boards", "3"], standalone_mode=False)
        return capsys.readouterr().out.splitlines()

    ledger, first, second = (tmp_path / name for name in ("ledger.jsonl", "a.jsonl", "b.jsonl"))
    with serving("7NT or not", "pass") as (url, requests):
        played = run("openai:m", "sayc", "--base-url", url, "--ledger", str(ledger), "--out", str(first))
        count = len(requests)
        again = run("openai:m", "sayc", "--base-url", url, "--ledger", str(ledger))
        assert len(requests) == count
    assert played[0] == f"openai:m is asked at {url}; answers are kept in {ledger}"
    assert played[1].startswith("m against sayc: ") and "IMPs on 3 boards" in played[1]
    assert "replies not legal" in played[2] and "11 + 3 tokens a reply" in played[2]
    replayed = run(f"ledger:{ledger}", "sayc", "--out", str(second))
    assert replayed[:2] == played[1:3] == again[1:3]
    assert first.read_bytes() == second.read_bytes()


def test_an_entry_of_a_leaderboard_is_verified_by_its_ledger(tmp_path, capsys, monkeypatch):
    from dataclasses import replace

    from bidzoo.benchmarks import leaderboard
    from bidzoo.cli.main import app

    small = replace(leaderboard.CHALLENGES["bridge-2026"], boards=4, opponents=("sayc",))
    monkeypatch.setitem(leaderboard.CHALLENGES, "bridge-2026", small)
    ledger, entry = tmp_path / "ledger.jsonl", tmp_path / "entry.json"
    with serving("pass") as (url, _):
        options = ["--base-url", url, "--ledger", str(ledger), "--json", str(entry)]
        app(["leaderboard", "enter", "bridge-2026", "openai:m", *options], standalone_mode=False)
    app(["leaderboard", "verify", str(entry), "--agent", f"ledger:{ledger}"], standalone_mode=False)
    assert "against sayc: 4 of 4 boards the same" in capsys.readouterr().out


# ---- environments for training -------------------------------------------------------------


def test_an_episode_of_verifiers():
    import asyncio

    import verifiers.v1 as vf

    from bidzoo.wrappers.verifiers import ID, BoardsConfig, BoardsEnvConfig

    def climbs(handler):
        handler.send(
            completion("1H" if handler.server.calls % 3 == 0 else "what?" if handler.server.calls % 3 == 1 else "P")
        )
        handler.server.calls += 1

    async def episodes(url):
        taskset = BoardsConfig(id=ID, game="minibridge_v0", options={"size": 2}, seats=[0, 1], boards=3)
        env = vf.load_environment(BoardsEnvConfig(taskset=taskset))
        client = vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY")
        context = vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig())
        async with env.serving():
            return [await env.run_episode(task, context) for task in env.taskset]

    ThreadingHTTPServer.calls = 0
    with serving(climbs) as (url, requests):
        finished = asyncio.run(episodes(url))
    assert [len(episode.traces) for episode in finished] == [2, 2, 2], finished[0].errors
    for board, episode in enumerate(finished):
        assert episode.ok, [trace.errors for trace in episode.traces]
        rewards = play(MINIBRIDGE, [FirstHeart()] * 2, [board]).reward
        opener, partner = sorted(episode.traces, key=lambda trace: trace.info["player"])
        assert [opener.reward, partner.reward] == rewards[0].tolist()
        assert opener.num_turns == 1 and partner.num_turns == 2  # its first reply named no action
    seats = {body["messages"][1]["content"].splitlines()[0] for _, _, body in requests}
    assert seats == {"you are: player_0", "you are: player_1"}
    for _, _, body in requests:  # a conversation of one seat never has the other's
        players = {
            line for message in body["messages"] for line in message["content"].splitlines() if "you are" in line
        }
        assert len(players) == 1


@pytest.mark.parametrize("answer", [400, 500, b"{", b"[]", b"\xff\xfe", "", "what?"], ids=str)
def test_a_model_of_verifiers_that_makes_no_sense(answer):
    """What is no reply is an error of the episode; replies that name no action get the lowest reward."""
    import asyncio

    import verifiers.v1 as vf

    from bidzoo.wrappers.verifiers import ID, BoardsConfig, BoardsEnvConfig

    async def episode(url):
        taskset = BoardsConfig(id=ID, game="minibridge_v0", options={"size": 2}, seats=[0], others="random", boards=1)
        env = vf.load_environment(BoardsEnvConfig(taskset=taskset))
        client = vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY")
        context = vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig())
        async with env.serving():
            return await env.run_episode(next(iter(env.taskset)), context)

    with serving(answer) as (url, _):
        finished = asyncio.run(episode(url))
    (trace,) = finished.traces
    if isinstance(answer, str) and answer:
        assert finished.ok and trace.reward == MINIBRIDGE.reward_range[0]
    else:
        assert trace.reward in (0.0, MINIBRIDGE.reward_range[0])
        assert trace.errors or trace.reward == MINIBRIDGE.reward_range[0]


class FirstHeart:
    """1H, and a pass where that is not legal: what ``climbs`` says."""

    name = "1H"

    def act(self, views, legal, rng):
        return np.where(legal[:, 1] > 0, 1, 0)


@contextmanager
def table_server(app):
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def test_an_episode_of_openenv():
    from openenv.core import GenericEnvClient

    from bidzoo.wrappers.openenv import server

    app = server("bridge_bidding_v0", seats=["North", "South"], others="sayc", reward="par")
    game = bidzoo.make_game("bridge_bidding_v0", reward="par")
    with table_server(app) as url, GenericEnvClient(base_url=url).sync() as client:
        for board in range(3):
            result = client.reset(seed=5, board=board)
            questions = []
            while not result.done:
                questions.append(result.observation)
                assert "P" in result.observation["legal"]
                result = client.step({"reply": "I pass"})
            episode = play(game, ["pass", "sayc", "pass", "sayc"], [board], seed=5, policy_seed=5)
            assert result.observation["rewards"] == episode.reward[0].tolist()
            assert result.reward == result.observation["rewards"][questions[-1]["player"]]
            assert {each["player"] for each in questions} <= {0, 2}
        assert client.state()["step_count"] == len(questions)
        result = client.reset(seed=5, board=0)
        for _ in range(3):
            result = client.step({"reply": "8NT"})
        assert result.done and result.reward == game.reward_range[0]
        result = client.reset(options={"dealer": "E", "vulnerability": "both"}, actions="P 1NT")
        assert result.observation["player"] == 0 and "vulnerable: everybody" in result.observation["question"]
        assert "auction: East P, South 1NT, West" in result.observation["question"]


def test_a_client_of_openenv_that_makes_no_sense():
    """The wrong order, wrong types, a seed that is none: each is refused in words, and the session goes on."""
    from openenv.core import GenericEnvClient

    from bidzoo.wrappers.openenv import TableAction, TableEnvironment, server
    from bidzoo.wrappers.text import TextTable

    game = bidzoo.make_game("bridge_bidding_v0", reward="par")
    environment = TableEnvironment(TextTable(game, ["North", "South"], "sayc"))
    with pytest.raises(ValueError, match=r"the board is over: call reset\(\)"):
        environment.step(TableAction(reply="P"))
    question = environment.reset(seed=5).question
    for wrong in ({"seed": -1}, {"seed": 2**70}, {"board": -1}, {"board": 2**70}):
        with pytest.raises(ValueError, match="expected"):
            environment.reset(**wrong)
    with pytest.raises(ValueError, match="the model is asked nothing from this position on"):
        environment.reset(actions="P P P P")
    environment.reset(seed=5)
    assert environment.reset(board=0).question == question  # of the seed before
    first = environment.reset()
    assert environment.state.episode_id == "5/1" and first.question != question

    app = server("bridge_bidding_v0", seats=["North", "South"], others="sayc", reward="par")
    with table_server(app) as url:
        for wrong in ({"reply": 3}, {"words": "P"}, {"reply": "P", "more": [1]}, {}):
            with GenericEnvClient(base_url=url).sync() as client:
                client.reset(seed=5)
                with pytest.raises(Exception, match=r"(?i)valid|error"):
                    client.step(wrong)
        with GenericEnvClient(base_url=url).sync() as client:
            assert client.reset(seed=5, board=0).observation["question"] == question


# ---- a real model --------------------------------------------------------------------------


def test_smollm2_plays_a_match_and_is_replayed(tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "training" / "scripts"))
    from language_model import SmolLM

    from bidzoo.benchmarks.match import duplicate
    from bidzoo.core.storage import Ledger
    from bidzoo.language import Decision, Question

    game, model = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False), SmolLM(most_tokens=8)
    for seat in (Seat(constrained=True), Seat(tries=2)):
        path = tmp_path / f"{seat.constrained}.jsonl"
        with Ledger(path, Question, Decision) as ledger:
            agent = LanguageAgent(game, model, "SmolLM2-135M", seat, ledger, at_once=1)
            played = duplicate(game, agent, "sayc", np.arange(1))
        assert agent.usage.decisions > 0 and agent.usage.tokens("asked_tokens") > 100
        assert agent.usage.illegal == 0 if seat.constrained else agent.usage.replies >= agent.usage.decisions
        with Ledger(path, Question, Decision) as ledger:
            again = duplicate(game, LanguageAgent(game, None, "SmolLM2-135M", seat, ledger), "sayc", np.arange(1))
        assert played.imps.tolist() == again.imps.tolist()
