"""`cards`: ten lines, which one is wrong?"""

import sys
from collections import Counter
from functools import partial
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import seed_option
from bugzoo.cli.output import emit, json_option, progress, table
from bugzoo.errors import UserError


@app.command()
def cards(
    context: typer.Context,
    count: Annotated[int, typer.Option(help="How many.")] = 10,
    family: Annotated[
        list[str] | None, typer.Option(metavar="FAMILY", help="Only of this family of faults; may be repeated.")
    ] = None,
    lesson: Annotated[str, typer.Option(metavar="LESSON", help="Only of the families that a lesson is about.")] = "",
    seed: Annotated[int | None, seed_option("The same seed deals the same cards; drawn at random else.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="Count the cards that there are; takes a while.")] = False,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Spot the bug: ten lines of a program, one of them wrong, or none. Type its number.

    What you answer is kept in your record. The lines can come from a pipe, a number a line. With `--json` the cards go to
    stderr and the answers, one object, to stdout.

    Examples:

    - `bugzoo cards`
    - `bugzoo cards --lesson 03 --count 5`
    - `bugzoo cards --family loss --family loop`
    - `bugzoo cards --list`
    """
    from bugzoo import cards as room
    from bugzoo.cards.play import play, summary

    if listing:
        if lesson:
            raise UserError("--list counts families; `--lesson` belongs to a hand. Leave one of them out.")
        room.families(family=family or ())
        found: Counter[str] = Counter()
        with progress("faults", json) as tick:
            for one in room.inventory(family or (), tick):
                found[one.family] += 1
        if json:
            emit({"cards": sum(found.values()), "families": dict(sorted(found.items()))}, json)
            return
        table(
            ["family", "cards"],
            [[name, str(many)] for name, many in sorted(found.items())],
            f"{sum(found.values())} cards",
        )
        return
    if "stdin" in (context.obj or {}).get("closed", ()):
        raise UserError("stdin is closed, and the answers are read there. Leave `<&-` out.")
    if seed is None:
        import random

        seed = random.randrange(2**31)
    hand = room.deal(count, seed, lesson, family or ())
    say = partial(print, file=sys.stderr) if json == "-" else print
    result = play(hand, say=say) | {"seed": seed}
    say(summary(result))
    if json:
        emit(result, json)
