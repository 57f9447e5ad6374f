"""The page of one instrument: its question, how to read its numbers, and the faults on which it fires."""

import textwrap

from bugzoo import diagnostics
from bugzoo import faults as catalogue
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.pages import terms
from bugzoo.pages.text import code, fault_page, instrument_page, link, table
from bugzoo.proving import ledger
from bugzoo.views import views_of

PRICES = {0: "It reads the recorded run.", 1: "It calls the model once more, on a recorded batch."}


def page(name: str) -> str:
    """Markdown."""
    here, said = instrument_page(name), diagnostics.declared(name)
    first, _, rest = (said["__doc__"] or "").strip().partition("\n")
    reruns = said.get("RERUNS", 0)
    price = (
        f"It runs the script {reruns} more times."
        if reruns > 1
        else "It runs the script once more."
        if reruns
        else PRICES[said.get("COST", 0)]
    )
    shown = _shown(name)
    parts = [
        f"# {name}",
        f"**{first}**",
        price,
        textwrap.dedent(rest).strip(),
        *(["## Its numbers", table(["number", "meaning", "usual value"], shown)] if shown else []),
        "## Known problems",
        said["KNOWN_PROBLEMS"],
        _measured(name),
        _seen_in(name),
        "## Where it fires",
        _fires(name, here),
        terms.of_instrument(name, here),
        "## Use it",
        code(_use(name), "python"),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _seen_in(name: str) -> str:
    """Return in which view of an exercise the numbers stand; empty for a tool."""
    shown = views_of([name, *(number.source for number in of_instrument(name).values())])
    return f"In an exercise its numbers stand in {' and '.join(f'`{one}`' for one in shown)}." if shown else ""


def _measured(name: str) -> str:
    """Return how often the instrument fires on healthy scripts, as measured by the benchmark `false_positives`."""
    row = ledger.healthy_scripts().get(name)
    if not row:
        return ""
    return (
        f"Measured on {row['scripts']} healthy scripts in other styles: it applies to {row['applied']} of them and fires on "
        f"{row['fired']}."
    )


def _shown(name: str) -> list[list[str]]:
    """Return a row for each of an instrument's numbers that has a label."""
    record = of_instrument(name).items()
    return [[f"`{key}`", number.label, number.usual_text()] for key, number in record if number.label]


def _fires(name: str, here: str) -> str:
    known, rows = catalogue.catalogue(), []
    for fault_id in ledger.names("faults"):
        cells = ledger.read("faults", fault_id).get("cells", {})
        on = [program for program, cell in cells.items() if name in cell["fired"]]
        if on and fault_id in known:
            rows.append([link(known[fault_id].title, fault_page(fault_id), here), f"{len(on)} of {len(cells)}"])
    silent = "It fires on no fault of the catalogue by itself. Read its numbers instead."
    return table(["fault", "programs"], rows) + "\n\nIt fires on no healthy program and on no trap." if rows else silent


def _use(name: str) -> str:
    return "\n".join(
        [
            "import bugzoo",
            "from bugzoo import diagnostics",
            "",
            "with bugzoo.watch() as trace:",
            "    ...  # any training loop",
            f'diagnostics.instrument("{name}").judge(diagnostics.read("{name}", bugzoo.Run(trace)).numbers)',
            "diagnostics.examine(trace)  # or run all of them and rank the suspects",
        ]
    )


def overview(here: str = "instruments/index.md") -> str:
    """Return the page of all instruments."""
    rows = []
    for name in diagnostics.names():
        said = diagnostics.declared(name)
        cost = "re-runs the script" if said.get("RERUNS") else ("reads the run", "calls the model")[said.get("COST", 0)]
        rows.append([link(name, instrument_page(name), here), (said["__doc__"] or "").split("\n")[0], cost])
    return "\n\n".join(["# All instruments", table(["instrument", "question", "cost"], rows)]) + "\n"
