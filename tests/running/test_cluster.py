"""A real Dask scheduler with two workers in processes of their own, one of which is killed half-way: nothing is lost."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bugzoo.errors import UserError
from bugzoo.running.cluster import connected

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # distributed's own, on shutting down
WORKER = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]


class Cluster:
    """One scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        place = folder / "scheduler.json"
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(place))
        self.address = self.wait_for(lambda: place.exists() and self._read(place))

    def _read(self, place: Path) -> str:
        try:
            return json.loads(place.read_text())["address"]
        except (ValueError, KeyError):
            return ""

    def start(self, kind: str, *words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words]
        own = os.environ | {"BUGZOO_CACHE": str(self.folder / f"cache-{len(self.processes)}")}
        with open(self.folder / f"{kind}-{len(self.processes)}.log", "wb") as log:
            self.processes.append(subprocess.Popen(command, env=own, stdout=log, stderr=log, cwd=self.folder))
        return self.processes[-1]

    def workers(self, count: int) -> list[subprocess.Popen]:
        started = [self.start("worker", self.address, *WORKER) for _ in range(count)]
        with distributed.Client(self.address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(count, timeout=120)
        return started

    def wait_for(self, thing: Callable[[], Any]) -> Any:
        end = time.monotonic() + 120
        while not (found := thing()):
            assert time.monotonic() < end and all(process.poll() is None for process in self.processes)
            time.sleep(0.1)
        return found


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with made_cluster(tmp_path) as made:
        yield made


@contextlib.contextmanager
def made_cluster(folder: Path) -> Iterator[Cluster]:
    made = Cluster(folder)
    try:
        yield made
    finally:
        for process in reversed(made.processes):
            process.send_signal(signal.SIGTERM)
        for process in made.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Killer:
    """A progress that kills a worker once something is done."""

    def __init__(self, victim: subprocess.Popen) -> None:
        self.victim, self.told = victim, []

    def __call__(self, done: int, of: int) -> None:
        self.told.append((done, of))
        if done == 2:
            self.victim.kill()
            self.victim.wait()


def test_verify_gives_the_same_table(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bugzoo.proving.verify import verify

    def prove(**more: Any) -> Any:
        return verify(["loss/double_softmax", "loop/stale_gradients"], ["mlp"], seeds=(0, 1, 2), **more)

    killer = Killer(cluster.workers(2)[0])
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "there"))
    with connected(cluster.address) as executor:
        there = prove(executor=executor, progress=killer)
    assert killer.victim.poll() is not None and killer.told[-1] == (9, 9) and there.ok
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "here"))
    assert there.to_json()["cells"] == prove().to_json()["cells"]


def test_check_gives_the_same_results(cluster: Cluster) -> None:
    from bugzoo.grading.exercises import load
    from bugzoo.proving.check import prove_one
    from bugzoo.proving.trials import trials
    from bugzoo.running.pool import run_all

    def told(result: dict[str, Any]) -> dict[str, Any]:
        return {name: result[name] for name in ("status", "share", "failed")}

    mine = [one for one in trials(load("10_restless_loss")) if one.kind in ("unsolved", "solution", "attack")][:5]
    killer, done = Killer(cluster.workers(2)[0]), []
    with connected(cluster.address) as executor:
        there = run_all(
            prove_one, mine, executor=executor, on_done=lambda *one: (done.append(one), killer(len(done), len(mine)))
        )
    assert killer.victim.poll() is not None
    assert [told(one) for one in there] == [told(one) for one in run_all(prove_one, mine)]


EXERCISE = "10_restless_loss"
ROOT = Path(__file__).parents[2]


def hand_in_class(folder: Path) -> None:
    """Three solutions, what was handed out, half a change, and a program that is no Python."""
    folder.mkdir()
    for student, room in {"ada": "solutions", "bob": "exercises", "eve": "solutions", "joe": "solutions"}.items():
        shutil.copy(ROOT / room / f"{EXERCISE}.ipynb", folder / f"{student}.ipynb")
    for student, old, new in (
        ("kim", "epochs = ", "epochs = 1 + "),
        ("lea", "%%program Training", "%%program Training\\n)("),
    ):
        text = (ROOT / "exercises" / f"{EXERCISE}.ipynb").read_text()
        assert text.count(old) == 1
        (folder / f"{student}.ipynb").write_text(text.replace(old, new))


def grade(folder: Path, out: Path, *more: str) -> subprocess.Popen:
    """`bugzoo grade` as it is typed, with its table, gradebook and results below `out`."""
    out.mkdir()
    places = ["--results", out / "kept", "--csv", out / "book.csv", "--json", out / "all.json"]
    command = [sys.executable, "-m", "bugzoo", "grade", folder, "--assignment", EXERCISE, *places, *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    own = os.environ | {"COLUMNS": "200", "BUGZOO_CACHE": str(out / "cache")}
    return subprocess.Popen([*map(str, command)], env=own, text=True, **pipes)


def outcome(out: Path) -> tuple[str, dict[str, Any]]:
    """The gradebook as it is, and what came of each student but for how long it took."""
    found = json.loads((out / "all.json").read_text())["students"]
    for one in found:
        for part in (one["repair"] or {}), (one["diagnosis"] or {}):
            part.pop("seconds", None)
    return (out / "book.csv").read_text(), {one["student"]: one for one in found}


def at_work(worker: subprocess.Popen) -> list[psutil.Process]:
    """All processes below a worker while a submission runs there: the warm one, its supervisor, and the script below that."""
    generation = below = psutil.Process(worker.pid).children()
    try:
        for _ in range(2):
            generation = [child for process in generation for child in process.children()]
            below = below + generation
    except psutil.NoSuchProcess:  # it ended while we were looking
        return []
    return below if generation else []


def test_a_class_gets_the_same_table(cluster: Cluster, tmp_path: Path, sandboxed: None) -> None:
    """As it is typed; of two workers one is killed with SIGKILL while a submission's program runs below it."""
    folder, there, here = tmp_path / "submitted", tmp_path / "there", tmp_path / "here"
    hand_in_class(folder)
    victim, other = cluster.workers(2)
    process = grade(folder, there, "--executor", cluster.address)
    try:
        kept = there / "kept" / EXERCISE
        cluster.wait_for(lambda: list(kept.glob("*.json")) or process.poll() is not None)
        orphans = cluster.wait_for(lambda: at_work(victim) or process.poll() is not None)
        assert process.poll() is None, "the class was graded before the worker could be killed"
        done = len(list(kept.glob("*.json")))
        victim.kill()
        victim.wait()
        said = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0 and done < 6, said
    assert "Traceback" not in "".join(said) and "graded: 6 of 6" in said[1], said
    assert other.poll() is None and not psutil.wait_procs(orphans, timeout=30)[1], "a lost worker's programs run on"
    alone = grade(folder, here)
    said = alone.communicate(timeout=600)
    assert alone.returncode == 0, said
    assert outcome(there) == outcome(here)
    states = {name: one["state"] for name, one in outcome(there)[1].items()}
    assert states == {
        "ada": "passed", "bob": "not attempted", "eve": "passed", "joe": "passed", "kim": "wrong", "lea": "your code raised"
    }  # fmt: skip


def lose_the_worker(item: str) -> str:
    """A piece of work that takes its worker along, as one does that needs more memory than there is."""
    if item == "heavy":
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.mark.parametrize("told", [True, False])
def test_what_loses_every_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool) -> None:
    """The others go on where the caller has a value for it; else that is said in a sentence."""
    from bugzoo.running.pool import run_all

    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with made_cluster(tmp_path) as cluster:
        cluster.workers(2)
        with connected(cluster.address) as executor:
            if told:
                # one each: what waited in a lost worker's queue is counted as lost as well
                found = run_all(lose_the_worker, ["heavy", "a"], executor=executor, on_lost=lambda one: f"no {one}")
                assert found == ["no heavy", "a"]
            else:
                with pytest.raises(UserError, match="gave up: each worker that was at this work was lost"):
                    run_all(lose_the_worker, ["heavy"], executor=executor)


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "tcp://nobody", "http://here:1", "tcp://:8786", ""])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UserError, match="write tcp://HOST:PORT"), connected(address):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bugzoo.running.cluster.PATIENCE", 1)
    with pytest.raises(UserError, match="no scheduler answers there"), connected("tcp://127.0.0.1:9"):
        pass


def test_no_worker_and_a_worker_that_differs(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="it has no workers"), connected(cluster.address):
        pass
    cluster.workers(1)
    monkeypatch.setattr("bugzoo.running.cluster.version", lambda name: "1.0")
    with pytest.raises(UserError, match="another bugzoo or torch"), connected(cluster.address):
        pass


def test_without_an_address() -> None:
    with connected(None) as executor:
        assert executor is None
