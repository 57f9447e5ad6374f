"""`bugzoo classroom`: who may log in, what it refuses, and how it ends."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.store import Store
from tests.instructor.serve.conftest import NAME, PASSWORD, Client, port_of, served


def called(*words: object, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bugzoo", "classroom", *map(str, words)],
        input=given, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_users(folder: Path) -> None:
    done = called("serve", folder)
    assert done.returncode == 2 and f"bugzoo classroom user add NAME {folder}" in done.stderr
    done = called("user", "add", NAME, folder, "--password-stdin", given=PASSWORD + "\n")
    assert done.returncode == 0 and "ada may log in" in done.stdout and "ducks" not in done.stdout
    for words, given, said in (
        ((NAME,), PASSWORD, "There is a user ada already"),
        (("ben",), "short\n", "has 5 characters"),
        (("ben",), "", "has 0 characters"),
        (("a/b",), PASSWORD, "no name for a user"),
    ):
        done = called("user", "add", *words, folder, "--password-stdin", given=given)
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    done = called("user", "add", "ben", folder, given=PASSWORD)
    assert done.returncode == 2 and "--password-stdin" in done.stderr
    assert [one["name"] for one in json.loads(called("user", "list", folder, "--json").stdout)] == [NAME]
    assert called("user", "remove", "ben", folder).returncode == 2
    assert called("user", "remove", NAME, folder).returncode == 0
    assert called("serve", folder).returncode == 2, "nobody is left"


def test_asked_at_a_terminal(folder: Path) -> None:
    """Twice and unseen; what differs is not kept."""
    for second, code in (("another long one", 2), (PASSWORD, 0)):
        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.executable, [sys.executable, "-m", "bugzoo", "classroom", "user", "add", NAME, str(folder)])
        said = b""
        for word, typed in ((b"Password for ada: ", PASSWORD), (b"Once more: ", second)):
            while word not in said:
                said += os.read(terminal, 1000)
            time.sleep(0.2)  # getpass turns the echo off and throws away what was typed before
            os.write(terminal, typed.encode() + b"\n")
        try:
            while more := os.read(terminal, 1000):
                said += more
        except OSError:  # the terminal's other end is closed
            pass
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code, said
        assert b"ducks" not in said
    with Store.open(folder) as store:
        assert [one["name"] for one in Access(store).users()] == [NAME]


@pytest.mark.parametrize("words", [("serve",), ("user", "list"), ("user", "remove", "ada"), ("user", "add", "ada")])
def test_folders_that_are_none(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = called(*words, tmp_path)
    assert done.returncode == 2 and "holds no answer key" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_one_server_a_folder_and_a_port(folder: Path) -> None:
    with Store.open(folder) as store:
        Access(store).add(NAME, PASSWORD)
    with served(folder) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        done = called("serve", folder, "--port", "0")
        assert done.returncode == 2 and "is served already" in done.stderr
        # a user who is added or removed meanwhile counts at once
        assert called("user", "add", "ben", folder, "--password-stdin", given="another long one").returncode == 0
        client = Client(port_of(address))
        assert client.login("ben", "another long one").status == 303 and client.get("/").status == 200
        assert called("user", "remove", "ben", folder).returncode == 0
        assert client.get("/").status == 302
        port = port_of(address)
        client = Client(port)
        client.login()
        kept = dict(client.cookies)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    with served(folder, "--port", str(port)) as (_, address):
        again = Client(port, kept)
        assert again.get("/").status == 200, "who had logged in still is"
        other = folder.with_name("other")
        subprocess.run(["cp", "-r", folder, other], check=True)
        done = called("serve", other, "--port", port)
        assert done.returncode == 2 and "Say another --port" in done.stderr


def test_help_loads_no_torch() -> None:
    code = (
        "import sys\nfrom bugzoo.cli import main\n"
        "try:\n    main(['classroom', 'serve', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('torch', 'tornado', 'jinja2', 'sqlite3') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.rstrip().endswith("[]"), done.stdout
