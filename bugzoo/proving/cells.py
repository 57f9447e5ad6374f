"""One fault on one program: what its runs measure, and what they must show to prove it."""

from collections.abc import Mapping, Sequence
from typing import Any

from bugzoo import programs
from bugzoo.diagnostics import judge_all
from bugzoo.faults.evidence import number, parse, sign_test
from bugzoo.faults.model import Fault
from bugzoo.fingerprint import code_of
from bugzoo.proving import code
from bugzoo.proving.matrix import Cell, Healthy
from bugzoo.running.reading import from_json
from bugzoo.scenario import Scenario

SEEDS = (0, 1, 2, 3, 4)
"""Seeds of a proof. All instruments are measured on the first one."""
NO_INSTRUMENTS = frozenset({"outcome", "metrics"})
"""Names in claims that are not instruments."""
Result = dict[str, Any]


def named(fault: Fault) -> frozenset[str]:
    """Return instruments that evidence and effect name. A trap is quiet on all of them, on all seeds."""
    if fault.trap:
        return code.everything()
    texts = [text for text in (*fault.evidence, fault.effect) if " " in text]
    return frozenset(parse(text).instrument for text in texts) - NO_INSTRUMENTS


def device_of(fault: Fault) -> str:
    """Return the device on which a fault's ledger entry is measured."""
    return "cuda" if fault.needs.cuda else "cpu"


def keys_of(fault: Fault, program: str) -> dict[str, str]:
    """Return the keys of a cell in the ledger. Raises UserError if the fault does not fit."""
    first = Scenario(program, (fault.id,), seed=SEEDS[0], device=device_of(fault))
    return {"evidence": evidence_key(fault, first), "full": full_key(fault, first)}


def control_key(program: str) -> str:
    """Return the key of a healthy program in the ledger."""
    return full_key(None, Scenario(program, seed=SEEDS[0]))


def evidence_key(fault: Fault, first: Scenario) -> str:
    """Return the key of a cell's verdict over the seeds; `first` is the scenario of the first seed."""
    claims = (fault.evidence, fault.effect, fault.trap, fault.needs, programs.load(first.program).facts)
    by = code_of("bugzoo.proving.cells:judge_seeds")
    return code.keyed((first.source, first.base, SEEDS, claims), (code.core(), by, code.instruments(named(fault))))


def full_key(fault: Fault | None, first: Scenario) -> str:
    """Return the key of the verdict of all instruments on one seed."""
    instruments = code.everything() | (named(fault) if fault else set())
    by = code_of("bugzoo.proving.cells:judge_full", "bugzoo.proving.cells:judge_control")
    return code.keyed(_texts(first), (code.core(), by, code.instruments(instruments)))


def control_about(program: str) -> str:
    """Return the half of `control_key` that says what was proved. The half for the code takes a second more."""
    return code.short(*_texts(Scenario(program, seed=SEEDS[0])))


def _texts(first: Scenario) -> tuple[object, ...]:
    return first.source, first.base, SEEDS, programs.load(first.program).facts


def fired(result: Result) -> dict[str, str]:
    """Return instruments that fire on a result, with their messages."""
    return {v.instrument: v.message for v in judge_all(from_json(result["numbers"])) if v.fired}


def judge_seeds(cell: Cell, fault: Fault, broken: Sequence[Result], healthy: Sequence[Result]) -> None:
    """Fill a cell from the results of matched seeds and record every reason why it is not proved."""
    cell.outcomes = [result["outcome"] for result in broken]
    for result in healthy:
        if result["outcome"] != "finished":
            cell.problems.append(f"the healthy twin ended as {result['outcome']}: {result.get('error')}")
            break
    alarms = [fired(result) for result in broken]
    if fault.trap:
        for name in sorted({name for run_alarms in alarms for name in run_alarms}):
            messages = [run_alarms[name] for run_alarms in alarms if name in run_alarms]
            cell.problems.append(f"a trap, but {name} fires on {len(messages)} of {len(broken)} seeds: {messages[0]}")
        if set(cell.outcomes) != {"finished"}:
            cell.problems.append(f"a trap, but it ended as {', '.join(sorted(set(cell.outcomes)))}")
        return
    for instrument in dict.fromkeys(parse(text).instrument for text in fault.evidence):
        if instrument not in NO_INSTRUMENTS:  # the number holds; does the instrument fire as well?
            silent = sum(instrument not in names for names in alarms)
            if silent:
                cell.problems.append(f"{instrument} does not fire on {silent} of {len(broken)} broken runs")
    judge_claims(cell, fault, broken, healthy)


def judge_claims(cell: Cell, fault: Fault, broken: Sequence[Result], healthy: Sequence[Result]) -> None:
    """Check evidence and effect against the numbers of matched seeds."""
    for text in fault.evidence:
        claim = parse(text)
        _note(cell, claim.left, broken, healthy)
        cell.claims[text] = on_broken = [claim.holds(result) for result in broken]
        cell.false_claims[text] = on_healthy = [claim.holds(result) for result in healthy]
        if not all(on_broken):
            numbers = [number(result, claim.left) for result in broken]
            cell.problems.append(f"`{text}` holds on {sum(on_broken)} of {len(numbers)} broken runs (saw {numbers})")
        if any(on_healthy):
            numbers = [number(result, claim.left) for result in healthy]
            cell.problems.append(f"`{text}` holds on {sum(on_healthy)} healthy runs (saw {numbers})")
    _effect(cell, fault, broken, healthy)


def judge_written(cell: Cell, fault: Fault, entry: Mapping[str, Any]) -> bool:
    """Check today's claims against the ledger's numbers. Return False if one is missing: then a run must decide.

    An instrument named in the evidence must also fire on all seeds. That is known if it was evidence before: it fires on
    the first seed, and its numbers are not stored for the effect.
    """
    effect = parse(fault.effect) if fault.effect else None
    evidence = [parse(text) for text in fault.evidence]
    names = {"outcome", *entry["numbers"]}
    fires = {*entry["fired"], *NO_INSTRUMENTS} - ({effect.instrument} - NO_INSTRUMENTS if effect else set())
    if fault.trap or effect is None or effect.left not in names:
        return False
    if any(claim.left not in names or claim.instrument not in fires for claim in evidence):
        return False
    sides: list[list[Result]] = []
    for which in ("broken", "healthy"):
        results: list[Result] = []
        for place, outcome in enumerate(entry["outcomes"]):
            result: Result = {"outcome": outcome if which == "broken" else "finished", "numbers": {}}
            for name, numbers in entry["numbers"].items():
                group, _, key = name.partition(".")
                into = result if group == "metrics" else result["numbers"]
                value = numbers[which][place]
                into.setdefault(group, {})[key] = (
                    float(value) if isinstance(value, str) else value
                )  # JSON has no infinity
            results.append(result)
        sides.append(results)
    judge_claims(cell, fault, *sides)
    return True


def _effect(cell: Cell, fault: Fault, broken: Sequence[Result], healthy: Sequence[Result]) -> None:
    claim = parse(fault.effect)
    _note(cell, claim.left, broken, healthy)
    if claim.left == "outcome":
        agreeing = sum(claim.holds(b) and not claim.holds(h) for b, h in zip(broken, healthy, strict=True))
    else:
        agreeing = sum(claim.holds(b, h) for b, h in zip(broken, healthy, strict=True))
    cell.agreeing, cell.p = agreeing, sign_test(agreeing, len(broken))
    if agreeing < len(broken):
        readings = cell.numbers.get(claim.left, cell.outcomes)
        cell.problems.append(f"`{fault.effect}` on {agreeing} of {len(broken)} seeds (saw {readings})")


def _note(cell: Cell, name: str, broken: Sequence[Result], healthy: Sequence[Result]) -> None:
    if name != "outcome":
        sides = {"broken": broken, "healthy": healthy}
        cell.numbers[name] = {which: [number(result, name) for result in results] for which, results in sides.items()}


def judge_full(cell: Cell, broken: Result, healthy: Result) -> None:
    """Record which instruments fire on the first seed: on the broken run for the matrix, on its twin none."""
    cell.fired = sorted(fired(broken))
    cell.problems += [f"{name} fires on the healthy twin: {text}" for name, text in sorted(fired(healthy).items())]


def judge_control(control: Healthy, results: Sequence[Result]) -> None:
    """Check that a healthy program finishes within its band and that no instrument fires."""
    control.outcomes, control.metrics = [r["outcome"] for r in results], [r["metrics"] for r in results]
    for result in results:
        for name, message in fired(result).items():
            control.fired.setdefault(name, []).append(message)
    ended = sorted({outcome for outcome in control.outcomes if outcome != "finished"})
    control.problems += [f"it ended as {outcome}" for outcome in ended]
    for name, messages in control.fired.items():
        control.problems.append(f"{name} fires on {len(messages)} of {len(results)} healthy runs: {messages[0]}")
    control.problems += out_of_band(control.program, results)


def out_of_band(program: str, results: Sequence[Result]) -> list[str]:
    """Return a sentence for each healthy run whose metric is outside the program's band."""
    facts = programs.load(program).facts
    (low, high), metric = facts["tiny_healthy"], facts["metric"]
    values = [result["metrics"].get(metric) for result in results]
    outside = [value for value in values if value is None or not low <= value <= high]
    return [f"{metric} is {value}, outside the healthy band {low} to {high}" for value in outside]
