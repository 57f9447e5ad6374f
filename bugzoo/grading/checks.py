"""Two groups of checks on one seed: vital signs and recovery. The third group is `integrity`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo.diagnostics import Verdict, instrument, measure_all, names
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading import reference
from bugzoo.grading.baseline import Baseline, trusted, untouched, weights
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import QUIET, Check
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario

WIDE = 2.0
"""Tolerance on one of several seeds, in units of the tolerance of the mean. A healthy program that draws its random
numbers in another order misses the narrow band on one seed in ten or twenty. With three seeds that is too often."""
AGREE = 0.97
"""Share of held-out inputs on which the model must predict the same as its weights in the reference model."""
FALL, FALL_SHARE = 1.5, 0.1
"""How far above the twin's the training loss may end, both as shares of the first loss: factor, plus."""
GONE = "it no longer shows"
"""Expected result for a fault that was there."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats), or of two predicted numbers, that counts as equal."""


def verdict(name: str, good: bool, saw: str, expected: str, number: float | None = None) -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected, number)


def measured(run: Run) -> dict[str, Reading]:
    """Return the instruments' readings. Those of the trace are measured here, out of the submission's reach; the rest
    needed its live model, so they come from its own process."""
    here = measure_all(replace(run, arrays={}, readings={}), max_cost=0)
    sure = {name: reading for name, reading in here.items() if name not in run.readings or reading.applies}
    return run.readings | sure


def account(run: Run) -> Mapping[str, Any]:
    """Return the submission process's report on its data, tools and size; empty without one."""
    return run.readings.get("integrity", Reading()).numbers


def timed() -> tuple[str, ...]:
    """Return the instruments that judge durations."""
    return tuple(name for name in names() if getattr(instrument(name), "TIMED", False))


def spared(scenario: Scenario, first: bool) -> list[str]:
    """Return the instruments that are skipped on the `first` seed or on later ones. Those that never fail a submission
    are always skipped. Those that train the model again run on the first seed only, unless they show the fault. Metric
    and losses cover the other seeds."""
    quiet = [name for name in names() if not getattr(instrument(name), "ACCUSES", True)]
    if first:
        return quiet
    named = {text.split(".")[0] for fault, _ in scenario.specs for text in (*fault.evidence, fault.effect)}
    trains = [name for name in names() if getattr(instrument(name), "TRAINS", False) and name not in named]
    return [*quiet, *(name for name in trains if name not in quiet)]


def judged(readings: Mapping[str, Reading]) -> tuple[list[Verdict], list[str]]:
    """Return (verdicts, instruments with unusable numbers, as the submission's process may return anything)."""
    verdicts, spoilt = [], sorted(set(names()) - set(readings))
    for name, reading in readings.items():
        try:
            if name != "integrity" and reading.applies:
                verdicts.append(instrument(name).judge(reading.numbers))
        except Exception:  # a faked number may raise anything
            spoilt.append(str(name)[:60])
    return verdicts, spoilt


def vital(run: Run, ignore: tuple[str, ...] = ()) -> list[Check]:
    """Check that the run finished with finite losses and that no instrument fires."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if run.outcome == "crashed":
        error = run.trace.error
        place = f" in line {error.get('line')}" if error.get("line") else ""
        saw = f"{error.get('type', 'error')}{place}: {error.get('message', '')}"[:300]
        wanted = "a run that finishes"
        if error.get("type") == "NameError":
            wanted += "; only cells that begin with `%%program` are part of the program"
        return [Check("run", "your code raised", saw, wanted)]
    finite = bool(len(losses)) and bool(np.isfinite(losses).all())
    good = run.outcome == "finished" and finite
    lost = ", with losses that are not finite" if len(losses) and not finite else ""
    shown = f"{run.outcome} after {len(losses)} steps{lost}"
    checks = [verdict("run", good, shown, "a run that finishes, with finite losses", float(len(losses)))]
    verdicts, spoilt = judged(run.readings)
    if spoilt:
        saw = f"the numbers of {', '.join(spoilt)[:200]} cannot be read"
        checks.append(Check("account", "wrong", saw, "what the instruments measure"))
    for one in verdicts:
        if one.fired and one.instrument not in ignore:
            number = next(iter(one.numbers.values()), None)
            saw = symptom(one.instrument, run.readings[one.instrument].numbers)
            checks.append(Check(one.instrument, "wrong", saw, QUIET, number))
    if len(checks) == 1 and good:
        checks.append(Check("instruments", "passed", "no instrument fires"))
    return checks


def fall(run: Run, twin: Baseline) -> Check:
    """Check that the training loss ends as low as the twin's, in any unit: both as shares of the first loss."""
    ours, usual = (_end(np.asarray(losses, dtype=np.float64)) for losses in (run.trace.loss, twin.losses))
    ceiling = FALL * usual + FALL_SHARE
    saw = f"the training loss ends at {ours:.0%} of its first value (healthy: {usual:.0%})"
    saw = saw if math.isfinite(ours) else "the training loss ends at a non-finite value"
    return verdict("training loss", ours <= ceiling, saw, f"at most {ceiling:.0%}", ours)


def _end(losses: np.ndarray) -> float:
    """Return the mean of the last tenth, divided by the mean of the first three."""
    if len(losses) < 3 or not np.isfinite(losses).all() or not losses[:3].mean() > 0:
        return math.inf
    return float(losses[-max(len(losses) // 10, 1) :].mean() / losses[:3].mean())


def trained(run: Run, scenario: Scenario, twin: Baseline) -> Check:
    """Check that every parameter moved that moves in the twin, by the trace and against the initial weights."""
    with trusted:
        still = max(untouched(run), reference.never_moved(scenario, weights(run.arrays)))
    saw = f"{still} parameter values never changed" if still else "all parameter values changed"
    return verdict("training", still <= twin.untouched, saw, f"at most {twin.untouched}", float(still))


def compared(name: str, run: Run) -> Check:
    """Check that an instrument that compares two runs had two runs."""
    reading = run.readings.get(name, Reading(why_not="there was no second run"))
    return verdict("second run", reading.applies, reading.why_not or "both finished", "two runs to compare")


def illness(still: Sequence[Fault], run: Run) -> Check:
    """Check that the original fault is gone, by its own evidence. `still`: the faults that still show."""
    named = {parse(text).instrument for fault in still for text in fault.evidence}
    seen = [symptom(name, run.readings[name].numbers) for name in sorted(named) if name in run.readings]
    told = f"the original fault still shows: {'; '.join(seen) or f'the run ended as {run.outcome}'}"
    return verdict("symptom", not still, told if still else GONE, GONE)


def recovery(
    run: Run, scenario: Scenario, twin: Baseline, own_forward: bool, same_forward: bool, wide: float
) -> list[Check]:
    """Check that the weights, in the reference model, do as well as the twin's on unseen data."""
    state, said = weights(run.arrays), run.arrays.get("predictions")
    if not state:
        return [Check("model", "wrong", "there is no `model` with readable weights", "a torch module named model")]
    kind = task(scenario.program)
    with trusted:
        inputs, targets = reference.questions(scenario)
        known = reference.fits(scenario, state)
        score = kind.measure(reference.answer(scenario, state, inputs), targets) if known else None
        own = kind.measure(said, targets) if said is not None else None
    asked = targets[: len(reference.control(inputs))]
    checks = []
    if score is not None and own is not None and same_forward:
        gap = kind.difference(score.answers, own.answers)
        saw = f"the model's outputs differ by {gap:.2g} nats from those of its weights in the reference model"
        checks.append(verdict("forward pass", gap < SAME, saw, "the same outputs, whatever is masked or padded", gap))
    if score is not None and own is not None and not same_forward and not own_forward:
        share = kind.agreement(score.answers, own.answers)
        saw = f"on {share:.0%} of the held-out inputs the model predicts what its weights give in the reference model"
        checks.append(verdict("answers", share >= AGREE, saw, f"at least {AGREE:.0%}", share))
    judged = own if score is None or (own_forward and own is not None) else score
    if judged is own and own is not None and good(own, twin, kind, wide):
        checks.append(_lives_by_its_weights(run, own, asked, scenario))
    if judged is None:
        return [Check("model", "wrong", "the model could not be called", "outputs for a batch of inputs")]
    return checks + _in_band(judged.value, judged.loss, (twin,), kind, wide)


def _band(twins: Sequence[Baseline], kind: TaskKind, wide: float) -> tuple[float, float]:
    """Return (least value of the metric, largest loss)."""
    value, loss = np.mean([twin.value for twin in twins]), np.mean([twin.loss for twin in twins])
    highest = (1 + wide * (kind.loss_factor - 1)) * float(loss) + wide * kind.loss_plus
    return float(value) - wide * kind.room, highest


def _in_band(
    value: float, loss: float, twins: Sequence[Baseline], kind: TaskKind, wide: float, where: str = ""
) -> list[Check]:
    floor, ceiling = _band(twins, kind, wide)
    on, name = f"on data it never saw{where}", kind.metric
    usual, usual_loss = (float(np.mean([getattr(twin, key) for twin in twins])) for key in ("value", "loss"))
    saw, saw_loss = (
        f"{what} {on} (healthy: {healthy:.3f})"
        for what, healthy in ((f"{name} {value:.3f}", usual), (f"loss {loss:.3f} {kind.unit}", usual_loss))
    )
    return [
        verdict(name, value >= floor, saw, f"at least {floor:.3f}", value),
        verdict("loss", loss <= ceiling, saw_loss, f"at most {ceiling:.3f}", loss),
    ]


def on_average(seeds: Sequence[list[Check]], twins: Sequence[Baseline], program: str, room: float = 1.0) -> list[Check]:
    """Check metric and loss as means over the seeds; returns nothing if a seed lacks them."""
    kind = task(program)
    found = [{check.name: check.number or 0.0 for check in checks if check.number is not None} for checks in seeds]
    if not all(isinstance(one.get(name), float) for one in found for name in (kind.metric, "loss")):
        return []
    value, loss = (float(np.mean([one[name] for one in found])) for name in (kind.metric, "loss"))
    return _in_band(value, loss, twins, kind, room, f", mean of {len(found)} seeds")


def good(score: Score, twin: Baseline, kind: TaskKind, wide: float) -> bool:
    """Return whether metric and loss are inside the healthy band."""
    floor, ceiling = _band((twin,), kind, wide)
    return score.value >= floor and math.isfinite(score.loss) and score.loss <= ceiling


def _lives_by_its_weights(run: Run, own: Score, targets: np.ndarray, scenario: Scenario) -> Check:
    """Check that shuffled weights lose at least half of the gain over chance."""
    kind, facts = task(scenario.program), scenario.facts
    answers = np.asarray(account(run).get("control") or [])
    shuffled = kind.of_control(answers, targets) if answers.size == targets.size else own.value
    chance = max(kind.chance(targets), facts["chance"] if facts["metric"] == kind.metric else 0.0)
    saw = f"with its weights shuffled the model still has {kind.metric} {shuffled:.2f}"
    lost = shuffled < chance + 0.5 * (own.value - chance)
    return verdict("weights", lost, saw, "a large drop: a trained model depends on its weights", shuffled)
