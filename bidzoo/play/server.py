"""The page's server: a few fixed files and a JSON interface, for the people who know the printed address.

A request must name this server in ``Host`` (an address or localhost, against DNS rebinding), come from its own page
(``Origin``, if given), and carry the token that the printed address holds, which the first answer turns into a cookie.
All that is checked before a body is read. Nothing a client sends is ever used as a path; answers forbid scripts and
pictures from elsewhere. Every table is a session of its own, by its number in the address (``?table=2``).
"""

import ipaddress
import json
import secrets
import socket
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from threading import Lock
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from bidzoo.envs.picture import SUIT_COLORS, outline_path
from bidzoo.play import api
from bidzoo.play.session import Session, StaleError

PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/play.css": ("play.css", "text/css; charset=utf-8"),
    "/play.js": ("play.js", "text/javascript; charset=utf-8"),
}
MOST_BYTES = 4 << 20  # of a request's body
PIECE = 16 << 10  # bytes of a refused body read at once
MOST_TABLES = 32
MOST_FIELDS = 8  # in an address
EXPECTED = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, ImportError, OSError)  # from agents
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusedError(Exception):
    """A request is refused, with this status and text."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class PlayServer(ThreadingHTTPServer):
    """Serves tables, each a session of its own; ``url`` is what to open.

    Of more than ``MOST_TABLES`` the one goes that was left alone longest; the first stays. A connection is one request,
    so none is held by who has nothing to ask.
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # where two servers would share the port
    request_queue_size = 64

    def __init__(self, host: str = "127.0.0.1", port: int = 0, session: Session | None = None) -> None:
        """Bind now, on a free port if ``port`` is 0; OSError if it is taken."""
        self.host, self.token = host, secrets.token_urlsafe(24)
        self._lock = Lock()
        self._tables = {1: session or Session()}  # by number; the one asked for last at the end
        self._last_table = 1
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)
        self.cookie = f"bidzoo_{self.server_port}"  # cookies are shared by all ports of a host

    def server_bind(self) -> None:
        """Bind without asking any name server what we are called, as ``http.server`` would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.host, self.server_address[1]

    # ---- tables ---------------------------------------------------------------------------------

    def table(self, number: str) -> Session:
        """The session of table ``number``, by default the first; KeyError if there is none."""
        with self._lock:
            key = int(number or "1") if len(number) < 10 and (number or "1").isdecimal() else 0
            if key not in self._tables:
                raise KeyError(f"table {number[:20]!r} is not here (any more); open another one")
            self._tables[key] = self._tables.pop(key)
            return self._tables[key]

    def open_table(self) -> int:
        """The number of a new table."""
        session = Session()
        with self._lock:
            self._last_table += 1
            self._tables[self._last_table] = session
            if len(self._tables) > MOST_TABLES:
                del self._tables[next(number for number in self._tables if number > 1)]
            return self._last_table

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up; a slip of ours needs its traceback."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address with the token."""
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"http://{host}:{self.server_port}/?token={self.token}"

    def knows(self, host: str) -> bool:
        """``host`` (of a ``Host`` header) is an address, localhost or the name we were started with, and our port."""
        try:
            parts = urlsplit(f"//{host}")
            if (name := parts.hostname or "") not in ("localhost", self.host.lower()):
                ipaddress.ip_address(name)
            port = parts.port or 80
        except ValueError:
            return False
        extra = parts.path or parts.query or parts.fragment or parts.username is not None
        return port == self.server_port and not extra


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: PlayServer
    server_version, sys_version = "bidzoo", ""
    timeout = 20  # seconds without a byte
    error_content_type, error_message_format = "text/plain", "%(code)d %(message)s\n"  # of malformed requests

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the person who plays."""

    def do_GET(self) -> None:
        """Send a file of the page, or data."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Change a table, or ask an agent."""
        self._answer(self._post)

    # ---- requests -------------------------------------------------------------------------------

    def _get(self) -> None:
        url, fields = self._address()
        token = fields.get("token", "")
        if url.path == "/" and token and self._is_token(token):
            cookie = f"{self.server.cookie}={self.server.token}; Path=/; HttpOnly; SameSite=Strict"
            self._send(HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": "/", "Set-Cookie": cookie})
            return
        self._check_token()
        if url.path in PAGE:
            name, kind = PAGE[url.path]
            self._send(HTTPStatus.OK, (files("bidzoo.play") / "page" / name).read_bytes(), kind)
        elif url.path == "/icon.svg":
            self._send(HTTPStatus.OK, _icon().encode(), "image/svg+xml")
        elif url.path == "/table":  # the cookie is ``SameSite=Strict``, so no other page opens tables
            self._send(HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": f"/?table={self.server.open_table()}"})
        else:
            self._run(api.GET, url.path, fields, {})

    def _post(self) -> None:
        length = self._length()
        try:
            url, fields = self._address()
            self._check_token()
            self._check_kind()
        except RefusedError:
            self._throw_away(length)
            raise
        try:
            data = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError) as problem:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the body is not JSON") from problem
        if not isinstance(data, dict):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        self._run(api.POST, url.path, fields, data)

    def _run(self, routes: dict[str, api.Route], path: str, fields: dict[str, str], body: dict[str, Any]) -> None:
        if path not in routes:
            other = api.GET if routes is api.POST else api.POST
            if path in other or (path in PAGE and routes is api.POST):
                raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "this address takes another method")
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
        try:
            session = self.server.table(fields.get("table", ""))
        except KeyError as problem:
            raise RefusedError(HTTPStatus.GONE, _words(problem)) from problem
        try:
            result = routes[path](session, api.Body(body))
            result = api.page(session) if result is None else result
        except StaleError as problem:
            raise RefusedError(HTTPStatus.CONFLICT, str(problem)) from problem
        except EXPECTED as problem:
            raise RefusedError(HTTPStatus.BAD_REQUEST, _words(problem)) from problem
        self._json(HTTPStatus.OK, result)

    def _address(self) -> tuple[SplitResult, dict[str, str]]:
        """Path and query fields of the request."""
        try:
            url = urlsplit(self.path)
            fields = parse_qs(url.query, max_num_fields=MOST_FIELDS)
        except ValueError as problem:
            raise RefusedError(HTTPStatus.BAD_REQUEST, f"the address cannot be read: {_words(problem)}") from problem
        return url, {name: values[0] for name, values in fields.items()}

    def _length(self) -> int:
        """Bytes of the body."""
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not length.isascii() or not length.isdecimal():
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 12 or int(length) > MOST_BYTES:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MOST_BYTES >> 20} MB")
        return int(length)

    def _check_kind(self) -> None:
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise RefusedError(HTTPStatus.FORBIDDEN, "this request comes from another page")
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")

    def _throw_away(self, length: int) -> None:
        """Read a refused body, a piece at a time, and keep nothing: who is still sending would not hear the answer."""
        while length > 0 and (piece := self.rfile.read(min(length, PIECE))):
            length -= len(piece)

    # ---- who may ask ----------------------------------------------------------------------------

    def _check_host(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not self.server.knows(hosts[0]):
            raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "this server is not known by that name")

    def _check_token(self) -> None:
        """Find our token among the cookies of all programs on this machine, which may look like anything."""
        pairs = (
            part.strip().partition("=") for line in self.headers.get_all("Cookie") or [] for part in line.split(";")
        )
        if not any(name == self.server.cookie and self._is_token(value) for name, _, value in pairs):
            raise RefusedError(HTTPStatus.FORBIDDEN, "open the address that `bidzoo play` printed: it holds the key")

    def _is_token(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.server.token.encode())

    # ---- answers --------------------------------------------------------------------------------

    def _answer(self, work: Callable[[], None]) -> None:
        try:
            self._check_host()
            work()
        except RefusedError as refused:
            self._json(refused.status, {"error": refused.text})
        except OSError:
            raise  # it hung up
        except Exception as problem:
            fault = f"a fault of the program: {type(problem).__name__}: {_words(problem)}"
            self._json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": fault})
            raise

    def _json(self, status: HTTPStatus, data: dict[str, Any]) -> None:
        self._send(status, json.dumps(data, allow_nan=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **(extra or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _icon() -> str:
    """A spade, as our pictures draw it."""
    path = f'<path fill="{SUIT_COLORS[3]}" d="{outline_path(3)}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.55 -0.55 1.1 1.1">{path}</svg>'


def _words(problem: Exception) -> str:
    """An exception's text; ``KeyError`` would add quotes."""
    return str(problem.args[0] if isinstance(problem, KeyError) and problem.args else problem)[:2000]
