"""`bugzoo checkup` beside the tools that people use, on the same scripts in one run. Prints a table.

    pip install -e ".[scorecard]"
    python -m tests.benchmarks.scorecard [--unseen] [--reported] [--missed] [--threads] [--calls] [--fixes]
                                         [--catalogue --cells 60 --seed 0] [--minutes 10] [--save]

By default all of tests/corpus; of the sealed half of `reported` nothing but sums is printed. With
--catalogue also pairs of fault and program from the ledger, drawn at random, and the healthy programs. Each tool is made for
something, and does well or badly here on what the others may be made for:

    torch-preflight        reads the text and runs nothing: memory, speed and a dozen slips of the loop. What lies in the data
                           or in numbers it cannot know.
    torch-audit            hooks into the run: tensors, gradients, optimiser settings, layers that are never called.
    losslint               reads the log of losses alone: NaN, divergence, spikes, plateaus. It says that, not why.
    neural-net-checklist   Karpathy's recipe as assertions on model and batch, before any training: it sees no loop, no
                           evaluation, and models with one input alone.
    bugzoo checkup         runs the script under watch and names causes of its own catalogue, which these scripts are broken
                           by: it plays at home, and of the unseen ones it has been mended by what they showed.

`scorecard_tools` says how each is asked, `scorecard_rules` what each finding is credited with. Columns, of the broken scripts:
something was said / the cause is among what it may mean / what was said first may mean it.
Of the healthy ones: something was blamed; there was advice alone, or notes. A reading is "no reading" where a tool could not
look, and counts as silence. Notes and advice count for the broken scripts where they may mean the cause.
"""

import importlib.metadata
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bugzoo.diagnostics.checkup import checkup
from tests.benchmarks import report as reports
from tests.benchmarks import scorecard_tools as tools
from tests.benchmarks.scorecard_rules import RULES, Rule
from tests.benchmarks.scorecard_tools import Finding
from tests.corpus import TWINNED, Script, scripts

OURS = "bugzoo checkup"
SETS = ("unseen", "reported", *TWINNED)
DEMAND = "a broken demand at the right line"
BROKEN = ("broken", "said", "among", "first")
HEALTHY = ("healthy", "false alarms", "advice alone")
COLUMNS = (*BROKEN, *HEALTHY, "no reading")


def group(script: Script) -> str:
    """Return the title of the rows that a script counts in."""
    return script.set if script.set != "reported" else f"reported, {'sealed' if script.sealed else 'opened'}"


def accepted(script: Script) -> frozenset[str]:
    """Return names of what is wrong with a script, any of which is right; none for a healthy one."""
    return frozenset({*script.accept, DEMAND} if script.faulty and script.set in TWINNED else script.accept)


def from_ledger(cells: int, seed: int, folder: Path) -> Iterator[Script]:
    """A number of pairs that the ledger holds as proved on one rank, and each program that they name, healthy."""
    from bugzoo import faults
    from bugzoo.proving import ledger
    from bugzoo.scenario import Scenario

    pairs = [
        (fault, program)
        for fault in ledger.names("faults")
        if not fault.startswith(("traps/", "distributed/")) and fault in set(faults.catalogue())
        for program, cell in sorted(ledger.read("faults", fault).get("cells", {}).items())
        if not cell.get("problems")
    ]
    sample = random.Random(seed).sample(pairs, min(cells, len(pairs)))
    texts = [(program, ()) for program in sorted({program for _, program in sample})]
    for place, (program, broken) in enumerate([*texts, *((program, (fault,)) for fault, program in sample)]):
        path = folder / f"script_{place}.py"
        path.write_text(Scenario(program, broken).source, encoding="utf-8")
        yield Script("catalogue", path.stem, path, broken)


def ours(script: Script) -> list[Finding] | None:
    checkup_report = checkup(script.path, ranks=script.ranks)
    if checkup_report.outcome == "unjudged":
        return None
    return [(DEMAND if script.at_line(suspect) else suspect.cause, False) for suspect in checkup_report.suspects]


def rule(tool: str, name: str) -> Rule:
    return Rule((name,)) if tool == OURS else RULES[tool].get(name, Rule())


def count(row: dict[str, int], tool: str, reading: list[Finding] | None, accepted: frozenset[str]) -> None:
    """Add one script's reading to the row. What accuses comes first in it, before advice and notes."""
    row["no reading"] += reading is None
    entries = [(rule(tool, name), rule(tool, name).advice or note) for name, note in reading or []]
    accusing, mild = ([entry for entry, is_mild in entries if is_mild == flag] for flag in (False, True))
    meant = [*accusing, *mild]
    if not accepted:
        row["healthy"] += 1
        row["false alarms"] += bool(accusing)
        row["advice alone"] += bool(mild) and not accusing
        return
    wrong = set(accepted)
    row["broken"] += 1
    row["said"] += bool(accusing)
    row["among"] += any(entry.means(wrong) for entry in meant)
    row["first"] += bool(meant) and meant[0].means(wrong)


def measure(chosen: list[Script], minutes: float | None = None) -> dict[str, dict[str, dict[str, int]]]:
    """{group: {tool: {column: count}}}, of as many as `minutes` are enough for. Prints nothing about a single script."""
    rows: dict[str, dict[str, dict[str, int]]] = {}
    began = time.perf_counter()
    for place, script in enumerate(chosen, 1):
        readings = tools.readings(script.path.resolve(), script.ranks)
        readings[OURS] = ours(script)
        by_tool = rows.setdefault(group(script), {tool: dict.fromkeys(COLUMNS, 0) for tool in (*RULES, OURS)})
        for tool, row in by_tool.items():
            count(row, tool, readings[tool], accepted(script))
        print(f"{place}/{len(chosen)} scripts, {time.perf_counter() - began:.0f} s", flush=True)
        if minutes is not None and time.perf_counter() - began > 60 * minutes:
            break
    return rows


def table(rows: dict[str, dict[str, dict[str, int]]]) -> str:
    lines = []
    for group, by_tool in rows.items():
        lines += ["", f"{group:24}" + "".join(f"{name:>14}" for name in COLUMNS)]
        lines += [f"{tool:24}" + "".join(f"{row[name]:>14}" for name in COLUMNS) for tool, row in by_tool.items()]
    return "\n".join(lines)


def main() -> None:
    parser = reports.parser(__doc__)
    for name in SETS:
        parser.add_argument(f"--{name}", action="store_true", help=f"the scripts in tests/corpus/{name} alone")
    parser.add_argument("--catalogue", action="store_true", help="also pairs of fault and program from the ledger")
    parser.add_argument("--cells", type=int, default=60, help="how many pairs")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--first", type=int, help="so many scripts of each set alone, for a trial")
    parser.add_argument("--minutes", type=float, help="end after so long, with what was counted until then")
    options = parser.parse_args()
    tools.ready()
    neither = not (options.catalogue or any(getattr(options, name) for name in SETS))
    sets = [name for name in SETS if neither or getattr(options, name)]
    with tempfile.TemporaryDirectory() as folder:
        chosen = [script.placed(Path(folder)) for name in sets for script in list(scripts(name))[: options.first]]
        if options.catalogue:
            chosen += list(from_ledger(options.cells, options.seed, Path(folder)))[: options.first]
        measured = measure(chosen, options.minutes)
    print(table(measured))
    if options.save:
        versions = {tool: importlib.metadata.version(tool) for tool in RULES}
        name = "_".join(["scorecard", *([] if neither else sets), *(["catalogue"] if options.catalogue else [])])
        counted = sum(next(iter(group.values()))[kind] for group in measured.values() for kind in ("broken", "healthy"))
        card = {"versions": versions, "scripts": {"counted": counted, "of": len(chosen)}, "rows": measured}
        reports.save(name, card)


if __name__ == "__main__":
    main()
