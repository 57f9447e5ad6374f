"""Grading in the background for real: stopped, killed with its server and gone on with, and no override lost by it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from bugzoo.instructor.serve.access import Access
from bugzoo.instructor.serve.store import RUNNING, STOPPED, Store
from tests.instructor.class_of import clear_gradients
from tests.instructor.serve.conftest import NAME, PASSWORD, Client, graded, port_of, served, until

pytestmark = [pytest.mark.usefixtures("sandboxed"), pytest.mark.slow]


def hand_in(folder: Path) -> None:
    """The solution, a half-repair, no JSON, and as much as keeps the grader at work."""
    made = json.loads((folder / "student/week_3.ipynb").read_text())
    clear_gradients(made)
    solution = (folder / "instructor/solution.ipynb").read_text()
    texts = {"s1": solution, "s2": json.dumps(made), "s3": "{"} | {"z0": solution + " "}
    for student, text in texts.items():
        place = folder / "submitted" / student / "week_3"
        place.mkdir(parents=True)
        (place / "week_3.ipynb").write_text(text)


def states(folder: Path) -> dict[str, str]:
    with Store.open(folder) as store:
        return {record.student: record.state for record, _ in store.results().values()}


def begun(client: Client) -> bool:
    client.post("/grade")
    return json.loads(client.get("/progress").text)["state"] == RUNNING


def graders(folder: Path) -> list[list[str]]:
    """Command lines of the graders of this folder."""
    words = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    return [one for one in words if str(folder) in one and "bugzoo.instructor.serve.grader" in one]


def test_a_grading_from_its_beginning_to_its_end(folder: Path, tmp_path: Path) -> None:
    hand_in(folder)
    with Store.open(folder) as store:
        Access(store).add(NAME, PASSWORD)
    with served(folder, "--jobs", "1") as (process, address):
        client = Client(port_of(address))
        assert client.login().status == 303
        client.post("/read")
        client.post("/grade")
        assert json.loads(client.get("/progress").text)["state"] == RUNNING
        client.post("/grade")
        assert "running already" in client.get("/").text
        assert "set by hand" not in client.get("/").text
        client.post("/override", student="s2", points="6", reason="the idea was right")
        assert until(lambda: len(states(folder)) >= 1, 120)
        process.kill()  # the server, not the grader
        process.wait()
    assert until(lambda: not graders(folder), 60), "the grader leaves with its server"
    before = states(folder)
    assert len(before) < 4
    with Store.open(folder) as store:
        assert store.job().state == RUNNING
        kept = {number: at for number, (_, at) in store.results().items()}

    with served(folder, "--jobs", "1") as (process, address):
        client = Client(port_of(address), client.cookies | {})
        client.login()
        job = json.loads(client.get("/progress").text)
        assert job["state"] == RUNNING, "it goes on by itself"
        with Store.open(folder) as store:
            assert until(lambda: store.job().total == 4)
        assert until(lambda: len(states(folder)) > len(before), 120)
        client.post("/stop")
        assert json.loads(client.get("/progress").text)["state"] == STOPPED
        assert "What was graded is kept" in client.get("/").text
        assert until(lambda: begun(client)), "its last runs end first: no second grading beside them"
        assert len(graders(folder)) == 1
        assert graded(client)["state"] == "done"
        assert states(folder) == {
            "s1": "passed", "s2": "wrong", "s3": "cannot be graded", "z0": "passed",
        }  # fmt: skip
        with Store.open(folder) as store:
            again = store.results()
            assert {number: again[number][1] for number in kept if again[number][0].student != "s3"} == {
                number: at for number, at in kept.items() if again[number][0].student != "s3"
            }, "nothing is graded twice"
        page = client.get("/student?id=s2").text
        assert "the idea was right" in page and "<strong>6</strong> of 10 points" in page and "What was seen" in page
        assert "not valid JSON" in client.get("/").text
        own = {name: client.get(f"/feedback.html?id={name}").text for name in ("s1", "s2", "s3")}
        assert all("<svg" in own[name] and "Your run came to its end" in own[name] for name in ("s1", "s2"))
        assert "<svg" not in own["s3"] and "6 of 10 points" in own["s2"]

        client.post("/grade", student="s2", fresh="1")
        assert graded(client)["state"] == "done"
        with Store.open(folder) as store:
            number = next(one.id for one in store.last() if one.student == "s2")
            assert store.results()[number][1] >= again[number][1] and store.job().total == 1
        assert "<strong>6</strong> of 10 points" in client.get("/student?id=s2").text, (
            "no grading takes an override back"
        )
        assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("bugzoo-serve-*"))


def test_a_key_that_cannot_be_read_fails_the_grading_and_not_the_page(folder: Path) -> None:
    hand_in(folder)
    with Store.open(folder) as store:
        Access(store).add(NAME, PASSWORD)
    with served(folder) as (process, address):
        client = Client(port_of(address))
        client.login()
        client.post("/read")
        (folder / "instructor/key.json").write_text("{}")
        client.post("/grade")
        assert graded(client)["state"] == "failed"
        assert "it is no answer key" in client.get("/").text
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_the_grader_alone(folder: Path) -> None:
    """A job that has ended is not begun again by a process that comes late."""
    with Store.open(folder) as store:
        number = store.begin(NAME)
        store.end(number, STOPPED)
    words = [sys.executable, "-m", "bugzoo.instructor.serve.grader", str(folder), str(number), "1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.wait(120) == 0 and states(folder) == {}
