"""The debrief of an exercise: explanation, run before and after, `checkup`, look-alikes, reading list, next exercise."""

import difflib
from typing import Any

from bugzoo import device, faults, record
from bugzoo.choices import said
from bugzoo.diagnostics.causes import NOTHING, cause
from bugzoo.frontend import headless
from bugzoo.grading import would_say
from bugzoo.grading.another import parted
from bugzoo.grading.another_button import AnotherButton
from bugzoo.grading.answers import true_causes
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.model import Exercise
from bugzoo.grading.repairs import repairs
from bugzoo.grading.texts import broken_text, healthy_text, same_program
from bugzoo.lab.observer import guess_from_the_run, how_sure
from bugzoo.syntax import source_lines

OF_EACH = "What is said of this run holds once the other fault is repaired."
"""A look-alike's text is about a run with one fault."""


def show(exercise: Exercise, program: Any = None) -> None:
    """Display the debrief, as plain text without a front end. `program`: the notebook's, for the run afterward."""
    if headless():
        print(text(exercise))
        return
    from IPython.display import Image, Markdown, display

    display(Markdown(why(exercise)))
    if exercise.kind.compared(exercise, ""):
        display(Markdown("### Before and after"), Image(picture(exercise, program)))
    print(f"checkup runs on the program {exercise.kind.checked} ...", flush=True)
    display(Markdown(would_say.text(exercise)))
    display(Markdown(further(exercise)))
    if load(base := parted(exercise.name)[0]).tickets:
        AnotherButton(base).show()


def text(exercise: Exercise) -> str:
    """Return Markdown without the picture: the learner's hypotheses, and the texts of the fault's file."""
    return f"{why(exercise)}\n\n{further(exercise)}"


def why(exercise: Exercise) -> str:
    """Return what its kind explains."""
    return "\n\n".join(filter(None, exercise.kind.why(exercise)))


def explained(exercise: Exercise) -> list[str]:
    """Return what was wrong and how it is repaired, for each fault."""
    faults_met = [fault for fault, _ in exercise.about_faults]
    return [text for fault in faults_met for text in (f"### {fault.title}\n\n{fault.why}", f"**Repair.** {fault.fix}")]


def further(exercise: Exercise) -> str:
    present = [fault for fault, _ in exercise.about_faults]
    parts = []
    there = faults.catalogue().keys() - {fault.id for fault in present}  # one that is only planned has no title yet
    by_id = {entry.other: entry for fault in present for entry in fault.look_alikes if entry.other in there}
    if look_alikes := list(by_id.values()):
        parts.append("### Look-alikes" + (f"\n\n{OF_EACH}" if len(present) > 1 else ""))
        parts += [_look_alike(look_alike) for look_alike in look_alikes]
    if sources := list(dict.fromkeys(source for fault in present for source in fault.sources)):
        parts.append("### To read\n\n" + "\n".join(f"- <{source}>" for source in sources))
    base = parted(exercise.name)[0]
    like = f"\n\nAnother case like this one: `bugzoo exercises another {base.partition('_')[0]}`."
    parts.append(f"### Next\n\n{after(exercise)}{like if load(base).tickets else ''}")
    return "\n\n".join(parts)


def thought(exercise: Exercise) -> str:
    """Return the noted guesses and the diagnosis, beside the right cause; "" without any."""
    guesses = []
    for ticket in exercise.forms:
        guesses += [f"- {note['cause']}, {note['sure']} % sure" for note in record.notes(ticket, "hypothesis")]
        guesses += [f"- {note['cause']}, handed in" for note in record.notes(ticket, "diagnosis") if note.get("cause")]
    true = [true_causes(exercise, of) for of in range(len(exercise.faults))]
    named = [f"**{words[0]}**" + "".join(f" (**{word}** counts, too)" for word in words[1:]) for words in true]
    sentence = f"The right cause{'s' if len(true) > 1 else ''}: {'; and '.join(named)}.{from_the_run(exercise)}"
    return "\n".join(["### What you said\n", *dict.fromkeys(guesses), f"\n{sentence}"]) if guesses else ""


def from_the_run(exercise: Exercise) -> str:
    """Return a sentence if the learner named a right cause before opening the program; "" otherwise."""
    guess = guess_from_the_run(exercise.forms)
    right = guess and any(guess["cause"] in true_causes(exercise, of) for of in range(len(exercise.faults)))
    return f" You named it from the run alone, {how_sure(guess.get('sure') or 0)}." if guess and right else ""


def repaired(exercise: Exercise) -> list[str]:
    """Return the diff to the healthy text. If that takes lines away, a repair that keeps what they are for comes first."""
    undone = diff(broken_text(exercise), healthy_text(exercise))
    back = f"```diff\n{undone}\n```"
    texts = repairs(broken_text(exercise), *exercise.about_fault).values()
    repair = next((text for text in texts if not same_program(text, healthy_text(exercise))), "")
    signs = [line[0] for line in undone.splitlines()]
    if len(exercise.faults) > 1 or not repair or signs.count("+") >= signs.count("-"):
        return [f"One possible repair of this program:\n\n{back}"]
    first = f"```diff\n{diff(broken_text(exercise), repair)}\n```"
    return [f"One possible repair of this program:\n\n{first}", f"Another is the version before it:\n\n{back}"]


def diff(before: str, after: str) -> str:
    """Return the changed lines of a unified diff."""
    lines = difflib.unified_diff(source_lines(before), source_lines(after), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


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
    """Return a PNG of the two runs that its kind compares, each on the device of the notebook."""
    from bugzoo.grading import healthy
    from bugzoo.lab.summary import picture as draw

    on, ranks = device.used(), exercise.scenario.ranks
    source = "" if program is None or isinstance(program, str) else program.as_run

    def curve(text: str) -> Any:
        if not text:
            return healthy.Twin(exercise.name, device=on).curve()
        return healthy.recorded(device.on_device(text, on), ranks)

    pair = exercise.kind.compared(exercise, source)
    first, second = (curve(text) for text, _ in pair)
    places = device.places(first.device, second.device)
    names = [f"{name}{place}" for (_, name), place in zip(pair, places, strict=True)]
    return draw(first.points, None, second.points, names=(names[0], names[1]))
