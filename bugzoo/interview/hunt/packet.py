"""What goes to whom: the candidate's folder, without catalogue or answers, and the interviewer's sheet."""

import difflib
import shutil
from pathlib import Path

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.faults.model import Fault
from bugzoo.files import write_atomic
from bugzoo.interview.hunt.case import Case, write
from bugzoo.interview.hunt.recipe import kind_of
from bugzoo.interview.hunt.score import FINDINGS, HINT, METHOD, NEW, REPAIRED
from bugzoo.interview.hunt.sitting import lay

SHEET, CASE = "interviewer.md", "panel.case"
READ_ME = """\
# Before you begin

You need Python with torch, and git. In a terminal of its own:

    python hunt.py keep     # starts the clock and keeps every save; Ctrl-C stops that, not the clock
    python hunt.py check    # does it reach the public bar? pass or fail
    python hunt.py left     # how much time is left
    python hunt.py done     # hand in

`BRIEF.md` says what it is about, `train.py` is the program, into `FINDINGS.md` go your findings.
"""

FOLLOW_UPS: dict[str, tuple[str, str, str]] = {
    "crash": (
        "The error is gone. How do you know that the line you changed was the cause and not the place where it was noticed?",
        "Says what the failing operation needed and who changed that before it; goes back with a print, a hook or anomaly mode; "
        "checks one value by hand.",
        "It does not crash any more.",
    ),
    "numerics": (
        "The loss is finite again. Could the same happen with other data, or later in the run?",
        "Names the range in which the operation is defined, what moves its input there, and a check that would have caught it at "
        "the first step; prefers the stable form over a larger epsilon.",
        "Adds an epsilon or a clamp until no NaN is seen.",
    ),
    "silent": (
        "Nothing was printed that was wrong. Which one test would have shown this bug in the first minute, and what else does "
        "that test miss?",
        "A cheap experiment with an expected number: the first loss against log C, one batch learnt by heart, the gradient of "
        "one batch beside the one that the optimiser gets; and a case in which the test passes all the same.",
        "More logging, more epochs, another learning rate.",
    ),
    "evaluation": (
        "The number was too good or too bad, and the model was the same. How would you find that out without looking at the "
        "code?",
        "Computes the metric again by hand on data that was surely not seen; asks what the evaluation gets that deployment does "
        "not; compares modes, splits and the last short batch.",
        "Trusts the validation number once it looks plausible.",
    ),
    "speed": (
        "The model is as good as before. What would this cost in a run of a week, and how do you measure it on a machine that "
        "others use as well?",
        "Counts (synchronisations, kept graphs, copies) before clocks; compares with a twin in the same minute; says what grows "
        "with the steps and what does not.",
        "Measures one run before and one after with a stopwatch.",
    ),
}
"""Kind of bug -> question, good answer, poor answer."""

CACHE = (
    "Write `generate(ids, count)` with a key/value cache: each step sees one new token; `python hunt.py cache` judges "
    "it. Which outputs must stay the same, to which precision, and at which three places can it go wrong?",
    "Outputs equal those without a cache to rounding; positions go on counting, the mask lets one row see everything before, and "
    "the cache is emptied between prompts; tests with a prompt of several lengths and compares logits, not text.",
    "Compares two generated texts by eye.",
)
RUBRIC = (
    (
        0,
        "Changes lines until the number moves; cannot say why a change helped; does not look at data, shapes or gradients.",
    ),
    (
        3,
        "Has guesses and tries them one at a time, but each is the next that comes to mind; believes the first that helps.",
    ),
    (5, "Makes a run reproducible and small, looks at numbers before guessing, repairs what stops the run first."),
    (
        8,
        "Says what a hypothesis predicts before the test; chooses tests that tell two causes apart; re-checks after each repair.",
    ),
    (
        10,
        "The same, in an order that uncovers one bug after the other, with findings that a colleague could act on; says what is "
        "left open.",
    ),
)


def pack(case: Case, folder: Path, candidate: str = "") -> list[Path]:
    """Write `candidate/` and the interviewer's files into a new folder; what was written. Raises UserError."""
    if folder.exists():
        raise UserError(f"{folder} exists; name another folder with -o, or move it away.")
    mine, theirs = folder / "interviewer", folder / "candidate"
    try:
        lay(case, theirs, candidate)
        write_atomic(theirs / "README.md", READ_ME)
        write_atomic(mine / SHEET, sheet(case), parents=True)
        write_atomic(mine / "solution.py", case.solution)
        write(case, mine / CASE)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return sorted(file for file in folder.rglob("*") if file.is_file())


def sheet(case: Case) -> str:
    """The interviewer's sheet, in Markdown."""
    faults = {fault.id: fault for fault, _ in case.scenario.specs}
    order = [name for wave in case.recipe.waves for name in wave]
    lines = [
        f"# Interviewer's sheet: hunt {case.ticket}",
        "",
        f"{case.minutes} minutes, level {case.level}, {len(order)} bugs in `{case.recipe.program}`; case file {case.hash[:12]}. "
        "Not for the candidate, and the debrief stays with you until you release it.",
        "",
        "## In which order they uncover each other",
        "",
    ]
    for number, wave in enumerate(case.recipe.waves, 1):
        when = "at first" if number == 1 else "when those above are repaired"
        lines.append(f"{number}. {when}: {', '.join(f'*{faults[name].title}*' for name in wave)}")
    lines += ["", "## The bugs", ""]
    for number, name in enumerate(order, 1):
        lines += _bug(case, faults[name], number)
    return "\n".join([*lines, *_ways(case), *_rubric(), ""])


def _bug(case: Case, fault: Fault, number: int) -> list[str]:
    where = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in case.lines(fault.id))
    found = [
        f"### {number}. {fault.title} (`{fault.id}`, {kind_of(fault.symptom)}, line {where})",
        "",
        fault.why,
        "",
        f"**Repair.** {fault.fix}",
        "",
        "```diff",
        *difference(case.source, case.without(fault.id)),
        "```",
        "",
        "**What a good candidate says on the way**",
        "",
    ]
    found += [
        f"- Told from *{_said(one.other)}*: {one.test} Here: {one.here} There: {one.there}"
        for one in fault.look_alikes[:2]
    ]
    found += [f"- Sees it in numbers: `{text}`." for text in fault.evidence]
    found += ["", f"**Hints** (each costs {HINT:g} points)", ""]
    minutes = (case.minutes // 3, case.minutes // 2, 2 * case.minutes // 3)
    return [*found, *(f"- minute {m}: {hint}" for m, hint in zip(minutes, fault.hints, strict=True)), ""]


def difference(before: str, after: str) -> list[str]:
    """The lines of a unified difference, from what was handed out to what is repaired."""
    one, two = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(one, two, "as handed out", "repaired", n=2, lineterm=""))


def _said(fault_id: str) -> str:
    from bugzoo import faults

    known = faults.catalogue()
    return known[fault_id].title if fault_id in known else fault_id


def _ways(case: Case) -> list[str]:
    """Follow-ups for the kinds that are planted, and one that asks for more code where the program can hold it."""
    kinds = list(dict.fromkeys(kind_of(fault.symptom) for fault, _ in case.scenario.specs))
    asked = [FOLLOW_UPS[kind] for kind in kinds]
    facts = programs.load(case.recipe.program).facts
    if facts["task"] == "language_model" and case.recipe.program != "sampler":
        asked.append(CACHE)
    lines = ["## Follow-ups", ""]
    for question, good, poor in asked:
        lines += [f"- **{question}**", f"  - good: {good}", f"  - poor: {poor}"]
    return [*lines, ""]


def _rubric() -> list[str]:
    return [
        "## Points",
        "",
        f"Repaired bugs {REPAIRED:g} in equal shares, nothing new broken {NEW:g}, findings {FINDINGS:g}: `bugzoo hunt score` "
        f"gives them. Method and follow-ups {METHOD:g}: yours, with `--method`.",
        "",
        "| method | anchor |",
        "|---|---|",
        *(f"| {points} | {text} |" for points, text in RUBRIC),
    ]
