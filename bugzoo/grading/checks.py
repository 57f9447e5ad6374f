"""Two groups of checks on one seed, vital signs and recovery; the third one is `integrity`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo.diagnostics import Verdict, instrument, measure_all, names
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading import reference
from bugzoo.grading.baseline import Twin, trusted, untouched, weights
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, Task
from bugzoo.grading.model import QUIET, Check
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario

WIDE = 2.0
"""Room on one seed of several, in units of that on the average. A healthy program that draws its random numbers in another
order misses the narrow band on one seed in ten or twenty, and on three of them too often."""
AGREE = 0.97
"""Share of the held-out inputs whose answer has to be the one that the weights give in the reference model."""
FALL, FALL_SHARE = 1.5, 0.1
"""How much higher than the twin's the training loss may end, both as shares of the first one: factor, and on top."""
GONE = "it does not show"
"""What was wrong, where something was."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats), or of two predicted numbers, that counts as the same answer."""


def verdict(name: str, good: bool, saw: str, expected: str, number: float | None = None) -> Check:
    return Check(name, "passed" if good else "wrong", saw, expected, number)


def measured(run: Run) -> dict[str, Reading]:
    """Readings of the instruments. What can be read off the trace is measured here, out of the submission's reach; the
    rest needed its live model, so that its own process says it."""
    here = measure_all(replace(run, arrays={}, readings={}), max_cost=0)
    sure = {name: reading for name, reading in here.items() if name not in run.readings or reading.applies}
    return run.readings | sure


def account(run: Run) -> Mapping[str, Any]:
    """What the submission's process said of its data, its tools and its size; empty where it said nothing."""
    return run.readings.get("integrity", Reading()).numbers


def timed() -> tuple[str, ...]:
    """The instruments that judge how long something took."""
    return tuple(name for name in names() if getattr(instrument(name), "TIMED", False))


def spared(scenario: Scenario, first: bool) -> list[str]:
    """The instruments that are not asked on the `first` seed, or on another: those that never accuse on none, and those that
    train the model once more on the first only, unless they show the fault; metric and losses tell of the others."""
    quiet = [name for name in names() if not getattr(instrument(name), "ACCUSES", True)]
    if first:
        return quiet
    named = {text.split(".")[0] for fault, _ in scenario.specs for text in (*fault.evidence, fault.effect)}
    trains = [name for name in names() if getattr(instrument(name), "TRAINS", False) and name not in named]
    return [*quiet, *(name for name in trains if name not in quiet)]


def judged(readings: Mapping[str, Reading]) -> tuple[list[Verdict], list[str]]:
    """(verdicts, names of instruments whose numbers are not theirs: the submission's process may say anything)."""
    verdicts, spoilt = [], sorted(set(names()) - set(readings))
    for name, reading in readings.items():
        try:
            if name != "integrity" and reading.applies:
                verdicts.append(instrument(name).judge(reading.numbers))
        except Exception:  # whatever a made-up number may do
            spoilt.append(str(name)[:60])
    return verdicts, spoilt


def vital(run: Run, ignore: tuple[str, ...] = ()) -> list[Check]:
    """The run came to its end with finite losses, and no instrument fires."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if run.outcome == "crashed":
        error = run.trace.error
        place = f" in line {error.get('line')}" if error.get("line") else ""
        saw = f"{error.get('type', 'error')}{place}: {error.get('message', '')}"[:300]
        wanted = "a run to the end"
        if error.get("type") == "NameError":
            wanted += "; what stands in other cells than those that begin with `%%program` is no part of the program"
        return [Check("run", "your code raised", saw, wanted)]
    finite = bool(len(losses)) and bool(np.isfinite(losses).all())
    good = run.outcome == "finished" and finite
    lost = ", with losses that are not finite" if len(losses) and not finite else ""
    shown = f"{run.outcome} after {len(losses)} steps{lost}"
    checks = [verdict("run", good, shown, "a run to the end, every loss finite", float(len(losses)))]
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


def fall(run: Run, twin: Twin) -> Check:
    """The training loss ends as low as the twin's, whatever its unit: both are taken as shares of the first one."""
    ours, usual = (_end(np.asarray(losses, dtype=np.float64)) for losses in (run.trace.loss, twin.losses))
    ceiling = FALL * usual + FALL_SHARE
    saw = f"the training loss ends at {ours:.0%} of its first value (healthy: {usual:.0%})"
    saw = saw if math.isfinite(ours) else "it has no finite end"
    return verdict("training loss", ours <= ceiling, saw, f"at most {ceiling:.0%}", ours)


def _end(losses: np.ndarray) -> float:
    """Mean of the last tenth, over the mean of the first three."""
    if len(losses) < 3 or not np.isfinite(losses).all() or not losses[:3].mean() > 0:
        return math.inf
    return float(losses[-max(len(losses) // 10, 1) :].mean() / losses[:3].mean())


def trained(run: Run, scenario: Scenario, twin: Twin) -> Check:
    """Every parameter moved that moves in the twin: by its own account, and beside the weights that it began with."""
    with trusted:
        still = max(untouched(run), reference.never_moved(scenario, weights(run.arrays)))
    saw = f"{still} numbers of the model never moved" if still else "every number of the model moved"
    return verdict("training", still <= twin.untouched, saw, f"at most {twin.untouched}", float(still))


def compared(name: str, run: Run) -> Check:
    """An instrument that looks at a pair of runs had a pair to look at."""
    reading = run.readings.get(name, Reading(why_not="there was no second run"))
    return verdict("second run", reading.applies, reading.why_not or "both came to their end", "two runs to compare")


def illness(still: Sequence[Fault], run: Run) -> Check:
    """What was wrong in the program as it was handed out, by its own sign: the faults that still show it."""
    named = {parse(text).instrument for fault in still for text in fault.evidence}
    seen = [symptom(name, run.readings[name].numbers) for name in sorted(named) if name in run.readings]
    told = f"what was wrong still shows: {'; '.join(seen) or f'the run ended as {run.outcome}'}"
    return verdict("symptom", not still, told if still else GONE, GONE)


def recovery(
    run: Run, scenario: Scenario, twin: Twin, own_forward: bool, same_forward: bool, wide: float
) -> list[Check]:
    """The weights, in the reference model, do as well as the twin's on data that the submission never saw."""
    state, said = weights(run.arrays), run.arrays.get("predictions")
    if not state:
        return [
            Check("model", "wrong", "there is no `model` whose weights could be read", "a torch module named model")
        ]
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
        saw = f"the model's answers differ by {gap:.2g} nats from what its weights should give"
        checks.append(verdict("forward pass", gap < SAME, saw, "the same whatever is hidden or padded", gap))
    if score is not None and own is not None and not same_forward and not own_forward:
        share = kind.agreement(score.answers, own.answers)
        saw = f"the model answers {share:.0%} of the held-out inputs as its weights say"
        checks.append(verdict("answers", share >= AGREE, saw, f"at least {AGREE:.0%}", share))
    judged = own if score is None or (own_forward and own is not None) else score
    if judged is own and own is not None and good(own, twin, kind, wide):
        checks.append(_lives_by_its_weights(run, own, asked, scenario))
    if judged is None:
        return [Check("model", "wrong", "the model could not be asked anything", "answers for a batch of inputs")]
    return checks + _in_band(judged.value, judged.loss, (twin,), kind, wide)


def _band(twins: Sequence[Twin], kind: Task, wide: float) -> tuple[float, float]:
    """(least value of the metric, largest loss)."""
    value, loss = np.mean([twin.value for twin in twins]), np.mean([twin.loss for twin in twins])
    highest = (1 + wide * (kind.loss_factor - 1)) * float(loss) + wide * kind.loss_plus
    return float(value) - wide * kind.room, highest


def _in_band(value: float, loss: float, twins: Sequence[Twin], kind: Task, wide: float, where: str = "") -> list[Check]:
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


def on_average(seeds: Sequence[list[Check]], twins: Sequence[Twin], program: str, room: float = 1.0) -> list[Check]:
    """Metric and loss once more, as means over the seeds; nothing where a seed has none."""
    kind = task(program)
    found = [{check.name: check.number or 0.0 for check in checks if check.number is not None} for checks in seeds]
    if not all(isinstance(one.get(name), float) for one in found for name in (kind.metric, "loss")):
        return []
    value, loss = (float(np.mean([one[name] for one in found])) for name in (kind.metric, "loss"))
    return _in_band(value, loss, twins, kind, room, f", mean of {len(found)} seeds")


def good(score: Score, twin: Twin, kind: Task, wide: float) -> bool:
    """Inside the healthy band, by metric and by loss."""
    floor, ceiling = _band((twin,), kind, wide)
    return score.value >= floor and math.isfinite(score.loss) and score.loss <= ceiling


def _lives_by_its_weights(run: Run, own: Score, targets: np.ndarray, scenario: Scenario) -> Check:
    """With shuffled weights at least half of the way from chance to the model's own metric is lost."""
    kind, facts = task(scenario.program), scenario.facts
    answers = np.asarray(account(run).get("control") or [])
    shuffled = kind.of_control(answers, targets) if answers.size == targets.size else own.value
    chance = max(kind.chance(targets), facts["chance"] if facts["metric"] == kind.metric else 0.0)
    saw = f"with its weights shuffled the model still has {kind.metric} {shuffled:.2f}"
    lost = shuffled < chance + 0.5 * (own.value - chance)
    return verdict("weights", lost, saw, "a model that has learnt loses its skill", shuffled)
