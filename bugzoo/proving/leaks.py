"""Search for an exercise's fault name in everything that a learner sees before solving it."""

import io
import json
import re
import tokenize
from typing import Any

from bugzoo import diagnostics
from bugzoo.grading.answers import true_causes
from bugzoo.grading.groups import GROUPS
from bugzoo.grading.lines import TITLES
from bugzoo.grading.model import Exercise
from bugzoo.grading.notebook import build
from bugzoo.grading.symptoms import title
from bugzoo.proving import code
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


def names(exercise: Exercise) -> set[str]:
    """Return forbidden texts in lower case: the fault's id, family and stem in several spellings, title, cause.

    Of a decoy its id, stem and title.
    """
    texts: set[str] = set()
    for of, (fault, _) in enumerate(exercise.about_faults):
        stem = fault.id.rsplit("/", 1)[1]
        texts |= {fault.id, fault.id.replace("/", "."), fault.title}
        texts |= {stem, stem.replace("_", " "), stem.replace("_", "-")}
        if not exercise.trap:  # every exercise's text mentions that nothing may be wrong
            texts |= set(true_causes(exercise, of))
    for trap, _ in exercise.scenario.odd:
        stem = trap.id.rsplit("/", 1)[1]
        texts |= {trap.id, stem, stem.replace("_", " "), trap.title}
    return {text.lower() for text in texts}


def words(exercise: Exercise) -> set[str]:
    """Return words of the fault's stem, title and cause that are not in the healthy program's code."""
    phrases = []
    for of, (fault, _) in enumerate(exercise.about_faults):
        phrases += [fault.id.rsplit("/", 1)[1], fault.title, *([] if exercise.trap else true_causes(exercise, of)[:1])]
    text = " ".join(phrases)
    code_words = _words(_code(exercise.scenario.healthy().source)) | _SMALL
    return {word for word in _words(text) if len(word) > 3} - code_words


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _code(source: str) -> str:
    """Return a program's code without strings and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))


def in_files(exercise: Exercise) -> list[str]:
    """Return sentences on what the notebook handed out gives away: source, metadata, file name."""
    text = build(exercise, "student")
    sentences = [f"the notebook says {name!r}" for name in sorted(names(exercise)) if name in text.lower()]
    sentences += [f"the file's name says {name!r}" for name in sorted(names(exercise)) if name in exercise.name]
    recorded = exercise.kind.files(exercise).lower()
    sentences += [f"the recording says {name!r}" for name in sorted(names(exercise)) if name in recorded]
    cells = json.loads(text)
    head = "" if not exercise.kind.program else exercise.handed_out.split('"""')[1]
    for place, wording in {
        "title": exercise.title,
        "story": exercise.story,
        "file's name": exercise.name,
        "program's docstring": head,
        "metadata": json.dumps([cells["metadata"], *(cell["metadata"] for cell in cells["cells"])]),
        "ticket": exercise.scenario.ticket,
    }.items():
        for word in sorted(words(exercise) & _words(wording)):
            sentences.append(f"the {place} says {word!r}")
    return sentences


def in_outputs(exercise: Exercise, outputs: list[dict[str, Any]]) -> list[str]:
    """Return sentences on what the executed notebook gives away."""
    sentences = []
    for output in outputs:
        text = output["text"].lower()
        sentences += [f"cell {output['cell']} shows {name!r}" for name in sorted(names(exercise)) if name in text]
    return sentences


def in_groups(text: str) -> list[str]:
    """Return sentences on what the output of a repair before the diagnosis tells besides its status and groups."""
    repair = "the repair before the diagnosis"
    sentences = [f"{repair} does not say {phrase!r}" for phrase in GROUPS.values() if phrase not in text]
    sentences += [f"{repair} says the number {phrase}" for phrase in re.findall(r"\d[\d.]*", text)]
    names = {text for name in diagnostics.names() for text in (name, title(name))} | set(TITLES.values())
    names -= {title for title in names if any(title in phrase for phrase in GROUPS.values())}
    return sentences + [f"{repair} names {phrase!r}" for phrase in sorted(names) if phrase in text]


def prove(exercise: Exercise) -> dict[str, Any]:
    """Return {"problems": sentences, "cells": number of outputs, "letters": their length} for one exercise."""
    outputs = run_notebook(probe(exercise))
    letters = sum(len(output["text"]) for output in outputs)
    problems = in_files(exercise) + in_outputs(exercise, outputs)
    texts = {output["cell"]: output["text"] for output in outputs}
    problems += in_groups(texts.get("tried", "")) if exercise.kind.program and exercise.kind.diagnosis else []
    part = "repair" if exercise.kind.program else "diagnosis"
    if "wrong" not in texts.get(part, ""):
        problems.append(f"the notebook with a wrong {part} did not say so: {texts.get(part, '')[:200]!r}")
    return {"problems": problems, "cells": len(outputs), "letters": letters}


def probe(exercise: Exercise) -> str:
    """Return the notebook that a curious learner with a wrong answer would run, as JSON text."""
    return json.dumps(exercise.kind.probe(exercise))


def key_of(exercise: Exercise) -> str:
    """Return the key of all that the search depends on."""
    forbidden = (sorted(names(exercise)), sorted(words(exercise)))
    return code.keyed((in_files(exercise), probe(exercise), forbidden), (code.showing(),))
