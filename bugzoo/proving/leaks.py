"""Search for an exercise's fault name in everything that a learner sees before solving it."""

import io
import json
import re
import tokenize
from collections.abc import Iterable
from typing import Any

from bugzoo.grading.answers import true_causes
from bugzoo.grading.exercises import load
from bugzoo.grading.grade import handed_out
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.lines import TITLES
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.repairs import all_made
from bugzoo.grading.symptoms import ALARMS
from bugzoo.proving.lazy_breaks import LAZY_BREAKS
from bugzoo.proving.trials import generic

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
    fault = exercise.about_fault[0]
    stem = fault.id.rsplit("/", 1)[1]
    found = {fault.id, fault.id.replace("/", "."), stem, stem.replace("_", " "), stem.replace("_", "-"), fault.title}
    if not exercise.trap:  # every exercise's text mentions that nothing may be wrong
        found |= set(true_causes(exercise))
    for trap, _ in exercise.scenario.odd:
        stem = trap.id.rsplit("/", 1)[1]
        found |= {trap.id, stem, stem.replace("_", " "), trap.title}
    return {text.lower() for text in found}


def words(exercise: Exercise) -> set[str]:
    """Return words of the fault's stem, title and cause that are not in the healthy program's code."""
    fault = exercise.about_fault[0]
    said = " ".join([fault.id.rsplit("/", 1)[1], fault.title, *([] if exercise.trap else true_causes(exercise)[:1])])
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
    cells = json.loads(text)
    head = handed_out(exercise).split('"""')[1]
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
    wrong = next(iter(generic(handed_out(exercise), *exercise.about_fault).values()))
    answer = 'filled = form.hand_in(cause="something else", place=1, step=1, evidence=["loss_curve"], test="Z")'
    made = json.loads(build(exercise, source=wrong, answer=answer))
    probes = _cells(_PROBES)
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


def _cells(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return cells that may raise."""
    found = []
    for number, text in enumerate(texts):
        cell = {"cell_type": "code", "execution_count": None, "id": f"probe-{number}", "outputs": []}
        found.append(cell | {"metadata": {"tags": ["raises-exception"]}, "source": text})
    return found


def run_notebook(text: str, seconds: int = 300) -> list[dict[str, Any]]:
    """Run the notebook without a front end in its own kernel; return the output of every cell, [{"cell", "text"}]."""
    import os
    import tempfile
    from unittest.mock import patch

    import nbformat
    from nbclient import NotebookClient

    book = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        own = {"BUGZOO_DATA": folder, "IPYTHONDIR": folder, "NBGRADER_EXECUTION": "validate", "BUGZOO_DEVICE": "cpu"}
        with patch.dict(os.environ, own):
            client = NotebookClient(
                book,
                timeout=seconds,
                kernel_name="python3",
                extra_arguments=["--IPKernelApp.log_level=40"],
                resources={"metadata": {"path": folder}},
            )
            client.execute()
    return [
        {"cell": cell.id, "text": "\n".join(_texts(cell.outputs))} for cell in book.cells if cell.cell_type == "code"
    ]


def _texts(outputs: list[Any]) -> list[str]:
    found = []
    for output in outputs:
        found.append("".join(output.get("text", "")))
        found += ["".join(value) for value in output.get("data", {}).values() if isinstance(value, str | list)]
        found += [output.get("ename", ""), output.get("evalue", ""), *output.get("traceback", [])]
    return [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in found if isinstance(text, str) and text]


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
    names = {title for instrument in ALARMS for title in (instrument, ALARMS[instrument][0])} | set(TITLES.values())
    names -= {title for title in names if any(title in said for said in GROUPS.values())}
    return found + [f"the repair before the diagnosis names {said!r}" for said in sorted(names) if said in text]


def leaks(name: str) -> dict[str, Any]:
    """Return {"problems": sentences, "cells": number of outputs, "letters": their length} for one exercise."""
    exercise = load(name)
    outputs = run_notebook(probe(exercise))
    letters = sum(len(output["text"]) for output in outputs)
    problems = in_files(exercise) + in_outputs(exercise, outputs)
    shown = {output["cell"]: output["text"] for output in outputs}
    problems += [] if exercise.breaks else in_groups(shown.get("tried", ""))
    if "wrong" not in shown.get("repair", ""):
        problems.append(f"the notebook with a wrong repair did not say so: {shown.get('repair', '')[:200]!r}")
    return {"problems": problems, "cells": len(outputs), "letters": letters}
