"""An assignment's folder without a proof, a real server of it in a process of its own, and somebody who asks over a socket."""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest

from bugzoo.instructor import Assignment, write
from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.store import Store
from tests.instructor.class_of import written_proof

NAME, PASSWORD = "ada", "eleven small ducks"
ROSTER = {
    "s1": {"first_name": "Zoë", "last_name": "O'Neill, <b>bold</b>"},
    "s2": {"first_name": "", "last_name": "", "name": "محمد علي"},
    "s3": {"first_name": "=cmd|' /C calc'!A0", "last_name": "Ming", "email": "ming@example.org"},
}


def with_roster(folder: Path) -> Path:
    """The roster is put into the manifest by hand: real variants would take a proof for each."""
    path = folder / "instructor/manifest.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"students": ROSTER}))
    return folder


@pytest.fixture(scope="session")
def unproved(small: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_roster(write(written_proof(small), tmp_path_factory.mktemp("unproved") / "week_3"))


@pytest.fixture
def folder(unproved: Path, tmp_path: Path) -> Path:
    """A folder of one's own, with a roster of three and nobody who may log in."""
    return Path(shutil.copytree(unproved, tmp_path / "week_3"))


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Client:
    """Cookies are kept, forms get their token; nothing else is done for whoever asks."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    token: str = ""

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(
            method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        got = connection.getresponse()
        answer = Answer(got.status, got.headers, got.read())
        connection.close()
        for line in got.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        if found := re.search(rb'name="_xsrf" value="([^"]+)"', answer.body):
            self.token = found[1].decode()
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, token: str | None = None, **fields: str) -> Answer:
        values = fields | ({} if token == "" else {"_xsrf": token or self.token})
        return self.ask("POST", path, urlencode(values).encode(), Content_Type="application/x-www-form-urlencoded")

    def upload(self, name: str, data: bytes, student: str = "", token: str | None = None) -> Answer:
        mark, head = "----bugzoo", "Content-Disposition: form-data; name="
        fields = {"student": student, "_xsrf": self.token if token is None else token}
        body = b"".join(f'--{mark}\r\n{head}"{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items())
        body += f'--{mark}\r\n{head}"files"; filename="{name}"\r\n\r\n'.encode() + data + f"\r\n--{mark}--\r\n".encode()
        answer = self.ask("POST", "/upload", body, Content_Type=f"multipart/form-data; boundary={mark}")
        return self.get("/") if answer.status == 303 else answer

    def login(self, name: str = NAME, password: str = PASSWORD) -> Answer:
        self.get("/login")
        answer = self.post("/login", name=name, password=password)
        if answer.status == 303:
            self.get("/")
        return answer


@contextmanager
def served(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`bugzoo classroom serve` and its address."""
    words = [
        sys.executable,
        "-m",
        "bugzoo",
        "classroom",
        "serve",
        str(folder),
        *(more if "--port" in more else ("--port", "0", *more)),
        "--json",
    ]
    log = (folder.parent / "serve.log").open("a+")
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    try:
        said = ""
        while (line := process.stdout.readline()) and line.rstrip() != "}":
            said += line
        assert said, (folder.parent / "serve.log").read_text()
        yield process, json.loads(said + "}")["address"]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
        log.close()


def port_of(address: str) -> int:
    return int(address.rstrip("/").rsplit(":", 1)[1])


@pytest.fixture
def server(folder: Path) -> Iterator[Callable[[], Client]]:
    """Makes clients of a server on `folder`, where one may log in."""
    with Store.open(folder) as store:
        Access(store).add(NAME, PASSWORD)
    with served(folder) as (_, address):
        yield lambda: Client(port_of(address))


@pytest.fixture
def inside(server: Callable[[], Client]) -> Client:
    """Somebody who has logged in."""
    client = server()
    assert client.login().status == 303
    return client


def until(true: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it becomes true in this time."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.2)
    return true()


def graded(client: Client, seconds: float = 300) -> dict:
    """Waits for the end of a grading."""
    assert until(lambda: json.loads(client.get("/progress").text)["state"] != "running", seconds)
    return json.loads(client.get("/progress").text)
