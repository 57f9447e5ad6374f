"""Canvas: its "Download Submissions" zip, and its own exported gradebook.

A file is called `doejane_12345_678901_week_3.ipynb`: the name in small letters, last name first, `LATE` behind it for one
that came late, the number of the student, that of the file, and what the student called it.
"""

import re

from bugzoo.instructor.lms import nbgrader
from bugzoo.instructor.lms.handin import HandIn, Who, choose
from bugzoo.instructor.lms.tree import File, Tree
from bugzoo.instructor.submission import shown

_FILE = re.compile(r"^(?P<who>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<file>\d+)_(?P<own>.+)$", re.IGNORECASE | re.DOTALL)
_TEXT = re.compile(r"^(?P<who>.+?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<own>(text|link|media)\.html)$", re.IGNORECASE)
_NOBODY = re.compile(r"^anon_(?P<user>[0-9A-Za-z]+)(?P<late>_LATE)?_(?P<file>\d+)_(?P<own>.+)$", re.IGNORECASE)
_TEST = "student, test"
FIXED = ("student", "id", "sis user id", "sis login id", "integration id", "root account", "section")
"""Columns of its gradebook that are no assignment's."""


def _match(name: str) -> re.Match[str] | None:
    return _NOBODY.match(name) or _FILE.match(name) or _TEXT.match(name)


def fits(tree: Tree) -> int:
    """How many entries at the top are called as Canvas calls them."""
    return sum(bool(_match(file.name)) for file in tree.top)


def gather(tree: Tree, name: str) -> list[HandIn]:
    """A hand-in a student, with all files of that number; what is called otherwise is read as a plain folder's."""
    by_user: dict[tuple[bool, str], list[tuple[re.Match[str], File]]] = {}
    others = Tree([], tree.folders, tree.left)
    for file in tree.files:
        match = _match(file.name) if len(file.parts) == 1 else None
        if match:
            by_user.setdefault((match.re is _NOBODY, match["user"]), []).append((match, file))
        else:
            others.files.append(file)
    found = [_one(nobody, user, files, name) for (nobody, user), files in by_user.items()]
    return sorted(found, key=lambda one: one.label) + nbgrader.gather(others, name)


def _one(nobody: bool, user: str, files: list[tuple[re.Match[str], File]], name: str) -> HandIn:
    file, problem, notes = choose([(match["own"], file) for match, file in files], name)
    late = ("handed in late, says Canvas",) if any(match["late"] for match, _ in files) else ()
    if nobody:
        return HandIn(f"anonymous {user} (Canvas)", Who(), file, problem, (*late, *notes), place=user)
    squashed = files[0][0]["who"]
    who = Who(numbers=(("canvas", user),), squashed=squashed)
    return HandIn(f"{shown(squashed)} (Canvas {user})", who, file, problem, (*late, *notes), place=user)
