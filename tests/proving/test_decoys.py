"""The proof of a decoy: each of its sentences can come out, from made-up numbers and from a real pair that does not hold."""

from typing import Any

import pytest

from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.trials import DECOY, Trial, verdict
from bugzoo.instructor.combinations import every
from bugzoo.proving import check, decoys
from bugzoo.scenario import Scenario

CASE = Scenario("mlp", ("loss/sum_reduction",), decoy="traps/clipping_bites_rarely")
HIGH, USUAL = {"ratio": 30.0}, {"ratio": 1.0}


def result(ratio: float, accuracy: float = 0.95, loss: float = 0.2, **more: Any) -> dict[str, Any]:
    numbers = {"initial_loss": {"ratio": ratio, "loss": 2.3 * ratio, "guess": 2.3}, **more}
    return {"outcome": "finished", "metrics": {"accuracy": accuracy, "loss": loss}, "numbers": numbers}


def judged(both: dict[str, Any], alone: dict[str, Any], mended: dict[str, Any]) -> str:
    return "\n".join(decoys.judge(CASE, [both] * 3, [alone] * 3, [mended] * 3))


@pytest.fixture(autouse=True)
def alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instrument fires where its first number is above 3: what is tested is what the proof makes of it."""
    monkeypatch.setattr(
        decoys,
        "fired",
        lambda one: {name for name, numbers in one["numbers"].items() if next(iter(numbers.values())) > 3},
    )


def test_a_harmless_one_is_proved() -> None:
    assert judged(result(30), result(30), result(1)) == ""
    assert judged(result(30, 0.90), result(30, 0.905), result(1, 0.95)) == "", "within what chance does"


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ((result(1), result(1), result(1)), "with fault and decoy, `initial_loss.ratio > 3` holds on 0 of 3 seeds"),
        ((result(30), result(1), result(1)), "with the decoy taken away, `initial_loss.ratio > 3` holds on 0"),
        ((result(30, clip_rate={"x": 9}), result(30), result(1)), "seed 0: clip_rate fires either with the decoy"),
        ((result(30), result(30), result(1, clip_rate={"x": 9})), "decoy left, clip_rate fires"),
        ((result(30), result(30), result(1, accuracy=0.5)), "accuracy is 0.5, not in 0.85 to 1"),
        ((result(30), result(30), result(1, accuracy=float("nan"))), "accuracy is inf, not in"),
        ((result(30, loss=0.4), result(30, loss=0.3), result(1, loss=0.3)), "metrics.loss is better by 0.1"),
        ((result(30, 0.8), result(30, 0.9), result(1)), "metrics.accuracy is better by 0.1; the repair gains 0.15"),
        ((result(30), result(20), result(1)), "initial_loss.ratio is better by 10"),
        ((result(30, loss=float("nan")), result(30), result(1)), "metrics.loss is better by inf"),
    ],
)
def test_each_sentence_can_come_out(sides: tuple[Any, Any, Any], said: str) -> None:
    assert said in judged(*sides)


def test_numbers_that_are_lost_on_both_sides_are_no_better() -> None:
    lost = result(30, loss=float("nan"))
    assert judged(lost, lost, result(1)) == ""


def test_a_trap_that_only_takes_away_cannot_be_a_decoy() -> None:
    case = Scenario("mlp", ("loss/sum_reduction",), decoy="traps/eval_without_layers_that_care")
    assert "adds nothing to the program" in decoys.judge(case, [result(30)] * 3, [result(30)] * 3, [result(1)] * 3)[0]


def test_the_key_is_about_all_texts_and_claims() -> None:
    other = Scenario("mlp", ("loss/sum_reduction",), decoy="traps/clipping_bites_rarely?limit=3")
    assert decoys.key_of(CASE) == decoys.key_of(CASE) != decoys.key_of(other)


def test_every_exercise_with_one_is_proved_and_among_the_pairs() -> None:
    listed = {(pair.program, *pair.faults) for pair in every() if pair.with_trap}
    for name, exercise in exercises().items():
        has_trial = any(trial.kind == DECOY for trial in exercise.kind.seen(exercise))
        assert has_trial == bool(exercise.scenario.decoy), name
        if exercise.scenario.decoy:
            assert (exercise.program, exercise.fault.partition("?")[0], exercise.scenario.decoy) in listed


def test_a_touched_decoy_has_to_cost_something() -> None:
    trial = Trial("27_small_parts", "touched", "gone", "")
    entry = {"status": "passed", "share": 1.0, "saw": [], "seconds": 0.0}
    assert verdict(trial, entry) == ["touched 'gone' must cost some of the points but earns 100%"]
    assert verdict(trial, entry | {"share": 0.8}) == []
    assert "must pass" in verdict(trial, entry | {"status": "wrong", "share": 0.0})[0]


def test_check_says_why_a_decoy_does_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoys, "problems", lambda case: ["it is better without"])
    proof = check.Proof("27_small_parts", False)
    trial = next(candidate for candidate in load("27").kind.seen(load("27")) if candidate.kind == DECOY)
    assert check.judge(proof, trial, check.prove_one(trial)) == ["it is better without"] == proof.problems
    assert load("27").scenario.decoy


@pytest.mark.slow
@pytest.mark.sampled(0)
def test_smoothed_targets_beside_a_cache_that_drops_a_token_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    case = Scenario("sampler", ("generation/cache_off_by_one",), decoy="traps/smoothed_targets")
    assert any("metrics.loss is better" in text for text in decoys.problems(case))
    assert decoys.problems(Scenario("sampler", ("generation/cache_off_by_one",), decoy="traps/log_softmax_first")) == []
