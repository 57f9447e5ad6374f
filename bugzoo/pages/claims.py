"""The page of the claims: what is often said, who says it, what was measured, and what that does not show."""

from bugzoo import claims
from bugzoo.pages.text import table

INTRO = """# Claims on trial

Sentences that are often heard about training, each tried by real runs of the programs here. A verdict is computed from what was
measured and goes for these programs: what it does not show stands below each. `bugzoo claims run NAME` measures one again."""


def page() -> str:
    """Markdown: the table of all, then a part for each."""
    rows = claims.rows()
    lines = [[row.claim.said, row.finding.verdict if row.finding else "not measured"] for row in rows]
    return "\n\n".join([INTRO, table(["what is said", "verdict"], lines), *map(_part, rows)]) + "\n"


def _part(row: claims.Row) -> str:
    claim, entry = row.claim, row.entry
    measured = "Not measured yet."
    if row.finding:
        runs = f"{entry['runs']} runs, " if entry["runs"] else ""
        measured = (
            f"**{row.finding.verdict.capitalize()}.** {row.finding.why} ({runs}{entry['date']}, {entry['with']}.)"
        )
    return "\n\n".join(
        [
            f"## {claim.said}",
            f"[{claim.by}]({claim.url}).",
            measured,
            f"*How it was tried.* {claim.tried}",
            f"*What that does not show.* {claim.limits}",
            f"`bugzoo claims run {row.name}`",
        ]
    )
