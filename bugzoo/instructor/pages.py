"""What an assignment's folder says in prose: the answer key, the proof, and what to type next."""

import math
from collections.abc import Sequence

from bugzoo.grading.notebook import STUB
from bugzoo.instructor.key import Answer
from bugzoo.instructor.model import Assignment
from bugzoo.instructor.proof import Proof


def next_steps(assignment: Assignment, variants: bool) -> str:
    """README.md of the folder; the command prints the commands of it."""
    name = assignment.name
    hand_out = (
        f"`student/<id>/{name}.ipynb`: each student gets the notebook of their own folder"
        if variants
        else f"`student/{name}.ipynb`, as it is; or let nbgrader make the same file, see below"
    )
    own = (
        "\nnbgrader knows no variants: `generate_assignment` makes everybody's version. Hand out the notebooks of "
        "`student/` instead; collecting and grading go on as below.\n"
        if variants
        else ""
    )
    return f"""# {assignment.title}

Nothing in `instructor/` may reach a student: it holds the answer key, the solution and the proof.

## Hand out

{hand_out}.
{own}
## Collect

One folder a student: `submitted/<student>/{name}/{name}.ipynb` (nbgrader's layout), or a folder of `<student>.ipynb`.

## Grade

{commands(name)}
`bugzoo grade` reads the notebooks and never opens them in a kernel: each program runs in a sandbox without network, with
limits on time, memory and processes, and what it prints or patches does not reach its score. `nbgrader autograde` runs the
whole notebook in a kernel, in which a dishonest cell can do as it likes; take it where you trust the class.
"""


def commands(name: str) -> str:
    """What to type in the assignment's folder."""
    return f"""```sh
bugzoo grade submitted --assignment . --csv gradebook.csv

nbgrader generate_assignment {name}   # makes release/{name}/{name}.ipynb
nbgrader autograde {name}             # grades submitted/ into gradebook.db
```
"""


def config(assignment: Assignment, proof: Proof) -> str:
    """nbgrader_config.py: cells may take as long as grading on several seeds takes, which is more than nbgrader's 30 s."""
    seconds = max(300, math.ceil(proof.limit * 4))
    return (
        "# nbgrader reads this file in the folder where it is started\n"
        "c = get_config()  # noqa: F821\n"
        f'c.CourseDirectory.course_id = "{assignment.name}"\n'
        f"c.ExecutePreprocessor.timeout = {seconds}  # seconds a cell; the graded ones train the program several times\n"
        f'c.ClearSolutions.code_stub = {{"python": "{STUB}"}}  # nothing that fails beside a form\n'
    )


def answer_key(assignment: Assignment, answers: Sequence[Answer], proof: Proof) -> str:
    """key.md: what is wrong, where, what shows it, why, and how it is put right."""
    repair, diagnosis = assignment.points
    parts = [
        f"# Answer key: {assignment.title}\n\nTicket {assignment.scenario.ticket} · program `{assignment.program}` · seed "
        f"{assignment.seed}. Keep this page to yourself.\n"
    ]
    for number, answer in enumerate(answers, 1):
        lines = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in answer.places)
        parts.append(
            f"## {number}. {answer.title}\n\n"
            f"- Fault: `{answer.spec}`\n"
            f"- Place: {'line' if lines.isdigit() else 'lines'} {lines} of the program as handed out\n"
            f"- Cause in the form: {' or '.join(answer.causes or [answer.cause])}\n"
            f"- What shows it: {', '.join(f'`{name}`' for name in answer.evidence)}\n\n"
            f"{answer.why}\n\n**Repair.** {answer.fix}\n"
        )
    shares = "\n".join(
        f"- {step.share * repair:g} for repairing only number {1 + assignment.ids.index(step.fault)}"
        for step in proof.steps
        if step.kind == "half"
    )
    parts.append(
        f"## Points\n\n{repair:g} for the repair, {diagnosis:g} for the diagnosis.\n\n"
        + (f"Of the repair's points:\n\n{shares}\n- {repair:g} for everything\n\n" if shares else "")
        + "Any repair counts that makes the program do what it should; nobody's text is compared with ours.\n"
    )
    changes = assignment.scenario.diff()
    parts.append(f"## What was changed\n\nLine numbers here count in the catalogue's file.\n\n```diff\n{changes}```\n")
    return "\n".join(parts)


def proof_page(proof: Proof) -> str:
    """proof.md: what was measured before the assignment was written."""
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
        f"Seeds {seeds}. With its own repair alone the sign must be gone.\n\n"
        "| fault | sign | all of them there | it alone repaired |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "## The grader tells the repairs apart\n\n"
        f"| program | answer | points of {most:g} |\n|---|---|---|\n" + "\n".join(graded) + "\n\n"
        f"{'Proved' if proof.ok else 'Not proved'} in {proof.seconds:.0f} s.\n"
    )


def _list(values: Sequence[float | str | None]) -> str:
    return ", ".join("-" if v is None else v if isinstance(v, str) else f"{v:.3g}" for v in values)
