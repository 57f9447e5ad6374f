"""What a script writes under `checkup` stays away from its folder, which is afterwards as it was, times included."""

import hashlib
import http.server
import importlib.util
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo.diagnostics.checkup import checkup
from bugzoo.running import Job, overlay, run_worker
from tests.running.writers import RESUMING, WRITERS, joined

pytestmark = pytest.mark.slow
NEEDED = {"tqdm": "tqdm", "TensorBoard": "tensorboard"}
EVERYTHING = [one for name, one in WRITERS.items() if name not in NEEDED or importlib.util.find_spec(NEEDED[name])]


@pytest.fixture(scope="session")
def overlays() -> None:
    run = run_worker(Job("pass", overlay=True, watch=False))
    if run.writes is None or not run.writes.apart:
        pytest.skip(f"no overlays here: {run.writes and run.writes.why}")


class Asked(list[str]):
    """What a server on the loopback was asked for."""

    port = 0


@pytest.fixture
def requests() -> Iterator[Asked]:
    log = Asked()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            log.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        log.port = server.server_port
        yield log
        server.shutdown()


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Each file and folder with its kind, size, time and content."""
    entries = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        entries[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return entries


def script(folder: Path, source: str, port: int) -> Path:
    """A folder in which a bare run has been before, with a script that writes."""
    folder.mkdir(exist_ok=True)
    file = folder / "train.py"
    file.write_text(source.replace("PORT", str(port)))
    process = subprocess.run([sys.executable, file.name], cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    (folder / "once.txt").unlink(missing_ok=True)  # a file that mode "x" makes
    return file


@pytest.mark.usefixtures("overlays")
def test_everything_at_once_leaves_the_folder_as_it_was(
    tmp_path: Path, requests: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, scratch = overlay.second_place, list[Path]()

    def second_place(own: Path) -> Path | None:
        place = usual(own)
        scratch.extend(folder for folder in (own, place) if folder is not None)
        return place

    monkeypatch.setattr(overlay, "second_place", second_place)
    file = script(tmp_path / "mine", joined(EVERYTHING), requests.port)
    before, bare = state(file.parent), list(requests)
    report = checkup(file, budget=60)
    assert report.run is not None and report.run.outcome == "finished", report.run and report.run.trace.error
    assert report.steps == 24 and report.run.writes is not None and report.run.writes.apart
    assert report.run.writes.bytes > 10_000 and "/sh" not in report.run.writes.outward.get("refused", "")
    assert state(file.parent) == before
    assert requests[len(bare) :] == bare, "the server was asked for what one run asks"
    assert scratch and not any(place.exists() for place in scratch), "scratch is taken away"


@pytest.mark.sampled(0)
@pytest.mark.usefixtures("overlays")
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("budget", [None, 120])
def test_each_leaves_the_folder_as_it_was(tmp_path: Path, requests: Asked, name: str, budget: float | None) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    file = script(tmp_path / "mine", WRITERS[name].source, requests.port)
    before, bare = state(file.parent), len(requests)
    assert checkup(file, budget=budget).outcome == "nothing"
    assert state(file.parent) == before and len(requests) == 2 * bare


@pytest.mark.usefixtures("overlays")
def test_a_script_that_goes_on_where_it_ended_is_no_unseeded_one(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(RESUMING)
    report = checkup(file)
    assert report.outcome == "nothing", str(report)
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["rows of a table", "best and last", "sqlite", "a program", "memmap"])
def test_without_namespaces_nothing_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The folder is then as after a bare run, and what was left out says why."""
    (tmp_path / "bare").mkdir()
    bare = tmp_path / "bare" / "train.py"
    bare.write_text(WRITERS[name].source)
    subprocess.run([sys.executable, bare.name], cwd=bare.parent, check=True, capture_output=True)
    monkeypatch.setenv("BUGZOO_NO_OVERLAY", "1")
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "train.py"
    file.write_text(WRITERS[name].source)
    report = checkup(file)
    assert report.run is not None and report.run.writes is not None and not report.run.writes.apart
    assert {path.name for path in bare.parent.iterdir()} == {path.name for path in file.parent.iterdir()}
    for path in bare.parent.iterdir():
        if path.suffix != ".db":  # a database has counters of its own
            assert path.read_bytes() == (file.parent / path.name).read_bytes(), path.name
    left_out = {item["instrument"]: item["why"] for item in report.not_checked}
    assert "wrote" in left_out["overfit_one_batch"] or "started" in left_out["overfit_one_batch"], left_out
    assert "overfit_one_batch" in left_out and "determinism" in left_out


LOST = (
    WRITERS["lines of JSON"]
    .source.replace("y[rows])\n", "y[rows]) + (torch.log(net(x[rows]).sum() * 0) if step == 9 else 0)\n")
    .replace(
        "        optimizer.zero_grad()\n", "        open('early.txt', 'a').write('x')\n        optimizer.zero_grad()\n"
    )
)
"""The loss is nan from step 10 on; something is written before backward() as well, where the step is repeated."""


def test_nor_is_the_step_at_which_a_number_was_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere it is run once more, to find the operation; and here not even that, as its row would be written twice."""
    monkeypatch.setenv("BUGZOO_NO_OVERLAY", "1")
    (tmp_path / "train.py").write_text(LOST)
    report = checkup(tmp_path / "train.py")
    assert report.run is not None and report.run.outcome == "non_finite", report.run
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 24
    assert (tmp_path / "early.txt").read_text() == 24 * "x"
    event = report.run.trace.earliest("non_finite")
    assert event is not None and event.data.get("op") is None


def test_a_script_that_writes_nothing_is_repeated_also_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_NO_OVERLAY", "1")
    (tmp_path / "train.py").write_text(joined([]))
    report = checkup(tmp_path / "train.py")
    left_out = {item["instrument"] for item in report.not_checked}
    assert not left_out & {"overfit_one_batch", "determinism"}, report.not_checked


def test_exit_handlers_run_last_and_threads_are_waited_for(tmp_path: Path) -> None:
    text = (
        "import atexit, threading, time\nprint('a')\natexit.register(lambda: print('d'))\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('c'))).start()\nprint('b')\n"
    )
    run = run_worker(Job(text, overlay=True, watch=False))
    assert run.stdout.split() == ["a", "b", "c", "d"]


AFTERWARDS = """
import atexit, subprocess, urllib.request
def late():
    for what in (lambda: urllib.request.urlopen("http://127.0.0.1:PORT/late", timeout=5),
                 lambda: subprocess.run(["true"])):
        try:
            what()
        except Exception as error:
            print("refused" if "bugzoo" in str(error) else error)
atexit.register(late)
"""


def test_what_an_exit_handler_would_send_is_said_and_not_sent(requests: Asked) -> None:
    run = run_worker(Job(AFTERWARDS.replace("PORT", str(requests.port)), overlay=True, watch=False))
    assert run.stdout.split() == ["refused", "refused"] and requests == []
    assert run.writes is not None and "connects to" in run.writes.outward["refused"]


def test_a_place_that_cannot_be_covered_is_said(tmp_path: Path) -> None:
    """Without a second place for what is written to the folder that holds the first one, nothing is covered by halves."""
    message = overlay.tried(tmp_path, tmp_path, None)
    assert "second folder" in message


def test_the_record_of_a_worker_that_was_gone_at_once(tmp_path: Path) -> None:
    from bugzoo.running.writes import SAID, Writes

    assert not Writes.of(tmp_path, None).apart
    (tmp_path / SAID).write_text(json.dumps({"apart": True, "read_only": ["/mnt"]}))
    assert Writes.of(tmp_path, None) == Writes(True, read_only=("/mnt",))


@pytest.mark.usefixtures("overlays")
def test_what_is_kept_is_what_a_bare_run_leaves(tmp_path: Path) -> None:
    """Rows that experiments append are not in it, and what an exit handler writes is."""
    some = ("rows of a table", "lines of JSON", "logging", "best and last", "memmap", "rename", "a cache made anew")
    text = joined([WRITERS[name] for name in (*some, "an exit handler", "mode x", "sqlite")])
    (tmp_path / "bare").mkdir()
    bare = tmp_path / "bare" / "train.py"
    bare.write_text(text)
    subprocess.run([sys.executable, bare.name], cwd=bare.parent, check=True, capture_output=True)
    file = tmp_path / "train.py"
    file.write_text(text)
    report = checkup(file, keep=tmp_path / "kept")
    assert report.run is not None and report.run.writes is not None and report.run.writes.kept
    copies = {
        path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*") if path.is_file()
    }
    there = {path.relative_to(bare.parent).as_posix() for path in bare.parent.rglob("*") if path.is_file()}
    assert {name for name in copies if not name.startswith("outside/")} == there - {"train.py"}
    for name in there - {"train.py", "runs.db"}:
        assert (tmp_path / "kept" / name).read_bytes() == (bare.parent / name).read_bytes(), name
    rows = sqlite3.connect(tmp_path / "kept" / "runs.db").execute("SELECT count(*) FROM loss").fetchone()
    assert rows == (24,)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare", "kept", "train.py"]


@pytest.mark.sampled(0)
@pytest.mark.usefixtures("overlays")
def test_what_is_kept_was_copied_before_the_step_of_a_nan_was_repeated(tmp_path: Path) -> None:
    """Half of a file has been read line by line as well, which then tells no position."""
    (tmp_path / "words.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "train.py").write_text(f"words = open('words.txt')\nnext(words)\n{LOST}")
    report = checkup(tmp_path / "train.py", keep=tmp_path / "kept")
    assert report.run is not None and report.run.outcome == "non_finite"
    event = report.run.trace.earliest("non_finite")
    assert event is not None and event.data.get("op") == "log", "the step was run again"
    assert len((tmp_path / "kept" / "runs.jsonl").read_text().splitlines()) == 24
    assert (tmp_path / "kept" / "early.txt").read_text() == 24 * "x"


def test_a_folder_that_others_may_write_to_is_left_to_the_mode_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel cannot copy a file of another user, so that its overlay would refuse what a bare run may do."""
    (tmp_path / "log.csv").write_text("")
    owner = (tmp_path / "log.csv").stat().st_uid
    monkeypatch.setattr(overlay.os, "geteuid", lambda: owner + 1)
    assert overlay.foreign(str(tmp_path)) == str(tmp_path)
    assert overlay.impossible(str(tmp_path)) == f"{tmp_path} belongs to another user and can be written"
    monkeypatch.setattr(overlay.os, "geteuid", lambda: owner)
    assert overlay.foreign(str(tmp_path)) == ""


WORKERS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, num_workers=2)
print(sum(len(x) for (x,) in loader))
"""


def test_what_loader_workers_need_is_no_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_NO_OVERLAY", "1")
    run = run_worker(Job(WORKERS, overlay=True, watch=False))
    assert run.stdout.split() == ["64"] and run.writes is not None and run.writes.outward == {}


TRIED = """
import sys, tempfile
from pathlib import Path
from bugzoo.running.outward import Outward
tempfile.tempdir = None  # as in a process in which nothing has asked for it yet
outward = Outward(Path(sys.argv[1]), True)
tempfile.gettempdir()
print(sorted(outward.said - {"started"}))
"""


def test_looking_for_a_temporary_folder_is_no_writing(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", TRIED, tmp_path], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


SECOND = """
import socket
print("before")
try:
    socket.create_connection(("127.0.0.1", PORT), timeout=5).close()
except PermissionError as error:
    print(error)
"""


def test_a_further_run_connects_to_nothing(requests: Asked) -> None:
    """Even where it would and the first one did not; else such a script is not run again at all."""
    job = Job(SECOND.replace("PORT", str(requests.port)), overlay=True, watch=False)
    assert run_worker(job).stdout == "before\n"
    printed = run_worker(replace(job, closed=True)).stdout
    assert "this is a further run of the script; what connects to" in printed
