"""nbgrader's tree, `<student>/<assignment>/<notebook>.ipynb`, a folder each, or `<student>.ipynb` side by side.

What is at home in no LMS's naming is read this way as well.
"""

from pathlib import PurePosixPath

from bugzoo.instructor.lms.handin import NOTEBOOK, WORK, HandIn, Who, choose
from bugzoo.instructor.lms.tree import File, Left, Tree
from bugzoo.instructor.submission import shown

NEAR = 3
"""Parts of a path: the student's folder, at most one below it, the notebook. Deeper ones count where none is nearer."""


def fits(tree: Tree) -> int:
    """How many entries at the top look like this system's: none speaks for it, and none against."""
    return 0


def gather(tree: Tree, name: str) -> list[HandIn]:
    """A hand-in for each folder, notebook or what was handed in instead of one; the rest is left aside, by name."""
    found = [in_folder(folder, tree.of(folder), name) for folder in tree.folders]
    for file in tree.top:
        if file.problem or file.suffix == NOTEBOOK:
            found.append(HandIn(shown(file.stem), Who((file.stem,), (file.stem,)), file, file.problem))
        elif file.suffix in WORK:
            found.append(
                HandIn(
                    shown(file.stem),
                    Who((file.stem,), (file.stem,)),
                    None,
                    f"{file} is no notebook; hand in {name}.ipynb",
                )
            )
        else:
            tree.left.append(Left(str(file), "it is no notebook"))
    return sorted(found, key=lambda one: one.label)


def in_folder(folder: str, files: list[File], name: str) -> HandIn:
    """The hand-in of one student's folder."""
    near = [file for file in files if len(file.parts) <= NEAR]
    if not any(file.suffix == NOTEBOOK for file in near):
        near = files
    file, problem, notes = choose([(str(PurePosixPath(*file.parts[1:])), file) for file in near], name)
    exact = any(len(one.parts) == NEAR and one.parts[1] == name for one in files)
    return HandIn(shown(folder), Who((folder,), (folder,), sure=exact), file, problem, notes)
