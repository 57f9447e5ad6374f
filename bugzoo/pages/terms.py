"""The glossary as a page: what each term means, and the faults, instruments and lessons where it is met."""

import re

from bugzoo import course, diagnostics
from bugzoo import faults as catalogue
from bugzoo.faults.model import Fault
from bugzoo.glossary import TERMS, TITLE, Term
from bugzoo.pages.text import fault_page, instrument_page, link

PAGE = "glossary.md"


def page() -> str:
    """Markdown for the site, with links to the pages of faults and instruments."""
    parts = [TITLE]
    for term in TERMS:
        parts += [f"## {term.name}", term.text, _met(term)]
    return "\n\n".join(part for part in parts if part) + "\n"


def anchor(term: Term) -> str:
    """Where the term stands on its page, as Markdown makes it from the heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", term.name.lower())).strip("-")


def of_fault(fault_id: str, here: str) -> str:
    """A line of links to the terms of one fault; empty where it has none."""
    return _line([term for term in TERMS if term.name in catalogue.load(fault_id).terms], here)


def of_term(name: str) -> list[Fault]:
    """Return the faults of one term: first those that name it further to the front, then by id."""
    return sorted(
        (fault for fault in catalogue.catalogue().values() if name in fault.terms),
        key=lambda fault: fault.terms.index(name),
    )


def of_instrument(name: str, here: str) -> str:
    """A line of links to the terms of one instrument; empty where it has none."""
    return _line([term for term in TERMS if name in term.instruments], here)


def _line(terms: list[Term], here: str) -> str:
    links = [link(term.name, f"{PAGE}#{anchor(term)}", here) for term in terms]
    return f"Terms: {', '.join(links)}." if links else ""


def _met(term: Term) -> str:
    met = [link(fault.title, fault_page(fault.id), PAGE) for fault in of_term(term.name)]
    met += [link(f"`{one}`", instrument_page(one), PAGE) for one in term.instruments if one in diagnostics.names()]
    return "\n\n".join(filter(None, [f"Met in: {', '.join(met)}." if met else "", term.lesson_line(course.numbers())]))
