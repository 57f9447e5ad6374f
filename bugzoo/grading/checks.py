"""Two kinds of checks on one seed: vital signs and recovery. The third kind is `integrity`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo.diagnostics import Verdict, instrument, measure_all, names, reruns
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading import reference
from bugzoo.grading.baseline import Baseline, trusted, untouched, weights
from bugzoo.grading.evaluation import task
from bugzoo.grading.evaluation.tasks import Score, TaskKind
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.symptoms import passes, symptom
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario

WIDE = 2.0
"""Tolerance on one of several seeds, in units of the tolerance of the mean. A healthy program that draws its random
numbers in another order misses the narrow band on one seed in ten or twenty. With three seeds that is too often."""
AGREE = 0.97
"""Share of held-out inputs on which the model must predict the same as its weights in the reference model."""
FALL, FALL_SHARE = 1.5, 0.1
"""How far above the twin's the training loss may end, both as shares of the first loss: factor, plus."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats), or of two predicted numbers, that counts as equal."""


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


def finished(run: Run) -> list[Check]:
    """Check that the run finished with finite losses."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if run.outcome == "crashed":
        error = run.trace.error
        place = f" in line {error.get('line')}" if error.get("line") else ""
        said = " ".join(str(error.get("message") or "").split())[:300].rstrip(".")
        saw = f"The program was trained. It stopped with {error.get('type', 'an error')}{place}{': ' if said else ''}{said}."
        wanted = "It should run to its end."
        if error.get("type") == "NameError":
            wanted += " Only cells that begin with `%%program` are part of the program."
        return [Check("run", "your code raised", saw, wanted, group="runs")]
    finite = bool(len(losses)) and bool(np.isfinite(losses).all())
    good = run.outcome == "finished" and finite
    ended = "finished" if run.outcome in ("finished", "non_finite") else f"ended as {run.outcome.replace('_', ' ')}"
    lost = ", with losses that are not finite" if len(losses) and not finite else ""
    shown = f"The program was trained. It {ended} after {len(losses)} optimizer steps{lost}."
    wanted = "It should finish, and every loss should be finite."
    return [Check("run", state_of(good), shown, wanted, float(len(losses)), group="runs")]


def vital(run: Run, ignore: tuple[str, ...] = ()) -> list[Check]:
    """Check that the run finished with finite losses and that no instrument fires."""
    checks = finished(run)
    if checks[0].status == "your code raised":
        return checks
    good = checks[0].passed
    verdicts, spoilt = judged(run.readings)
    if spoilt:
        saw = f"The numbers of the run were read. {len(spoilt)} of them are not readable: {', '.join(spoilt)[:200]}."
        wanted = "They should be what the instruments measure."
        checks.append(Check("account", "wrong", saw, wanted, group="runs"))
    for one in verdicts:
        if one.fired and one.instrument not in ignore:
            number = next(iter(one.numbers.values()), None)
            numbers = run.readings[one.instrument].numbers
            saw = symptom(one.instrument, numbers)
            wanted = passes(one.instrument, numbers)
            # what compares several runs of the script says whether they are the same
            group = "every_run" if reruns(one.instrument) else "gone"
            checks.append(Check(one.instrument, "wrong", saw, wanted, number, group=group))
    if len(checks) == 1 and good:
        saw = "The run was measured with all instruments. None of them raises an alarm."
        checks.append(Check("instruments", "passed", saw, group="gone"))
    return checks


def fall(run: Run, twin: Baseline) -> Check:
    """Check that the training loss ends as low as the twin's, in any unit: both as shares of the first loss."""
    ours, usual = (_end(np.asarray(losses, dtype=np.float64)) for losses in (run.trace.loss, twin.losses))
    ceiling = FALL * usual + FALL_SHARE
    end = (
        f"{ours:.0%} of its first value (healthy: {usual:.0%})" if math.isfinite(ours) else "a value that is not finite"
    )
    saw = f"The first and the last losses of the training were compared. The training loss ends at {end}."
    wanted = f"At most {ceiling:.0%} passes."
    return Check("training loss", state_of(ours <= ceiling), saw, wanted, ours, group="runs")


def _end(losses: np.ndarray) -> float:
    """Return the mean of the last tenth, divided by the mean of the first three."""
    if len(losses) < 3 or not np.isfinite(losses).all() or not losses[:3].mean() > 0:
        return math.inf
    return float(losses[-max(len(losses) // 10, 1) :].mean() / losses[:3].mean())


def trained(run: Run, scenario: Scenario, twin: Baseline) -> Check:
    """Check that every parameter moved that moves in the twin, by the trace and against the initial weights."""
    with trusted:
        still = max(untouched(run), reference.never_moved(scenario, weights(run.arrays)))
    found = f"{still} parameter values never changed" if still else "All of them changed"
    saw = f"The values of all parameters were compared before and after training. {found}."
    wanted = f"At most {twin.untouched} may stay as they were, as in the healthy program."
    return Check("training", state_of(still <= twin.untouched), saw, wanted, float(still), group="runs")


def compared(name: str, run: Run) -> Check:
    """Check that an instrument that compares two runs had two runs."""
    reading = run.readings.get(name, Reading(why_not="there was no second run"))
    found = "Both finished" if reading.applies else f"They could not be compared: {reading.why_not}"
    saw = f"The program was run a second time. {found}."
    wanted = "Both runs should finish."
    return Check("second run", state_of(reading.applies), saw, wanted, group="every_run")


def illness(still: Sequence[Fault], run: Run) -> Check:
    """Check that the original fault is gone, by its own evidence. `still`: the faults that still show."""
    named = {parse(text).instrument for fault in still for text in fault.evidence}
    seen = [symptom(name, run.readings[name].numbers) for name in sorted(named) if name in run.readings]
    told = " ".join(seen) or f"The run ended as {run.outcome}."
    if not still:
        told = "The numbers that showed a fault were measured again. They show none."
    saw = f"The original fault still shows. {told}" if still else told
    return Check("symptom", state_of(not still), saw, "It should no longer show.", group="gone")


def recovery(
    run: Run, scenario: Scenario, twin: Baseline, own_forward: bool, same_forward: bool, wide: float
) -> list[Check]:
    """Check that the weights, in the reference model, do as well as the twin's on unseen data."""
    state, said = weights(run.arrays), run.arrays.get("predictions")
    if not state:
        saw = "The trained weights were read. The program has no `model` with readable weights."
        wanted = "It should keep a torch module named `model`."
        return [Check("model", "wrong", saw, wanted, group="new_data")]
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
        saw = "New examples were passed to the model, and its weights were put into the healthy model. "
        saw += f"The outputs of the two differ by up to {gap:.2g}{' nats' if kind.unit == 'nats' else ''}."
        wanted = f"They should be equal, whatever is masked or padded; below {SAME:g} passes."
        checks.append(Check("forward pass", state_of(gap < SAME), saw, wanted, gap, group="new_data"))
    if score is not None and own is not None and not same_forward and not own_forward:
        share = kind.agreement(score.answers, own.answers)
        saw = "New examples were passed to the model, and its weights were put into the healthy model. "
        saw += f"The two models agree on {share:.0%} of the examples."
        wanted = f"At least {AGREE:.0%} passes."
        checks.append(Check("answers", state_of(share >= AGREE), saw, wanted, share, group="new_data"))
    judged = own if score is None or (own_forward and own is not None) else score
    if judged is own and own is not None and good(own, twin, kind, wide):
        checks.append(_lives_by_its_weights(run, own, asked, scenario))
    if judged is None:
        saw = "New examples were passed to the model. It could not be called with them."
        wanted = "It should return outputs for a batch of inputs."
        return [Check("model", "wrong", saw, wanted, group="new_data")]
    return checks + _in_band(judged.value, judged.loss, (twin,), kind, wide)


def _band(twins: Sequence[Baseline], kind: TaskKind, wide: float) -> tuple[float, float]:
    """Return (least value of the metric, largest loss)."""
    value, loss = np.mean([twin.value for twin in twins]), np.mean([twin.loss for twin in twins])
    highest = (1 + wide * (kind.loss_factor - 1)) * float(loss) + wide * kind.loss_plus
    return float(value) - wide * kind.room, highest


def _in_band(
    value: float, loss: float, twins: Sequence[Baseline], kind: TaskKind, wide: float, group: str = "new_data"
) -> list[Check]:
    """Check metric and loss on held-out data; in the group "every_run" they are means over several seeds."""
    floor, ceiling = _band(twins, kind, wide)
    usual, usual_loss = (float(np.mean([getattr(twin, key) for twin in twins])) for key in ("value", "loss"))
    done = "The trained model was tested on examples that the program never uses."
    if group == "every_run":
        done = f"The program was trained with {len(twins)} seeds, and each model was tested on new examples."
    mean = " is on average" if group == "every_run" else " is"
    saw = f"{done} The {kind.metric}{mean} {value:.3f} (healthy: {usual:.3f})."
    saw_loss = f"{done} The loss{mean} {loss:.3f} {kind.unit} (healthy: {usual_loss:.3f})."
    least, most = f"At least {floor:.3f} passes.", f"At most {ceiling:.3f} passes."
    return [
        Check(kind.metric, state_of(value >= floor), saw, least, value, group=group),
        Check("loss", state_of(loss <= ceiling), saw_loss, most, loss, group=group),
    ]


def on_average(seeds: Sequence[list[Check]], twins: Sequence[Baseline], program: str, room: float = 1.0) -> list[Check]:
    """Check metric and loss as means over the seeds; returns nothing if a seed lacks them."""
    kind = task(program)
    found = [{check.name: check.number or 0.0 for check in checks if check.number is not None} for checks in seeds]
    if not all(isinstance(one.get(name), float) for one in found for name in (kind.metric, "loss")):
        return []
    value, loss = (float(np.mean([one[name] for one in found])) for name in (kind.metric, "loss"))
    return _in_band(value, loss, twins, kind, room, "every_run")


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
    saw = f"The weights of the trained model were shuffled. The {kind.metric} is then {shuffled:.2f}."
    most = chance + 0.5 * (own.value - chance)
    wanted = f"Below {most:.2f} passes, as a trained model depends on its weights."
    return Check("weights", state_of(shuffled < most), saw, wanted, shuffled, group="new_data")
