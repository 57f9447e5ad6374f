"""From a declaration to notebooks, as `bugzoo.grading.notebook` does for repairs: the same declaration, the same bytes."""

from bugzoo.diagnostics import question
from bugzoo.grading.breaking.judge import handed_out, solution
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.notebook import graded_cell
from bugzoo.grading.program import cell_heads, split
from bugzoo.notebooks import code, markdown, notebook, to_text

_HOW = (
    "This time the program is well, and you break it: so that its run shows what is asked for, on every seed, and nothing "
    "else. It has to train as long, on the same data, with a model of the same size, and to report what is so. Whoever can make "
    "a symptom on purpose knows it when it comes by itself."
)
_LOOK = (
    "## Look\n\n`program.run()` trains the program in a process of its own, over the run as it was handed out; Stop ends it. "
    "`program.numbers()` prints it in ten parts. `program.instrument(name)` gives an instrument's numbers on your program as it "
    "is now, and says what it thinks of them."
)
_CODE = (
    "## The program\n\nRunning one of these cells keeps its text; `program.run()` above is what trains it. Change what you "
    "like, and as little as you can; three names are asked for and have to stay: `seed`, `model` and `metrics`."
)
_WORTH = (
    "## What it is worth\n\nThe cell below runs your program on several seeds in a process of its own. All points are for what "
    "was asked for and nothing beside it; half of them where something else shows as well."
)


def build(task: Breaking, kind: str = "student") -> str:
    """The notebook as JSON text, without outputs; `kind` as for an exercise."""
    sections = split(solution(task) if kind == "solution" else handed_out(task))
    program = [
        code(f"program-{section.lower().replace(' ', '-')}", f"{head}\n{sections[section]}")
        for section, head in cell_heads(sections).items()
    ]
    first = task.asked[0].instrument
    cells = [
        markdown("title", f"# {task.title}\n\nTicket **{task.ticket}**\n\n{task.story}\n\n{_HOW}\n\n{wanted(task)}"),
        code(
            "setup",
            f'%load_ext bugzoo.grading.workbench\n\nprogram.begin("{task.name}")',
        ),
        markdown("look-text", _LOOK),
        code("look", "view = program.run()"),
        code("numbers", "program.numbers()"),
        code("instrument", f'numbers = program.instrument("{first}")'),
        markdown("code-text", _CODE),
        *program,
        markdown("grading-text", _WORTH),
        code(
            "graded",
            f'from bugzoo.grading import breaking\n\nbreaking.graded("{task.name}")',
            **graded_cell("graded", task.points),
        ),
        markdown("debrief-text", "## Debrief\n\nOne edit that gives it, and why."),
        code("debrief", f'breaking.debrief("{task.name}")'),
    ]
    return to_text(notebook(cells, bugzoo={"ticket": task.ticket}))


def wanted(task: Breaking) -> str:
    """What the run must show, in Markdown: numbers of instruments, each with the question that it answers."""
    lines = ["**What its run must show**", ""]
    lines += [f"- `{claim}` ({question(claim.instrument).rstrip()})" for claim in task.asked]
    more = f" `{'`, `'.join(task.also)}` may follow from it." if task.also else ""
    lines += ["", f"No other instrument may raise an alarm.{more}"]
    return "\n".join(lines)
