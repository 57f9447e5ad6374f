"""Moodle: its "Download all submissions" zip, and its grading worksheet.

A folder is called `Jane Doe_123456_assignsubmission_file_`; without folders, each file begins with that.
"""

import re

from bugzoo.instructor.lms import nbgrader
from bugzoo.instructor.lms.handin import HandIn, Who, choose
from bugzoo.instructor.lms.tree import File, Tree
from bugzoo.instructor.submission import shown

_NAME = re.compile(
    r"^(?P<who>.+?)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(_(?P<own>.*))?$", re.IGNORECASE | re.DOTALL
)


def fits(tree: Tree) -> int:
    """How many entries at the top are called as Moodle calls them."""
    return sum(bool(_NAME.match(name)) for name in [*tree.folders, *(file.name for file in tree.top)])


def gather(tree: Tree, name: str) -> list[HandIn]:
    """A hand-in a student: files, and what was typed into the page; anything else is read as a plain folder's."""
    by_number: dict[str, tuple[str, list[tuple[str, File]]]] = {}
    others = Tree([], [folder for folder in tree.folders if not _NAME.match(folder)], tree.left)
    for folder in tree.folders:  # an empty one is somebody's as well
        if match := _NAME.match(folder):
            by_number.setdefault(match["number"], (match["who"], []))
    for file in tree.files:
        match = _NAME.match(file.parts[0])
        if not match:
            others.files.append(file)
            continue
        own = "/".join(file.parts[1:]) or match["own"] or file.name
        by_number.setdefault(match["number"], (match["who"], []))[1].append((own, file))
    found = []
    for number, (who, files) in by_number.items():
        file, problem, notes = choose(files, name)
        known = Who(names=(who,), numbers=(("moodle", number),))
        found.append(HandIn(f"{shown(who)} (Moodle {number})", known, file, problem, notes, place=number))
    return sorted(found, key=lambda one: one.label) + nbgrader.gather(others, name)
