"""What a script leaves behind is read with limits: a small file may unpack to gigabytes, and a header may say anything."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bugzoo.errors import UserError
from bugzoo.running import Job, Limits, handed, run_worker
from bugzoo.watching import Trace, npz

from .conftest import training

MIB = 2**20


def packed(path: Path, parts: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", how) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": kind, "fortran_order": False, "shape": shape})
    return text.getvalue()


def test_what_numpy_wrote_is_read_as_numpy_reads_it(tmp_path):
    arrays = {
        "a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.ones((2, 3), np.float32)), "c": np.zeros((0, 4)),
        "d": np.array(3), "e": np.array([True, False]), "f": np.array(["text", "more"]), "model.0.weight": np.ones(1),
    }  # fmt: skip
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", **arrays)
        loaded = npz.read(tmp_path / "x.npz", MIB)
        assert list(loaded) == list(arrays)
        for name, value in arrays.items():
            np.testing.assert_array_equal(loaded[name], value)
            assert loaded[name].dtype == value.dtype and loaded[name].shape == value.shape


TOO_MUCH = {
    "zeros": ({"a.npy": header((8 * MIB,)) + bytes(64 * MIB)}, "unpacks to 64 MiB, and 4 MiB are read"),
    "many zeros": ({f"a{i}.npy": header((MIB // 8,)) + bytes(MIB) for i in range(5)}, "unpacks to 5 MiB"),
    "many arrays": ({f"a{i}": b"" for i in range(npz.MOST_ENTRIES + 1)}, "arrays, and 20000 are read"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_too_much_is_refused_before_it_is_unpacked(tmp_path, name):
    parts, message = TOO_MUCH[name]
    path = packed(tmp_path / "x.npz", parts)
    assert path.stat().st_size < 4 * MIB
    with pytest.raises(npz.TooMuch, match=message):
        npz.read(path, 4 * MIB)


def test_too_much_on_the_disk(tmp_path):
    (tmp_path / "x.npz").write_bytes(bytes(5 * MIB))
    with pytest.raises(npz.TooMuch, match="has 5 MiB on the disk"):
        npz.read(tmp_path / "x.npz", 4 * MIB)


STRANGE = {
    "a header that promises more": ({"a.npy": header((2**50,))}, zipfile.ZIP_DEFLATED),
    "a negative shape": ({"a.npy": header((-1,)) + bytes(8)}, zipfile.ZIP_DEFLATED),
    "nothing, many times": ({"a.npy": header((2**60,), "|V0")}, zipfile.ZIP_DEFLATED),
    "objects": ({"a.npy": header((1,), "|O") + b"cos\nsystem\n"}, zipfile.ZIP_DEFLATED),
    "no array": ({"a.npy": b"hello"}, zipfile.ZIP_DEFLATED),
    "packed otherwise": ({"a.npy": header((1,)) + bytes(8)}, zipfile.ZIP_LZMA),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_array_of_numbers_is_refused(tmp_path, name):
    parts, how = STRANGE[name]
    with pytest.raises(ValueError):
        npz.read(packed(tmp_path / "x.npz", parts, how), 4 * MIB)


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"[" * 60 + b"]" * 60, "deep"), (b"[" * 100_000, "deep"), (b'"' + b"x" * 17 * MIB + b'"', "of JSON")],
    ids=["nested", "nested without an end", "long"],
)
def test_json_has_limits(text, said):
    assert npz.from_json(b'{"a": [1, [2]]}', "x", MIB) == {"a": [1, [2]]}
    with pytest.raises(npz.TooMuch, match=said):
        npz.from_json(text, "x", 512 * MIB)


def test_a_trace_has_the_parts_of_a_trace_only(tmp_path):
    path = Trace().save(tmp_path / "trace.npz")
    assert Trace.load(path).outcome == "finished"
    parts = npz.read(path)
    np.savez(path, **parts, live=np.zeros(3))
    with pytest.raises(UserError, match="no part 'live'"):
        Trace.load(path)


def test_reading_has_little_memory_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(handed, "_look", lambda *args: ({"0": str(len(bytearray(2**33)))}, ""))
    reasons, trouble = handed.look(Job("pass", limits=Limits(result_mib=1)), tmp_path, tmp_path)
    assert reasons == {"0": "What its run left behind takes too much memory or time to read."} and trouble == ""


def test_nor_does_it_take_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(handed, "_look", lambda *args: os.read(os.pipe()[0], 1))
    monkeypatch.setattr(handed, "SECONDS", 0.2)
    assert "too much memory or time" in handed.look(Job("pass"), tmp_path, tmp_path)[0]["0"]


LEFT = f"""
import glob, os, zipfile
folder = glob.glob({tempfile.gettempdir()!r} + "/bugzoo-*")[0]
def pack(name):
    with zipfile.ZipFile(folder + "/" + name, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open("a.npy", "w") as part:
            for _ in range(40):
                part.write(bytes(2**20))
open(folder + "/result-0.json", "w").write('{{"seconds": 1, "numbers": {{}}}}')
WHAT
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pack('trace-0.npz')", "trace-0.npz unpacks to 40 MiB"),
        ("open(folder + '/result-0.json', 'w').write('[' * 1000)", "lists in lists"),
        ("open(folder + '/result-0.json', 'w').write('[' + '[],' * 2**22 + '1]')", "takes too much|are read at most"),
    ],
    ids=["trace", "depth", "JSON"],
)
def test_a_script_that_leaves_too_much_is_not_read(what, said):
    run = run_worker(Job(LEFT.replace("WHAT", what), isolated=True, withheld={}, limits=Limits(result_mib=12)))
    assert run.outcome == "crashed" and run.trouble, run.trace.error
    assert re.search(said, run.trouble), run.trouble


@pytest.mark.usefixtures("sandboxed")
def test_what_is_within_the_limits_comes_back():
    run = run_worker(Job(training(5), isolated=True, withheld={}, export=("model",), limits=Limits(result_mib=1)))
    assert run.outcome == "finished" and not run.trouble and len(run.trace.loss) == 5 and "model.0.weight" in run.arrays


HOG = """
import glob, os
folder = glob.glob(TEMP + "/bugzoo-*")[0]
try:
    for number in range(1000):
        with open(f"{folder}/{number}", "wb") as file:
            file.write(bytes(2**20))
except OSError as error:
    print("full", number, error.errno)
"""
STEPS = """
import time, torch
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
while True:  # its folder stays full until it is told to stop
    net(torch.ones(1, 1)).sum().backward()
    optimizer.step()
    time.sleep(0.05)
"""
SMALL_DISK = """
import ctypes, json, os, sys, tempfile, threading
libc = ctypes.CDLL(None, use_errno=True)
if __name__ == "__main__":
    user, group, place, kind = os.getuid(), os.getgid(), sys.argv[1], sys.argv[2]
    assert libc.unshare(0x10000000 | 0x20000) == 0  # users and mounts of our own
    for name, text in (("uid_map", f"0 {user} 1"), ("setgroups", "deny"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    assert libc.mount(b"tmpfs", place.encode(), b"tmpfs", 0, b"size=6m") == 0
    os.environ["TMPDIR"] = tempfile.tempdir = place
    from bugzoo.running import Job, Limits, run_worker
    from bugzoo.watching import StopRun
    from tests.running.conftest import training
    from tests.running.test_handed import HOG, STEPS
    if kind == "neighbours":
        filled, over, hogged = threading.Event(), threading.Event(), []
        def told(step):
            filled.set()
            if over.is_set():
                raise StopRun
        job = Job(HOG.replace("TEMP", repr(place)) + STEPS, isolated=True, withheld={}, limits=Limits(result_mib=16))
        thread = threading.Thread(target=lambda: hogged.append(run_worker(job, on_step=told)))
        thread.start()
        assert filled.wait(60)
    else:
        with open(place + "/filled", "wb") as file:
            file.write(bytes(6 * 2**20 - 24 * 2**10))
    isolated = kind != "full, plain"
    run = run_worker(Job(training(300), isolated=isolated, withheld={}, quiet=True, export=("model",)))
    said = {"outcome": run.outcome, "trouble": run.trouble, "steps": len(run.trace.step)}
    if kind == "neighbours":
        over.set()
        thread.join()
        said |= {"hog": hogged[0].stdout, "left": os.listdir(place)}
    print(json.dumps(said))
"""


def on_a_small_disk(tmp_path: Path, kind: str) -> dict:
    script, place = tmp_path / "small.py", tmp_path / "place"
    script.write_text(SMALL_DISK)
    place.mkdir()
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, script, place, kind]
    process = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_a_submission_that_writes_and_writes_takes_nothing_from_its_neighbours(tmp_path):
    """The temporary disk has 6 MiB: one script fills the 16 MiB of its own folder, and the next still runs to its end."""
    report = on_a_small_disk(tmp_path, "neighbours")
    assert report["hog"].startswith("full 1"), report
    assert (report["outcome"], report["trouble"], report["steps"]) == ("finished", "", 300)


@pytest.mark.sampled(0)
@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("kind", ["full", "full, plain"])
def test_a_full_disk_is_the_machines_trouble(tmp_path, kind):
    report = on_a_small_disk(tmp_path, kind)
    assert report["trouble"] and ("full" in report["trouble"] or "takes nothing more" in report["trouble"]), report


@pytest.mark.usefixtures("sandboxed")
def test_who_fills_the_own_folder_is_told():
    run = run_worker(
        Job(HOG.replace("TEMP", repr(tempfile.gettempdir())), isolated=True, withheld={}, limits=Limits(result_mib=4))
    )
    assert "full" in run.stdout and run.outcome == "crashed" and not run.trouble
    assert run.trace.error["type"] == "DiskLimit" and "4 MiB" in run.trace.error["message"]
