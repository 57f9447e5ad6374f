"""`spoken`: eight questions that interviewers ask, with a real run behind each."""

import sys
from functools import partial
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.output import emit, json_option, table
from bugzoo.errors import UserError


@app.command()
def spoken(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The question; all are listed when left out.")
    ] = None,
    sheet: Annotated[bool, typer.Option("--sheet", help="The interviewer's sheet; it holds the answer.")] = False,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Answer an interviewer's question aloud: say what you would look at, get the numbers of a real run, name the cause.

    One line a request, in your own words; `cause: ...` names the cause, `done` ends.

    Examples:

    - `bugzoo spoken`
    - `bugzoo spoken nan_in_the_loss`
    - `bugzoo spoken all_wait --sheet`
    """
    from bugzoo.interview.spoken import CASES, load

    if name is None:
        if sheet:
            raise UserError("--sheet is of one question; name it. `bugzoo spoken` lists them.")
        ordered = sorted(CASES, key=lambda one: -one.weight)
        if json:
            emit(
                [{"name": one.name, "topic": one.topic, "weight": one.weight, "says": one.says} for one in ordered],
                json,
            )
        if json != "-":
            rows = [[one.name, one.topic, str(one.weight), one.says] for one in ordered]
            table(["name", "topic", "weight", "the interviewer says"], rows, f"{len(rows)} questions")
        return
    case = load(name)
    if sheet:
        from bugzoo.interview.spoken.sheet import sheet as text

        if json:
            emit({"name": case.name, "sheet": text(case)}, json)
        if json != "-":
            print(text(case))
        return
    if "stdin" in (context.obj or {}).get("closed", ()):
        raise UserError("stdin is closed, and your answers are read there. Leave `<&-` out.")
    from bugzoo.interview.spoken.talk import play

    result = play(case, sys.stdin, partial(print, file=sys.stderr if json == "-" else sys.stdout, flush=True))
    if json:
        emit(result, json)
    if json != "-":
        print(f"`bugzoo spoken {case.name} --sheet` has what a good candidate says.")
