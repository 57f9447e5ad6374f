"""Each right repair of another form passes, each wrong one earns nothing, each attack neither passes nor costs a neighbor.

`expected.csv` holds what each earned, made by `python -m tests.redteam.table`. KNOWN names what should be otherwise, with why.
"""

from functools import cache

import pytest

from bugzoo.grading.model import Exercise
from tests.redteam.held_out import Case
from tests.redteam.idioms import IDIOMS
from tests.redteam.table import cases, expected, result
from tests.sampling import only_in_prove

TABLE = expected()
GATE = (
    ("10_restless_loss", "gradients asked for"),
    ("10_restless_loss", "norms looked at"),
    ("10_restless_loss", "a rate that falls"),
    ("10_restless_loss", "the same order"),
    ("10_restless_loss", "half of the batch"),
    ("10_restless_loss", "not always cleared"),
    ("10_restless_loss", "layers let go"),
    ("27_small_parts", "no dropout"),
    ("27_small_parts", "weights shrunk at times"),
    ("04_flat_loss", "trained on the evaluation"),
    ("04_flat_loss", "json's writer exchanged"),
    ("04_flat_loss", "the objects in memory"),
    ("class_imbalance_ignored", "the grader's rows after the last step"),
    ("padding_row_trained", "the grader's rows remembered"),
)
"""Fourteen of all kinds."""
UNSCALED = "what is left over was unscaled, and the new gradient is 65,536 times as large: nothing changes"
KNOWN: dict[tuple[str, str], str] = {
    ("35_no_progress", "not always cleared"): UNSCALED,
}
"""Lines that are not as their kind says: holes, and edits that do no harm there."""


@cache
def fitting() -> dict[tuple[str, str], tuple[Exercise | Case, str]]:
    """Return (exercise, idiom) -> the exercise and its edited text; made by the first test, as it takes seconds."""
    return {(exercise.name, idiom.name): (exercise, text) for exercise, idiom, text in cases()}


def test_each_edit_still_fits_where_it_did():
    gone = sorted(set(TABLE) - set(fitting()))
    assert not gone, f"the texts have changed; take these lines out, or mend the edits: {gone}"
    unused = {idiom.name for idiom in IDIOMS} - {name for _, name in fitting()}
    assert not unused


def test_the_table_holds_what_should_be():
    for (exercise, name), line in TABLE.items():
        good = {"right": line["status"] == "passed" and not line["aside"], "wrong": line["status"] != "passed"}
        good["attack"] = line["status"] != "passed" and float(line["share"]) == 0
        assert good[line["kind"]] != ((exercise, name) in KNOWN), line
    assert set(KNOWN) <= set(TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case if case in GATE else only_in_prove(case) for case in TABLE], ids=" ".join)
def test_a_repair_earns_what_it_earned(sandboxed, case):
    exercise, text = fitting()[case]
    verdict = result(exercise, text)
    assert (verdict.status, f"{verdict.share:g}") == (TABLE[case]["status"], TABLE[case]["share"]), str(verdict)
