"""Links from a lesson to the glossary: each leads to a heading there, and a hard word is linked where it stands first."""

from pathlib import Path

import nbformat
import pytest

from bugzoo import course
from bugzoo.course import words
from bugzoo.course.source import read
from bugzoo.glossary import TERMS
from bugzoo.proving.lesson_proof import read_through

ROOT = Path(__file__).resolve().parents[2]
TITLE = "# %% [markdown] title\n# # 07 · Nats\n#\n# {}\n\n# %% [folded] more\n# Nats, entropy\n#\n# {}\n"


@pytest.mark.parametrize("name", course.files())
def test_links_lead_to_terms_and_first_uses_are_links(name: str) -> None:
    assert words.problems(course.load(name)) == []


def test_a_link_is_a_heading_of_the_glossary() -> None:
    book = nbformat.read(ROOT / "notebooks" / "glossary.ipynb", as_version=4)
    lines = [line for cell in book.cells for line in cell.source.splitlines()]
    anchors = [line.removeprefix("## ").replace(" ", "-") for line in lines if line.startswith("## ")]
    assert all(anchors.count(term.link.removeprefix("glossary.ipynb#")) == 1 for term in TERMS)
    assert set(words.LINKED.values()) <= {term.name for term in TERMS}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("In [nats](glossary.ipynb#nats).", "Nats again, `buffer` and cross-entropy.", ""),
        (
            "It is 1 nat.",
            "[nat](glossary.ipynb#nats)",
            "(title): its first use in this lesson is a link: [nat](glossary.",
        ),
        (
            "No hard word.",
            "All [buffers](glossary.ipynb).",
            "(more): its first use in this lesson is a link: [buffers](",
        ),
        ("A [residual connection](glossary.ipynb#residual-connection).", "A residual.", ""),
        ("The gradient norm.", "", "[gradient norm](glossary.ipynb#gradient-norm)"),
        ("See [it](glossary.ipynb#no-such).", "", "the glossary has no term at #no-such"),
        ("```\nentropy = 1\n```", "", ""),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, first: str, second: str, message: str) -> None:
    file = tmp_path / "07_nats.py"
    file.write_text(TITLE.format(first.replace("\n", "\n# "), second))
    problems = words.problems(read(file))
    assert problems == read_through(read(file))
    assert len(problems) == bool(message) and message in "".join(problems), problems
