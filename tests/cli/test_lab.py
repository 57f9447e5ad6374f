"""`bugzoo lab`: what a learner changed is never overwritten."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from bugzoo import material
from bugzoo.cli import classroom
from bugzoo.material import copy_to


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A small collection of notebooks in the place of the real one."""
    root = tmp_path / "source"
    for name in ("notebooks/03_one.ipynb", "exercises/01_two.ipynb", "solutions/01_two.ipynb"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": [], "name": name, "version": 1}))
    (root / "notebooks" / ".ipynb_checkpoints").mkdir()
    (root / "notebooks" / ".ipynb_checkpoints" / "x.ipynb").write_text("{}")
    monkeypatch.setattr(material, "root", lambda: root)
    return root


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_copies_lessons_and_exercises(source, tmp_path):
    copied = copy_to(tmp_path / "lab")
    assert sorted(copied.new) == ["exercises/01_two.ipynb", "notebooks/03_one.ipynb"]
    assert files(tmp_path / "lab") == [material.MANIFEST, "exercises/01_two.ipynb", "notebooks/03_one.ipynb"]
    copy_to(tmp_path / "lab", solutions=True)
    assert "solutions/01_two.ipynb" in files(tmp_path / "lab")


def test_a_changed_file_is_kept_and_an_untouched_one_updated(source, tmp_path):
    lab = tmp_path / "lab"
    copy_to(lab)
    (lab / "notebooks/03_one.ipynb").write_text("mine")
    for name in ("notebooks/03_one.ipynb", "exercises/01_two.ipynb"):
        (source / name).write_text(f"newer {name}")
    copied = copy_to(lab)
    assert copied.kept == ["notebooks/03_one.ipynb"]
    assert copied.updated == ["exercises/01_two.ipynb"]
    assert (lab / "notebooks/03_one.ipynb").read_text() == "mine"
    assert (lab / "exercises/01_two.ipynb").read_text().startswith("newer")
    copied = copy_to(lab, beside=True)
    assert copied.beside == ["notebooks/03_one.new.ipynb"]
    assert (lab / "notebooks/03_one.ipynb").read_text() == "mine"
    assert (lab / "notebooks/03_one.new.ipynb").read_text().startswith("newer")


def test_work_on_the_newest_version_is_not_called_old(bugzoo, source, tmp_path):
    lab = tmp_path / "lab"
    bugzoo("lab", str(lab), "--no-open")
    (lab / "notebooks/03_one.ipynb").write_text("mine")
    called = bugzoo("lab", str(lab), "--no-open", "--update")
    assert "kept with your changes: notebooks/03_one.ipynb" in called.out and "ewer version" not in called.out
    assert not list(lab.rglob("*.new.ipynb"))


def test_a_changed_new_version_is_kept_too(bugzoo, source, tmp_path):
    lab = tmp_path / "lab"
    copy_to(lab)
    notebook, beside = lab / "notebooks/03_one.ipynb", lab / "notebooks/03_one.new.ipynb"
    notebook.write_text("mine")
    (source / "notebooks/03_one.ipynb").write_text("version 2")
    assert "--update" in bugzoo("lab", str(lab), "--no-open").out
    assert "newer version written" in bugzoo("lab", str(lab), "--no-open", "--update").out
    (source / "notebooks/03_one.ipynb").write_text("version 3")
    bugzoo("lab", str(lab), "--no-open", "--update")
    assert beside.read_text() == "version 3", "nobody has touched it"
    beside.write_text("mine as well")
    (source / "notebooks/03_one.ipynb").write_text("version 4")
    called = bugzoo("lab", str(lab), "--no-open", "--update")
    assert "so it is kept" in called.out
    assert (notebook.read_text(), beside.read_text()) == ("mine", "mine as well")


def test_what_was_copied_before_an_interrupt_is_known(source, tmp_path, monkeypatch):
    lab, write = tmp_path / "lab", material.write_atomic

    def interrupted(path, data, **how):
        if path.name == "01_two.ipynb":
            raise KeyboardInterrupt
        write(path, data, **how)

    monkeypatch.setattr(material, "write_atomic", interrupted)
    with pytest.raises(KeyboardInterrupt):
        copy_to(lab)
    monkeypatch.setattr(material, "write_atomic", write)
    assert json.loads((lab / material.MANIFEST).read_text()).keys() == {"notebooks/03_one.ipynb"}
    (source / "notebooks/03_one.ipynb").write_text("newer")
    assert copy_to(lab).updated == ["notebooks/03_one.ipynb"]


def test_a_folder_with_other_files_and_a_lost_or_broken_manifest(source, tmp_path):
    lab = tmp_path / "lab"
    copy_to(lab)
    (lab / "notes.txt").write_text("mine")
    (lab / "exercises/01_two.ipynb").write_text("mine")
    (lab / material.MANIFEST).write_text("{broken")
    copied = copy_to(lab)
    assert copied.kept == ["exercises/01_two.ipynb"]
    assert (lab / "exercises/01_two.ipynb").read_text() == (lab / "notes.txt").read_text() == "mine"


def test_a_deleted_file_comes_back(source, tmp_path):
    lab = tmp_path / "lab"
    copy_to(lab)
    (lab / "exercises/01_two.ipynb").unlink()
    assert copy_to(lab).new == ["exercises/01_two.ipynb"]


def test_the_repository_itself_is_left_alone(source):
    before = files(source)
    copy_to(source)
    assert files(source) == before


def test_command_copies_and_says_what_it_kept(bugzoo, source, tmp_path):
    lab = tmp_path / "lab"
    assert "new: 2 files" in bugzoo("lab", str(lab), "--no-open").out
    (lab / "notebooks/03_one.ipynb").write_text("mine")
    called = bugzoo("lab", str(lab), "--no-open")
    assert "kept with your changes: notebooks/03_one.ipynb" in called.out


def test_mistakes(bugzoo, source, tmp_path):
    called = bugzoo("lab", str(tmp_path / "lab"), "--no-open", "--lesson", "99")
    assert called.code == 2 and "Choose 03" in called.err
    (tmp_path / "file").write_text("")
    called = bugzoo("lab", str(tmp_path / "file"), "--no-open")
    assert called.code == 2 and "is a file" in called.err
    called = bugzoo("lab", str(tmp_path / "file" / "below"), "--no-open")
    assert called.code == 2 and "is not a folder" in called.err and "another place" in called.err
    (tmp_path / "odd" / "notebooks" / "03_one.ipynb").mkdir(parents=True)
    called = bugzoo("lab", str(tmp_path / "odd"), "--no-open")
    assert called.code == 2 and "is a folder" in called.err


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder here that nobody may write to")
def test_a_folder_that_nobody_may_write_to(bugzoo, source):
    called = bugzoo("lab", "/proc/self/lab", "--no-open")
    assert called.code == 2 and "could not be written" in called.err and "Traceback" not in called.err


def test_without_jupyterlab_it_says_how_to_get_it(bugzoo, source, tmp_path, monkeypatch):
    find = classroom.importlib.util.find_spec
    absent = lambda name, *rest: None if name == "jupyterlab" else find(name, *rest)  # noqa: E731
    monkeypatch.setattr(classroom.importlib.util, "find_spec", absent)
    called = bugzoo("lab", str(tmp_path / "lab"))
    assert called.code == 2 and "pip install jupyterlab" in called.err and "notebooks are in" in called.err
    assert (tmp_path / "lab/notebooks/03_one.ipynb").is_file()


def test_a_taken_port_is_told():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert classroom._taken(["--no-browser", "--port", port]) == int(port)
        assert classroom._taken([f"--ServerApp.port={port}"]) == int(port)
    assert classroom._taken(["--port", port]) is None and classroom._taken(["--port"]) is None


def test_jupyter_gets_its_options(bugzoo, source, tmp_path, monkeypatch):
    """Everything but becoming JupyterLab, which the browser test does."""
    call = {}

    def execve(program, arguments, environment):
        call.update(arguments=arguments, path=environment["PATH"], folder=os.getcwd())
        call["configured"] = [Path(folder).name for folder in environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)]
        raise SystemExit(0)

    monkeypatch.setattr(classroom.os, "execve", execve)
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    called = bugzoo("lab", str(tmp_path / "lab"), "--", "--port", "9000")
    assert call["arguments"][-2:] == ["--port", "9000"]
    assert "--LabApp.default_url=/lab/tree/notebooks/03_one.ipynb" in call["arguments"]
    assert call["folder"] == str(tmp_path / "lab")
    assert call["path"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    if sys.platform.startswith("linux"):
        assert "--no-browser" in call["arguments"] and "Open the address" in called.out
    assert call["configured"][:2] == ["everyone", "learner"]
    bugzoo("lab", str(tmp_path / "lab"), "--instructor")
    assert call["configured"][0] == "everyone" and "learner" not in call["configured"]


def test_learners_see_neither_nbgrader_nor_a_question_about_news(monkeypatch):
    """As JupyterLab reads it: what is switched off in the page."""
    from jupyterlab_server.config import get_page_config

    def switched_off(*who):
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", os.pathsep.join(str(classroom.JUPYTER / reader) for reader in who))
        extensions = get_page_config([], str(classroom.JUPYTER))["disabledExtensions"]
        return set(extensions if isinstance(extensions, list) else [name for name, off in extensions.items() if off])

    news = "@jupyterlab/apputils-extension:announcements"
    assert switched_off("everyone", "learner") == {news, "@jupyter/nbgrader"}
    assert switched_off("everyone") == {news}


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=60) as page:
            return page.status == 200
    except OSError:
        return False


@pytest.mark.slow
def test_jupyter_starts_and_prints_its_address(source, tmp_path):
    """The real JupyterLab: it must come up for root too, and stop on request."""
    code = (
        "import bugzoo.material as m, pathlib; from bugzoo.cli import main\n"
        f"m.root = lambda: pathlib.Path({str(source)!r})\n"
        f"main(['lab', {str(tmp_path / 'lab')!r}, '--', '--port', '0', '--no-browser'])"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    impatient = threading.Timer(120, server.kill)
    impatient.start()
    try:
        for line in server.stdout:
            if address := re.search(r"http://\S+/lab/tree/notebooks/03_one\.ipynb\?token=\w+", line):
                break
        else:
            pytest.fail("JupyterLab gave no address of the lesson")
        # it prints its address before it listens to anything, and a signal of that moment is lost now and then
        while server.poll() is None and not answers(address[0]):
            time.sleep(0.2)
        assert server.poll() is None, "it ended by itself, or did not answer in two minutes"
        impatient.cancel()
        server.terminate()
        server.communicate(timeout=90)  # reads on: a full pipe would keep it from ending
    finally:
        impatient.cancel()
        server.kill()
        server.communicate()  # and nothing of it is left to the tests behind this one
