"""The debrief of an exercise: explanation, run before and after, `checkup`, look-alikes, reading list, next exercise."""

import difflib
from typing import Any

from bugzoo import device, faults, record
from bugzoo.choices import said
from bugzoo.diagnostics.causes import NOTHING, cause
from bugzoo.faults.model import Fault
from bugzoo.frontend import headless
from bugzoo.grading import would_say
from bugzoo.grading.another import parted
from bugzoo.grading.another_button import AnotherButton
from bugzoo.grading.answers import true_causes
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.kinds.decoy import marks as decoys
from bugzoo.grading.model import Exercise
from bugzoo.grading.repairs import repairs
from bugzoo.grading.texts import broken_text, handed_out, healthy_text
from bugzoo.syntax import source_lines

OF_EACH = "What is said of this run holds once the other fault is repaired."
"""A look-alike's text is about a run with one fault."""


def show(exercise: Exercise, program: Any = None) -> None:
    """Display the debrief, as plain text without a front end. `program`: the notebook's, for the run afterward."""
    if headless():
        print(text(exercise))
        return
    from IPython.display import Image, Markdown, display

    display(Markdown(_why(exercise)))
    if not exercise.trap:
        display(Markdown("### Before and after"), Image(picture(exercise, program)))
    what = "with the edit above" if exercise.breaks else "as handed out"
    print(f"checkup runs on the program {what} ...", flush=True)
    display(Markdown(would_say.text(exercise)))
    display(Markdown(further(exercise)))
    if load(base := parted(exercise.name)[0]).tickets:
        AnotherButton(base).show()


def text(exercise: Exercise) -> str:
    """Return Markdown without the picture: the learner's hypotheses, and the texts of the fault's file."""
    return f"{_why(exercise)}\n\n{further(exercise)}"


def _why(exercise: Exercise) -> str:
    fault, _ = exercise.about_fault
    if exercise.breaks:
        head = "### One edit that does it\n\nAny edit that gives the symptom counts. This one is the catalogue's:"
        edit = f"{head}\n\n```diff\n{_done(exercise)}\n```"
        return "\n\n".join([edit, f"**{fault.title}.** {fault.why}", exercise.breaks.moral, f"**Repair.** {fault.fix}"])
    parts = [_thought(exercise)]
    for fault, _ in exercise.about_faults:
        parts += [f"### {fault.title}\n\n{fault.why}", f"**Repair.** {fault.fix}"]
    parts += [] if exercise.trap else _repaired(exercise)
    parts += [_odd(exercise, trap) for trap, _ in exercise.scenario.odd]
    return "\n\n".join(filter(None, parts))


def _odd(exercise: Exercise, trap: Fault) -> str:
    """Return why the decoy is harmless, with its lines."""
    lines = "\n".join(dict.fromkeys(mark.line for mark in decoys.marks(exercise.scenario)))
    return (
        f"### Odd and harmless\n\n**{trap.title}.** {trap.why}\n\nThe healthy program has these lines too, so they may stay:"
        f"\n\n```python\n{lines}\n```"
    )


def further(exercise: Exercise) -> str:
    own = [fault for fault, _ in exercise.about_faults]
    parts = []
    ids = {fault.id for fault in own}
    all_alike = {one.other: one for fault in own for one in fault.look_alikes if one.other not in ids}
    if alike := list(all_alike.values()):
        parts.append("### Look-alikes" + (f"\n\n{OF_EACH}" if exercise.second else ""))
        parts += [_look_alike(one) for one in alike]
    if sources := list(dict.fromkeys(source for fault in own for source in fault.sources)):
        parts.append("### To read\n\n" + "\n".join(f"- <{source}>" for source in sources))
    base = parted(exercise.name)[0]
    like = f"\n\nAnother case like this one: `bugzoo exercises another {base.partition('_')[0]}`."
    parts.append(f"### Next\n\n{after(exercise)}{like if load(base).tickets else ''}")
    return "\n\n".join(parts)


def _thought(exercise: Exercise) -> str:
    """Return the noted guesses and the diagnosis, beside the right cause; "" without any."""
    guesses = []
    for ticket in exercise.forms:
        guesses += [f"- {one['cause']}, {one['sure']} % sure" for one in record.notes(ticket, "hypothesis")]
        guesses += [f"- {one['cause']}, handed in" for one in record.notes(ticket, "diagnosis") if one.get("cause")]
    true = [" or ".join(f"**{word}**" for word in true_causes(exercise, of)) for of in range(len(exercise.faults))]
    told = f"The right cause{'s' if exercise.second else ''}: {'; and '.join(true)}."
    return "\n".join(["### What you said\n", *dict.fromkeys(guesses), f"\n{told}"]) if guesses else ""


def _repaired(exercise: Exercise) -> list[str]:
    """Return the diff to the healthy text. If that takes lines away, a repair that keeps what they are for comes first."""
    back = f"```diff\n{_done(exercise)}\n```"
    kept = next(iter(repairs(broken_text(exercise), *exercise.about_fault).values()), "")
    signs = [line[0] for line in _done(exercise).splitlines()]
    if exercise.second or not kept or signs.count("+") >= signs.count("-"):
        return [f"One possible repair of this program:\n\n{back}"]
    first = f"```diff\n{_diff(broken_text(exercise), kept)}\n```"
    return [f"One possible repair of this program:\n\n{first}", f"Another is the version before it:\n\n{back}"]


def _done(exercise: Exercise) -> str:
    """Return the diff that undoes the fault; of a *break* exercise the diff that makes it."""
    broken, healthy = broken_text(exercise), healthy_text(exercise)
    return _diff(healthy, broken) if exercise.breaks else _diff(broken, healthy)


def _diff(before: str, after: str) -> str:
    return "\n".join(
        line
        for line in difflib.unified_diff(source_lines(before), source_lines(after), n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    )


def _look_alike(one: Any) -> str:
    title = faults.load(one.other).title
    name = f"A healthy run: {title}" if cause(one.other).word == NOTHING else title
    head = f"**{name}.** {one.test}"
    return f"{head}\n\n- This run: {said(one.here)}\n- That one: {said(one.there)}"


def after(exercise: Exercise) -> str:
    """Return the next exercise in the folder."""
    names = list(exercises())
    place = names.index(parted(exercise.name)[0]) + 1
    if place == len(names):
        return "That was the last exercise. `bugzoo interview` draws a new case for you."
    name = names[place]
    title = exercises()[name].title
    return f"`exercises/{name}.ipynb`: {title}{'' if title.endswith('?') else '.'}"


def picture(exercise: Exercise, program: Any = None) -> bytes:
    """Return a PNG: the run as handed out, over the notebook's current program, else over the healthy run.

    Of a *break* exercise: the learner's program, else the text with the catalogue's edit, over the healthy run.
    """
    from bugzoo.grading import healthy
    from bugzoo.lab.summary import picture as draw

    on, ranks = device.used(), exercise.scenario.ranks
    own = "" if program is None or isinstance(program, str) else program.as_run

    def run(text: str) -> Any:
        return healthy.recorded(device.on_device(text, on), ranks)

    first, twin = run(own or broken_text(exercise)), healthy.Twin(exercise.name, device=on).curve()
    names = ("with your edit" if own else "with the edit above", "as handed out")
    if not exercise.breaks:
        first, twin = run(handed_out(exercise)), first if own else twin
        names = ("as handed out", "as it is now" if own else "healthy")
    here, there = device.places(first.device, twin.device)
    return draw(first.points, None, twin.points, names=(f"{names[0]}{here}", f"{names[1]}{there}"))
