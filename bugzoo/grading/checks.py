"""The three groups of checks on one seed: vital signs, recovery and integrity."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo.diagnostics import Verdict, instrument, measure_all, names
from bugzoo.grading import reference
from bugzoo.grading.model import Check
from bugzoo.grading.twin import Twin, trusted, untouched, weights
from bugzoo.running import Run
from bugzoo.scenario import Scenario

ACCURACY = 0.03
"""How far below the twin the held-out accuracy may lie."""
LOSS, LOSS_NATS = 1.2, 0.05
"""How far above the twin the held-out loss may lie: factor, and nats on top."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats) that counts as the same answer."""


def _verdict(name: str, good: bool, saw: str, expected: str, number: float | None = None) -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected, number)


def measured(run: Run) -> dict[str, dict[str, Any]]:
    """Numbers of the instruments. What can be read off the trace is measured here, out of the submission's reach; the
    rest needed its live model, so that its own process says it."""
    said = {name: found for name, found in run.numbers.items() if isinstance(found, dict)}
    here = measure_all(replace(run, arrays={}, numbers={}), max_cost=0)
    sure = {name: found for name, found in here.items() if name not in said or "not_applicable" not in found}
    return said | sure


def judged(numbers: dict[str, Any]) -> tuple[list[Verdict], list[str]]:
    """(verdicts, names of instruments whose numbers are not theirs: the submission's process may say anything)."""
    verdicts, spoilt = [], sorted(set(names()) - set(numbers))
    for name, found in numbers.items():
        try:
            if name != "integrity" and "not_applicable" not in found:
                verdicts.append(instrument(name).judge(found))
        except Exception:  # whatever a made-up number may do
            spoilt.append(str(name)[:60])
    return verdicts, spoilt


def vital(run: Run, ignore: tuple[str, ...] = ()) -> list[Check]:
    """The run came to its end with finite losses, and no instrument fires."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if run.outcome == "crashed":
        error = run.trace.error
        place = f" in line {error['line']}" if error.get("line") else ""
        saw = f"{error.get('type', 'error')}{place}: {error.get('message', '')}"[:300]
        return [Check("run", "your code raised", saw, "a run to the end")]
    finite = bool(len(losses)) and bool(np.isfinite(losses).all())
    good = run.outcome == "finished" and finite
    lost = ", with losses that are not finite" if len(losses) and not finite else ""
    shown = f"{run.outcome} after {len(losses)} steps{lost}"
    checks = [_verdict("run", good, shown, "a run to the end, every loss finite", float(len(losses)))]
    verdicts, spoilt = judged(run.numbers)
    if spoilt:
        saw = f"the numbers of {', '.join(spoilt)[:200]} cannot be read"
        checks.append(Check("account", "wrong", saw, "what the instruments measure"))
    for verdict in verdicts:
        if verdict.fired and verdict.instrument not in ignore:
            number = next(iter(verdict.numbers.values()), None)
            checks.append(Check(verdict.instrument, "wrong", verdict.message, "the instrument stays quiet", number))
    if len(checks) == 1 and good:
        checks.append(Check("instruments", "passed", "no instrument fires"))
    return checks


def trained(run: Run, scenario: Scenario, twin: Twin) -> Check:
    """Every parameter moved that moves in the twin: by its own account, and beside the weights that it began with."""
    with trusted:
        still = max(untouched(run), reference.never_moved(scenario, weights(run.arrays)))
    saw = f"{still} numbers of the model never moved"
    return _verdict("training", still <= twin.untouched, saw, f"at most {twin.untouched}", float(still))


def illness(still: bool) -> Check:
    """What was wrong in the program as it was handed out, by its own sign."""
    return _verdict("symptom", not still, "what was wrong still shows" if still else "it is gone", "it is gone")


def recovery(run: Run, scenario: Scenario, twin: Twin, own_forward: bool, same_forward: bool) -> list[Check]:
    """The weights, in the reference model, do as well as the twin's on data that the submission never saw."""
    state, said = weights(run.arrays), run.arrays.get("predictions")
    if not state:
        return [
            Check("model", "wrong", "there is no `model` whose weights could be read", "a torch module named model")
        ]
    with trusted:
        inputs, targets = reference.questions(scenario)
        known = reference.fits(scenario, state)
        score = reference.measure(reference.answer(scenario, state, inputs), targets) if known else None
        own = reference.measure(said, targets) if said is not None else None
    checks = []
    if score is not None and own is not None and same_forward:
        gap = difference(score.logits, own.logits)
        saw = f"the model's answers differ by {gap:.2g} nats from what its weights should give"
        checks.append(_verdict("forward pass", gap < SAME, saw, "the same whatever is hidden or padded", gap))
    judged = score if score is not None and good(score, twin) else None
    if judged is None and own_forward and own is not None and good(own, twin):
        judged = own
        checks.append(_lives_by_its_weights(run, own, targets))
    judged = judged or score or own
    if judged is None:
        return [Check("model", "wrong", "the model could not be asked anything", "logits for a batch of inputs")]
    floor, ceiling = twin.accuracy - ACCURACY, LOSS * twin.loss + LOSS_NATS
    saw = f"accuracy {judged.accuracy:.3f} on data it never saw"
    checks.append(_verdict("accuracy", judged.accuracy >= floor, saw, f"at least {floor:.3f}", judged.accuracy))
    saw = f"loss {judged.loss:.3f} nats on data it never saw"
    checks.append(_verdict("loss", judged.loss <= ceiling, saw, f"at most {ceiling:.3f}", judged.loss))
    return checks


def good(score: reference.Score, twin: Twin) -> bool:
    """Inside the healthy band, by accuracy and by loss."""
    near = score.accuracy >= twin.accuracy - ACCURACY
    return near and math.isfinite(score.loss) and score.loss <= LOSS * twin.loss + LOSS_NATS


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference of log-probabilities; a constant per row does not count. Infinity for other shapes."""
    if one.shape != other.shape or not np.isfinite(other).all():
        return math.inf
    return float(np.abs(_log_softmax(one) - _log_softmax(other)).max())


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    top = logits - logits.max(-1, keepdims=True)
    return top - np.log(np.exp(top).sum(-1, keepdims=True))


def _lives_by_its_weights(run: Run, own: reference.Score, targets: np.ndarray) -> Check:
    answers = np.asarray(run.numbers.get("integrity", {}).get("control") or [])
    right = targets.reshape(-1)
    share = float((answers.reshape(-1) == right).mean()) if answers.size == right.size else 1.0
    saw = f"with its weights shuffled the model still answers {share:.0%} rightly"
    return _verdict("weights", share < 0.6 * own.accuracy, saw, "a model that has learnt loses its skill", share)


def integrity(run: Run, scenario: Scenario, twin: Twin) -> list[Check]:
    """Same budget, same size, same data, an honest report, torch and bugzoo as they came."""
    note: dict[str, Any] = run.numbers.get("integrity") or {}
    steps = len(run.trace.step)
    checks = [_verdict("budget", steps == twin.steps, f"{steps} optimiser steps", f"{twin.steps}", float(steps))]
    if changed := note.get("changed"):
        checks.append(Check("tools", "wrong", f"changed: {', '.join(changed[:3])}", "torch and bugzoo as they came"))
    elif "changed" not in note:
        checks.append(Check("tools", "wrong", "the run left no account of itself", "torch and bugzoo as they came"))
    state = weights(run.arrays)
    with trusted:
        wanted = reference.shapes(scenario)
        member = reference.membership(scenario)
        honest, said = None, run.arrays.get("predictions")
        if state and said is not None and reference.fits(scenario, state):
            usual_answers = reference.answer(scenario, state, reference.questions(scenario)[0])
            if difference(usual_answers, said) < SAME:  # another forward pass has another accuracy
                honest = reference.own_validation(scenario, state)
    size, usual = (sum(math.prod(s) for s in found) for found in ([v.shape for v in state.values()], wanted.values()))
    checks.append(_verdict("model size", size == usual, f"{size} numbers in the model", f"{usual}", float(size)))
    if member is not None:
        seen, strange = foreign(note.get("batches") or [], member)
        saw = (
            f"{strange} of {seen} samples in the batches that were looked at are not training samples with their labels"
        )
        if not seen:
            saw = f"no batch of its training could be looked at ({note.get('problem') or 'none was kept'})"
        good_data = strange <= 0.05 * seen and seen > 0
        checks.append(_verdict("data", good_data, saw, "all of them", float(strange)))
    claimed = run.trace.metrics.get("accuracy")
    if honest is not None:
        saw = f"it reports an accuracy of {claimed:.3f}" if claimed is not None else "it reports no accuracy"
        near = claimed is not None and abs(claimed - honest) <= 0.01
        checks.append(_verdict("report", near, saw, f"{honest:.3f} on its validation data", claimed))
    return checks


def foreign(batches: list[list[Any]], member: Any) -> tuple[int, int]:
    """(samples seen, samples that are not of the training data)."""
    seen = strange = 0
    for rows, targets in batches:
        each = len(targets) // max(len(rows), 1)
        for index, row in enumerate(rows):
            label = targets[(index + 1) * each - 1] if each else None
            seen += 1
            strange += not member(row, label)
    return seen, strange


def unchanged(run: Run, twin: Twin) -> Check:
    """For a healthy case: the losses are the twin's, step by step, up to rounding."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    first = min(len(losses), len(twin.losses), 60)
    gap = float(np.abs(losses[:first] - np.asarray(twin.losses[:first])).mean()) if first else math.inf
    saw = f"the losses of the first {first} steps differ by {gap:.2g} nats from those of the reference run"
    return _verdict("agreement", gap < 1e-3, saw, "the same losses, up to rounding", gap)
