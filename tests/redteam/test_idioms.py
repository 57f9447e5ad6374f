"""Each right repair of another form passes, each wrong one earns nothing, each attack neither passes nor costs a neighbor.

`expected.csv` holds what each earned, made by `python -m tests.redteam.table`. KNOWN names what should be otherwise, with why.
"""

from functools import cache

import pytest

from bugzoo.grading.exercises import load
from bugzoo.grading.texts import broken_text, healthy_text
from tests.redteam.idioms import IDIOMS
from tests.redteam.table import cases, expected, result
from tests.sampling import only_in_prove

TABLE = expected()
GATE = (
    ("10_restless_loss", "a rate that falls"),
    ("10_restless_loss", "weights shrunk at times"),
    ("04_flat_loss", "json's writer exchanged"),
    ("04_flat_loss", "the objects in memory"),
)
"""Wrong throughout, wrong at times, and two doors of an attack. Right ones: `tests/grading/test_forms.py`, on one seed."""


@cache
def fitting():
    """(exercise, idiom) by name -> both, and the edited text; made by the first test, as it takes seconds."""
    return {(exercise.name, idiom.name): (exercise, idiom, text) for exercise, idiom, text in cases()}


KNOWN: dict[tuple[str, str], str] = {}


def test_each_edit_still_fits_where_it_did():
    gone = sorted(set(TABLE) - set(fitting()))
    assert not gone, f"the texts have changed; take these lines out, or mend the edits: {gone}"
    unused = {idiom.name for idiom in IDIOMS} - {name for _, name in fitting()}
    assert not unused


def test_the_table_holds_what_should_be():
    for (exercise, name), line in TABLE.items():
        good = {"right": line["status"] == "passed" and not line["aside"], "wrong": line["status"] != "passed"}
        good["attack"] = line["status"] != "passed" and float(line["share"]) == 0
        assert good[line["kind"]] or (exercise, name) in KNOWN, line
    assert set(KNOWN) <= set(TABLE)


def fitted(name, idiom):
    """One exercise and its text as one idiom edits it."""
    exercise, edit = load(name), next(one for one in IDIOMS if one.name == idiom)
    text = edit.written((broken_text if edit.kind == "attack" else healthy_text)(exercise))
    assert text, f"{idiom} no longer fits {name}"
    return exercise, text


@pytest.mark.slow
@pytest.mark.parametrize("case", [case if case in GATE else only_in_prove(case) for case in TABLE], ids=" ".join)
def test_a_repair_earns_what_it_earned(sandboxed, case):
    exercise, text = fitted(*case)
    found = result(exercise, text)
    assert (found.status, f"{found.share:g}") == (TABLE[case]["status"], TABLE[case]["share"]), str(found)
