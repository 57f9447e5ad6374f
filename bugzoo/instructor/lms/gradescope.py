"""Gradescope: its export of submissions, folders `submission_123456789` beside `submission_metadata.yml`."""

import re
from typing import Any

import yaml

from bugzoo.instructor.lms import nbgrader
from bugzoo.instructor.lms.handin import HandIn, Who, choose
from bugzoo.instructor.lms.tree import Left, Tree
from bugzoo.instructor.submission import shown

METADATA = "submission_metadata.yml"
MOST_METADATA = 64 * 2**20
_FOLDER = re.compile(r"^submission_\d+$")
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.\d+)?(?: ?(Z|[+-]\d\d:?\d\d))?")


def fits(tree: Tree) -> int:
    """How many entries at the top are called as Gradescope calls them."""
    return sum(bool(_FOLDER.match(folder)) for folder in tree.folders)


def gather(tree: Tree, name: str) -> list[HandIn]:
    """A hand-in for each submitter, as several may share a submission; without metadata nobody is told."""
    about, found = _metadata(tree), []
    for folder in filter(_FOLDER.match, tree.folders):
        files = [("/".join(file.parts[1:]), file) for file in tree.of(folder)]
        file, problem, notes = choose(files, name)
        facts = about.get(folder)
        facts = facts if isinstance(facts, dict) else {}
        people = [_who(one) for one in _of(facts, "submitters") or [] if isinstance(one, dict)]
        when = str(_of(facts, "created_at") or "")
        for who in people or [Who()]:
            label = shown(f"{who.names[0] if who.names else 'unknown'} (Gradescope {folder})")
            found.append(HandIn(label, who, file, problem, notes, _stamp(when), folder))
    others = [folder for folder in tree.folders if not _FOLDER.match(folder)]
    files = [one for one in tree.files if not _FOLDER.match(one.parts[0]) and one.name != METADATA]
    return found + nbgrader.gather(Tree(files, others, tree.left), name)


def _stamp(when: str) -> str:
    """The second and the offset: a time without it would be another one elsewhere."""
    match = _TIME.match(when)
    return match[1] + (match[2] or "") if match else ""


def _of(facts: dict[Any, Any], word: str) -> Any:
    """The value of `:word:`, as Ruby writes its keys."""
    return facts.get(f":{word}", facts.get(word))


def _who(one: dict[Any, Any]) -> Who:
    name, sid, email = (str(_of(one, word) or "").strip() for word in ("name", "sid", "email"))
    return Who((name,) if name else (), (sid,) if sid else (), email)


def _metadata(tree: Tree) -> dict[str, Any]:
    """Folder -> what Gradescope says of it; empty, and named, where it cannot be read."""
    file = next((one for one in tree.top if one.name == METADATA), None)
    if file is None or file.path is None:
        return {}
    try:
        if file.path.stat().st_size > MOST_METADATA:
            raise ValueError("it is too large")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        with file.path.open("rb") as text:
            found = yaml.load(text, Loader=loader)
        if not isinstance(found, dict):
            raise ValueError("it is no list of submissions")
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        tree.left.append(Left(METADATA, f"it could not be read, so that nobody is told ({str(error).splitlines()[0]})"))
        return {}
    return {str(folder): facts for folder, facts in found.items()}
