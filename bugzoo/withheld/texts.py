"""Python's help texts with other words where the grader's held-out ones are. Texts are {topic: text}."""

import os
import py_compile
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

Line = tuple[str, ...]
"""The words and signs of a line, in lower case."""
_WORDS = re.compile(r"\w+|[^\w\s]")


def folder() -> Path:
    """Return the folder of this Python's help texts."""
    import pydoc_data

    return Path(os.path.realpath(str(pydoc_data.__file__))).parent


def write_texts(other: Callable[[dict[str, str]], dict[str, str]], target: Path) -> None:
    """Write the folder with other texts to `target`, compiled: the real compiled file would give the real texts away."""
    from pydoc_data.topics import topics

    target.mkdir()
    for file in folder().glob("*.py"):
        shutil.copyfile(file, target / file.name)
    (target / "topics.py").write_text(f"topics = {other(topics)!r}\n", encoding="utf-8")
    for file in target.glob("*.py"):
        path = str(folder() / file.name)
        py_compile.compile(str(file), dfile=path, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def words(line: str) -> Line:
    """Return a line's words and signs, as the program `word_lines` reads it."""
    return tuple(_WORDS.findall(line.lower()))


def printable(text: str) -> str:
    """Return the characters that the programs read: line ends and the 95 of ASCII."""
    return "".join(filter(_counts, text))


def _counts(character: str) -> bool:
    return character == "\n" or " " <= character <= "~"


def other_tail(topics: dict[str, str]) -> dict[str, str]:
    """Replace the last tenth of the printable characters, in the order of sorted topics, by the first tenth."""
    text = printable("".join(topics[name] for name in sorted(topics)))
    left = len(text) * 9 // 10
    other, texts = iter(text), {}
    for name in sorted(topics):
        characters = []
        for character in topics[name]:
            if left > 0:
                characters.append(character)
            elif _counts(character):
                characters.append(next(other))
            left -= _counts(character)
        texts[name] = "".join(characters)
    return texts


def other_lines(topics: dict[str, str], known: Sequence[Line], held: Sequence[Line]) -> dict[str, str]:
    """Replace the end of each line in `held` by that of another line. `known` are all lines, sorted.

    A line keeps the words that tell it from its two neighbors in `known`, so the new lines are sorted as the old ones
    were. A line that begins the next one cannot be replaced.
    """
    new: dict[Line, str] = {}
    gone = set(held)
    others = [line for line in known if line not in gone]
    for place, line in enumerate(known):
        if line in gone:
            beside = (*known[max(place - 1, 0) : place], *known[place + 1 : place + 2])
            stay = 1 + max((_apart(line, other) for other in beside), default=0)
            longest = sorted(others[place % len(others) :][:50] or others, key=len)[-1]
            new[line] = " ".join((line[:stay] + longest * len(line))[: len(line)])
    return {name: "".join(_changed(text, new)) for name, text in topics.items()}


def _changed(text: str, new: dict[Line, str]) -> list[str]:
    lines = []
    for line in text.splitlines(keepends=True):
        end = line[len(line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")) :]
        lines.append(new[words(line)] + end if words(line) in new else line)
    return lines


def _apart(one: Line, other: Line) -> int:
    """Return the first place at which two lines differ; the length of the shorter one if it begins the other."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
