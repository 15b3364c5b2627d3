"""The client of a server, with a package in place of ``openai``; the real one is in ``integrations``."""

import asyncio
import json
import sys
import types

import numpy as np
import pytest

import bidzoo
from bidzoo.language import OpenAI, read_action, replies, server

MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)


class FakeOpenAI(types.ModuleType):
    """What ``OpenAI`` uses of the package; ``answers`` are bodies, or errors that are raised."""

    class OpenAIError(Exception):
        pass

    class APIConnectionError(OpenAIError):
        pass

    class APIStatusError(OpenAIError):
        def __init__(self, status, message="no", **headers):
            super().__init__(message)
            self.status_code, self.message = status, message
            self.response = types.SimpleNamespace(headers=headers)

    def __init__(self, *answers):
        super().__init__("openai")
        self.answers, self.requests, self.made = list(answers), [], {}

    def DefaultAsyncHttpxClient(self, **options):  # noqa: N802  the package's name
        return options

    def AsyncOpenAI(self, **options):  # noqa: N802  the package's name
        self.made = options
        raw = types.SimpleNamespace(create=self.create)
        completions = types.SimpleNamespace(with_raw_response=raw)
        return types.SimpleNamespace(chat=types.SimpleNamespace(completions=completions))

    async def create(self, **request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return types.SimpleNamespace(content=answer)


def body(text, **usage):
    return json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode()


@pytest.fixture
def fake(monkeypatch):
    """Makes a client whose server gives ``answers``; the pauses that it makes stand in its ``pauses``."""

    def client(*answers, **options):
        package, pauses = FakeOpenAI(*answers), []

        async def sleep(seconds):
            pauses.append(seconds)

        monkeypatch.setitem(sys.modules, "openai", package)
        monkeypatch.setattr(server.asyncio, "sleep", sleep)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
        made = OpenAI("m", "http://127.0.0.1:1/v1", **options)
        made.package, made.pauses = package, pauses
        return made

    return client


ASKED = [{"role": "user", "content": "?"}]


def test_the_pauses_between_tries_double_and_have_an_end(fake):
    busy = FakeOpenAI.APIStatusError
    client = fake(*[busy(503)] * 8, body("2S", prompt_tokens=3, completion_tokens=1), tries=9)
    assert client(ASKED) == ("2S", 3, 1)
    assert client.pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]
    later = {"retry-after": "7"}, {"retry-after": "900"}, {"retry-after": "soon"}, {"retry-after": "0"}
    client = fake(*(busy(429, **headers) for headers in later), body("2S"))
    assert client(ASKED).text == "2S" and client.pauses == [7, 120, 2, 0]
    client = fake(*[busy(500)] * 3, tries=3)
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1/v1: status 500, no"):
        client(ASKED)
    assert client.pauses == [0.5, 1] and len(client.package.requests) == 3


@pytest.mark.parametrize(("status", "again"), [(400, 0), (401, 0), (404, 0), (408, 1), (409, 1), (429, 1), (500, 1)])
def test_which_statuses_are_tried_again(fake, status, again):
    client = fake(FakeOpenAI.APIStatusError(status), body("2S"), tries=2)
    if again:
        assert client(ASKED).text == "2S"
    else:
        with pytest.raises(ConnectionError, match=f"status {status}"):
            client(ASKED)
    assert len(client.pauses) == again


@pytest.mark.parametrize(
    "answer",
    [b"", b"{", b"[]", b"{}", b"7", b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}', b"[" * 99999],
)
def test_what_is_no_answer_is_asked_for_again(fake, answer):
    client = fake(answer, body("2S"))
    assert client(ASKED).text == "2S" and client.pauses == [0.5]
    client = fake(answer, tries=1)
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1/v1: ValueError, "):
        client(ASKED)


def test_servers_of_newer_models_name_the_greatest_length_otherwise(fake):
    """Asked again at once, and by that name from then on."""
    refusal = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    client = fake(FakeOpenAI.APIStatusError(400, refusal), body("2S"), body("1H"))
    assert (client(ASKED).text, client(ASKED).text) == ("2S", "1H") and not client.pauses
    names = [[name for name in request if name.startswith("max_")] for request in client.package.requests]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_where_no_server_is_is_told_with_what_to_do(fake):
    client = fake(FakeOpenAI.APIConnectionError("Connection error."), tries=1)
    with pytest.raises(ConnectionError, match=r"Is a server running there.* goes on where this one stopped"):
        client(ASKED)


def test_what_there_is_instead_of_a_reply_is_told(fake):
    for message, reason, told in (
        (
            {"content": "", "reasoning_content": "1S? 1H?"},
            "length",
            "the model only reasoned, up to the limit of most_tok",
        ),
        ({"content": None, "reasoning": "1S? 1H?"}, "stop", "the model only reasoned"),
        ({"content": "\n", "reasoning_content": "1S?"}, "stop", "the model only reasoned"),
        ({"content": None, "refusal": "I do not gamble"}, "stop", "the model refused, 'I do not gamble'"),
        ({"refusal": "No"}, "stop", "the model refused, 'No'"),
        ({"content": "", "tool_calls": [{}]}, "tool_calls", "the model called tools"),
        ({"content": ""}, "content_filter", "finish_reason 'content_filter'"),
    ):
        answer = json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()
        reading = read_action(MINIBRIDGE, fake(answer)(ASKED).text, np.ones(MINIBRIDGE.num_actions, np.int8))
        assert reading.action is None and reading.problem.startswith(f"there is no reply: {told}")
    said = json.dumps({"choices": [{"message": {"content": "2S", "reasoning_content": "1H?"}}]}).encode()
    assert fake(said)(ASKED).text == "2S"
    legal = np.ones(MINIBRIDGE.num_actions, np.int8)
    assert read_action(MINIBRIDGE, "<think>1S?</think>", legal).problem == "the reply holds thoughts alone"


def test_who_waits_for_a_server_says_so(fake, monkeypatch):
    """A line for a request that is made again, and one for the first slow reply; not many of either."""
    told = []
    busy = FakeOpenAI.APIStatusError
    client = fake(busy(429, "slow down", **{"retry-after": "40"}), busy(503), body("2S"), tell=told.append)
    assert client(ASKED).text == "2S" and client.pauses == [40, 1]
    assert told == ["http://127.0.0.1:1/v1: status 429, slow down; asked again in 40 s, 5 of 6 tries left"]
    told.clear()
    monkeypatch.setattr(server, "SLOW", 0.05)
    client, hurried = fake(timeout=90, tell=told.append), body("2S")

    async def slowly(**request):
        await asyncio.wait({asyncio.get_running_loop().create_task(asyncio.Event().wait())}, timeout=0.2)
        return types.SimpleNamespace(content=hurried)

    client._client.chat.completions.with_raw_response.create = slowly
    assert client(ASKED).text == client(ASKED).text == "2S"
    assert told == ["http://127.0.0.1:1/v1: no reply of m for 0.05 s; each may take 90 s, the timeout"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_seconds(fake, timeout):
    with pytest.raises(ValueError, match=f"timeout: {timeout}, expected seconds above 0"):
        fake(timeout=timeout)


def test_an_error_that_comes_as_an_answer_is_told(fake):
    client = fake(b'{"error": {"message": "no such model"}}', tries=1)
    with pytest.raises(ConnectionError, match=r"an answer without text, .*no such model"):
        client(ASKED)


def test_a_reply_that_was_cut_off_names_no_action(fake):
    """What it thought of is not what it wanted to do; a whole JSON object says that."""
    cut = b'{"choices": [{"message": {"content": %s}, "finish_reason": "length"}]}'
    for text, meant in (("1S shows spades. 1H would show hearts and I have", None), ('{"action": "1S"} since', 2)):
        reply = fake(cut % json.dumps(text).encode())(ASKED).text
        reading = read_action(MINIBRIDGE, reply, np.ones(MINIBRIDGE.num_actions, np.int8))
        assert reading.action == meant and (meant or reading.problem == "the reply was cut off before its end")


def test_the_key_is_cut_out_of_replies_and_errors(fake):
    client = fake(body("my key is sk-secret-4711: 2S"), FakeOpenAI.APIStatusError(401, "wrong: sk-secret-4711"))
    assert client.package.made["api_key"] == "sk-secret-4711"
    assert client(ASKED).text == "my key is [key]: 2S"
    with pytest.raises(ConnectionError, match=r"wrong: \[key\]"):
        client(ASKED)
    assert "sk-secret" not in repr(client.package.requests)


@pytest.mark.parametrize("place", [*range(30), *range(150, 200)])
def test_no_half_of_the_key_is_left_where_an_error_is_shortened(fake, place):
    said = "x" * place + "sk-secret-4711" + "y" * 600
    refused = json.dumps({"choices": [{"message": {"content": "", "refusal": said}}]}).encode()
    client = fake(FakeOpenAI.APIStatusError(400, said), json.dumps({"error": said}).encode(), refused, tries=1)
    for _ in range(2):
        with pytest.raises(ConnectionError) as caught:
            client(ASKED)
        assert "sk-se" not in str(caught.value)
    assert "sk-se" not in client(ASKED).text


def test_what_a_server_says_cannot_steer_a_terminal(fake, capsys):
    busy = FakeOpenAI.APIStatusError(429, "slow \x1b[2J down")
    assert fake(busy, body("2S"))(ASKED).text == "2S"
    assert "status 429, slow \\x1b[2J down; asked again" in capsys.readouterr().err


def test_tokens_that_are_none_are_not_known(fake):
    odd = body("2S \ud83d", prompt_tokens=1, completion_tokens=2).replace(b": 1,", b": " + b"9" * 21 + b",")
    assert fake(odd)(ASKED) == ("2S \ufffd", None, 2)
    assert fake(b'{"choices": [{"message": {"content": "2S \xf0\x9f"}}], "usage": []}')(ASKED) == (
        "2S \ufffd",
        None,
        None,
    )


def test_an_answer_has_a_greatest_size():
    class Stream:
        def __init__(self, *parts):
            self.parts, self.closed = parts, False

        async def __aiter__(self):
            for part in self.parts:
                yield part

        async def aclose(self):
            self.closed = True

    module = types.ModuleType("a_server_library")
    module.AsyncByteStream = object
    response_type = type("Response", (types.SimpleNamespace,), {"__module__": "a_server_library"})

    async def read(*parts, **headers):
        response = response_type(stream=Stream(*parts), headers=headers)
        response.aclose = response.stream.aclose
        await server._limit(response)
        return b"".join([part async for part in response.stream])

    sys.modules["a_server_library"] = module
    try:
        most = replies.MOST_REPLY
        assert len(asyncio.run(read(b"x" * (most - 1), b"y"))) == most
        with pytest.raises(server.TooLongError, match="more than 1,048,576 bytes"):
            asyncio.run(read(b"x" * most, b"y"))
        with pytest.raises(server.TooLongError, match="packed by 'gzip'"):
            asyncio.run(read(b"x", **{"content-encoding": "gzip"}))
    finally:
        del sys.modules["a_server_library"]
