"""The first check that a verdict shows is the one that tells most, whatever was checked first."""

import ast
import random
from pathlib import Path
from string import Formatter

import pytest

from bugzoo import faults, grading
from bugzoo.diagnostics import instrument, names
from bugzoo.faults.evidence import parse
from bugzoo.grading import lines
from bugzoo.grading.lines import TITLES
from bugzoo.grading.model import Check, Result
from bugzoo.grading.reasons import RANKS, by_telling, rank
from bugzoo.grading.symptoms import symptom
from bugzoo.scenario import Scenario
from tests.diagnostics.test_judges import HEALTHY, SICK

FOLDER = Path(grading.__file__).parent
DIAGNOSIS = {"answers.py", "findings.py", "marks.py", "nothing.py", "groups.py"}
"""What these files check stands alone, or beside a repair that passes."""


TOLD_BY_OTHERS = {"diverged", "stuck_at_chance", "first_skipped", "found", "frozen_at_random_share"}
"""Numbers whose sentence quotes others that belong to them, as a loss curve's first and last loss."""


def failed(name: str, status: str = "wrong") -> Check:
    return Check(name, status, f"It was done. It is {len(name)}.", "0 passes.", group="gone")


def test_what_tells_most_comes_first_and_nothing_is_left_out():
    order = ["run", "model", "symptom", "fresh_gradient", "forward pass", "gradient", "accuracy", "data", "tools"]
    shuffled = [failed(name) for name in order] + [Check("budget", "passed", "It took 60.", group="unchanged")]
    random.Random(3).shuffle(shuffled)
    assert [check.name for check in by_telling(shuffled)] == [*order, "budget"]


def test_the_first_line_of_a_verdict_is_the_reason():
    checks = [Check("run", "passed", "It finished.", group="runs"), failed("loss"), failed("tools"), failed("symptom")]
    rows = str(Result("wrong", checks=checks)).splitlines()
    assert [line[:24] for line in rows[1:]] == [
        "NO  What was wrong: It w",
        "NO  Loss on new data: It",
        "NO  torch and bugzoo: It",
        "ok  Run: It finished.",
    ]
    assert [check["name"] for check in Result("wrong", checks=checks).to_json()["checks"]] == [
        "run",
        "loss",
        "tools",
        "symptom",
    ]


def test_the_parts_of_a_diagnosis_keep_their_order():
    right = Check("cause", "passed", "You named it.", "")
    parts = [right, Check("place", "wrong", "You named line 3.", "Right is line 5.")]
    assert [line[:4] for line in str(Result("wrong", checks=parts)).splitlines()[1:]] == ["ok  ", "NO  "]


def test_a_hidden_symptom_is_told_by_what_the_program_computes_before_how_well_it_does():
    case = Scenario("mlp", ("loop/stale_gradients",))
    passed = [
        Check(name, "passed", "It passed.", group=group) for name, group in (("run", "runs"), ("symptom", "gone"))
    ]
    worse = Check("loss", "wrong", "It was tested. The loss is 0.9.", "Less.", group="new_data")
    other = Check("gradient", "wrong", "They were repeated. At step 7 it differs by 40%.", "Equal.", group="gone")
    assert lines.hidden([*passed, worse, other], case).endswith("At step 7 it differs by 40%.")
    assert lines.hidden([*passed, worse], case).endswith("The loss is 0.9.")


def test_a_name_has_one_place_and_a_title():
    flat = [name for row in RANKS for name in row]
    assert len(flat) == len(set(flat)) and set(flat) <= {*TITLES, "instruments"}
    assert not set(flat) & set(names()), "every instrument has the place of all"
    assert {rank(failed(name)) for name in names()} == {rank(failed("fresh_gradient"))}
    assert rank(failed("overfit_one_batch.ratio")) == rank(failed("symptom")), "what a break exercise asks for"


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda file: file.stem)
def test_each_check_that_grading_makes_has_a_place(file):
    """A new check without one would come last, and never be the reason."""
    titles = {
        node.args[0].value
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check" and node.args
        if isinstance(node.args[0], ast.Constant)
    }
    if file.name not in DIAGNOSIS:
        assert not [name for name in titles if rank(failed(name))[0] == len(RANKS)]


def test_the_evidence_of_every_fault_is_told_in_sentences():
    claims = [(fault.id, parse(text)) for fault in faults.catalogue().values() for text in fault.evidence]
    measured = [(fault_id, claim) for fault_id, claim in claims if claim.instrument not in ("outcome", "metrics")]
    assert len(measured) > 80
    assert not [(fault_id, str(claim)) for fault_id, claim in measured if not instrument(claim.instrument).ALARMS]


@pytest.mark.parametrize(("name", "change", "cause"), SICK)
def test_the_sentence_is_about_a_number_that_made_the_instrument_fire(name, change, cause):
    """Else it quotes a number that is as usual, and says next to it that another should be."""
    numbers = HEALTHY[name] | change
    saw = next(alarm.saw for alarm in instrument(name).ALARMS if alarm(numbers))
    fields = {field for _, field, _, _ in Formatter().parse(saw) if field}
    assert not fields or fields & {*change, "still"} or {*change} & TOLD_BY_OTHERS, (cause, saw)


def test_the_sentence_is_about_the_number_that_shows_the_fault():
    numbers = HEALTHY["batch_independence"] | {"alone_gap": 0.2, "batch_leak": 0.58}
    usual = symptom("batch_independence", numbers)
    assert "other examples of a batch were changed" in usual and "0.58 of the usual change" in usual
    assert "alone and again in a batch" in symptom("batch_independence", numbers, ["alone_gap"])
    assert symptom("batch_independence", numbers, ["axes"]) == usual, "no sentence says it"
