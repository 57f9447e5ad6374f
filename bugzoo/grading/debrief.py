"""What stands at an exercise's end: why, the run before and after, what it could have been, what to read, what is next."""

from typing import Any

from bugzoo.diagnostics.causes import cause
from bugzoo.frontend import headless
from bugzoo.grading.exercises import exercises
from bugzoo.grading.model import Exercise


def show(exercise: Exercise, program: Any = None) -> None:
    """Display it; as plain text where nobody looks. `program`: the notebook's, whose text is the run afterwards."""
    said = text(exercise)
    if headless():
        print(said)
        return
    from IPython.display import Image, Markdown, display

    display(Markdown(said))
    if not exercise.trap:
        display(Image(picture(exercise, program)))


def text(exercise: Exercise) -> str:
    """Markdown, all of it from the fault's own file."""
    fault, _ = exercise.about_fault
    parts = [f"### {fault.title}\n\n{fault.why}\n\n**Repair.** {fault.fix}"]
    if fault.look_alikes:
        parts.append("### What it could have been")
        parts += [_look_alike(one) for one in fault.look_alikes]
    if fault.sources:
        parts.append("### To read\n\n" + "\n".join(f"- <{source}>" for source in fault.sources))
    parts.append(f"### Next\n\n{after(exercise)}")
    return "\n\n".join(parts)


def _look_alike(one: Any) -> str:
    from bugzoo.choices import said

    return f"**{cause(one.other).word.capitalize()}.** {one.test} Here: {said(one.here)} There: {said(one.there)}"


def after(exercise: Exercise) -> str:
    """The exercise that comes next in the folder."""
    names = list(exercises())
    place = names.index(exercise.name) + 1
    if place == len(names):
        return "That was the last one. `bugzoo interview` draws a case that nobody has prepared you for."
    name = names[place]
    return f"`exercises/{name}.ipynb`: {exercises()[name].title}."


def picture(exercise: Exercise, program: Any = None) -> bytes:
    """PNG: as it was handed out, over the run of the notebook's program as it is now, else over the healthy one."""
    from bugzoo.grading import healthy
    from bugzoo.grading.grade import handed_out
    from bugzoo.lab.summary import picture as draw

    before = healthy.recorded(handed_out(exercise), exercise.scenario.ranks)
    afterwards = healthy.Twin(exercise.name).curve()
    if program is not None and not isinstance(program, str):
        afterwards = healthy.recorded(program.source, exercise.scenario.ranks)
    now = "as it is now" if program is not None and not isinstance(program, str) else "healthy"
    return draw(before.points, None, afterwards.points, names=("as handed out", now))
