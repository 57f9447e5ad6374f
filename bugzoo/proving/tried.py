"""Grading a cell's repairs and pretences: right repairs must pass, fake ones must fail.

Graded on the shortest program that the fault fits: the repairs and pretences of the fault's file, the healthy and the
broken text, generic pretences and a few attacks. One seed is used, or three if one is not enough (`grading.quick`).
`bugzoo check` tries all attacks on the exercises. `verify --fresh`, which `make prove` calls, grades the other programs.
Grades are stored at once, so that Ctrl-C loses nothing.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bugzoo import kept, programs
from bugzoo.faults.model import Fault
from bugzoo.fingerprint import code_of
from bugzoo.grading.tolerances import tolerances
from bugzoo.proving import code
from bugzoo.scenario import Scenario, plainest

if TYPE_CHECKING:
    from bugzoo.grading.trials import Trial

ATTACKS = 3
"""Number of attacks on each fault, drawn by its id; all faults together cover every attack."""
JUDGING = frozenset(
    f"bugzoo.{room}"
    for room in (
        *("running", "watching", "rerun", "diagnostics", "programs", "scenario"),
        *("grading.grade", "grading.texts"),
    )
)
"""Code that `code.grading` covers already, or that the texts of a scenario cover."""
FEWEST = 2
"""Fewest repairs besides the healthy text, and fewest own pretences, of a cell. Otherwise nothing shows that the grader
accepts another repair, or rejects a fake one."""
Result = dict[str, Any]
Asked = tuple[str, str, "Trial"]
"""(fault, program, submission)"""


@dataclass
class Tried:
    """The submissions of one cell: their list, known results and new results."""

    scenario: Scenario
    made: str
    """Key over everything that the submissions are built from and judged by."""
    in_ledger: bool = False
    trials: dict[str, "Trial"] = field(default_factory=dict)
    """Submissions by key; empty if the ledger is trusted."""
    found: dict[str, Result] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)
    """The ledger's entry, old or new."""

    def missing(self) -> list[str]:
        """Return keys of the submissions that have to be graded."""
        return [key for key in self.trials if key not in self.found]

    @property
    def count(self) -> int:
        """Number of submissions with a known result."""
        return sum(len(named) for named in self.entry["trials"].values()) if self.in_ledger else len(self.found)

    def judge(self) -> list[str]:
        """Build the ledger's entry; return sentences on unexpected results."""
        from bugzoo.grading.trials import verdict

        if self.in_ledger:
            return []
        problems: list[str] = []
        kinds: dict[str, dict[str, list[str]]] = {}
        for key, trial in self.trials.items():
            if key not in self.found:  # stopped before its turn: it is graded next time
                continue
            if sentences := verdict(trial, self.found[key]):
                problems += sentences
            else:
                failed = self.found[key]["failed"]
                kinds.setdefault(trial.kind, {})[trial.name] = [key, self.found[key]["status"], *failed]
        self.entry = {"made": "" if problems or self.missing() else self.made, "trials": kinds}
        return problems


def impossible(fault: Fault, program: str) -> str:
    """Return why no repair of a fault can be graded on a program; empty if one can."""
    if fault.needs.cuda:
        return "its repairs need a CUDA device, and the grader runs on a processor"
    missing = [name for name in ("held_out", "training", "validation") if name not in programs.load(program).facts]
    return f"the facts of {program} lack {', '.join(missing)}, so the grader has no held-out data" if missing else ""


def look(fault: Fault, program: str, entry: Mapping[str, Any], fresh: bool = False, backlog: bool = True) -> Tried:
    """Return what has to be graded in a cell. `entry`: its ledger entry; `fresh` ignores it. Without `backlog` the
    results of another grader version count.

    Raises UserError if the fault does not fit.
    """
    scenario = Scenario(program, (fault.id,))
    cell = Tried(scenario, made_key(scenario), entry=dict(entry))
    if not fresh and entry.get("made") == cell.made:
        cell.in_ledger = True
        return cell
    about, by = conditions(scenario), judged_by(scenario)
    cell.trials = {key_of(trial, about, by): trial for trial in of_cell(scenario)}
    if not fresh:
        written = _written(entry)
        by_text = {} if backlog else {code.about(key): key for key in written}
        if by_text and entry.get("made") and {code.about(key) for key in cell.trials} == by_text.keys():
            cell.in_ledger, cell.trials = True, {}
            return cell
        for key in list(cell.trials):
            if old := by_text.get(code.about(key)):  # it keeps the hash of the grader that graded it
                cell.trials[old] = cell.trials.pop(key)
                cell.found[old] = written[old]
            elif result := written.get(key) or kept.read(_cached(key)):
                cell.found[key] = result
    return cell


def lacks(fault: Fault, program: str, entry: Mapping[str, Any]) -> str:
    """Return what is outdated in a cell's ledger entry on its repairs and pretences; empty if all is current.

    Ungraded submissions are not an error of the ledger: `verify` grades them on the shortest program, `make prove` on
    all, and the matrix shows the progress.
    """
    if entry.get("not_graded", "") != (why := impossible(fault, program)):
        return "its entry on grading is outdated"
    graded = entry.get("graded", {})
    if why or graded.get("made") == made_key(scenario := Scenario(program, (fault.id,))):
        return ""
    written = {code.about(key) for named in graded.get("trials", {}).values() for key, *_ in named.values()}
    if not written:
        return ""
    about, by = conditions(scenario), judged_by(scenario)
    stale = len(written - {code.about(key_of(trial, about, by)) for trial in of_cell(scenario)})
    return f"{stale} of its repairs and pretences have changed since they were graded" if stale else ""


def of_cell(scenario: Scenario) -> list["Trial"]:
    """Return the submissions of one cell, cached, as building the texts takes a second."""
    key = made_key(scenario)
    if key not in _known:
        _known[key] = _of_cell(scenario)
    return _known[key]


_known: dict[str, list["Trial"]] = {}


def _of_cell(scenario: Scenario) -> list["Trial"]:
    from bugzoo.grading.trials import of_case

    [(fault, _)] = scenario.specs
    trials = list(of_case(scenario))
    attacks = [trial.name for trial in trials if trial.kind == "attack"]
    whole = scenario.program == plainest(fault)
    sample = random.Random(fault.id).sample(attacks, ATTACKS) if whole else []
    return [
        trial
        for trial in trials
        if trial.kind not in ("attack", "degenerate")
        or trial.name in sample
        or (trial.kind == "degenerate" and (whole or trial.name in fault.pretences))
    ]


def too_few(scenario: Scenario) -> list[str]:
    """Return a sentence for each kind, repairs or pretences, of which a cell has too few."""
    [(fault, _)] = scenario.specs
    kinds = {"repairs": ("correct", fault.repairs), "pretences": ("degenerate", fault.pretences)}
    there = {
        what: [trial.name for trial in of_cell(scenario) if trial.kind == kind and trial.name in written]
        for what, (kind, written) in kinds.items()
    }
    return [
        f"{len(names)} of its {what} fit and differ here ({', '.join(names) or 'none'}); a proof needs {FEWEST}"
        for what, names in there.items()
        if len(names) < FEWEST
    ]


def conditions(scenario: Scenario) -> tuple[Any, ...]:
    """Return everything that the grader reads from a scenario besides its texts."""
    claims = [(fault.id, fault.evidence, fault.symptom, params) for fault, params in scenario.specs]
    return scenario.source, scenario.healthy().source, tolerances(scenario), claims, scenario.needs, scenario.facts


def judged_by(scenario: Scenario) -> tuple[Any, ...]:
    """Return the code that grades a scenario, and what it leaves out of its comparisons."""
    free = tolerances(scenario).free
    return (code.grading(), free) if free else (code.grading(),)


def made_key(scenario: Scenario) -> str:
    """Return a key that changes whenever a submission of this cell or its grade may change; builds no text."""
    [(fault, params)] = scenario.specs
    edits: tuple[Any, ...] = (fault.repairs, fault.pretences, params, scenario.program == plainest(fault))
    edits += (fault.by_counter,) if fault.by_counter else ()
    return code.short(conditions(scenario), edits, *judged_by(scenario), _making())


def _making() -> str:
    roots = ("bugzoo.proving.tried:_of_cell", "bugzoo.grading.trials:of_case", "bugzoo.grading.trials:verdict")
    return code_of(*roots, "bugzoo.grading.repairs", "bugzoo.injection:change", without=JUDGING | code.SAID)


def key_of(trial: "Trial", about: tuple[Any, ...], by: tuple[Any, ...]) -> str:
    """Return the key of one submission's verdict; `about`: the conditions of its scenario, `by`: what grades it."""
    return code.keyed((trial.kind, trial.source, about), by)


def _cached(key: str) -> str:
    return kept.key("tried", key, version("torch"))


def _written(entry: Mapping[str, Any]) -> dict[str, Result]:
    """Return key -> result in the ledger."""
    return {
        key: {"status": status, "share": 0.0 if status != "passed" else 1.0, "failed": failed, "saw": failed}
        for named in entry.get("trials", {}).values()
        for key, status, *failed in named.values()
    }


def grade_one(asked: Asked) -> Result:
    """Grade one submission."""
    from bugzoo.grading.quick import quick
    from bugzoo.grading.trials import told

    fault, program, trial = asked
    scenario = Scenario(program, (fault,))
    return told(quick(trial.source, scenario, seconds=scenario.needs.seconds or 60.0, draw=0))


def grade_all(
    cells: Sequence[Tried], executor: Executor | None = None, progress: Callable[[int, int], None] | None = None
) -> int:
    """Grade and store what is missing; return how many were graded. `progress(done, of)` counts submissions."""
    waiting = [(cell, key) for cell in cells for key in cell.missing()]
    if not waiting:
        return 0
    from bugzoo.grading.trials import reliable
    from bugzoo.running import run_all

    done = 0

    def keep(index: int, result: Result) -> None:
        nonlocal done
        cell, key = waiting[index]
        cell.found[key] = result
        if reliable(cell.trials[key], result):
            kept.write(_cached(key), result)
        done += 1
        if progress:
            progress(done, len(waiting))

    submissions = [(cell.scenario.faults[0], cell.scenario.program, cell.trials[key]) for cell, key in waiting]
    run_all(grade_one, submissions, executor=executor, on_done=keep)
    return len(waiting)
