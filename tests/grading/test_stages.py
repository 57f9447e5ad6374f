"""While it works, a grading says what it does: on stderr, at once, and without a word of the fault."""

import json
import subprocess
import sys

import pytest

from bugzoo.errors import UserError
from bugzoo.grading import stages
from bugzoo.grading.asking import ask
from bugzoo.grading.model import Result
from bugzoo.proving import leaks
from tests.cli.conftest import bugzoo  # noqa: F401
from tests.grading.tricks import BROKEN, EXERCISE, MENDED

NAME = EXERCISE.name
FIRST = ["starting", "preparing the data", "training with seed 0", "testing the trained model"]
REFUSED = [*FIRST, "comparing 24 steps with the healthy program"]


def graded(source: str) -> tuple[str, list[str]]:
    """Return stdout and the lines of stderr of the process that grades a cell."""
    question = {"kind": "try", "source": source}
    command = [sys.executable, "-m", "bugzoo.grading", NAME]
    process = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True, check=True)
    return process.stdout, process.stderr.splitlines()


@pytest.mark.slow
def test_the_answer_stands_alone_on_stdout_and_the_stages_on_stderr():
    out, err = graded(f"{BROKEN}\nunused = 1\n")
    assert Result.from_json(json.loads(out)).status == "wrong" and len(out.splitlines()) == 1
    assert err == [f"grading: {stage} ..." for stage in REFUSED], "one run, and each stage once"
    assert not [word for word in leaks.names(EXERCISE) if word in "\n".join(err).lower()]


def test_a_process_says_that_it_starts_before_it_imports_torch():
    code = "import sys, bugzoo.grading.__main__; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.sampled(0)
def test_a_cell_is_told_each_stage_and_gets_the_answer():
    lines: list[str] = []
    with stages.told(lines.append):
        result = ask(NAME, {"kind": "try", "source": MENDED})
    assert result.passed and [line.removesuffix(" ...") for line in lines[:5]] == REFUSED
    assert "training with seed 2 ..." in lines and "which is drawn now" in "".join(lines)


@pytest.mark.sampled(0)
def test_an_error_is_what_the_process_said_last_besides_its_stages():
    lines: list[str] = []
    with stages.told(lines.append), pytest.raises(UserError) as error:
        ask(NAME, {"kind": "try"})
    assert str(error.value) == "The grader failed: KeyError: 'source'"
    assert lines[0] == "starting ...", "a cell is told each stage"


def test_without_a_listener_a_stage_says_nothing(capsys):
    stages.stage("training")
    with stages.told(stages.on_stderr):
        stages.stage("training")
    stages.stage("training")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "grading: training ...\n")
    assert [stages.of_line(line) for line in (*printed.err.splitlines(), "Traceback")] == ["training ...", ""]


def test_the_command_says_at_once_that_it_reads_the_hand_ins(bugzoo, tmp_path):  # noqa: F811
    (tmp_path / "notes.txt").touch()
    called = bugzoo("grade", str(tmp_path), "--assignment", NAME, "--json", "-")
    assert called.err.splitlines()[0] == f"grading: reading the hand-ins in {tmp_path} ..."
    assert called.code == 2 and called.out == "", "nothing was handed in, and stdout is for the results"
