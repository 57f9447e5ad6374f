"""`claims`: what is often said about training, beside what our runs say to it."""

from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.command import App
from bugzoo.cli.output import console, emit, json_option, progress, table

Json = Annotated[str | None, json_option()]
group = App(help="Claims on trial: what is often said about training, each tried on our own programs and faults.")
app.add_typer(group, name="claims")


@group.callback(invoke_without_command=True)
def table_of_all(context: typer.Context, json: Json = None) -> None:
    """Claims on trial: what is often said about training, who says it, what was measured, and the verdict.

    Examples:

    - `bugzoo claims` prints the table of what was measured
    - `bugzoo claims list` only names them
    - `bugzoo claims run one_batch_catches_most` measures one anew
    """
    if context.invoked_subcommand is None:
        from bugzoo import claims

        _show(claims.rows(), json)


@group.command("list")
def list_(json: Json = None) -> None:
    """Name the claims, without their verdicts.

    Example: `bugzoo claims list`
    """
    from bugzoo import claims

    found = claims.rows()
    if json:
        emit(
            [{"id": row.name, "said": row.claim.said, "by": row.claim.by, "url": row.claim.url} for row in found], json
        )
        return
    table(["claim", "what is said"], [[row.name, row.claim.said] for row in found], f"{len(found)} claims")


@group.command()
def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Claims; those that are not measured when left out.")
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Measure all of them, or those that are named, and believe no run that is kept."),
    ] = False,
    json: Json = None,
) -> None:
    """Try claims by real runs, write down what came out, and print the table.

    Each is written into `proofs/claims/` when it is done, and each of its runs is kept at once: Ctrl-C loses what was
    running. From nothing, one by one, they took 24 minutes on two cores that other programs kept busy.

    Examples:

    - `bugzoo claims run` measures what was never measured, or is not of today's programs
    - `bugzoo claims run clip_rate frozen_features --json claims.json`
    - `bugzoo claims run --fresh`
    """
    from bugzoo import claims

    asked = [row.name for row in claims.rows(names)]  # an unknown one is told before torch is loaded
    todo = asked if names or fresh else [name for name in asked if not claims.current(name)]
    for name in set(asked) - set(todo):  # another sentence about the same numbers costs no run
        claims.write(name, claims.judged(name))
    measured = []
    try:
        for number, name in enumerate(todo, 1):
            with progress(f"{name} ({number} of {len(todo)})", json) as tell:
                claims.write(name, claims.measure(name, fresh=fresh, progress=tell))
            measured.append(name)
    except KeyboardInterrupt:
        if measured and json is None:
            _show(claims.rows(measured), None)
        raise
    _show(claims.rows(names), json)


def _show(rows: list[Any], json: str | None) -> None:
    if json:
        emit([row.to_json() for row in rows], json)
        return
    lines = [
        [
            row.claim.said,
            row.claim.by,
            row.finding.verdict if row.finding else "not measured",
            row.finding.why if row.finding else f"bugzoo claims run {row.name}",
        ]
        for row in rows
    ]
    table(["claim", "who says it", "verdict", "what was measured"], lines, f"{len(rows)} claims on trial")
    dates = sorted({row.entry["date"] for row in rows if row.entry})
    if dates:
        taken = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        console().print(f"Measured {taken}. Where it says it, and what it does not show: bugzoo claims --json")
