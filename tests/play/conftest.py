"""A client of the play page's server that speaks plain HTTP."""

import http.client
import json
from typing import NamedTuple

import pytest

from bidzoo.play.server import PlayServer


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self):
        return json.loads(self.body)


class Client:
    def __init__(self, server: PlayServer) -> None:
        self.server, self.session = server, server.table("")
        self.host = f"127.0.0.1:{server.server_port}"
        self.cookie = f"{server.cookie}={server.token}"

    def raw(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Exactly these headers beside Host and Content-Length; a ``Host`` given replaces ours."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = {"Host": self.host, **(headers or {})}
            if body is not None and not {"Content-Length", "Transfer-Encoding"} & set(given):
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders()
            if body:
                connection.send(body)
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.raw("GET", path, headers={"Cookie": self.cookie})

    def post(self, path: str, data: object) -> Answer:
        kind = {"Cookie": self.cookie, "Content-Type": "application/json"}
        return self.raw("POST", path, json.dumps(data).encode(), kind)


@pytest.fixture
def client(play_server):
    return Client(play_server)
