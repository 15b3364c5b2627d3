"""A server that speaks OpenAI's protocol; its package is the extra ``bidzoo[language]``."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from bidzoo.core.schema import answered_json, shortened, shown, visible
from bidzoo.core.storage import Closing
from bidzoo.language.questions import AS_USUAL, Message, Seat
from bidzoo.language.replies import CUT_OFF, MOST_REPLY, NO_REPLY, Reply, sound_reply

_OLDER, _NEWER = "max_tokens", "max_completion_tokens"  # names of the same field
_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds before a second try, doubled each time
TIMEOUT = 120.0  # seconds for a whole reply
SLOW = 8.0  # seconds after which a reply is slow, and between two lines that say what is waited for


def to_stderr(text: str) -> None:
    """Print ``text``, in which a server may have written what steers a terminal."""
    print(visible(text), file=sys.stderr)


def _seconds_until(after: str) -> float | None:
    """What ``Retry-After`` asks for, which is a number of seconds or a date; None if it is neither."""
    if re.fullmatch(r"\d+(\.\d+)?", after):
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


class OpenAI(Closing):
    """``complete`` of a model behind an address that speaks OpenAI's protocol: OpenAI, vLLM, llama.cpp, Ollama.

    Args:
        model: its name there.
        base_url: address, ``http://localhost:8080/v1``; default: ``OPENAI_BASE_URL``, else OpenAI's own.
        seat: how it is asked.
        timeout: seconds within which a whole reply must be there, and at most of a pause that the server asks for
            (``Retry-After``); pauses of our own double up to 30.
        tries: of a request that gets no answer, status 429 or 5xx, or something else than an answer.
        tell: is told, a line each, that a request is made again, after which pause and why, and once that a reply takes
            longer than ``SLOW`` seconds; default: standard error. Not more than a line in ``SLOW`` seconds.

    The key is ``OPENAI_API_KEY`` of the environment. It is nowhere kept, and cut out of every error and reply.

    Raises:
        ValueError: an address with a user or a password, or that is none; a ``timeout`` that is not above 0.
        ConnectionError: no answer after ``tries``, a status such as 401, or an answer of more than ``MOST_REPLY``
            bytes; names the address.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        seat: Seat = AS_USUAL,
        timeout: float = TIMEOUT,
        tries: int = 6,
        tell: Callable[[str], object] = to_stderr,
    ):
        import openai

        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout: {timeout}, expected seconds above 0")
        self.model, self.seat, self.timeout, self.tries = model, seat, timeout, tries
        self._tell, self._told, self._slow = tell, -math.inf, False  # when the last line was; whether a reply was slow
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        place = urlsplit(self.base_url)
        if place.scheme not in ("http", "https") or not place.hostname or "@" in place.netloc or place.query:
            raise ValueError(
                "base URL: expected http://host/path without user, password and query; keys come from the environment"
            )
        self._most_tokens = _OLDER  # most servers know this name alone; newer models of OpenAI ask for the other one
        self._key = os.environ.get("OPENAI_API_KEY") or "none"
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self._key,
            max_retries=0,
            timeout=timeout,
            default_headers={"Accept-Encoding": "identity"},  # what is packed may be of any size
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_limit]}),
        )
        self._loop = asyncio.new_event_loop()  # one for all threads that ask: a client belongs to its loop
        self._thread = threading.Thread(target=self._loop.run_forever, name="language", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End what is being asked, and the thread that asks."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        requests = asyncio.all_tasks() - {asyncio.current_task()}
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await self._client.close()

    def __call__(self, messages: Sequence[Message], choices: Sequence[str] = (), seed: int | None = None) -> Reply:
        """The reply to ``messages``; one of ``choices`` as JSON where there are some (Structured Outputs)."""
        request = {"model": self.model, "messages": list(messages), "temperature": self.seat.temperature}
        request |= {self._most_tokens: self.seat.most_tokens} | ({} if seed is None else {"seed": seed})
        if choices:
            fields = {"action": {"enum": list(choices)}}
            schema = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
            form = {"name": "action", "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    async def _ask(self, request: dict[str, Any]) -> Reply:
        import openai

        problem, pause = "", _PAUSE
        for left in range(self.tries - 1, -1, -1):
            wait = min(pause, _LONGEST_PAUSE)
            try:
                slow = asyncio.get_running_loop().call_later(SLOW, self._is_slow)
                try:
                    async with asyncio.timeout(self.timeout):
                        answer = await self._client.chat.completions.with_raw_response.create(**request)
                        content = self._clean(answer.content.decode("utf-8", "replace"))
                        return self._reply(answered_json(content.encode(), "the answer"))
                finally:
                    slow.cancel()
            except openai.APIStatusError as error:
                problem = f"status {error.status_code}, {error.message}"
                if error.status_code == 400 and _NEWER in error.message and _OLDER in request:
                    self._most_tokens, request[_NEWER] = _NEWER, request.pop(_OLDER)
                    continue
                if error.status_code == 401:
                    problem += " The key is taken from OPENAI_API_KEY."
                if error.status_code not in (408, 409, 429) and error.status_code < 500:
                    break
                asked = _seconds_until(error.response.headers.get("retry-after", ""))
                wait = wait if asked is None else min(asked, self.timeout)
            except TimeoutError:
                problem = f"no whole answer within {self.timeout:g} s, the timeout (--timeout, timeout=)"
            except (openai.OpenAIError, ValueError) as error:  # no connection, one cut off, or no JSON
                cause = error.__cause__ if isinstance(error.__cause__, TooLongError) else error
                problem = f"{type(cause).__name__}, {cause}"
                if isinstance(error, openai.APIConnectionError) and cause is error:
                    problem += " Is a server running there? The same command goes on where this one stopped."
                if isinstance(cause, TooLongError):
                    break
            if left:
                self._say(f"{problem}; asked again in {wait:g} s, {left} of {self.tries} tries left")
                await asyncio.sleep(wait)
            pause *= 2
        raise ConnectionError(f"{self.base_url}: {shortened(self._clean(problem))}") from None

    def _is_slow(self) -> None:
        """Say once, that a reply takes its time: with a slow model they all do."""
        if not self._slow:
            self._slow = True
            self._say(f"no reply of {self.model} for {SLOW:g} s; each may take {self.timeout:g} s, the timeout")

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if now - self._told >= SLOW:  # several requests at a time meet the same trouble
            self._told = now
            self._tell(f"{self.base_url}: {shortened(self._clean(text))}")

    def _reply(self, answer: Any) -> Reply:
        """The reply in an ``answer``, a JSON value of any kind; ValueError if it is none.

        Where the content is empty, ``NO_REPLY`` with what there is instead: a refusal, reasoning, calls of tools.
        """
        try:
            choice = answer["choices"][0]
            message = dict(choice["message"])
        except (KeyError, IndexError, TypeError, ValueError):
            choice, message = {}, {}
        text, is_cut = message.get("content", 0), choice.get("finish_reason") == "length"
        has_text = isinstance(text, str) and bool(text.strip())
        instead = "" if has_text else self._instead(message, choice.get("finish_reason"), is_cut)
        if not isinstance(text, str | None) and not instead:
            said = answer.get("error") if isinstance(answer, dict) else None
            raise ValueError(f"an answer without text{f', {shown(said)}' if said else ''}, expected a chat completion")
        text = NO_REPLY % instead if instead else (text or "") + CUT_OFF * is_cut
        usage = answer.get("usage")
        counts = [
            usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")
        ]
        return sound_reply(Reply(self._clean(text), *counts), self.model)

    def _instead(self, message: dict[str, Any], reason: Any, is_cut: bool) -> str:
        """What ``message`` has in place of content, and the reason why it ended; "" if it has nothing."""
        limit = f", up to the limit of most_tokens = {self.seat.most_tokens} (finish_reason length)" if is_cut else ""
        if message.get("refusal"):
            return f"the model refused, {shown(message['refusal'])}{limit}"
        if message.get("reasoning_content") or message.get("reasoning"):
            return f"the model only reasoned{limit}"
        if message.get("tool_calls"):
            return f"the model called tools, of which there are none{limit}"
        return f"finish_reason {shown(reason)}" if reason not in (None, "stop", "length") else ""

    def _clean(self, text: str) -> str:
        """``text`` without the key: before it is shortened, for half a key is no less of a secret."""
        return text.replace(self._key, "[key]") if len(self._key) > len("none") else text


class TooLongError(ValueError):
    """An answer of more bytes than a reply has, or packed."""


async def _limit(response: Any) -> None:
    """See to it that no more than ``MOST_REPLY`` bytes of a server's response are read, of an error's too."""
    httpx = sys.modules[type(response).__module__.partition(".")[0]]  # newer versions of openai use httpx2

    class Limited(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in stream:
                size += len(part)
                if size > MOST_REPLY:
                    raise TooLongError(f"an answer of more than {MOST_REPLY:,} bytes")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    if (packed := response.headers.get("content-encoding", "identity")) != "identity":
        await response.aclose()
        raise TooLongError(f"an answer packed by {packed[:40]!r}, expected none")
    stream, response.stream = response.stream, Limited()
