"""What does the five-minute checklist catch? Five more runs of each broken program, on a drawn sample of the catalogue.

    python -m tests.benchmarks.checklist [--faults 40] [--program mlp] [--save]

The checklist runs a script again with a tenth of the rate, clipped gradients, full precision, two samples and another seed. It
is asked of faults drawn with a named seed among those that are proved on one program, and of that program without a fault.
Caught means that it fires; named, that its first suspect is the fault's cause.
"""

import random
from collections import defaultdict

from bugzoo import Scenario, faults
from bugzoo.diagnostics import causes, five_minute_checklist
from bugzoo.proving import ledger
from bugzoo.proving.measured import measured
from bugzoo.running.reading import from_json
from bugzoo.scenario import fits
from tests.benchmarks import report

NAME, SEED = "five_minute_checklist", 20261123


def drawn(program: str, many: int) -> list[str]:
    """Faults, no traps, that are proved on a program; the same ones each time."""
    known = [f.id for f in faults.catalogue().values() if not f.trap and program in fits(f)]
    known = [name for name in known if f"{name} on {program}" not in ledger.waiting()]
    return sorted(random.Random(SEED).sample(known, min(many, len(known))))


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--program", default="mlp")
    options = parser.parse_args()
    names = drawn(options.program, options.faults)
    scenarios = [Scenario(options.program, (name,)) for name in names] + [Scenario(options.program)]
    jobs = [(one.job(), {NAME}) for one in scenarios]
    results, _, _ = measured(jobs, progress=lambda done, of: print(f"\r{done} of {of}", end="", flush=True))
    print()
    families: dict[str, dict[str, int]] = defaultdict(lambda: {"faults": 0, "caught": 0, "named": 0, "not asked": 0})
    caught = []
    for name, result in zip([*names, "healthy/"], results, strict=True):
        row = families[name.split("/")[0]]
        row["faults"] += 1
        reading = from_json(result["numbers"]).get(NAME)
        if reading is None or not reading.applies:
            row["not asked"] += 1
            continue
        verdict = five_minute_checklist.judge(reading.numbers)
        row["caught"] += verdict.fired
        if verdict.fired:
            caught.append(name)
            suspects = [causes.cause(one.cause).word for one in verdict.suspects[:1]]
            row["named"] += name != "healthy/" and bool(set(suspects) & set(causes.right(name)))
    for family, row in sorted(families.items()):
        print(f"{family:18}" + "".join(f"  {key} {value:3}" for key, value in row.items()))
    total = {key: sum(row[key] for family, row in families.items() if family != "healthy") for key in row}
    print(f"{'all':18}" + "".join(f"  {key} {value:3}" for key, value in total.items()))
    print("caught: " + ", ".join(caught))
    if options.save:
        rows = {"program": options.program, "seed": SEED, "all": total, "families": dict(families), "caught": caught}
        report.save("checklist", rows)


if __name__ == "__main__":
    main()
