"""Search for an exercise's fault name in everything that a learner sees before solving it."""

import io
import json
import re
import tokenize
from collections.abc import Iterable
from typing import Any

from bugzoo import diagnostics
from bugzoo.grading.answers import true_causes
from bugzoo.grading.exercises import load
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.kinds.break_.lazy import LAZY_BREAKS
from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.kinds.five.recordings import recorded_views, recording
from bugzoo.grading.kinds.two.cells import FORMS
from bugzoo.grading.lines import TITLES
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.repairs import all_made
from bugzoo.grading.symptoms import title
from bugzoo.grading.texts import handed_out
from bugzoo.grading.trials import generic
from bugzoo.proving.notebook_run import run_notebook

_SMALL = set(
    "about after again already always before being below between contains could first every have into itself"
    " like many more never once only other over right same should since some still that their them then there these they"
    " this those through until very what when where which while with without"
    # words of every training run, which every story needs
    " learn model number numbers place step steps wrong"
    # constants of Python, which stand in every notebook
    " false none true".split()
)
_PROBES = (
    "print(repr(program), repr(form), repr(hints), repr(view), repr(getattr(view, 'result', None)))",
    "print(vars(program), program.source)",
    "import pickle\nfor thing in (program.sections, form.diagnosis, numbers, hints.__dict__):\n    print(pickle.dumps(thing))",
    "print(vars(view.result.trace), view.result.trace.environment)",
    "program.look('no such view')",
    "raise ValueError(repr(numbers))",
    "print(dir(program), dir(cell))",
    "get_ipython().run_cell('%%program Training\\nraise ValueError =')",
)
"""Cells that a curious learner might add; their output must not name the fault either."""


def names(exercise: Exercise) -> set[str]:
    """Return forbidden texts in lower case: the fault's id, family and stem in several spellings, title, cause.

    Of a decoy its id, stem and title.
    """
    found: set[str] = set()
    for of, (fault, _) in enumerate(exercise.about_faults):
        stem = fault.id.rsplit("/", 1)[1]
        found |= {fault.id, fault.id.replace("/", "."), fault.title}
        found |= {stem, stem.replace("_", " "), stem.replace("_", "-")}
        if not exercise.trap:  # every exercise's text mentions that nothing may be wrong
            found |= set(true_causes(exercise, of))
    for trap, _ in exercise.scenario.odd:
        stem = trap.id.rsplit("/", 1)[1]
        found |= {trap.id, stem, stem.replace("_", " "), trap.title}
    return {text.lower() for text in found}


def words(exercise: Exercise) -> set[str]:
    """Return words of the fault's stem, title and cause that are not in the healthy program's code."""
    told = []
    for of, (fault, _) in enumerate(exercise.about_faults):
        told += [fault.id.rsplit("/", 1)[1], fault.title, *([] if exercise.trap else true_causes(exercise, of)[:1])]
    said = " ".join(told)
    known = _words(_code(exercise.scenario.healthy().source)) | _SMALL
    return {word for word in _words(said) if len(word) > 3} - known


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _code(source: str) -> str:
    """Return a program's code without strings and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))


def in_files(exercise: Exercise) -> list[str]:
    """Return sentences on what the notebook handed out gives away: source, metadata, file name."""
    text = build(exercise, "student")
    found = [f"the notebook says {name!r}" for name in sorted(names(exercise)) if name in text.lower()]
    found += [f"the file's name says {name!r}" for name in sorted(names(exercise)) if name in exercise.name]
    kept = repr(recording(exercise.name)).lower() if exercise.five else ""
    found += [f"the recording says {name!r}" for name in sorted(names(exercise)) if name in kept]
    cells = json.loads(text)
    head = "" if exercise.five else handed_out(exercise).split('"""')[1]
    ticket = exercise.scenario.ticket
    for place, said in {
        "title": exercise.title,
        "story": exercise.story,
        "file's name": exercise.name,
        "program's docstring": head,
        "metadata": json.dumps([cells["metadata"], *(cell["metadata"] for cell in cells["cells"])]),
        "ticket": ticket,
    }.items():
        for word in sorted(words(exercise) & _words(said)):
            found.append(f"the {place} says {word!r}")
    return found


def probe(exercise: Exercise) -> str:
    """Return the student's notebook with a wrong repair, a wrong diagnosis and a curious learner's cells.

    The repair is run twice: before the diagnosis, as the cell `tried`, and after it.
    """
    if exercise.breaks:
        return _probe_of_edits(exercise)
    if exercise.five:
        return _probe_of_a_five(exercise)
    wrong = next(iter(generic(handed_out(exercise), *exercise.about_fault).values()))
    answer = 'filled = form.hand_in(cause="something else", place=1, step=1, evidence=["loss_curve"], test="Z")'
    probes = _cells(_PROBES)
    if exercise.second:
        answer = "\n".join(answer.replace("form.", f"{name}.") for name in FORMS)
        probes = _cells(
            text.replace("form.", "first.").replace("repr(form)", "repr(first), repr(second)") for text in _PROBES
        )
    made = json.loads(build(exercise, source=wrong, answer=answer))
    probes.insert(0, probes[0] | {"id": "tried", "source": f'_ = cell.repair("{exercise.name}")'})
    before = next(place for place, cell in enumerate(made["cells"]) if cell["id"] == "diagnosis-answer")
    made["cells"][before:before] = probes[:-1]  # after the diagnosis a verdict may be shown
    made["cells"].append(probes[-1])  # it changes the program
    return json.dumps(made)


def _probe_of_edits(exercise: Exercise) -> str:
    """Return the same for a *break* exercise, which has no form: a lazy edit, and the curious learner's cells."""
    lazy = next(iter(all_made(handed_out(exercise), LAZY_BREAKS, {}).values()))
    made = json.loads(build(exercise, source=lazy))
    made["cells"] += _cells(text.replace("form.diagnosis, ", "").replace("repr(form), ", "") for text in _PROBES)
    return json.dumps(made)


def _probe_of_a_five(exercise: Exercise) -> str:
    """Return the same for a *five*: every reading opened, a wrong answer, and the curious learner's cells before it."""
    wrong = (
        f"runs.hand_in(run={(fives.broken(exercise) + 1) % (fives.RUNS + 1)}, cause='something else', reading='batch')"
    )
    made = json.loads(build(exercise, answer=wrong))
    before = next(place for place, cell in enumerate(made["cells"]) if cell["id"] == "diagnosis-answer")
    made["cells"][before:before] = _cells(_PROBES_OF_A_FIVE)
    made["cells"] = [one for one in made["cells"] if one["id"] != "debrief"]  # after an answer it opens
    return json.dumps(made)


_PROBES_OF_A_FIVE = (
    f"for view in {recorded_views()}:\n    for run in range(1, {fives.RUNS + 1}):\n        runs.look(view, run)",
    "print(repr(runs), vars(runs).keys(), runs.name, runs.ticket, dir(runs), dir(cell))",
    "import pickle\nprint(pickle.dumps(runs.look('loss_curve', 1)))",
    "runs.look('no such view', 1)",
    "runs.look('batch', 9)",
)


def _cells(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return cells that may raise."""
    found = []
    for number, text in enumerate(texts):
        cell = {"cell_type": "code", "execution_count": None, "id": f"probe-{number}", "outputs": []}
        found.append(cell | {"metadata": {"tags": ["raises-exception"]}, "source": text})
    return found


def in_outputs(exercise: Exercise, outputs: list[dict[str, Any]]) -> list[str]:
    """Return sentences on what the executed notebook gives away."""
    found = []
    for output in outputs:
        said = output["text"].lower()
        found += [f"cell {output['cell']} shows {name!r}" for name in sorted(names(exercise)) if name in said]
    return found


def in_groups(text: str) -> list[str]:
    """Return sentences on what the output of a repair before the diagnosis tells besides its status and groups."""
    found = [f"the repair before the diagnosis does not say {said!r}" for said in GROUPS.values() if said not in text]
    found += [f"the repair before the diagnosis says the number {said}" for said in re.findall(r"\d[\d.]*", text)]
    names = {text for name in diagnostics.names() for text in (name, title(name))} | set(TITLES.values())
    names -= {title for title in names if any(title in said for said in GROUPS.values())}
    return found + [f"the repair before the diagnosis names {said!r}" for said in sorted(names) if said in text]


def leaks(name: str) -> dict[str, Any]:
    """Return {"problems": sentences, "cells": number of outputs, "letters": their length} for one exercise."""
    exercise = load(name)
    outputs = run_notebook(probe(exercise))
    letters = sum(len(output["text"]) for output in outputs)
    problems = in_files(exercise) + in_outputs(exercise, outputs)
    shown = {output["cell"]: output["text"] for output in outputs}
    problems += [] if exercise.breaks or exercise.five else in_groups(shown.get("tried", ""))
    asked = "diagnosis" if exercise.five else "repair"
    if "wrong" not in shown.get(asked, ""):
        problems.append(f"the notebook with a wrong {asked} did not say so: {shown.get(asked, '')[:200]!r}")
    return {"problems": problems, "cells": len(outputs), "letters": letters}
