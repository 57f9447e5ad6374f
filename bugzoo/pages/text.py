"""Writing Markdown: tables, folded boxes, code, links between pages."""

import posixpath
import re
from collections.abc import Iterable, Sequence

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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; bars and line breaks in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines
    )


def folded(title: str, body: str, kind: str = "note") -> str:
    """Return a box that is closed until it is clicked."""
    inner = "\n".join(f"    {line}" if line.strip() else "" for line in body.splitlines())
    return f'??? {kind} "{title.replace(chr(34), chr(39))}"\n\n{inner}'


def code(text: str, language: str = "python") -> str:
    """Return a code block, whatever the text contains."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def link(text: str, to: str, here: str) -> str:
    """Return a link to the page `to` on the page `here`; both are paths below the site's root."""
    return f"[{text}]({posixpath.relpath(to, posixpath.dirname(here))})"


def number(value: float | str | None) -> str:
    """Return a measured number as people write it."""
    if isinstance(value, str) or value is None:
        return "none" if value is None else value
    return f"{value:.3g}"


def span(values: Iterable[float | str | None]) -> str:
    """Return the range from the lowest to the highest number."""
    known = list(values)
    finite = sorted(value for value in known if isinstance(value, int | float))
    other = sorted({number(value) for value in known if not isinstance(value, int | float)})
    ends = list(dict.fromkeys(number(value) for value in (finite[:1] + finite[-1:])))
    return ", ".join([" to ".join(ends), *other] if ends else other) or "none"


def fault_page(fault_id: str) -> str:
    """Return the path of a fault's page."""
    return f"faults/{fault_id}.md"


def instrument_page(name: str) -> str:
    return f"instruments/{name}.md"


def contract_page(contract_id: str) -> str:
    """Return the path of a contract's page."""
    return f"{contract_id}.md"


def program_page(name: str) -> str:
    return f"programs/{name}.md"


def symptom_page(symptom: str) -> str:
    return f"symptoms/{symptom}.md"
