"""`progress`: the map in the terminal."""

from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.output import emit, json_option


@app.command()
def progress(
    way: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take this way from now on: course, weekend, hour or mine.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every step, also of weeks that are over or to come.")] = False,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Show the map: the way you take, what you have done, what comes next. `notebooks/00_start_here.ipynb` shows the same.

    Plans are computed from the lessons and exercises that there are. A lesson counts as done when four fifths of its
    questions are answered and of its tasks hold. Minutes of a lesson are counted from its text; 20 for an exercise and 10 for
    an interview are guesses.

    Examples:

    - `bugzoo progress`
    - `bugzoo progress --way weekend`
    - `bugzoo progress --full --json`
    """
    from bugzoo.guide import shown
    from bugzoo.guide.done import standing
    from bugzoo.guide.notebook import begin
    from bugzoo.guide.plans import current, known, ways

    if way is not None:
        known(way)
    now = standing()  # one that cannot be read is told
    if way is not None:
        begin(way)
        now = standing()
    every, name = ways(now), way or current(now)
    if json:
        following = every[name].next
        about = {"way": name, "chosen": now.way == name, "next": vars(following) if following else None}
        emit(about | {"plans": [one.to_json() for one in every.values()]} | now.to_json(), json)
        return
    print(shown.text(every[name], now, full))
    if not now.way:
        print(f"\nNo way is chosen yet, so this is the course. `bugzoo progress --way NAME`: {', '.join(every)}")
