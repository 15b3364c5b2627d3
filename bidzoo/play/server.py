"""The page's server: a few fixed files and a JSON interface, for one person on this machine.

A request must name this server in ``Host`` (an address or localhost, against DNS rebinding), come from its own page
(``Origin``, if given), and carry the token that the printed address holds, which the first answer turns into a cookie.
Nothing a client sends is ever used as a path; answers forbid scripts and pictures from elsewhere.
"""

import ipaddress
import json
import secrets
import socket
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bidzoo.envs.picture import SUIT_COLORS, outline_path
from bidzoo.play import routes
from bidzoo.play.session import Session, StaleError

PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/play.css": ("play.css", "text/css; charset=utf-8"),
    "/play.js": ("play.js", "text/javascript; charset=utf-8"),
}
MOST_BYTES = 4 << 20  # of a request's body
EXPECTED = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, ImportError, OSError)  # of any agent
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
    """An answer that is no success: status and what to say."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class PlayServer(ThreadingHTTPServer):
    """Serves one session; ``url`` is what to open."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str = "127.0.0.1", port: int = 0, session: Session | None = None) -> None:
        """Bind now, on a free port if ``port`` is 0; OSError if it is taken."""
        self.host, self.session, self.token = host, session or Session(), secrets.token_urlsafe(24)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)
        self.cookie = f"bidzoo_{self.server_port}"  # cookies are shared by all ports of a host

    def server_bind(self) -> None:
        """Bind without asking any name server what we are called, as ``http.server`` would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.host, self.server_address[1]

    @property
    def url(self) -> str:
        """The address with the token."""
        shown = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        shown = f"[{shown}]" if ":" in shown and not shown.startswith("[") else shown
        return f"http://{shown}:{self.server_port}/?token={self.token}"

    def knows(self, host: str) -> bool:
        """``host`` (of a ``Host`` header) is an address, localhost or the name we were started with, and our port."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if parts.username is not None or parts.path or parts.query or parts.fragment or port != self.server_port:
            return False
        return name in ("localhost", self.host.lower()) or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: PlayServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "bidzoo", ""
    timeout = 60  # seconds without a byte
    error_content_type, error_message_format = "text/plain", "%(code)d %(message)s\n"  # of malformed requests

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the person who plays."""

    def do_GET(self) -> None:
        """A file of the page or something to know."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Something to do."""
        self._answer(self._post)

    # ---- what is asked --------------------------------------------------------------------------

    def _get(self) -> None:
        url = urlsplit(self.path)
        given = parse_qs(url.query, max_num_fields=8).get("token", [""])[0]
        if url.path == "/" and given and self._is_token(given):
            self._send(HTTPStatus.SEE_OTHER, b"", "text/plain", {"Location": "/", "Set-Cookie": self._cookie()})
            return
        self._check_token()
        if url.path in PAGE:
            name, kind = PAGE[url.path]
            self._send(HTTPStatus.OK, (files("bidzoo.play") / "page" / name).read_bytes(), kind)
            return
        if url.path == "/icon.svg":
            self._send(HTTPStatus.OK, _icon().encode(), "image/svg+xml")
            return
        self._run(routes.GET, url.path, {})

    def _post(self) -> None:
        body = self._body()
        self._check_token()
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise RefusedError(HTTPStatus.FORBIDDEN, "this request comes from another page")
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as problem:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the body is not JSON") from problem
        if not isinstance(data, dict):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        self._run(routes.POST, urlsplit(self.path).path, data)

    def _run(self, known: dict[str, routes.Route], path: str, body: dict[str, Any]) -> None:
        if path not in known:
            other = routes.GET if known is routes.POST else routes.POST
            if path in other or (path in PAGE and known is routes.POST):
                raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "this address takes another method")
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is nothing here")
        try:
            found = routes.answer(known[path], self.server.session, body)
        except StaleError as problem:
            raise RefusedError(HTTPStatus.CONFLICT, str(problem)) from problem
        except EXPECTED as problem:
            raise RefusedError(HTTPStatus.BAD_REQUEST, _words(problem)) from problem
        self._json(HTTPStatus.OK, found)

    def _body(self) -> bytes:
        """All of the body, read before anything is refused, so that the connection stays in step."""
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not length.isascii() or not length.isdecimal():
            self.close_connection = True
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 12 or int(length) > MOST_BYTES:
            self.close_connection = True
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MOST_BYTES >> 20} MB")
        return self.rfile.read(int(length))

    # ---- who asks -------------------------------------------------------------------------------

    def _check_host(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not self.server.knows(hosts[0]):
            raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "this server is not known by that name")

    def _check_token(self) -> None:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError as problem:
            raise RefusedError(HTTPStatus.FORBIDDEN, "the cookie cannot be read") from problem
        morsel = cookies.get(self.server.cookie)
        if morsel is None or not self._is_token(morsel.value):
            raise RefusedError(HTTPStatus.FORBIDDEN, "open the address that `bidzoo play` printed: it holds the key")

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.server.token.encode())

    def _cookie(self) -> str:
        return f"{self.server.cookie}={self.server.token}; Path=/; HttpOnly; SameSite=Strict"

    # ---- answers --------------------------------------------------------------------------------

    def _answer(self, work: Any) -> None:
        try:
            self._check_host()
            work()
        except RefusedError as refused:
            if self.command == "POST" and refused.status == HTTPStatus.MISDIRECTED_REQUEST:
                self.close_connection = True  # its body was not read
            self._json(refused.status, {"error": refused.text})
        except ConnectionError:
            self.close_connection = True

    def _json(self, status: HTTPStatus, data: dict[str, Any]) -> None:
        self._send(status, json.dumps(data, allow_nan=False).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
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
