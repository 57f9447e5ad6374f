"""What the sandbox withholds: the grader's held-out examples, where a package or Python itself has installed them.

Other files lie over the real ones there. They have the same shape and format, and are equal up to the first held-out
example. The rest is made of what comes before it, so it tells nothing new (`tables`, `texts`). `everywhere` covers every
program but those that hold out lines from all over the help texts: `without_lines` does.

Files are made once, in the cache folder, by the process that asks for a job. A submission's process never reads the real
ones. `bugzoo.grading.salt` withholds what is generated from a seed.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path

from bugzoo.withheld.making import made
from bugzoo.withheld.tables import KINDS, write_table
from bugzoo.withheld.texts import Line, folder, other_lines, other_tail, write_texts

ON = True
"""False only in tests, which measure what a grader without this lets through. Record and cache are hidden all the same."""
_LIBRARIES = ("", "lib*/", "local/lib*/", "pkgs/*/lib/", "envs/*/lib/")
"""Where the libraries of a Python installation lie, below a place that the sandbox shows."""


def everywhere(places: Iterable[Path]) -> dict[str, str]:
    """Return installed path -> path of what the sandbox shows there, "" for an empty folder. Missing files are made.

    `places`: what the sandbox shows of this machine. Raises OSError.
    """
    targets: dict[str, str] = {}
    for real in _copies(tuple(places)) if ON else ():
        if real.name in KINDS:
            targets[str(real)] = made(real, partial(write_table, real))
        else:  # the help texts of another Python show nothing
            targets[str(real)] = made(real, partial(write_texts, other_tail)) if real == folder() else ""
    return targets


def without_lines(lines: Sequence[Line], held: Iterable[Line]) -> dict[str, str]:
    """Return the same for help texts without the end of each line in `held`. `lines`: all lines, as tuples of words.

    In the sorted lines, each new one takes the place of the old one, so a program that sorts or shuffles them draws the
    others as before. Raises OSError.
    """
    if not ON:
        return {}
    real, gone = folder(), sorted(set(held))
    other = partial(other_lines, known=sorted(lines), held=gone)
    return {str(real): made(real, partial(write_texts, other), repr(gone))}


@cache
def _copies(places: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return all copies of the tables and help texts in what the sandbox shows."""
    data = [f"sklearn/datasets/data/{name}" for name in KINDS]
    below = [
        f"{where}python*/{name}" for where in _LIBRARIES for name in ("pydoc_data", *(f"*-packages/{x}" for x in data))
    ]
    paths = [path for place in places if place.is_dir() for name in (*data, *below) for path in place.glob(name)]
    return tuple(sorted({Path(os.path.realpath(path)) for path in [*paths, folder()]}))
