"""`bugzoo.files`: a user's file is written whole or not at all."""

import contextlib
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.files import check_place, write_atomic


@contextlib.contextmanager
def full_disk():
    """Nothing longer than ten bytes can be written: an OSError in the middle of the file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_text_and_bytes(tmp_path):
    write_atomic(tmp_path / "a.txt", "Zürich\n")
    assert (tmp_path / "a.txt").read_bytes() == "Zürich\n".encode()
    write_atomic(str(tmp_path / "a.txt"), b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == b"\x00\xff"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_name_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomic("a.txt", "here")
    assert Path("a.txt").read_text() == "here"


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for target in (path, tmp_path / "new.txt"):
        with pytest.raises(UserError) as caught, full_disk():
            write_atomic(target, "x" * 1000)
        assert f"{target} could not be written: File too large" in str(caught.value)
    assert os.listdir(tmp_path) == ["a.txt"] and path.read_text() == "old"


def test_permissions_stay_and_new_files_get_the_usual_ones(tmp_path):
    secret, new, usual = tmp_path / "secret", tmp_path / "new", tmp_path / "usual"
    secret.write_text("old")
    secret.chmod(0o640)
    usual.write_text("")
    for path in (secret, new):
        write_atomic(path, "new")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link, hanging = tmp_path / "folder" / "target", tmp_path / "link", tmp_path / "hanging"
    target.write_text("old")
    link.symlink_to(target)
    hanging.symlink_to(tmp_path / "folder" / "not yet")
    for path in (link, hanging):
        write_atomic(path, "new")
        assert path.is_symlink() and path.read_text() == "new"
    assert sorted(os.listdir(tmp_path / "folder")) == ["not yet", "target"]


def test_a_pipe_is_written_to(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write_atomic(pipe, "through")
    reader.join(10)
    assert heard == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)
    write_atomic("/dev/null", "away")
    assert not Path("/dev/null").is_file()


def test_stdout_that_is_a_file_stays_the_callers(tmp_path):
    """`bugzoo ... -o /dev/stdout > out.txt`: what is printed before and after is in the same file, in order."""
    code = "from bugzoo.files import write_atomic as w; print('before'); w('/dev/stdout', 'text\\n'); print('after')"
    with open(tmp_path / "out.txt", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True, timeout=60)
    assert (tmp_path / "out.txt").read_text() == "before\ntext\nafter\n"


@pytest.mark.parametrize("write", [lambda path: write_atomic(path, "x"), check_place])
def test_places_that_cannot_be_written(tmp_path, write):
    with pytest.raises(UserError, match=r"there is no folder .*no\. Make it with `mkdir -p"):
        write(tmp_path / "no" / "a.txt")
    with pytest.raises(UserError, match=r"is a folder\. Name a file in it"):
        write(tmp_path)
    with pytest.raises(UserError, match="is a folder"):
        write(f"{tmp_path}/new/")
    with pytest.raises(UserError, match="could not be written"):
        write(tmp_path / ("x" * 300))
    with pytest.raises(UserError, match="could not be written"):
        write("a\0b")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(UserError, match="could not be written"):
        write(tmp_path / "round" / "a.txt")
    if os.getuid():  # root may write anywhere
        (tmp_path / "protected").write_text("")
        (tmp_path / "protected").chmod(0o444)
        with pytest.raises(UserError, match="Permission denied"):
            write(tmp_path / "protected")
    assert not list(tmp_path.glob(".bugzoo*"))


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    for place in (tmp_path / "a.txt", tmp_path / "new.txt", "/dev/null", "/dev/stdout"):
        check_place(place)
    assert os.listdir(tmp_path) == ["a.txt"] and (tmp_path / "a.txt").read_text() == "old"


def test_folders_are_made_only_where_asked(tmp_path):
    write_atomic(tmp_path / "a" / "b" / "c.txt", "deep", parents=True)
    assert (tmp_path / "a" / "b" / "c.txt").read_text() == "deep"
