"""Two groups of checks on one seed, vital signs and recovery; the third one is `integrity`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo.diagnostics import Verdict, instrument, measure_all, names
from bugzoo.grading import reference
from bugzoo.grading.model import QUIET, Check
from bugzoo.grading.twin import Twin, trusted, untouched, weights
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario

ACCURACY = 0.04
"""How far below the twin's the held-out accuracy may lie on average over the seeds."""
LOSS, LOSS_NATS = 1.2, 0.05
"""How far above the twin's the held-out loss may lie on average over the seeds: factor, and nats on top."""
WIDE = 2.0
"""Room on one seed of several, in units of that on the average. A healthy program that draws its random numbers in another
order misses the narrow band on one seed in ten or twenty, and on three of them too often."""
AGREE = 0.97
"""Share of the held-out inputs whose answer has to be the one that the weights give in the reference model."""
FALL, FALL_SHARE = 1.5, 0.1
"""How much higher than the twin's the training loss may end, both as shares of the first one: factor, and on top."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats) that counts as the same answer."""


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
        place = f" in line {error['line']}" if error.get("line") else ""
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
            checks.append(Check(one.instrument, "wrong", one.message, QUIET, number))
    if len(checks) == 1 and good:
        checks.append(Check("instruments", "passed", "no instrument fires"))
    return checks


def fall(run: Run, twin: Twin) -> Check:
    """The training loss ends as low as the twin's, whatever its unit: both are taken as shares of the first one."""
    ours, usual = (_end(np.asarray(losses, dtype=np.float64)) for losses in (run.trace.loss, twin.losses))
    ceiling = FALL * usual + FALL_SHARE
    saw = f"the training loss ends at {ours:.0%} of its first value" if math.isfinite(ours) else "it has no finite end"
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
    saw = f"{still} numbers of the model never moved"
    return verdict("training", still <= twin.untouched, saw, f"at most {twin.untouched}", float(still))


def illness(still: bool) -> Check:
    """What was wrong in the program as it was handed out, by its own sign."""
    return verdict("symptom", not still, "what was wrong still shows" if still else "it is gone", "it is gone")


def recovery(
    run: Run, scenario: Scenario, twin: Twin, own_forward: bool, same_forward: bool, wide: float
) -> list[Check]:
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
        checks.append(verdict("forward pass", gap < SAME, saw, "the same whatever is hidden or padded", gap))
    if score is not None and own is not None and not same_forward and not own_forward:
        checks.append(_by_its_weights(score.logits, own.logits))
    judged = own if score is None or (own_forward and own is not None) else score
    if judged is own and own is not None and good(own, twin, wide):
        checks.append(_lives_by_its_weights(run, own, targets))
    if judged is None:
        return [Check("model", "wrong", "the model could not be asked anything", "logits for a batch of inputs")]
    return checks + _in_band(judged.accuracy, judged.loss, (twin,), wide)


def _band(twins: Sequence[Twin], wide: float) -> tuple[float, float]:
    """(least accuracy, largest loss in nats)."""
    accuracy, loss = np.mean([twin.accuracy for twin in twins]), np.mean([twin.loss for twin in twins])
    return float(accuracy) - wide * ACCURACY, (1 + wide * (LOSS - 1)) * float(loss) + wide * LOSS_NATS


def _in_band(accuracy: float, loss: float, twins: Sequence[Twin], wide: float, where: str = "") -> list[Check]:
    floor, ceiling = _band(twins, wide)
    on = f"on data it never saw{where}"
    return [
        verdict("accuracy", accuracy >= floor, f"accuracy {accuracy:.3f} {on}", f"at least {floor:.3f}", accuracy),
        verdict("loss", loss <= ceiling, f"loss {loss:.3f} nats {on}", f"at most {ceiling:.3f}", loss),
    ]


def on_average(seeds: Sequence[list[Check]], twins: Sequence[Twin], room: float = 1.0) -> list[Check]:
    """Accuracy and loss once more, as means over the seeds; nothing where a seed has none."""
    found = [{check.name: check.number for check in checks} for checks in seeds]
    if not all(isinstance(one.get(name), float) for one in found for name in ("accuracy", "loss")):
        return []
    accuracy, loss = (float(np.mean([one[name] for one in found])) for name in ("accuracy", "loss"))
    return _in_band(accuracy, loss, twins, room, f", mean of {len(found)} seeds")


def good(score: reference.Score, twin: Twin, wide: float) -> bool:
    """Inside the healthy band, by accuracy and by loss."""
    floor, ceiling = _band((twin,), wide)
    return score.accuracy >= floor and math.isfinite(score.loss) and score.loss <= ceiling


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference of log-probabilities; a constant per row does not count. Infinity for other shapes."""
    if one.shape != other.shape or not np.isfinite(other).all():
        return math.inf
    return float(np.abs(_log_softmax(one) - _log_softmax(other)).max())


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    top = logits - logits.max(-1, keepdims=True)
    return top - np.log(np.exp(top).sum(-1, keepdims=True))


def _by_its_weights(expected: np.ndarray, given: np.ndarray) -> Check:
    """Does the model say what its weights say? Logits, probabilities and their logarithms are all the same to this."""
    same = expected.shape == given.shape and np.isfinite(given).all()
    share = float((expected.argmax(-1) == given.argmax(-1)).mean()) if same else 0.0
    saw = f"the model answers {share:.0%} of the held-out inputs as its weights should"
    return verdict("answers", share >= AGREE, saw, f"at least {AGREE:.0%}", share)


def _lives_by_its_weights(run: Run, own: reference.Score, targets: np.ndarray) -> Check:
    answers = np.asarray(account(run).get("control") or [])
    right = targets.reshape(-1)
    share = float((answers.reshape(-1) == right).mean()) if answers.size == right.size else 1.0
    chance = float(np.unique(right, return_counts=True)[1].max() / right.size)
    saw = f"with its weights shuffled the model still answers {share:.0%} rightly"
    lost = share < chance + 0.5 * (own.accuracy - chance)
    return verdict("weights", lost, saw, "a model that has learnt loses its skill", share)
