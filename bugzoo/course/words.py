"""Links from a lesson to the glossary: each leads to a term, and a hard word is a link where it stands first.

one [nat](glossary.ipynb#nats)
"""

import re

from bugzoo.course.cells import Cell
from bugzoo.course.source import Lesson
from bugzoo.glossary import TERMS

LINKED = {
    r"nats?": "nats",
    r"gradient norms?": "gradient norm",
    r"buffers?": "buffer",
    r"(?<!cross-)entropy": "entropy",
    r"residual( connections?)?": "residual connection",
}
"""Words -> their term: a text that uses one links its first use."""
_LINK = re.compile(r"\(glossary\.ipynb#([^)]*)\)")
_NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|(?m:^#[^\n]*)", re.DOTALL)
"""Code and headings, which hold no link."""


def problems(lesson: Lesson) -> list[str]:
    """Return links to terms that the glossary does not have, and first uses of `LINKED` words that are no link."""
    links = {term.name: term.link for term in TERMS}
    sentences = [
        f"{lesson.where(cell)}: the glossary has no term at #{anchor}. Its terms are the headings, with - for a space."
        for cell in lesson.cells
        for anchor in _LINK.findall(cell.text)
        if f"glossary.ipynb#{anchor}" not in links.values()
    ]
    texts = {cell: _running_text(cell) for cell in lesson.cells if cell.kind in ("markdown", "folded")}
    for words, term in LINKED.items():
        uses = ((cell, text, re.search(rf"(?i)\b({words})\b", text)) for cell, text in texts.items())
        cell, text, use = next((use for use in uses if use[2]), (None, "", None))
        if cell and use and not text.startswith(f"]({links[term]})", use.end()):
            sentences.append(f"{lesson.where(cell)}: its first use in this lesson is a link: [{use[1]}]({links[term]})")
    return sentences


def _running_text(cell: Cell) -> str:
    text = cell.shown.partition("\n")[2] if cell.kind == "folded" else cell.shown  # a folded text begins with its title
    return _NOT_PROSE.sub("", text)
