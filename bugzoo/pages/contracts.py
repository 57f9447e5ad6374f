"""The pages of the contracts: what each library call demands, how that is seen, and where a finding may be wrong."""

from bugzoo.contracts import Contract, areas
from bugzoo.pages.text import code, contract_page, fault_page, link, table

OVERVIEW = "contracts/index.md"
HEAD = """# What the libraries demand

A documented demand of a call, whose breach raises nothing. `checkup` and `watch` look at these calls of a running script. A
broken one is a suspect only where what it explains is seen as well.
"""


def overview() -> str:
    """Return the table of all contracts by area, as Markdown."""
    parts = [HEAD.strip()]
    for area, members in areas().items():
        rows = [
            (link(f"`{one.name}`", contract_page(one.id), OVERVIEW), one.demand, _calls(one), one.kind, one.wrong)
            for one in members
        ]
        parts += [f"## {area}", table(["contract", "demand", "seen at", "kind", "where it may be wrong"], rows)]
    return "\n\n".join(parts) + "\n"


def page(one: Contract) -> str:
    """Return the page of one contract, as Markdown."""
    here = contract_page(one.id)
    causes = ", ".join(link(f"`{cause}`", fault_page(cause), here) for cause in one.causes)
    seen = " or ".join(name for name in one.explains if name != "by itself")
    parts = [
        f"# {one.name}",
        f"**{one.demand}** ([documentation]({one.page}))",
        f"Seen at: {_calls(one)} ({one.kind}).",
        f"It is a suspect where this is seen as well: {seen}." if seen else "",
        f"It may be {causes}." if causes else "",
        one.instead,
        "## Broken",
        code(one.breaks),
        "## Kept",
        code(one.keeps),
        "## Where it may be wrong",
        f"{one.wrong} Put `# bugzoo: ok {one.name} REASON` on a line where it is on purpose.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _calls(one: Contract) -> str:
    return ", ".join(f"`{name}`" for name in one.on)
