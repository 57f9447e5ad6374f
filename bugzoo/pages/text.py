"""Markdown, written: tables, folds, code, links from page to page."""

import posixpath
import re
from collections.abc import Iterable, Sequence

SYMPTOMS = {
    "crash": "It stops with an error",
    "non_finite": "The loss or the weights become nan or inf",
    "diverges": "The loss climbs instead of falling",
    "stuck": "The loss never leaves the place where it began",
    "plateau": "The loss falls a little and then lies flat, too high",
    "degraded": "It learns, and ends worse than it should",
    "too_good": "The result is better than it can honestly be",
    "noisy_eval": "The evaluation jumps, or answers differently each time",
    "leak": "It takes more memory with every step",
    "oom": "It runs out of memory",
    "slow": "It is slow, and the processor waits",
    "hang": "It stands still and says nothing",
    "drift": "Two runs, or two ranks, that should be the same differ",
    "none": "It looks wrong and is right",
}
"""Symptom class -> what somebody says who sees it; each has a page."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; a bar or a line break in a cell does not end it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines
    )


def folded(title: str, body: str, kind: str = "note") -> str:
    """A box that is closed until somebody clicks on it."""
    inner = "\n".join(f"    {line}" if line.strip() else "" for line in body.splitlines())
    return f'??? {kind} "{title.replace(chr(34), chr(39))}"\n\n{inner}'


def code(text: str, language: str = "python") -> str:
    """A block of code, whatever stands in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def link(text: str, to: str, here: str) -> str:
    """A link to the page `to` on the page `here`; both are paths below the site's root."""
    return f"[{text}]({posixpath.relpath(to, posixpath.dirname(here))})"


def number(value: float | str | None) -> str:
    """A measured number as people write it."""
    if isinstance(value, str) or value is None:
        return "none" if value is None else value
    return f"{value:.3g}"


def span(values: Iterable[float | str | None]) -> str:
    """From the lowest to the highest of some numbers."""
    known = list(values)
    finite = sorted(value for value in known if isinstance(value, int | float))
    other = sorted({number(value) for value in known if not isinstance(value, int | float)})
    ends = list(dict.fromkeys(number(value) for value in (finite[:1] + finite[-1:])))
    return ", ".join([" to ".join(ends), *other] if ends else other) or "none"


def fault_page(fault_id: str) -> str:
    """Where the page of a fault lies."""
    return f"faults/{fault_id}.md"


def instrument_page(name: str) -> str:
    return f"instruments/{name}.md"


def program_page(name: str) -> str:
    return f"programs/{name}.md"


def symptom_page(symptom: str) -> str:
    return f"symptoms/{symptom}.md"
