"""`bugzoo differ` with a git revision or a saved trace for a side: a real repository, a real file, and refusals."""

import json
import subprocess

import pytest

from bugzoo.running import run_here
from bugzoo.watching import Trace
from tests.watching.test_divergence import BASE

from .test_differ import bugzoo

TEXT = BASE.replace("torch.manual_seed(3)", "torch.manual_seed(3)\nfrom settings import RATE").replace(
    "lr=1e-3", "lr=RATE"
)


def git(folder, *words):
    return subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Two commits in which only the module beside the script differs, a folder of data that git does not keep."""
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q", "-b", "main")
    folder = root / "code"
    folder.mkdir()
    (root / ".gitignore").write_text("data/\n__pycache__/\n")
    (folder / "data").mkdir()
    (folder / "data" / "shift.txt").write_text("0.5")
    (folder / "train.py").write_text(
        TEXT.replace("x = torch.randn(256, 10)", "x = torch.randn(256, 10) + float(open('data/shift.txt').read())")
    )
    for rate in ("1e-3", "2e-3"):
        (folder / "settings.py").write_text(f"RATE = {rate}\n")
        git(root, "add", ".")
        git(root, "commit", "-qm", f"rate {rate}")
    return folder


def test_a_revision_has_the_modules_beside_it_that_it_had_then(repository, tmp_path):
    told = tmp_path / "told.json"
    before = sorted(repository.rglob("*"))
    said = bugzoo("train.py", "train.py@HEAD~1", "--steps", "3", "--json", str(told), cwd=repository)
    assert said.returncode == 0, said.stderr
    found = json.loads(told.read_text())
    assert (found["step"], found["what"]) == (1, "setting") and found["name"].startswith("lr")
    assert "0.002" in found["here"]["value"] and "0.001" in found["there"]["value"]
    assert found["made"][1]["file"] == "HEAD~1:code/train.py" and "revision-" not in told.read_text()
    assert "there train.py@HEAD~1" in said.stdout
    assert [one for one in sorted(repository.rglob("*")) if "__pycache__" not in str(one)] == before
    assert (
        not git(repository, "status", "--porcelain").stdout
        and b"train" not in git(repository, "worktree", "list").stdout
    )


def test_the_revision_that_lies_there_is_equal_and_what_is_not_committed_is_seen(repository):
    assert "No difference: 3 steps" in bugzoo("train.py", "train.py@main", "--steps", "3", cwd=repository).stdout


@pytest.mark.parametrize(
    ("side", "says"),
    [
        ("train.py@no-such", "'no-such' is no revision"),
        ("train.py@", "'' is no revision"),
        ("train.py@--all", "'--all' is no revision"),
        ("other.py@HEAD", "git has no code/other.py at HEAD"),
        ("../../outside.py@HEAD", "is in no git repository"),
    ],
)
def test_what_git_does_not_know_is_refused_in_words(repository, side, says):
    said = bugzoo("train.py", side, "--steps", "1", cwd=repository)
    assert said.returncode == 2 and not said.stdout and says in " ".join(said.stderr.split()), said.stderr


def test_a_saved_trace_stands_for_a_run_and_says_what_it_cannot_tell(tmp_path):
    (tmp_path / "train.py").write_text(BASE)
    run = run_here(BASE, file=str(tmp_path / "train.py"))
    run.trace.save(tmp_path / "monday.npz")
    same = bugzoo("train.py", "monday.npz", "--steps", "3", "--tolerance", "1e-4", cwd=tmp_path)
    assert same.returncode == 0, same.stderr
    assert "No difference: 3 steps" in same.stdout and "cannot be asked of it" in same.stdout
    (tmp_path / "train.py").write_text(BASE.replace("lr=1e-3", "lr=2e-3"))
    other = bugzoo("train.py", "monday.npz", "--steps", "3", "--tolerance", "1e-4", cwd=tmp_path)
    assert "the learning rate" in other.stdout and "line" not in other.stdout.split("\n(")[0].split("there")[1][:40]
    both = bugzoo("monday.npz", "monday.npz", cwd=tmp_path)
    assert both.returncode == 0 and "No difference: 96 steps" in both.stdout


def test_what_is_no_trace_and_what_nobody_could_take_is_refused(tmp_path):
    (tmp_path / "train.py").write_text(BASE)
    (tmp_path / "torn.npz").write_bytes(b"PK\3\4 nothing")
    Trace().save(tmp_path / "empty.npz")
    for words, says in (
        (("train.py", "torn.npz"), "torn.npz is not a trace that bugzoo saved"),
        (("train.py", "none.npz"), "There is no trace at none.npz"),
        (("train.py", "empty.npz"), "empty.npz holds no optimiser step"),
        (("empty.npz", "empty.npz", "--", "--epochs"), "no script is run that could take '--epochs'"),
    ):
        said = bugzoo(*words, cwd=tmp_path)
        assert said.returncode == 2 and not said.stdout and says in " ".join(said.stderr.split()), (words, said.stderr)
