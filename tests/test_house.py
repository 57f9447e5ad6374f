"""The house itself: who may import whom, how the code looks, what importing costs, what the wheel holds."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.benchmarks import house
from tests.benchmarks.footprint import build_wheel

ROOT = Path(__file__).parent.parent


def called(*arguments: str, timeout: float = 120, **extra) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False, **extra
    )


def program(name: str) -> str:
    """A program of the environment that runs the tests, whether it is activated or not."""
    return shutil.which(name, path=str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]) or name


def test_arrows_point_down_only():
    process = subprocess.run(
        [program("lint-imports")], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_programs_import_no_bugzoo():
    for file in (ROOT / "bugzoo" / "programs").glob("*.py"):
        if file.name != "__init__.py":
            assert not re.search(r"^\s*(from|import) bugzoo", file.read_text(), re.MULTILINE), file.name


def test_ruff_has_nothing_to_say():
    process = called("-m", "ruff", "check", ".")
    assert process.returncode == 0, process.stdout


def test_ruff_would_format_nothing():
    process = called("-m", "ruff", "format", "--check", ".")
    assert process.returncode == 0, process.stdout


def test_importing_bugzoo_is_light():
    code = (
        "import sys, bugzoo\n"
        "heavy = ('torch', 'torchvision', 'matplotlib', 'plotly', 'anywidget', 'sklearn', 'bugzoo.faults', 'bugzoo.plots')\n"
        "print([name for name in heavy if name in sys.modules], len(bugzoo.__all__))"
    )
    process = called("-c", code)
    assert process.stdout.startswith("[] "), process.stdout + process.stderr
    assert int(process.stdout.split()[-1]) <= 12


@pytest.mark.slow
def test_every_public_name_is_there():
    import bugzoo

    assert not [name for name in bugzoo.__all__ if not hasattr(bugzoo, name)] and callable(bugzoo.checkup)
    with pytest.raises(AttributeError, match="it has watch"):
        bugzoo.wacth  # noqa: B018


def test_no_file_names_this_machine_or_a_registry():
    """What is committed must work anywhere."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    # put together here, so that this file does not contain what it looks for
    forbidden = re.compile("|".join(["/" + "work/main", "/" + "root/", "pypi" + r"\.org", "files.python" + "hosted"]))
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".ipynb", ".json", "") and path.is_file():
            match = forbidden.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not match, f"{name} says {match[0] if match else ''}"


def test_notebooks_are_committed_without_outputs():
    import nbformat

    for folder in ("notebooks", "exercises", "solutions"):
        for file in (ROOT / folder).rglob("*.ipynb"):
            for cell in nbformat.read(file, as_version=4).cells:
                assert not cell.get("outputs"), f"{file.relative_to(ROOT)} has outputs"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.mark.slow
def test_wheel_holds_lessons_and_exercises(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "bugzoo/__init__.py" in names
    for folder in ("notebooks", "exercises", "solutions"):
        for file in (ROOT / folder).glob("*.ipynb"):
            assert f"bugzoo/{folder}/{file.name}" in names
    for file in (ROOT / "bugzoo" / "lessons").glob("*.py"):
        assert f"bugzoo/lessons/{file.name}" in names, "the questions are read from it"
    for file in (ROOT / "bugzoo").rglob("*.j2"):
        assert file.relative_to(ROOT).as_posix() in names, "pages are made of it"
    assert wheel.stat().st_size < 5 * 2**20
    assert not [name for name in names if "test" in name.split("/") or name.startswith("tests")]


@pytest.mark.slow
def test_paths_in_the_wheel_give_no_answer_away(wheel):
    from bugzoo.faults import catalogue

    stems = {fault.split("/")[-1] for fault in catalogue()}
    for name in zipfile.ZipFile(wheel).namelist():
        if name.startswith(("bugzoo/notebooks/", "bugzoo/exercises/", "bugzoo/solutions/")):
            assert not [stem for stem in stems if stem in name], name


@pytest.mark.slow
def test_lab_works_from_the_installed_wheel(wheel, tmp_path):
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = (
        f"import sys; sys.path[:0] = [{str(site)!r}]\n"
        f"import bugzoo; assert bugzoo.__file__.startswith({str(site)!r}), bugzoo.__file__\n"
        f"from bugzoo.cli import main; main(['lab', {str(tmp_path / 'lab')!r}, '--no-open'])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr
    assert list((tmp_path / "lab" / "notebooks").glob("03*.ipynb"))
    assert list((tmp_path / "lab" / "exercises").glob("*.ipynb"))


def test_make_has_the_targets_that_the_readme_names():
    text = (ROOT / "Makefile").read_text()
    readme = (ROOT / "README.md").read_text()
    for target in ("lab", "test"):
        assert f"\n{target}:" in text
        assert f"make {target}" in readme
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    for path in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / path).exists(), path


def test_make_lab_works_in_a_fresh_clone_and_tells_no_answer():
    text = (ROOT / "Makefile").read_text()
    rule = text.split("\nlab:")[1].split("\n\n")[0]
    folder = re.search(r"--picture (\w+)/", rule)[1]
    assert f"{folder}/\n" in (ROOT / ".gitignore").read_text(), "git does not bring it"
    assert f"mkdir -p {folder}" in rule, "bugzoo run makes no folder"
    fault = re.search(r'^CASE := .*--fault "?([\w/]+)', text, re.MULTILINE)[1]
    files = [*(ROOT / "bugzoo/grading/exercises").glob("e*.py"), *(ROOT / "bugzoo/lessons").glob("[0-9]*.py")]
    sources = "".join(path.read_text() for path in files)
    assert "loss/double_softmax" in sources
    assert fault not in sources, "its verdict is the first thing that a learner reads"


def test_commands_in_the_readme_exist():
    from typer.main import get_command

    from bugzoo.cli import app, commands

    commands()
    names = set(get_command(app).commands)
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    used = {name for code in blocks + inline for name in re.findall(r"^bugzoo ([a-z-]+)", code, re.MULTILINE)}
    assert len(used) >= 8
    assert used <= names, used - names


@pytest.mark.slow
def test_machinery_grows_no_faster_than_content():
    numbers = house.measured()
    assert set(house.CONTENT) <= set(numbers["rooms"]), "a room of the table is gone"
    assert numbers["per line"] <= house.MOST_PER_LINE and numbers["vague"] <= house.MOST_VAGUE


def test_a_line_of_code_is_neither_blank_nor_a_comment_nor_a_docstring():
    text = '"""Of the module."""\n\nLEAST = 1\n"""Of a constant.\n\nTwo lines."""\n\ndef f(x):  # a comment\n    # another\n'
    assert house.code_lines(f'{text}    """Of f."""\n    return (\n        x\n    )\n') == 5
