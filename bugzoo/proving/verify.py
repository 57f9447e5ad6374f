"""`bugzoo verify`: every fault on every program that it names, broken against healthy, over matched seeds."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.diagnostics import instrument, judge_all, measure_all
from bugzoo.errors import UserError
from bugzoo.faults.evidence import number, parse, sign_test
from bugzoo.faults.model import Fault
from bugzoo.plain import plain
from bugzoo.proving import cache
from bugzoo.proving.matrix import Cell, Healthy, Report
from bugzoo.running import Job, Reading, Run
from bugzoo.running.many import run_job
from bugzoo.running.pool import run_all
from bugzoo.running.reading import from_json, to_json
from bugzoo.scenario import Scenario, fits

SEEDS = (0, 1, 2, 3, 4)
_MEASURE = "bugzoo.diagnostics:measure_all"


def measured(jobs: Sequence[Job], executor: Executor | None, progress: Callable[[int, int], None] | None, fresh: bool):
    """Results of all jobs, in order, and how many came out of the cache: {"outcome", "metrics", "numbers", "seconds"}."""
    results: list[dict[str, Any] | None] = [None if fresh else cache.read(job) for job in jobs]
    missing = [index for index, result in enumerate(results) if result is None]
    known = len(jobs) - len(missing)

    def keep(place: int, run: Run) -> None:  # at once, so that Ctrl-C loses only what was running
        index = missing[place]
        results[index] = {
            "outcome": run.outcome,
            "metrics": run.trace.metrics,
            "numbers": to_json(_readings(run)),
            "error": {k: v for k, v in run.trace.error.items() if k in ("type", "message", "file", "line")},
            "seconds": run.seconds,
        }
        cache.write(jobs[index], results[index])
        if progress:
            progress(sum(result is not None for result in results), len(jobs))

    if progress:
        progress(known, len(jobs))
    run_all(run_job, [jobs[index] for index in missing], executor=executor, on_done=keep)
    return results, known


def _readings(run: Run) -> dict[str, Reading]:
    """What the worker measured, and here what it could not: a run that was ended, or that only all ranks together tell."""
    if run.readings and not run.ranks:
        return run.readings
    outside = measure_all(run, max_cost=0)
    if not run.readings:
        return outside
    return run.readings | {
        name: found for name, found in outside.items() if name in run.readings and not run.readings[name].applies
    }


def fired(result: dict[str, Any]) -> dict[str, str]:
    """Instruments that fire on a result, with what they say."""
    return {v.instrument: v.message for v in judge_all(from_json(result["numbers"])) if v.fired}


def missing_need(fault: Fault, device: str) -> str:
    """Why this machine cannot run a fault; empty when it can."""
    if fault.needs.cuda and device != "cuda":
        return "needs a CUDA device; run `bugzoo verify --device cuda` on a machine that has one"
    return ""


def verify(
    names: Iterable[str] = (),
    only_programs: Iterable[str] = (),
    device: str = "cpu",
    seeds: Sequence[int] = SEEDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    fresh: bool = False,
) -> Report:
    """Prove faults (all by default). Raises UserError for unknown names; what fails to be proved is in the report."""
    started = time.perf_counter()
    chosen = [catalogue.load(name) for name in names] or list(catalogue.catalogue().values())
    wanted = [programs.load(name).name for name in only_programs]
    cells, pairs, twins = [], [], {}
    for fault in chosen:
        for program in fits(fault):
            if wanted and program not in wanted:
                continue
            cell = Cell(fault.id, program, fault.id, effect=fault.effect)
            cells.append(cell)
            cell.skipped = missing_need(fault, device)
            if cell.skipped:
                continue
            scenarios = _scenarios(cell, device, seeds)
            if scenarios:
                pairs.append((cell, fault, scenarios))
    jobs: dict[str, Job] = {}

    def add(scenario: Scenario, needs: Scenario) -> str:
        # the twin runs under the same limits as the broken run, and is shared among faults with the same text
        job = scenario.job(after=_MEASURE, after_args=_instruments(needs), limits=needs.job().limits)
        return jobs.setdefault(cache.key(job), job) and cache.key(job)

    plan = []
    for cell, fault, scenarios in pairs:
        keys = [(add(s, s), add(s.healthy(), s)) for s in scenarios]
        plan.append((cell, fault, keys))
        for s, (_, healthy_key) in zip(scenarios, keys, strict=True):
            twins.setdefault((cell.program, jobs[healthy_key].limits, repr(_instruments(s))), {})[s.seed] = healthy_key
    results, known = measured(list(jobs.values()), executor, progress, fresh)
    table = dict(zip(jobs, results, strict=True))
    for cell, fault, keys in plan:
        judge_cell(cell, fault, [table[b] for b, _ in keys], [table[h] for _, h in keys])
    controls = [_control(key[0], [table[k] for k in by_seed.values()]) for key, by_seed in twins.items()]
    return Report(cells, controls, _environment(device), time.perf_counter() - started, len(jobs), known)


def _instruments(scenario: Scenario) -> dict[str, Any]:
    """Cheap instruments always; one that runs the script again only where a fault's evidence names it."""
    named = {
        parse(text).instrument for fault, _ in scenario.specs for text in (*fault.evidence, fault.effect) if " " in text
    }
    return {"max_cost": 1, "also": sorted(n for n in named - {"outcome", "metrics"} if instrument(n).COST > 1)}


def _scenarios(cell: Cell, device: str, seeds: Sequence[int]) -> list[Scenario]:
    try:
        scenarios = [Scenario(cell.program, (cell.spec,), seed=seed, device=device) for seed in seeds]
    except UserError as error:
        cell.problems.append(str(error))
        return []
    cell.applied = all(s.source != s.base for s in scenarios)
    cell.undone = all(s.injection.undo(s.source) == s.base for s in scenarios)
    if not cell.applied:
        cell.problems.append("the swap changed nothing: broken and healthy text are the same")
    if not cell.undone:
        cell.problems.append("taking the swap back does not restore the program")
    return scenarios


def judge_cell(cell: Cell, fault: Fault, broken: list[dict], healthy: list[dict]) -> None:
    """Fill a cell from the results of matched seeds and write down every way in which it is not proved."""
    cell.outcomes = [result["outcome"] for result in broken]
    alarms = [fired(result) for result in broken]
    cell.fired = {name: sum(name in a for a in alarms) / len(alarms) for name in sorted({n for a in alarms for n in a})}
    for result in healthy:
        if result["outcome"] != "finished":
            cell.problems.append(f"the healthy twin ended as {result['outcome']}: {result.get('error')}")
            break
    if fault.trap:
        for name, share in cell.fired.items():
            said = next(a[name] for a in alarms if name in a)
            cell.problems.append(f"a trap, but {name} fires on {share:.0%} of the seeds: {said}")
        if set(cell.outcomes) != {"finished"}:
            cell.problems.append(f"a trap, but it ended as {', '.join(sorted(set(cell.outcomes)))}")
        return
    for text in fault.evidence:
        claim = parse(text)
        if claim.instrument not in ("outcome", "metrics"):  # the number is there; does the instrument say so as well?
            silent = sum(claim.instrument not in names for names in alarms)
            if silent:
                others = ", ".join(cell.fired) or "none does"
                cell.problems.append(
                    f"{claim.instrument} does not fire on {silent} of {len(broken)} broken runs "
                    f"(instruments that do: {others})"
                )
        cell.claims[text] = [claim.holds(result) for result in broken]
        cell.false_claims[text] = [claim.holds(result) for result in healthy]
        if not all(cell.claims[text]):
            seen = [number(result, claim.left) for result in broken]
            cell.problems.append(
                f"`{text}` holds on {sum(cell.claims[text])} of {len(broken)} broken runs (saw {seen})"
            )
        if any(cell.false_claims[text]):
            seen = [number(result, claim.left) for result in healthy]
            cell.problems.append(f"`{text}` holds on {sum(cell.false_claims[text])} healthy runs (saw {seen})")
    _effect(cell, fault, broken, healthy)


def _effect(cell: Cell, fault: Fault, broken: list[dict], healthy: list[dict]) -> None:
    claim = parse(fault.effect)
    if claim.left == "outcome":
        agreeing = sum(claim.holds(b) and not claim.holds(h) for b, h in zip(broken, healthy, strict=True))
    else:
        cell.broken = [plain(number(result, claim.left)) for result in broken]
        cell.healthy = [plain(number(result, claim.left)) for result in healthy]
        agreeing = sum(claim.holds(b, h) for b, h in zip(broken, healthy, strict=True))
    cell.agreeing, cell.p = agreeing, sign_test(agreeing, len(broken))
    if agreeing < len(broken):
        cell.problems.append(
            f"`{fault.effect}` on {agreeing} of {len(broken)} seeds (broken {cell.broken}, healthy {cell.healthy})"
        )


def _control(program: str, results: list[dict]) -> Healthy:
    alarms: dict[str, list[str]] = {}
    for result in results:
        for name, message in fired(result).items():
            alarms.setdefault(name, []).append(message)
    control = Healthy(program, [r["outcome"] for r in results], alarms, [r["metrics"] for r in results])
    for name, said in alarms.items():
        control.problems.append(f"{name} fires on {len(said)} of {len(results)} healthy runs: {said[0]}")
    low, high = programs.load(program).facts["tiny_healthy"]
    metric = programs.load(program).facts["metric"]
    for result in results:
        value = result["metrics"].get(metric)
        if value is None or not low <= value <= high:
            control.problems.append(f"{metric} is {value}, outside the healthy band {low} to {high}")
    return control


def _environment(device: str) -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    facts = {"python": platform.python_version(), "device": device, "machine": platform.machine()}
    facts |= {name: version(name) for name in ("torch", "torchvision", "numpy")}
    if device == "cuda":
        import torch

        facts["cuda"] = torch.version.cuda
        facts["gpu"] = torch.cuda.get_device_name()
    return facts
