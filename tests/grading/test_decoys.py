"""A decoy: what it adds to a program, what counts as touching it, and what that costs."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bugzoo import faults
from bugzoo.choices import offered
from bugzoo.diagnostics.causes import OTHER, cause, words
from bugzoo.errors import UserError
from bugzoo.grading import healthy
from bugzoo.grading.against import answer
from bugzoo.grading.answers import causes, pairs, right
from bugzoo.grading.debrief import text as debriefed
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.grade import grade, grade_exercise, try_exercise
from bugzoo.grading.kinds import Repair
from bugzoo.grading.kinds.decoy import marks as decoys
from bugzoo.grading.model import Check, Result
from bugzoo.grading.texts import healthy_text, same_program, tidy
from bugzoo.lab.healthy_twin import Curve
from bugzoo.proving import leaks
from bugzoo.scenario import Scenario
from tests.redteam.idioms import IDIOMS, Idiom
from tests.sampling import only_in_prove

NAME = "27_small_parts"
CASE = load(NAME).scenario
SORTED, UNSHUFFLED = "validation = validation[labels[validation].argsort()]\n", ", shuffle=False"
DECOYS = [name for name, exercise in exercises().items() if exercise.scenario.decoy]


def without(source: str) -> str:
    assert SORTED in source and UNSHUFFLED in source
    return source.replace(SORTED, "").replace(UNSHUFFLED, "")


@pytest.mark.parametrize(
    ("program", "trap", "lines"),
    [
        ("checkpointed_mlp", "clipping_bites_rarely", ["torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)"]),
        ("mlp", "smoothed_targets", ["loss = F.cross_entropy(logits, targets, label_smoothing=0.1)"]),
        ("mlp", "log_softmax_first", ["loss = F.cross_entropy(F.log_softmax(logits, dim=-1), targets)"]),
    ],
)
def test_what_a_decoy_adds_is_found_on_its_line(program: str, trap: str, lines: list[str]) -> None:
    case = Scenario(program, decoy=f"traps/{trap}")
    assert [mark.line for mark in decoys.marks(case)] == lines
    assert decoys.touched(case.source, case) == [], "it is in the healthy program"
    assert [mark.line for mark in decoys.touched(case.undecoyed().source, case)] == lines
    assert decoys.marks(case.undecoyed()) == [] == decoys.touched("", case.undecoyed())


@pytest.mark.parametrize("name", DECOYS)
def test_the_twin_the_solution_and_every_repair_keep_it(name: str) -> None:
    exercise = load(name)
    assert exercise.kind.name == "decoy" and decoys.marks(exercise.scenario)
    for text in (exercise.handed_out, healthy_text(exercise), *exercise.kind.accepted(exercise).values()):
        assert decoys.touched(text, exercise.scenario) == []
    plain = replace(exercise, kind=Repair())
    assert not same_program(plain.handed_out, exercise.handed_out) and plain.kind.name == "repair"


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (SORTED, "validation = validation[ labels[validation].argsort() ]  # by digit\n", True),
        (SORTED, "ranks = labels[validation].argsort()\nvalidation = validation[ranks]\n", True),
        (", shuffle=False", ", drop_last=False, shuffle=False", True),
        (SORTED, "", False),
        (SORTED, "validation = validation[labels[validation].argsort(descending=True)]\n", False),
        (", shuffle=False", ", shuffle=True", False),
    ],
)
def test_layout_and_names_do_not_touch_it_and_another_order_does(before: str, after: str, left: bool) -> None:
    text = healthy_text(load(NAME))
    assert text.count(before) == 1
    assert (decoys.touched(text.replace(before, after), CASE) == []) == left


def test_an_option_with_a_name_for_its_value_is_the_same_option() -> None:
    case = Scenario("mlp", decoy="traps/smoothed_targets")
    named = case.source.replace("label_smoothing=0.1", "label_smoothing=smoothing").replace(
        "seed = 0", "seed = 0\nsmoothing = 0.1"
    )
    assert decoys.touched(named, case) == []
    object_ = case.source.replace(
        "F.cross_entropy(logits, targets, label_smoothing=0.1)",
        "nn.CrossEntropyLoss(label_smoothing=0.1)(logits, targets)",
    )
    assert decoys.touched(object_, case) == []
    assert decoys.touched(named.replace("smoothing = 0.1", "smoothing = 0.05"), case)


CLIP = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)\n"
STEP, BACK = "        optimizer.step()\n", "        loss.backward()\n"
LOGGED = "loss = F.cross_entropy(F.log_softmax(logits, dim=-1), targets)"
DEAD = {
    "under a condition": ("clipping_bites_rarely", CLIP, f"        if step < 0:\n    {CLIP}"),
    "as a choice": ("clipping_bites_rarely", CLIP, f"        _ = {CLIP.strip()} if step < 0 else None\n"),
    "in a function that is not called": ("clipping_bites_rarely", CLIP, f"        def clip():\n    {CLIP}"),
    "in a loop of its own": ("clipping_bites_rarely", CLIP, f"        for _ in range(0):\n    {CLIP}"),
    "after a jump": (
        "clipping_bites_rarely",
        CLIP + STEP,
        f"{STEP}        if step >= 0:\n            continue\n{CLIP}",
    ),
    "jumped over": (
        "log_softmax_first",
        LOGGED,
        "if step >= 0:\n            F.cross_entropy(logits, targets).backward()\n"
        f"    {STEP}            continue\n        {LOGGED}",
    ),
    "before the gradients": ("clipping_bites_rarely", BACK + CLIP, CLIP + BACK),
    "after the step": ("clipping_bites_rarely", CLIP + STEP, STEP + CLIP),
    "overwritten": ("log_softmax_first", LOGGED, f"{LOGGED}\n        loss = F.cross_entropy(logits, targets)"),
    "not used": ("log_softmax_first", LOGGED, f"other = {LOGGED[7:]}\n        loss = F.cross_entropy(logits, targets)"),
    "undone": (
        "validation_not_shuffled",
        SORTED,
        f"{SORTED}validation = validation[torch.randperm(len(validation))]\n",
    ),
    "another loader": (
        "validation_not_shuffled",
        "\n# %% Model",
        "\nvalidation_loader = DataLoader(train)\n\n# %% Model",
    ),
}


@pytest.mark.parametrize("name", DEAD)
def test_what_keeps_its_text_and_no_longer_runs_as_it_did_is_touched(name: str) -> None:
    trap, before, after = DEAD[name]
    case = Scenario("mlp", ("loop/stale_gradients",), decoy=f"traps/{trap}")
    text = case.healthy().source
    assert text.count(before) == 1 and decoys.touched(text, case) == []
    assert decoys.touched(text.replace(before, after), case)


@pytest.mark.parametrize("idiom", [one for one in IDIOMS if one.kind == "right"], ids=lambda one: one.name)
@pytest.mark.parametrize("trap", ["clipping_bites_rarely", "log_softmax_first", "validation_not_shuffled"])
def test_a_right_repair_in_another_form_leaves_it_as_it_was(trap: str, idiom: Idiom) -> None:
    case = Scenario("mlp", ("loop/stale_gradients",), decoy=f"traps/{trap}")
    text = idiom.written(tidy(case.healthy().source))
    assert text is None or decoys.touched(text, case) == []


def graded(*passing: bool) -> tuple[list[Scenario], Callable[[Scenario], Result]]:
    """A grader that passes each text it is asked about in turn, and the scenarios that it was asked under."""
    cases: list[Scenario] = []
    answers = iter(passing)

    def grade(case: Scenario) -> Result:
        cases.append(case)
        good = next(answers)
        return Result("passed" if good else "wrong", float(good), [Check("run", "passed", "It ran.", group="runs")])

    return cases, grade


def test_a_point_of_five_is_the_price_and_the_sentence_says_line_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = {True: {"accuracy": 0.96, "loss": 0.25}, False: {"accuracy": 0.95, "loss": 0.24}}
    monkeypatch.setattr(healthy, "recorded", lambda text, ranks: Curve([1], [1.0], [1.0], metrics[SORTED in text]))
    cases, grade = graded(True)
    result = decoys.priced(without(healthy_text(load(NAME))), CASE, grade)
    assert result.passed and result.share == 0.8 and cases == [CASE]
    [check] = [check for check in result.checks if not check.passed]
    assert check.group == "unchanged" and SORTED.strip() in check.saw
    assert check.saw.endswith("with them and without: accuracy 0.960 and 0.950; loss 0.250 and 0.240.")


def test_what_keeps_it_earns_all_points() -> None:
    cases, grade = graded(True)
    result = decoys.priced(healthy_text(load(NAME)), CASE, grade)
    assert result.share == 1.0 and all(check.passed for check in result.checks) and len(cases) == 1


def test_without_a_repair_it_is_not_priced_and_a_repair_may_be_as_good_as_the_program_without_it() -> None:
    text = without(healthy_text(load(NAME)))
    cases, grade = graded(False, False)
    result = decoys.priced(text, CASE, grade)
    assert (result.status, result.share) == ("wrong", 0.0) and [case.decoy for case in cases] == [CASE.decoy, ""]
    cases, grade = graded(False, True)
    assert decoys.priced(text, CASE, grade).share == 0.8
    cases, grade = graded(False)
    assert not decoys.priced(load(NAME).handed_out, CASE, grade).passed and len(cases) == 1, "nothing was touched"


@pytest.mark.parametrize("name", DECOYS)
def test_its_look_is_a_choice_of_the_form_and_is_answered(name: str) -> None:
    exercise = load(name)
    [(trap, _)] = exercise.scenario.odd
    word = cause(trap.look_alikes[0].other).word
    assert word in causes(exercise) and word in pairs(exercise) and word not in right(exercise).causes
    assert len(causes(exercise)) == len(causes(replace(exercise, kind=Repair()))) == 8


def test_whatever_a_decoy_looks_like_is_offered() -> None:
    fault, params = load(NAME).about_fault
    for word in set(words()) - {OTHER}:
        assert word in (choices := offered(fault, params, "a key", (word,))) and len(choices) == 8, word


def test_a_wrong_cause_is_answered_by_the_decoys_own_test() -> None:
    message = answer(load(NAME), "data in the wrong order", [])
    assert message.startswith(
        "Count the classes in one batch of each of the two loaders. If it were that: A training batch"
    )
    assert "Here: Training batches contain many classes. Only the validation batches are sorted." in message


def test_the_debrief_says_what_was_harmless() -> None:
    text = debriefed(load(NAME))
    trap = faults.load("traps/validation_not_shuffled")
    assert "### Odd and harmless" in text and trap.why in text and SORTED.strip() in text
    assert "### Odd and harmless" not in debriefed(load("04"))


def test_a_decoy_is_a_trap_that_fits() -> None:
    with pytest.raises(UserError, match="loss/double_softmax is a fault, and a decoy is harmless"):
        Scenario("mlp", decoy="loss/double_softmax")
    with pytest.raises(UserError, match="does not fit mlp"):
        Scenario("mlp", decoy="traps/tied_weights")
    with pytest.raises(UserError, match="does not fit digits_cnn"):
        Scenario("digits_cnn", ("modes/batch_norm_tiny_batches",), decoy="traps/log_softmax_first")


def test_scenarios_without_one_keep_their_tickets_and_texts() -> None:
    plain, odd = Scenario("mlp"), Scenario("mlp", decoy="traps/log_softmax_first")
    assert plain.ticket != odd.ticket and odd.undecoyed() == plain and plain.source == plain.base
    assert odd.healthy().source == odd.source == odd.base


def test_its_name_is_searched_for_like_the_faults() -> None:
    outputs = [{"cell": "hints", "text": "Perhaps traps/validation_not_shuffled?"}]
    assert leaks.in_outputs(load(NAME), outputs) and leaks.in_outputs(load("04"), outputs) == []


def test_the_proof_tries_it() -> None:
    kinds = {trial.name: trial.kind for trial in load(NAME).kind.trials(load(NAME))}
    assert kinds["the odd thing taken away as well"] == "touched"
    assert kinds["only the odd thing taken away"] == "degenerate"


@pytest.mark.slow
@pytest.mark.parametrize(("text", "status", "share"), [("mended", "passed", 0.8), only_in_prove("alone", "wrong", 0.0)])
def test_graded_for_real_it_costs_a_fifth_and_gains_nothing_by_itself(text: str, status: str, share: float) -> None:
    case = Scenario("mlp", ("loop/stale_gradients",), decoy="traps/log_softmax_first", size="tiny")
    plain = case.undecoyed()
    source = tidy((plain.healthy() if text == "mended" else plain).source)
    result = decoys.priced(source, case, lambda one: grade(source, one, seeds=(0,)))
    assert (result.status, result.share) == (status, share), str(result)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_real_submission_pays_for_it_and_gains_nothing_by_it_alone() -> None:
    exercise = load(NAME)
    mended = grade_exercise(NAME, without(healthy_text(exercise)), seeds=(0,))
    assert mended.passed and (mended.points, mended.max_points) == (4.0, 5.0), str(mended)
    assert "accuracy 0.937 and 0.937; loss 0.394 and 0.394." in str(mended)
    alone = grade_exercise(NAME, without(exercise.handed_out), seeds=(0,))
    assert (alone.status, alone.points) == ("wrong", 0.0)


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_real_submission_that_keeps_it_earns_all_and_a_try_says_it_in_its_group() -> None:
    exercise = load(NAME)
    assert grade_exercise(NAME, healthy_text(exercise), seeds=(0,)).points == 5.0
    result = try_exercise(NAME, without(healthy_text(exercise)), seeds=(0,))
    assert result.passed and [check.name for check in result.checks if not check.passed] == ["unchanged"]
