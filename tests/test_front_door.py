"""The front door: the README's commands work from a copy, and what stands beside it says the same."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.readme_picture import EXERCISE, PICTURE
from tests.cli.conftest import bugzoo  # noqa: F401

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
INLINE = re.findall(r"`((?:bugzoo|make) [^`\n]+)`", README)


def test_it_fits_on_a_screen_and_has_its_picture():
    assert len(README.split()) <= 500 and len(README.splitlines()) <= 70
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
    assert 20_000 < PICTURE.stat().st_size < 400_000


def test_the_texts_for_people_who_work_on_it_are_short_and_name_every_benchmark():
    tests = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) < 2500 and len(tests.split()) <= 1200
    listed = set(re.findall(r"`(\w+)`", tests.partition("## Benchmarks")[2]))
    files = (ROOT / "tests" / "benchmarks").glob("*.py")
    programs = {file.stem for file in files if "__main__" in file.read_text(encoding="utf-8")}
    assert len(programs) > 20 and programs - listed == set()


def test_the_picture_shows_an_exercise_of_today():
    """`make picture` writes into it which one it shows."""
    with Image.open(PICTURE) as picture:
        name, title = picture.text["exercise"], picture.text["title"]
    notebook = ROOT / "exercises" / f"{name}.ipynb"
    assert notebook.is_file(), f"{name} is no exercise any more: type `make picture`"
    first = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]
    assert "".join(first).startswith(f"{title}\n"), f"{name} has another title now: type `make picture`"
    assert f"*Exercise {name[:2]}" in README and name == EXERCISE


@pytest.mark.slow
def test_the_commands_of_the_readme_run(bugzoo, tmp_path, monkeypatch):  # noqa: F811
    """Those that end by themselves, in an empty folder, with a script of one's own beside them."""
    examples = [
        line for line in INLINE if line.startswith(("bugzoo list", "bugzoo run", "bugzoo show", "bugzoo break"))
    ]
    assert len(examples) >= 4, INLINE
    (tmp_path / "train.py").write_text((ROOT / "bugzoo" / "programs" / "mlp.py").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    for command in examples:
        small = ("--size", "tiny") if command.startswith("bugzoo run") else ()
        called = bugzoo(*command.removeprefix("bugzoo ").split(), *small)
        assert called.code == 0, f"{command}\n{called.err}"
    assert (tmp_path / "broken.py").is_file()


def test_every_other_command_of_the_readme_explains_itself():
    names = {word.split()[1] for word in INLINE if word.startswith("bugzoo ")}
    assert {"assign", "grade", "interview", "checkup", "break", "list", "run", "show"} <= names
    targets = {word.split()[1] for block in SHELL for word in re.findall(r"make \w+", block)}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets == {"lab", "test"} and all(f"\n{word}:" in makefile for word in [*targets, "picture", "install"])


def test_the_container_does_what_the_readme_says():
    docker = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    packages = re.search(r"--no-install-recommends ([\w -]+) &&", docker)
    assert packages is not None
    assert set(packages[1].split()) == {"git", "make"} and "git and make" in README
    version = re.search(r"^FROM python:3\.(\d+)", docker, re.MULTILINE)
    assert version is not None and int(version[1]) >= 11 and "Python 3.11 or newer" in README
    targets = re.findall(r'make[", ]+(\w+)', docker.split("COPY", 1)[1])
    assert set(targets) == {"install", "lab"}
    assert "--no-browser --port 9000" in docker and "--no-browser --port 9000" in README
    dev = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert dev["build"]["dockerfile"] == "../Dockerfile" and dev["postCreateCommand"] == "make install"


def test_the_licence_is_the_same_everywhere():
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert 'license = "MIT"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "license: MIT" in (ROOT / "CITATION.cff").read_text(encoding="utf-8") and "MIT license" in README


def test_help_shows_no_case_of_a_lesson_or_an_exercise(capsys):
    from bugzoo.cli import main

    with pytest.raises(SystemExit):
        main(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    files = [*(ROOT / "bugzoo/grading/exercises").glob("e*.py"), *(ROOT / "bugzoo/lessons").glob("[0-9]*.py")]
    cases = "".join(path.read_text(encoding="utf-8") for path in files)
    named = re.findall(r"--fault (\w+/\w+)", printed)
    assert named and not [name for name in named if name in cases]


@pytest.mark.slow
def test_opening_the_checkout_leaves_no_new_file(tmp_path):
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True, capture_output=True)
    environment = os.environ | {"PYTHONPATH": str(clone), "BUGZOO_DATA": str(tmp_path / "data")}
    process = subprocess.run(
        [sys.executable, "-m", "bugzoo", "lab", ".", "--no-open"],
        cwd=clone, env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    status = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
    assert status.stdout == ""
