"""The written pages of an assignment's folder: the answer key, the proof, and what to type next."""

import json
import math
from collections.abc import Sequence

from bugzoo.instructor.diagnosis_cell import ANSWER
from bugzoo.instructor.form_records import LINE
from bugzoo.instructor.key import Answer
from bugzoo.instructor.model import Assignment
from bugzoo.instructor.proof import Proof


def next_steps(assignment: Assignment, variants: bool) -> str:
    """Return the folder's README.md; `bugzoo assign` prints the commands in it."""
    name = assignment.name
    hand_out = (
        f"`student/<id>/{name}.ipynb`: give each student the notebook in their own folder"
        if variants
        else f"`student/{name}.ipynb` as it is, or let nbgrader build the same file (see below)"
    )
    own = (
        "\nnbgrader has no variants: `generate_assignment` builds one version for all. Hand out the notebooks in "
        "`student/` instead. Collect and grade as below.\n"
        if variants
        else ""
    )
    return f"""# {assignment.title}

Do not give students anything from `instructor/`: it holds the answer key, the solution and the proof.

## Hand out

{hand_out}.
{own}
## Collect

Use one folder per student, `submitted/<student>/{name}/{name}.ipynb` (nbgrader's layout), or one folder of
`<student>.ipynb` files. The unpacked downloads of Moodle and Canvas work as they are, with your class list:
`--students class.csv`. A saved notebook is enough: Hand in writes the diagnosis into the output of the form's cell. Collect
the notebooks with their outputs.

## Grade

{commands(name)}
Use `bugzoo grade` first; it needs no configuration. It reads the notebooks and never runs them in a kernel. Each program
runs in a sandbox without network, with limits on time, memory and processes. What it prints or patches does not affect its
score. `nbgrader autograde` runs the whole notebook in a kernel, where a dishonest cell can do anything. Use it only if you
trust the class.

nbgrader clears the outputs before it runs, and the forms' diagnoses with them. The `nbgrader_config.py` here copies them
into cells first. If you move the assignment to a course folder of your own, copy `instructor/` into it, as grading needs
the key, and add this line to its `nbgrader_config.py`:

```python
{LINE}
```
"""


def commands(name: str) -> str:
    """Return the commands to type in the assignment's folder."""
    return f"""```sh
bugzoo grade submitted --assignment . --csv gradebook.csv

nbgrader generate_assignment {name}   # builds release/{name}/{name}.ipynb
nbgrader autograde {name}             # grades submitted/ into gradebook.db
```
"""


def config(assignment: Assignment, proof: Proof) -> str:
    """Return nbgrader_config.py. Grading on several seeds takes longer than nbgrader's default limit of 30 s a cell."""
    seconds = max(300, math.ceil(proof.limit * 4))
    return (
        "# nbgrader reads this file from the folder where it is started\n"
        "c = get_config()  # noqa: F821\n"
        f'c.CourseDirectory.course_id = "{assignment.name}"\n'
        f"c.ExecutePreprocessor.timeout = {seconds}  # seconds per cell; graded cells train the program several times\n"
        "# a stub that does not raise next to a form\n"
        f"c.ClearSolutions.code_stub = {json.dumps({'python': ANSWER})}\n"
        f"# what the forms handed in is in the outputs, which nbgrader clears: this copies it into cells first\n{LINE}\n"
    )


def answer_key(assignment: Assignment, answers: Sequence[Answer], proof: Proof) -> str:
    """Return key.md: each fault, its lines, the views that show it, why it happens and the repair."""
    repair, diagnosis = assignment.points
    parts = [
        f"# Answer key: {assignment.title}\n\nTicket {assignment.scenario.ticket} · program `{assignment.program}` · seed "
        f"{assignment.seed}. Do not share this page.\n"
    ]
    for number, answer in enumerate(answers, 1):
        lines = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in answer.places)
        parts.append(
            f"## {number}. {answer.title}\n\n"
            f"- Fault: `{answer.spec}`\n"
            f"- Place: {'line' if lines.isdigit() else 'lines'} {lines} of the program as handed out\n"
            f"- Cause in the form: {' or '.join(answer.causes or [answer.cause])}\n"
            f"- Views that show it: {', '.join(f'`{name}`' for name in answer.evidence)}\n\n"
            f"{answer.why}\n\n**Repair.** {answer.fix}\n"
        )
    shares = "\n".join(
        f"- {step.share * repair:g} for repairing only fault {1 + assignment.ids.index(step.fault)}"
        for step in proof.steps
        if step.kind == "half"
    )
    parts.append(
        f"## Points\n\n{repair:g} for the repair, {diagnosis:g} for the diagnosis.\n\n"
        + (f"Of the repair's points:\n\n{shares}\n- {repair:g} for everything\n\n" if shares else "")
        + "Any repair counts that makes the program behave as it should. The grader does not compare source text.\n"
    )
    changes = assignment.scenario.diff()
    parts.append(f"## What was changed\n\nLine numbers are those of the catalogue's file.\n\n```diff\n{changes}```\n")
    return "\n".join(parts)


def proof_page(proof: Proof) -> str:
    """Return proof.md: what was measured before the assignment was written."""
    rows = [
        f"| `{sight.fault}` | `{sign.claim}` | {_list(sign.together)} | {_list(sign.repaired)} |"
        for sight in proof.sights
        for sign in sight.signs
    ]
    most = proof.assignment.points[0]
    graded = [f"| {step} | {step.result.status} | {step.share * most:g} |" for step in proof.steps]
    seeds = ", ".join(map(str, proof.seeds))
    return (
        f"# Proof: {proof.assignment.title}\n\n"
        "## Every fault shows while the others are there\n\n"
        f"Seeds {seeds}. The sign of a fault must be gone when that fault alone is repaired.\n\n"
        "| fault | sign | all faults there | this fault repaired |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "## The grader tells the repairs apart\n\n"
        f"| program | answer | points of {most:g} |\n|---|---|---|\n" + "\n".join(graded) + "\n\n"
        f"{'Proved' if proof.ok else 'Not proved'} in {proof.seconds:.0f} s.\n"
    )


def _list(values: Sequence[float | str | None]) -> str:
    return ", ".join("-" if v is None else v if isinstance(v, str) else f"{v:.3g}" for v in values)
