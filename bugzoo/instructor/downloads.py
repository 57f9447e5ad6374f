"""What the name of a downloaded hand-in says: who uploaded it, under which number, and what the file was called.

Moodle: the folder `Ada Lovelace_100200_assignsubmission_file_`, or the same in front of the file's name.
Canvas: `lovelaceada_LATE_4711_998877_week_5-1.ipynb`. Its last number counts the resubmissions.
"""

import re
import unicodedata
from dataclasses import dataclass

MOODLE, CANVAS, OTHER = "Moodle", "Canvas", ""
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<file>.+?)(?:-(?P<version>\d{1,4}))?", re.DOTALL
)
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
"""Letters that Unicode does not take for a letter with an accent."""


@dataclass(frozen=True)
class Upload:
    """The parts of a name. `name` and `number` say who uploaded it; in another layout `name` is all that there is."""

    name: str
    layout: str = OTHER
    number: str = ""
    notebook: str = ""
    """What the student called the notebook, without `.ipynb`; empty where the name does not hold it."""
    version: int = 0
    """How many earlier uploads Canvas had."""


def parse(name: str) -> Upload:
    """Return the parts of the name of a folder, or of a file without its suffix."""
    if match := _MOODLE.fullmatch(name):
        return Upload(match["name"], MOODLE, match["number"], match["file"] or "")
    if match := _CANVAS.fullmatch(name):
        return Upload(match["name"], CANVAS, match["number"], match["file"], int(match["version"] or 0))
    return Upload(name)


def words(name: str) -> tuple[str, ...]:
    """Return the words of a person's name without accents, case and marks: `O'Brien, Zoë` is `obrien`, `zoe`."""
    folded = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
    letters = "".join(letter for letter in folded if not unicodedata.combining(letter) and letter not in "'’‘`´.")
    return tuple(re.findall(r"[^\W_]+", letters))


def joined(name: str) -> set[str]:
    """Return the name as one word, as Canvas writes it, beginning at each of its words: `lovelaceada`, `adalovelace`."""
    parts = words(name)
    return {"".join(parts[at:] + parts[:at]) for at in range(len(parts))}
