"""Does every fault still show at both ends of each of its parameters' ranges?

    python -m tests.benchmarks.ranges [FAULT ...] [--json FILE] [--save]

Each end is put into the shortest program that the fault fits, the other parameters as the fault's file has them, and run
once, tiny, beside its healthy twin. Said is which ends do not show the evidence, have no effect, or end in another way than the
default does. What was run is kept, so that it goes on where it was ended.
"""

import sys
from dataclasses import dataclass, field

from bugzoo import faults as catalogue
from bugzoo.diagnostics import judge_all
from bugzoo.errors import UserError
from bugzoo.faults.evidence import number, parse
from bugzoo.faults.model import Fault
from bugzoo.files import write_atomic
from bugzoo.proving.cells import Result, named
from bugzoo.proving.measured import measured
from bugzoo.proving.tried import shortest
from bugzoo.running.reading import from_json
from bugzoo.scenario import Scenario
from tests.benchmarks import report as reports

LATE = "a tiny run has no such step; a script of one's own may"
FINE: dict[str, str] = {
    "numerics/log_at_step?step=100000": LATE,
    "numerics/sqrt_at_zero?step=100000": LATE,
    "numerics/zero_norm_division?step=100000": LATE,
    "numerics/log_at_step?eps=1.0": "the logarithm of 1 and more is finite: the end at which the fault is gone",
}
"""End -> why it need not show the fault."""


@dataclass
class End:
    """One end of one parameter's range. `outcome` and `usual`: how it ends, and how the default value does."""

    spec: str
    program: str
    outcome: str = ""
    usual: str = ""
    problems: list[str] = field(default_factory=list)
    by_design: str = ""


def ends(fault: Fault) -> list[tuple[str, Scenario]]:
    """(spec, scenario) of the default first, and of both ends of each parameter; what cannot be made has no scenario."""
    specs = [fault.id]
    for name, param in fault.params.items():
        whole = isinstance(param.default, int)
        specs += [f"{fault.id}?{name}={int(value) if whole else value}" for value in (param.low, param.high)]
    return [(spec, Scenario(shortest(fault), (spec,))) for spec in dict.fromkeys(specs)]


def look(fault: Fault) -> list[End]:
    """Runs the ends of one fault; nothing where it has no parameter or needs a CUDA device."""
    if not fault.params or fault.needs.cuda:
        return []
    cases = ends(fault)
    jobs = [case.job() for _, case in cases]
    twin = cases[0][1].healthy().job(limits=jobs[0].limits)
    results, _, _ = measured([(job, named(fault)) for job in (*jobs, twin)])
    healthy, usual = results[-1], results[0]["outcome"]
    extremes = []
    for (spec, case), result in list(zip(cases, results[:-1], strict=True))[1:]:
        compile(case.source, spec, "exec")
        end = End(spec, case.program, result["outcome"], usual, problems(fault, result, healthy), FINE.get(spec, ""))
        if result["outcome"] != usual:
            end.problems.append(f"it ended as {result['outcome']}, the default as {usual}: {result.get('error')}")
        extremes.append(end)
    return extremes


def problems(fault: Fault, broken: Result, healthy: Result) -> list[str]:
    """What a run does not show of its fault; of a trap, which instrument blames it."""
    verdicts = {v.instrument: v for v in judge_all(from_json(broken["numbers"]))}
    if fault.trap:
        return [f"a trap, but {name} fires: {v.message}" for name, v in verdicts.items() if v.fired]
    messages = []
    for text in fault.evidence:
        claim = parse(text)
        if not claim.holds(broken):
            actual = broken["outcome"] if claim.left == "outcome" else number(broken, claim.left)
            messages.append(f"`{text}` does not hold (saw {actual})")
        elif claim.instrument in verdicts and not verdicts[claim.instrument].fired:
            messages.append(f"{claim.instrument} does not fire")
    effect = parse(fault.effect)
    held = effect.holds(broken) if effect.left == "outcome" else effect.holds(broken, healthy)
    return messages + ([] if held else [f"`{fault.effect}` does not hold"])


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("faults", nargs="*", help="all that have parameters when left out")
    parser.add_argument("--json", metavar="FILE", help="write what was found")
    options = parser.parse_args()
    by_name = catalogue.catalogue()
    chosen = [catalogue.load(name) for name in options.faults] or [
        candidate for candidate in by_name.values() if candidate.params
    ]
    extremes: list[End] = []
    for place, fault in enumerate(chosen, 1):
        try:
            fault_ends = look(fault)
        except (UserError, SyntaxError) as error:
            fault_ends = [End(fault.id, "", problems=[str(error)])]
        extremes += fault_ends
        for end in fault_ends:
            for text in end.problems:
                fine = f" (fine: {end.by_design})" if end.by_design else ""
                print(f"{end.spec} on {end.program}: {text}{fine}", flush=True)
        print(f"{place} of {len(chosen)}: {fault.id}", file=sys.stderr, flush=True)
    bad = [end for end in extremes if end.problems and not end.by_design]
    design = sum(bool(end.problems and end.by_design) for end in extremes)
    print(f"{len(extremes)} ends of {len(chosen)} faults: {len(bad)} do not show their fault, {design} by design")
    document = {"ends": [vars(end) for end in extremes]}
    if options.json:
        import json

        write_atomic(options.json, json.dumps(document, indent=1) + "\n")
    if options.save:
        reports.save("ranges", {"ends": len(extremes), "failed": [vars(end) for end in bad], "by_design": design})
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
