"""Marks in a lesson for things that have a name of their own. They are filled in when the lesson is read.

    {label = influence.future_reach}     the label of a view's row: the view, and the row's key, or the end of its key
    {view = influence}                   a view
    {cause = loss/double_softmax}        the title of a fault
    {exercise = 16}                      an exercise; a link where text can hold one
    {lesson = 03}                        a lesson; a link where text can hold one; {lesson = 00} is "map"

So a text, a question and a proof call a thing by today's name. A thing that does not exist is an error.
"""

import re
from pathlib import Path

from bugzoo import faults, material, views
from bugzoo.errors import UserError, unknown

MARK = re.compile(r"\{(label|view|cause|exercise|lesson) = ([\w./:]+)\}")


def fill(text: str, where: str, lessons: Path, link: bool = True) -> str:
    """Return a text with its marks filled in. Raises UserError that begins with `where` for what does not exist.

    `lessons`: the folder of the lessons that may be named. `link`: whether links in Markdown are shown as such.
    """

    def name_of(mark: re.Match[str]) -> str:
        kind, key = mark.groups()
        try:
            if kind in ("view", "label", "cause"):
                return _NAMES[kind](key)
            place = _exercise(key) if kind == "exercise" else _lesson(key, lessons)
        except UserError as error:
            raise UserError(f"{where}: {mark[0]}: {error}") from None
        name = "map" if (kind, key) == ("lesson", "00") else f"{kind} {key}"
        return f"[{name}]({place})" if link else name

    return MARK.sub(name_of, text)


def _label(place: str) -> str:
    name, _, key = place.partition(".")
    labels = {row.source: row.label for row in views.rows(name)}
    sources = [source for source in labels if source == key or source.endswith(f".{key}")]
    if len(sources) > 1:
        raise UserError(f"The view {name} has {len(sources)} such rows. Write one of {', '.join(sources)}.")
    if not sources:
        raise unknown(f"row of the view {name}", key, labels, f"lab.look({name!r}, run)")
    return labels[sources[0]]


_NAMES = {"view": views.existing, "label": _label, "cause": lambda name: faults.load(name).title}


def _exercise(number: str) -> str:
    names = {file.name[:2]: file.name for file in material.exercise_files()}
    if number not in names:
        raise unknown("exercise", number, names, "bugzoo list exercises")
    return f"../exercises/{names[number]}"


def _lesson(number: str, lessons: Path) -> str:
    names = {file.stem.partition("_")[0]: file.stem for file in lessons.glob("*.py")}
    if number not in names:
        raise unknown("lesson", number, names, "bugzoo lessons list")
    return f"{names[number]}.ipynb"
