"""Stopped half way and started again: files travel as bytes, and only plain ones of a script's own folder."""

import os

import pytest

from bugzoo.errors import UserError
from bugzoo.running import Job, Limits, handed, run_worker, sandbox, stopped_and_resumed
from bugzoo.running.resume import halfway
from bugzoo.watching import npz

COUNTS = """\
from pathlib import Path
epochs = 6
stop_after = 0
note = Path("note.txt")
found = int(note.read_text()) if note.exists() else 0
print("began at", found)
if stop_after:
    note.write_text(str(stop_after))
    Path("below").mkdir()
    Path("below/other.txt").write_text("stays here")
    Path("link").symlink_to("/etc/hostname")
metrics = {"began": found}
"""


def test_the_text_that_stops_half_way():
    assert halfway(COUNTS) == COUNTS.replace("stop_after = 0", "stop_after = 3")
    assert "stop_after = 20" in halfway("steps = 40\nstop_after = 0  # never\n")
    for text, why in [
        ("epochs = 6\n", "no line `stop_after = 0`"),
        ("stop_after = 0\n", "sets none of epochs, steps"),
        ("stop_after = 0\nepochs = 1\n", "half of its length is unknown"),
        ("stop_after = (\n", "not valid Python"),
    ]:
        with pytest.raises(UserError, match=why):
            halfway(text)


@pytest.mark.parametrize("isolated", [False, True])
def test_the_second_run_finds_what_the_first_one_left(isolated):
    if isolated and sandbox.missing():
        pytest.skip(sandbox.missing())
    job = Job(COUNTS, isolated=isolated, withheld={}, watch=False, limits=Limits(seconds=30, result_mib=64))
    stopped, resumed = stopped_and_resumed(job)
    assert stopped.outcome == resumed.outcome == "finished", (stopped.trace.error, resumed.trace.error)
    assert stopped.files == {"note.txt": b"3"}, "links and what lies below are left behind"
    assert "began at 0" in stopped.stdout and resumed.trace.metrics == {"began": 3.0}
    assert not os.path.exists("note.txt"), "it worked in a folder of its own"


def test_a_run_that_fails_is_not_resumed():
    (stopped,) = stopped_and_resumed(Job("epochs = 4\nstop_after = 0\nraise ValueError('no')\n", watch=False))
    assert stopped.outcome == "crashed"


@pytest.mark.parametrize("isolated", [False, True])
def test_too_much_to_hand_on_is_said(isolated):
    if isolated and sandbox.missing():
        pytest.skip(sandbox.missing())
    source = "with open('large', 'wb') as file:\n    file.write(bytes(3_000_000))\n"
    run = run_worker(
        Job(source, isolated=isolated, withheld={}, watch=False, bring_mib=1, limits=Limits(seconds=30, result_mib=64))
    )
    assert not run.files and "cannot be read" in run.trouble


def test_a_folder_that_became_a_link_is_not_followed(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("mine")
    (tmp_path / "work").symlink_to(tmp_path / "secret")
    assert handed.left(tmp_path / "work", 1000) == {}
    assert handed.left(tmp_path / "secret", 1000) == {"key": b"mine"}
    (tmp_path / "secret/pipe").parent.joinpath("strange name!").write_text("passed over")
    os.mkfifo(tmp_path / "secret/pipe")
    assert handed.left(tmp_path / "secret", 1000) == {"key": b"mine"}
    with pytest.raises(npz.TooMuch):
        handed.left(tmp_path / "secret", 3)


def test_many_files_are_too_much(tmp_path):
    for number in range(handed.MOST_FILES + 1):
        (tmp_path / f"{number}").touch()
    with pytest.raises(npz.TooMuch):
        handed.left(tmp_path, 1000)


def test_names_that_lead_elsewhere_are_refused():
    for name in ("../x", "a/b", "..", ".", ""):
        with pytest.raises(UserError, match="is not allowed"):
            Job("pass", files={name: b""}, bring_mib=1)
    with pytest.raises(UserError, match="bring_mib"):
        Job("pass", files={"x": b""})
