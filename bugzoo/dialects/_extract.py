"""Statements of the top level, or of its loops, moved into a function of their own that is called in their place."""

import ast
from collections.abc import Iterable

from bugzoo.dialects._flow import flow, way_to
from bugzoo.dialects._text import Cut, Text


def extracted(
    text: Text, piece: list[ast.stmt], names: Iterable[str], given: Iterable[str] = (), least: int = 0
) -> str | None:
    """The text with `piece` in a function that is called by the first of `names` that is new.

    `given` are names that it shall get as arguments where it reads them. None where it could not do the same, where it
    would leave fewer than `least` names behind, or nothing is new.
    """
    name = text.fresh(names)
    lines = inner_lines(text, piece, "    ")
    moves = flow(text, piece)
    if name is None or lines is None or moves is None or len(moves.left) < least:
        return None
    known = {one for one in given if one in moves.read}
    arguments = [one for one in dict.fromkeys((*moves.read, *moves.needed)) if one in moves.needed or one in known]
    back = ", ".join(moves.left)
    made = f"def {name}({', '.join(arguments)}):\n{lines}"
    made += f"    return {back}\n" if back else ""
    call = f"{name}({', '.join(arguments)})"
    start, end = rows(text, piece)
    margin = text.margin(piece[0])
    return text.edited([defined(text, piece[0], made), (start, end, f"{margin}{f'{back} = ' if back else ''}{call}\n")])


def rows(text: Text, piece: list[ast.stmt]) -> tuple[int, int]:
    """Offsets of the whole lines of some statements in a row."""
    place = text.rows(piece[0], piece[-1])
    assert place is not None
    return place


def inner_lines(text: Text, piece: list[ast.stmt], margin: str, source: str | None = None) -> str | None:
    """The lines of some statements in a row under another margin; None where they share a line, or hold a long text."""
    place = text.rows(piece[0], piece[-1])
    nodes = [one for part in piece for one in ast.walk(part)]
    long = (one for one in nodes if isinstance(one, ast.Constant | ast.JoinedStr) and one.lineno != one.end_lineno)
    if place is None or any(long):
        return None
    old, made = text.margin(piece[0]), []
    for line in (source or text.source[slice(*place)]).splitlines(keepends=True):
        if line.strip() and not line.startswith(old):
            return None
        made.append(margin + line[len(old) :] if line.strip() else line)
    return "".join(made) if made[-1].endswith("\n") else None


def defined(text: Text, before: ast.stmt, made: str) -> Cut:
    """The edit that puts a function or a class before the statement of the top level that `before` belongs to."""
    _, body, place = way_to(text.tree, before)[0]
    start = rows(text, [body[place]])[0]
    above = text.source[:start].rstrip(" ")
    gap = "" if above.rpartition("\n")[0].rpartition("\n")[2].startswith("# %%") else "\n\n"
    if above.endswith("\n\n\n"):
        gap = ""
    return start, start, f"{gap}{made}\n\n"
