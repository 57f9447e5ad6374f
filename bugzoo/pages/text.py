"""What the templates of the pages call: links between pages, code, cells of tables and numbers."""

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from bugzoo.diagnostics import question
from bugzoo.faults import catalogue
from bugzoo.proving.listing import general
from bugzoo.templates import environment, render

SYMPTOMS = {
    "crash": "It stops with an error",
    "non_finite": "The loss or the weights become nan or inf",
    "diverges": "The loss climbs instead of falling",
    "stuck": "The loss stays at its first value",
    "plateau": "The loss falls a little, then plateaus too high",
    "degraded": "It learns, but ends worse than it should",
    "too_good": "The result is too good to be true",
    "noisy_eval": "The evaluation is noisy, or differs each time",
    "leak": "Memory grows with every step",
    "oom": "It runs out of memory (OOM)",
    "slow": "It is slow, and the processor waits",
    "hang": "It hangs without a message",
    "drift": "Two runs or two ranks differ, but should be the same",
    "none": "It looks wrong but is right",
}
"""Symptom class -> how a user describes it; each has a page."""


def cell(text: str) -> str:
    """Return a text for a cell of a table: bars and line breaks are escaped."""
    return text.replace("|", "\\|").replace("\n", " ")


def code(text: str, language: str = "python") -> str:
    """Return a code block, whatever the text contains."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


@pass_context
def link(context: Context, text: str, *place: str, fragment: str = "") -> str:
    """Return a link from the page `here` to another page, such as `link("All faults", "faults", "index")`."""
    page = posixpath.relpath(f"{'/'.join(place)}.md", posixpath.dirname(context["here"]))
    return f"[{text}]({page}{fragment})"


def number(value: float | str | None) -> str:
    """Return a measured number as people write it."""
    if isinstance(value, str) or value is None:
        return "none" if value is None else value
    return f"{value:.3g}"


def span(values: Iterable[float | str | None]) -> str:
    """Return the range from the lowest to the highest number."""
    listed = list(values)
    finite = sorted(value for value in listed if isinstance(value, int | float))
    other = sorted({number(value) for value in listed if not isinstance(value, int | float)})
    ends = list(dict.fromkeys(number(value) for value in (finite[:1] + finite[-1:])))
    return ", ".join([" to ".join(ends), *other] if ends else other) or "none"


def anchor(name: str) -> str:
    """Return where a term stands on the page of the glossary, as Markdown makes it from the heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", name.lower())).strip("-")


def sentence(text: str) -> str:
    """Return a text as a sentence: a capital letter first, one full stop at its end."""
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def html_code(text: str) -> Markup:
    """Return text as HTML, with its `code` marked up."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


environment("bugzoo.pages").filters |= {
    "anchor": anchor, "cell": cell, "code": code, "general": general, "html_code": html_code, "number": number,
    "quote": "`{}`".format, "sentence": sentence, "span": span,
}  # fmt: skip
environment("bugzoo.pages").globals |= {"catalogue": catalogue, "link": link}
environment("bugzoo.pages").globals |= {"question": question, "symptoms": SYMPTOMS}


def fill(template: str, **values: Any) -> str:
    """Return a filled template. A page of the site also takes `here`, its path below the site's root."""
    return render("bugzoo.pages", template, **values)
