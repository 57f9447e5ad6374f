"""One submission of the small case, graded for real; and what must come of it."""

import tempfile
import time
from pathlib import Path

import psutil

import bugzoo.grading.grade as room
from bugzoo.grading import runs
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.model import STATES, Result
from bugzoo.running import Run
from tests import voice
from tests.grading.tricks import SCENARIO

SECONDS = 12.0
"""Time limit of a submission here: one takes half a second on an idle machine."""


def attempt(source: str, seeds: tuple[int, ...] = (0,), seconds: float = SECONDS, **options) -> Result:
    return room.grade(source, SCENARIO, seconds=seconds, seeds=seeds, **options)


def ran(source: str, seconds: float = SECONDS) -> Run:
    """The run behind a grade, in the sandbox."""
    return runs.run_of(runs.job_of(source, SCENARIO, seconds, True))


def well_said(result: Result) -> None:
    """Each check of a repair says its group, and is told in short sentences, of which the last one says what passes."""
    for check in result.checks:
        assert check.group in GROUPS, check
        sentences = [*voice.sentences(check.saw), *voice.sentences(check.expected)]
        assert all(text[0].isupper() or text[0].isdigit() for text in sentences) and check.saw.endswith("."), check
        assert check.passed or check.expected.endswith("."), check
        if check.status != "your code raised":  # which holds torch's own message
            assert not [text for text in sentences if list(voice.long_ones(text))], check


def must_pass(source: str, **options) -> Result:
    result = attempt(source, **options)
    well_said(result)
    assert result.passed and result.share == 1.0, str(result)
    return result


def must_fail(source: str, **options) -> Result:
    """Earns nothing, and says why: each check that failed names what it saw and what it expected."""
    result = attempt(source, **options)
    assert result.status in STATES and not result.passed and result.share == 0, str(result)
    well_said(result)
    failed = [check for check in result.checks if not check.passed]
    assert failed and all(check.saw and check.expected for check in failed), str(result)
    return result


def failed(result: Result) -> set[str]:
    return {check.name for check in result.checks if not check.passed}


def left_behind() -> list[str]:
    """Processes below the warm ones and folders of jobs that are still there after two seconds of patience."""
    deadline = time.monotonic() + 2
    while True:
        processes = [
            f"{child.pid} {child.status()}"
            for warm in psutil.Process().children()
            for child in warm.children(recursive=True)
        ]
        folders = [path.name for path in Path(tempfile.gettempdir()).glob("bugzoo-*")]
        if not processes + folders or time.monotonic() > deadline:
            return processes + folders
        time.sleep(0.1)
