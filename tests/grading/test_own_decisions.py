"""A repair that passes and decides something by a counter is for a person; one that only tells by a counter passes."""

import ast

import pytest

from bugzoo.grading.grade import grade
from bugzoo.grading.model import FOR_A_PERSON
from bugzoo.grading.own_decisions import waiting
from bugzoo.scenario import Scenario
from tests.grading.waits import CASE, HEALTHY, HONEST, WAITS
from tests.sampling import only_in_prove

KNOWN = (HEALTHY, CASE.source)
GRADED = ("sliced", "iterator ends", "indexed", "calls", "clock", "matched", "power", "not cleared", "rate", "hook")
"""Waits that are graded by real runs."""


@pytest.mark.parametrize("name", WAITS)
def test_what_waits_is_found(name: str) -> None:
    ast.parse(WAITS[name])
    assert waiting(HEALTHY, KNOWN) is None
    decision = waiting(WAITS[name], KNOWN)
    assert decision is not None and decision.text == WAITS[name].splitlines()[decision.line - 1].strip()
    assert decision.text not in HEALTHY and "counter" in str(decision)


@pytest.mark.parametrize("name", HONEST)
def test_what_waits_for_nothing_is_left_alone(name: str) -> None:
    ast.parse(HONEST[name])
    assert waiting(HONEST[name], KNOWN) is None
    assert name == "as it was" or HONEST[name] != HEALTHY


def test_a_decision_of_a_known_text_is_no_news_but_a_second_one_is() -> None:
    texts = (HEALTHY, WAITS["one"])
    assert waiting(WAITS["one"], KNOWN) is not None and waiting(WAITS["one"], texts) is None
    renamed = WAITS["one"].replace("step", "count").replace(".count(", ".step(")
    assert waiting(renamed, texts) is None
    assert waiting(WAITS["one"].replace("4400", "4401"), texts) is not None
    twice = WAITS["one"].replace(
        "        optimizer.step()", "        if step == 4400:\n            break\n        optimizer.step()"
    )
    assert waiting(twice, texts) is None  # it ends the training
    twice = twice.replace("            break\n", "            optimizer.zero_grad()\n")
    assert waiting(twice, texts) is not None


def test_a_decision_of_the_text_handed_out_is_news_where_its_counter_is_another() -> None:
    case = Scenario("digits_cnn", ("numerics/log_at_step",))
    texts = (case.healthy().source, case.source)
    assert waiting(case.source, texts) is None
    assert waiting(case.source.replace("step = 0\n", "step = -10**9\n"), texts) is not None
    assert waiting(case.source.replace("        step += 1\n", "        step += 0\n"), texts) is not None


def test_texts_made_to_hold_up_the_reader_are_read_at_once() -> None:
    swaps = "".join("        one = two\n        two = one\n" for _ in range(60))
    assert waiting(HEALTHY.replace("        step += 1\n", f"        step += 1\n{swaps}"), KNOWN) is None
    calls = "".join(f"def f{n}():\n    return f{n + 1}() + g{n + 1}()\n\n\ndef g{n}():\n    return f{n + 1}() + g{n + 1}()\n\n\n"
                    for n in range(60))  # fmt: skip
    assert waiting(HEALTHY.replace("step = 0\n", f"{calls}step = 0\n"), KNOWN) is None
    deep = waiting(f"{HEALTHY}total = {' + '.join(['step'] * 3000)}\n", KNOWN)
    assert deep is not None and "nested too deeply" in str(deep)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name == "sliced" else only_in_prove(name) for name in GRADED])
def test_a_wait_that_passes_all_else_is_for_a_person(sandboxed: None, name: str) -> None:
    result = grade(WAITS[name], CASE, draw=1, strict_isolation=True, seeds=(0,))
    assert result.status == FOR_A_PERSON and result.share == 0.0, str(result)
    assert result.checks and all(check.passed for check in result.checks)
    assert "a person looks first at line" in result.message and "counter" in result.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name if name == "shown" else only_in_prove(name) for name in ("shown", "kept", "ended")]
)
def test_a_right_repair_that_tells_by_a_counter_passes(sandboxed: None, name: str) -> None:
    result = grade(HONEST[name], CASE, draw=1, strict_isolation=True, seeds=(0,))
    assert result.passed and not result.message, str(result)


@pytest.mark.slow
def test_what_is_wrong_stays_wrong_whatever_it_decides(sandboxed: None) -> None:
    result = grade(WAITS["steps"].replace("44_000_000", "40"), CASE, draw=1, strict_isolation=True, seeds=(0,))
    assert result.status == "wrong" and "person" not in result.message, str(result)
