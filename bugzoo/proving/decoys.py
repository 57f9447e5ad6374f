"""The proof that a decoy is harmless beside its fault, on three seeds.

- With fault and decoy the fault's evidence holds, and every instrument says what it says without the decoy.
- With the fault repaired and the decoy left no instrument fires, and the metric lies in the healthy band.
- With the decoy taken away and the fault left nothing is better: not the evidence, the metric, the loss or the effect.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bugzoo.diagnostics import instrument
from bugzoo.faults.evidence import number, parse
from bugzoo.fingerprint import code_of
from bugzoo.grading.kinds.decoy.marks import marks
from bugzoo.proving import code
from bugzoo.proving.cells import Result, fired, named
from bugzoo.proving.measured import Progress, measured
from bugzoo.running import Limits
from bugzoo.scenario import Scenario

SEEDS = (0, 1, 2)
LEEWAY = 0.01
"""Share of a number by which it may differ on average when the decoy is taken away: losses agree up to rounding only."""
PART = 0.25
"""Share of what the repair gains that taking the decoy away may gain, by chance."""


def problems(case: Scenario, progress: Progress | None = None, fresh: bool = False) -> list[str]:
    """Return why the decoy of a scenario with one fault is not proved harmless; empty if it is. Runs what is not cached."""
    sides = sides_of(case)
    jobs = [(scenario.job(limits=Limits(seconds=120)), _asked(case)) for side in sides for scenario in side]
    results = measured(jobs, None, progress, fresh)[0]
    size = len(SEEDS)
    return judge(case, results[:size], results[size : 2 * size], results[2 * size :])


def sides_of(case: Scenario) -> tuple[list[Scenario], list[Scenario], list[Scenario]]:
    """Return the runs of each seed: with fault and decoy, with the fault alone, with the decoy alone."""
    scenarios = [replace(case, seed=seed) for seed in SEEDS]
    return scenarios, [scenario.undecoyed() for scenario in scenarios], [scenario.healthy() for scenario in scenarios]


def _asked(case: Scenario) -> frozenset[str]:
    return code.everything().union(*(named(fault) for fault, _ in case.specs))


def key_of(case: Scenario) -> str:
    """Return the key of the proof: the texts and claims that it is about, and the code that measures and judges."""
    by = code_of("bugzoo.proving.decoys:judge")
    return code.keyed(said(case), (code.core(), by, code.instruments(_asked(case))))


def said(case: Scenario) -> tuple[Any, ...]:
    """Return what the proof is about: the texts of all runs, the fault's claims, and the program's facts."""
    texts = [scenario.source for side in sides_of(case) for scenario in side]
    return texts, [(fault.id, fault.evidence, fault.effect) for fault, _ in case.specs], case.facts


def judge(case: Scenario, both: Sequence[Result], alone: Sequence[Result], mended: Sequence[Result]) -> list[str]:
    """Return sentences on the results of matched seeds. `alone`: the fault alone; `mended`: the decoy alone."""
    [(fault, _)] = case.specs
    idle = f"{case.decoy} adds nothing to the program, so a grader cannot see whether it is still there"
    sentences = [] if marks(case) else [idle]
    for side, results in (("with fault and decoy", both), ("with the decoy taken away", alone)):
        for text in fault.evidence:
            holds = [parse(text).holds(result) for result in results]
            if not all(holds):
                sentences.append(f"{side}, `{text}` holds on {sum(holds)} of {len(holds)} seeds{_shown(results, text)}")
    for seed, decoyed, other, healthy in zip(SEEDS, both, alone, mended, strict=True):
        if alarms := sorted(_alarms(decoyed) ^ _alarms(other)):
            sentences.append(f"seed {seed}: {', '.join(alarms)} fires either with the decoy or without it, not in both")
        if still := sorted(_alarms(healthy)):
            sentences.append(f"seed {seed}: with the fault repaired and the decoy left, {', '.join(still)} fires")
    return [*sentences, *_outside(case, mended), *_better(case, both, alone, mended)]


def _shown(results: Sequence[Result], text: str) -> str:
    return f" (saw {[number(result, parse(text).left) for result in results]})" if " " in text else ""


def _alarms(result: Result) -> set[str]:
    """Return the instruments that fire, without those that measure time: they may fire on a busy machine."""
    return {name for name in fired(result) if not getattr(instrument(name), "TIMED", False)}


def _outside(case: Scenario, mended: Sequence[Result]) -> list[str]:
    """Return sentences on runs with the decoy alone whose metric is not that of a healthy program."""
    name = case.facts["metric"]
    low, high = case.facts["tiny_healthy" if case.size == "tiny" else "healthy"]
    readings = [number(result, f"metrics.{name}") for result in mended]
    return [
        f"seed {seed}: with the fault repaired and the decoy left, {name} is {value}, not in {low:g} to {high:g}"
        for seed, value in zip(SEEDS, readings, strict=True)
        if value is None or not low <= value <= high
    ]


def _better(case: Scenario, both: Sequence[Result], alone: Sequence[Result], mended: Sequence[Result]) -> list[str]:
    """Return sentences on numbers that improve when the decoy is taken away and the fault is left."""
    [(fault, _)] = case.specs
    lower = {"metrics.loss": True, f"metrics.{case.facts['metric']}": case.facts["better"] == "lower"}
    if fault.effect and parse(fault.effect).right == "healthy":
        lower[parse(fault.effect).left] = parse(fault.effect).op.startswith(">")
    for text in fault.evidence:
        if parse(text).op[0] in "<>":
            lower[parse(text).left] = parse(text).op.startswith(">")
    sentences = []
    for name, down in lower.items():
        removal, repair = _gain(name, down, both, alone), _gain(name, down, both, mended)
        before = [abs(value) for result in both if (value := number(result, name)) is not None and math.isfinite(value)]
        most = max(LEEWAY * sum(before) / max(len(before), 1), PART * repair if math.isfinite(repair) else 0.0)
        if removal > most:
            sentences.append(
                f"with the decoy taken away and the fault left, {name} is better by {removal:.3g}; the repair gains "
                f"{repair:.3g}"
            )
    return sentences


def _gain(name: str, down: bool, before: Sequence[Result], after: Sequence[Result]) -> float:
    """Return by how much a number is better on average; 0 where it was not measured or is lost on both sides."""
    gains = []
    for first, other in zip(before, after, strict=True):
        old, new = number(first, name), number(other, name)
        if old is None or new is None or old == new:
            gains.append(0.0)
        else:
            gains.append(old - new if down else new - old)
    return sum(gains) / len(gains)
