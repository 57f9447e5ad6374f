"""The debrief of a *five*: what each run was, what was wrong with one of them, which numbers tell, look-alikes, what is next."""

from bugzoo import faults, record
from bugzoo.diagnostics.numbers import digits
from bugzoo.frontend import headless
from bugzoo.grading.another import parted
from bugzoo.grading.another_button import AnotherButton
from bugzoo.grading.debrief import further
from bugzoo.grading.exercises import load
from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.kinds.five.recordings import recording
from bugzoo.grading.kinds.five.runs import guessing
from bugzoo.grading.model import Exercise
from bugzoo.scenario import Scenario


def show(exercise: Exercise) -> None:
    """Display the debrief, as plain text without a front end."""
    if headless():
        print(text(exercise))
        return
    from IPython.display import Markdown, display

    from bugzoo import lab
    from bugzoo.plots import five_curves

    display(Markdown(text(exercise)))
    curves = [one.losses for one in recording(exercise.name)]
    labels = [f"{place}: {one}" for place, one in enumerate(_names(exercise), 1)]
    lab.show_figure(five_curves.picture(curves, labels, guessing(exercise.name)))
    if load(base := parted(exercise.name)[0]).tickets:
        AnotherButton(base).show()


def text(exercise: Exercise) -> str:
    """Return Markdown without the picture."""
    fault, right = exercise.about_fault[0], fives.truth(exercise)
    head = f"Run {right.run} is broken: {fault.title}" if right.run else "None of the five is broken"
    parts = [_said(exercise), f"### {head}", _runs(exercise)]
    parts += [f"{fault.why}", f"**Repair.** {fault.fix}"] if right.run else []
    parts += [f"**{odd.title}.** {odd.why}" for odd in _odd(exercise)]
    return "\n\n".join(filter(None, [*parts, _telling(exercise, right), further(exercise)]))


def _said(exercise: Exercise) -> str:
    """Return the answers, and how many readings the first one rests on; "" without any."""
    lines = []
    for note in record.notes(exercise.scenario.ticket, "diagnosis"):
        if note.get("complete"):
            what = f"run {note['run']}, {note['cause']}" if note["run"] else "none is broken"
            lines.append(f"- {what}, told by `{note['reading']}`, after {len(note['opened'])} readings")
    return "\n".join(["### What you said\n", *dict.fromkeys(lines)]) if lines else ""


def _names(exercise: Exercise) -> list[str]:
    """Return what each run is, in a word or two."""
    scenarios = fives.runs(exercise)
    return [_name(exercise, scenario) for scenario in scenarios]


def _name(exercise: Exercise, one: Scenario) -> str:
    if one.specs:
        return "a trap" if one.specs[0][0].trap else "the broken one"
    plain = exercise.scenario.healthy()
    changed = [f"{name} {value}" for name, value in one.settings.items() if plain.settings.get(name) != value]
    changed += [f"seed {one.seed}"] if one.seed != plain.seed else []
    return ", ".join(changed) or "healthy"


def _runs(exercise: Exercise) -> str:
    """Return a line for each run: what it was and what it reported."""
    lines, scenarios = [], fives.runs(exercise)
    for place, (name, run) in enumerate(zip(_names(exercise), recording(exercise.name), strict=True), 1):
        metrics = ", ".join(f"{key} {value:.3g}" for key, value in run.metrics.items())
        odd = "".join(f", “{fault.title}” (see below)" for fault, _ in scenarios[place - 1].specs if fault.trap)
        lines.append(f"- Run {place}: {name}{odd}. Validation: {metrics}.")
    return "\n".join(lines)


def _odd(exercise: Exercise) -> list[faults.Fault]:
    """Return the traps among the runs."""
    return [fault for scenario in fives.runs(exercise) for fault, _ in scenario.specs if fault.trap]


def _telling(exercise: Exercise, right: fives.Truth) -> str:
    """Return each number that tells, in the broken run and in the healthy ones; where none is broken, how to see that."""
    if right.run == fives.NONE:
        return (
            "No number is outside its usual range in one run alone. A view tells that once you opened it for all five."
        )
    runs, lines = recording(exercise.name), ["### What tells\n"]
    for view, labels in right.telling.items():
        for row in (row for row in runs[right.run - 1].outside(view) if row.label in labels):
            values = [digits(row.value(run.readings[view].numbers)) for run in runs]
            others = ", ".join(value for place, value in enumerate(values, 1) if place != right.run)
            usual = row.usual_text()
            lines.append(f"- `{view}`: {row.label} is {values[right.run - 1]} (usual: {usual}). The others: {others}.")
    return "\n".join(lines)
