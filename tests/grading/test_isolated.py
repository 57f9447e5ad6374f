"""Where a submission runs is asked of the machine once, by code of our own; nothing that a submission does changes it."""

import ast
from pathlib import Path
from tempfile import gettempdir

import pytest

import bugzoo
from bugzoo import withheld
from bugzoo.errors import UserError
from bugzoo.grading import reference, runs
from bugzoo.grading.unreadable import A_PERSON
from bugzoo.instructor import diagnosis_cell
from bugzoo.running import Job, Run, sandbox
from bugzoo.running.isolation import visible
from bugzoo.scenario import Scenario
from bugzoo.syntax import parse
from bugzoo.watching import Trace
from tests.grading.attempt import attempt, must_pass
from tests.grading.tricks import MENDED

FORGED = {
    "exit code": "import os\nos._exit(71)\n",
    "a name": "class IsolationError(Exception):\n    pass\nraise IsolationError('The sandbox cannot be set up here')\n",
    "its words": "import os\nprint('IsolationError: unshare failed', flush=True)\nos._exit(71)\n",
}


@pytest.fixture
def jobs(monkeypatch):
    """What was asked of the workers, in order."""
    calls = []

    def noted(job, *more):
        calls.append(job)
        return run_worker(job, *more)

    run_worker = runs.run_worker
    monkeypatch.setattr(runs, "run_worker", noted)
    return calls


@pytest.mark.parametrize("trick", FORGED)
def test_a_submission_cannot_leave_the_sandbox_by_saying_that_there_is_none(trick, jobs, sandboxed):
    result = attempt(FORGED[trick] + MENDED)
    assert result.status == "your code raised" and result.share == 0, str(result)
    assert [job.isolated for job in jobs] == [True]


@pytest.mark.slow
def test_without_a_sandbox_a_class_is_not_graded_and_a_self_check_is_plain_from_the_start(monkeypatch, jobs):
    monkeypatch.setattr(sandbox, "missing", lambda: "The sandbox cannot be set up here: unshare failed.")
    strict = attempt(MENDED, strict_isolation=True)
    assert strict.status == "cannot be graded" and "unshare failed" in strict.message and not strict.checks
    assert jobs == []
    must_pass(MENDED)
    assert [job.isolated for job in jobs] == [False]


@pytest.mark.slow
def test_a_sandbox_that_fails_later_is_the_machines_trouble_and_nobodys_zero(monkeypatch, jobs, sandboxed):
    """Another program may take the last namespace: refused, and run nowhere else."""

    def refused(job):
        run = run_worker(job)
        run.trouble = "The sandbox cannot be set up here: unshare failed (No space left on device)."
        return run

    run_worker = runs.run_worker
    monkeypatch.setattr(runs, "run_worker", refused)
    result = attempt(MENDED)
    assert result.status == "cannot be graded" and "No space left" in result.message and not result.checks
    assert [job.isolated for job in jobs] == [True]


def test_an_isolated_job_says_what_is_withheld_from_it():
    with pytest.raises(UserError, match="isolated=True needs withheld"):
        Job("pass", isolated=True)


def test_each_isolated_job_of_a_grader_withholds_its_examples(monkeypatch, sandboxed):
    case = Scenario("word_lines", size="tiny")
    always = withheld.everywhere(visible())
    unseen = reference.unseen(case)
    assert len(always) >= 4 and unseen and not unseen.items() <= always.items(), "the lines of its own come on top"
    assert runs.job_of(case.source, case, 60.0, True).withheld == {**always, **unseen}
    assert runs.job_of(case.source, case, 60.0, False).withheld is None
    jobs = []
    monkeypatch.setattr(diagnosis_cell, "run_worker", lambda job: jobs.append(job) or Run(Trace(), "", ""))
    diagnosis_cell.records("first.hand_in(place=1)")
    assert jobs[0].isolated and jobs[0].withheld == always


def test_one_function_of_the_graders_makes_isolated_jobs():
    def isolates(file: Path) -> bool:
        words = [node for node in ast.walk(parse(file.read_text())) if isinstance(node, ast.keyword)]
        return any(word.arg == "isolated" and ast.unparse(word.value) != "False" for word in words)

    root = Path(bugzoo.__file__).parent
    files = {str(file.relative_to(root)) for file in root.rglob("*.py") if isolates(file)}
    assert files == {"grading/isolation.py", "running/sandbox.py"}, "the second one runs our own probe"


BOMB = f"""
import glob, os, zipfile
folder = glob.glob({gettempdir()!r} + "/bugzoo-*")[0]
with zipfile.ZipFile(folder + "/trace-0.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("loss.npy", "w") as part:
    for _ in range(300):
        part.write(bytes(2**20))
open(folder + "/result-0.json", "w").write('{{"seconds": 1, "numbers": {{}}}}')
os._exit(0)
"""


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_what_unpacks_to_more_than_is_read_is_wrong_and_for_a_person(sandboxed):
    result = attempt(MENDED + BOMB)
    assert result.status == "wrong" and result.share == 0 and result.message.endswith(A_PERSON)
    assert "trace-0.npz unpacks to 300 MiB, and 256 MiB are read" in result.message, result
