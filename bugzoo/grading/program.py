"""A program's text as cells: taken apart into its sections, and put together again.

The kept sections are put together in the order of a program, whatever order the cells were run in.
"""

import re
from collections.abc import Iterable, Mapping

from bugzoo.errors import UserError

SECTIONS = ("Head", "Settings", "Data", "Model", "Training", "Evaluation")
"""What every program has. Others, such as the Ranks of one that runs on several, stand where they stand."""


def split(source: str) -> dict[str, str]:
    """A percent script as section -> text, in its order; what stands before the first `# %%` is the Head.

    Raises UserError for two sections of one name: nothing would tell their cells apart.
    """
    pieces = re.split(r"^# %% *([^\n]*?) *\n", source, flags=re.MULTILINE)
    names = ["Head", *pieces[1::2]]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"Two sections of the program are called {twice[0]!r} (`# %% {twice[0]}`); name them apart.")
    return {name: text.strip("\n") for name, text in zip(names, [pieces[0], *pieces[2::2]], strict=True)}


def join(sections: Mapping[str, str], after: Mapping[str, str] | None = None) -> str:
    """The percent script again. The sections that every program has stand in their order, whatever order they come in;
    any other behind the one that `after` names, else behind the one that it comes behind. Raises UserError when one is
    missing.
    """
    before = dict(zip(list(sections)[1:], sections, strict=False)) | dict(after or {})
    missing = [name for name in (*SECTIONS, *(after or {}).values()) if name not in sections]
    if missing:
        raise UserError(
            f"The program is not whole: the cell `%%program {missing[0]}` has not been run. Run the program's cells from "
            "the top; if one was deleted, `bugzoo exercises reset` brings it back."
        )
    order: list[str] = list(SECTIONS)
    for name in sections:
        if name not in order:
            order.insert(order.index(before[name]) + 1 if before.get(name) in order else len(order), name)
    text = sections[order[0]].strip("\n") + "\n"
    return text + "".join(f"\n# %% {name}\n" + sections[name].strip("\n") + "\n" for name in order[1:])


def cell_heads(sections: Iterable[str]) -> dict[str, str]:
    """Section -> the first line of its cell; one whose place is not told by its name says what it comes behind."""
    usual: dict[str, str] = dict(zip(SECTIONS[1:], SECTIONS, strict=False))
    found, last = {}, None
    for name in sections:
        found[name] = f"%%program {name}" + ("" if last == usual.get(name) else f" after {last}")
        last = name
    return found


def cell_name(head: str) -> tuple[str, str]:
    """(section, the one that it comes behind or "") of a cell's first line, without its `%%program`."""
    name, _, before = head.strip().partition(" after ")
    return name.strip(), before.strip()
