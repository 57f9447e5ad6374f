"""A program's text as cells: split into sections, and joined again.

Sections are joined in the program's order, whatever order the cells were run in.
"""

import re
from collections.abc import Iterable, Mapping

from bugzoo.errors import UserError

MOST_CHARACTERS = 2**20
"""A program of more is not read."""
SECTIONS = ("Head", "Settings", "Data", "Model", "Training", "Evaluation")
"""Sections of every program. Others, such as the Ranks of a program on several ranks, keep their place."""


def split(source: str) -> dict[str, str]:
    """Return a percent script as section -> text, in order; the part before the first `# %%` is the Head.

    Raises UserError for two sections of one name, as their cells could not be told apart.
    """
    pieces = re.split(r"^# %% *([^\n]*?) *\n", source, flags=re.MULTILINE)
    names = ["Head", *pieces[1::2]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"Two sections of the program have the name {twice[0]!r} (`# %% {twice[0]}`). Rename one.")
    return {name: text.strip("\n") for name, text in zip(names, [pieces[0], *pieces[2::2]], strict=True)}


def join(sections: Mapping[str, str], after: Mapping[str, str] | None = None) -> str:
    """Return the percent script again. The sections of every program come in their usual order. Any other section comes
    after the one that `after` names, else after its predecessor. Raises UserError if one is missing.
    """
    before = dict(zip(list(sections)[1:], sections, strict=False)) | dict(after or {})
    missing = [name for name in (*SECTIONS, *(after or {}).values()) if name not in sections]
    if missing:
        raise UserError(
            f"The program is incomplete: the cell `%%program {missing[0]}` was not run. Run the program's cells from "
            "the top. If you deleted a cell, restore it with `bugzoo exercises reset`."
        )
    order: list[str] = list(SECTIONS)
    for name in sections:
        if name not in order:
            order.insert(order.index(before[name]) + 1 if before.get(name) in order else len(order), name)
    text = sections[order[0]].strip("\n") + "\n"
    return text + "".join(f"\n# %% {name}\n" + sections[name].strip("\n") + "\n" for name in order[1:])


def cell_heads(sections: Iterable[str]) -> dict[str, str]:
    """Return section -> first line of its cell; a section without a fixed place names its predecessor."""
    usual: dict[str, str] = dict(zip(SECTIONS[1:], SECTIONS, strict=False))
    heads, last = {}, None
    for name in sections:
        heads[name] = f"%%program {name}" + ("" if last == usual.get(name) else f" after {last}")
        last = name
    return heads


def cell_name(head: str) -> tuple[str, str]:
    """Return (section, its predecessor or "") from a cell's first line, without its `%%program`."""
    name, _, before = head.strip().partition(" after ")
    return name.strip(), before.strip()
