"""`practice`: what is due, and how far you are."""

import sys
import time
from functools import partial
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import seed_option
from bugzoo.cli.output import emit, json_option, table
from bugzoo.errors import UserError


@app.command()
def practice(
    context: typer.Context,
    count: Annotated[int, typer.Option(help="How many cards.")] = 10,
    family: Annotated[
        list[str] | None, typer.Option(metavar="FAMILY", help="Only of this family of faults; may be repeated.")
    ] = None,
    seed: Annotated[int | None, seed_option("The same seed and record deal the same; drawn at random else.")] = None,
    due: Annotated[bool, typer.Option("--due", help="Only say what is due.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Accuracy, time and calibration, for each family.")] = False,
    by: Annotated[str | None, typer.Option(metavar="DATE", help="A plan to this day, such as 2026-12-24.")] = None,
    drill: Annotated[
        bool, typer.Option("--drill", help="Play what is due first as a drill of five minutes (`bugzoo interview`).")
    ] = False,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Practise what is due: causes that you met and are about to forget, and new ones, as spot-the-bug cards.

    FSRS says when a cause is due, from all your answers: cards, drills, exercises and hunts. It comes back on another program,
    in other dialects, under another ticket, between look-alikes and programs that are well. You name the line and say how sure
    you are, a line each; both can come from a pipe. `--stats` scores your sureness (Brier: 0 is best, always saying 50 earns
    0.25). With `--json` the cards go to stderr and the answers, one object, to stdout.

    Examples:

    - `bugzoo practice`
    - `bugzoo practice --count 5 --family loss --family loop`
    - `bugzoo practice --drill`
    - `bugzoo practice --stats`
    - `bugzoo practice --by 2026-12-24 --json`
    """
    from bugzoo import practice as room

    asked = (("--due", due), ("--stats", stats), ("--by", by is not None), ("--drill", drill))
    chosen = [name for name, on in asked if on]
    if len(chosen) > 1:
        raise UserError(f"{' and '.join(chosen)} are asked for at once; type one of them.")
    now = room.standing(family or ())
    if due:
        _due(now, json)
    elif stats:
        _stats(room.figures(now), json)
    elif by is not None:
        _plan(now, by, json)
    else:
        if "stdin" in (context.obj or {}).get("closed", ()):
            raise UserError("stdin is closed, and the answers are read there. Leave `<&-` out.")
        (_drill if drill else partial(_play, count=count))(now, seed=_seed(seed), json=json)


def _seed(given: int | None) -> int:
    import random

    return random.randrange(2**31) if given is None else given


def _play(now: Any, count: int, seed: int, json: str | None) -> None:
    from bugzoo.practice import deal
    from bugzoo.practice.play import play, summary

    hand = deal(now, count, seed)
    say = partial(print, file=sys.stderr) if json == "-" else print
    result: dict[str, Any] = play(hand, now, say) | {"seed": seed}
    asked = {one["fault"] for one in result["answered"]}
    say(summary(result, sum(one.cause not in asked for one in now.due)))
    if json:
        emit(result, json)


def _drill(now: Any, seed: int, json: str | None) -> None:
    from bugzoo.interview import interview
    from bugzoo.practice.hand import drill

    cause, program = drill(now, seed)
    say = partial(print, file=sys.stderr) if json == "-" else print
    result = interview(seed=seed, only=cause, program=program, say=say)
    if json:
        emit(result, json)


def _due(now: Any, json: str | None) -> None:
    from bugzoo.practice.memory import exercises_of

    rows = [
        {
            "family": one.cause.split("/")[0], "due": _iso(one.due), "recall": round(one.recall(now.now), 3),
            "stability_days": round(one.stability, 2), "answers": len(one.answers), "exercises": exercises_of(one.cause),
        }
        for one in now.due
    ]  # fmt: skip
    exercises = sorted({name for row in rows for name in row["exercises"]})
    if json:
        emit({"due": len(rows), "new": len(now.new), "causes": rows, "exercises": exercises}, json)
        return
    lines = [
        [row["family"], row["due"], f"{row['recall']:.0%}", f"{row['stability_days']:.1f}", str(row["answers"])]
        for row in rows
    ]
    table(["family", "due since", "known", "stable for days", "answers"], lines, f"{len(rows)} causes are due")
    if exercises:
        print(f"Exercises about them: {', '.join(exercises)}. `bugzoo exercises reset NAME` begins one anew.")
    print(f"{len(now.new)} causes were never met. `bugzoo practice` begins, `bugzoo practice --drill` plays a drill.")


def _iso(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _said(value: float | None, text: str = "{:g}") -> str:
    return "-" if value is None else text.format(value)


def _stats(found: dict[str, Any], json: str | None) -> None:
    if json:
        emit(found, json)
        return
    lines = [
        [
            name, str(row["answers"]), _said(row["right"], "{:.0%}"), _said(row["seconds"], "{:.0f}"),
            _said(row["sure"], "{:.0f}"), _said(row["brier"], "{:.2f}"), _said(row["over"], "{:+.0f}"), str(row["due"]),
            str(row["new"]),
        ]
        for name, row in [*found["families"].items(), ("all", found["all"])]
    ]  # fmt: skip
    heads = ["family", "answers", "right", "s a card", "sure", "Brier", "too sure by", "due", "new"]
    table(heads, lines, "Answers by family")
    if any(row["answers"] for row in found["calibration"]):
        rows = [
            [f"{row['from']}-{row['to']}", str(row["answers"]), _said(row["right"], "{:.0%}")]
            for row in found["calibration"]
        ]
        table(["you said", "answers", "right"], rows, "How sure you were, and how often you were right")


def _plan(now: Any, by: str, json: str | None) -> None:
    from bugzoo.practice.plan import day_of, plan

    made = plan(now, day_of(by, now.now))
    if json:
        emit(made.to_json(), json)
        return
    guess = "" if made.seconds_known else ", at 40 s a card, a guess until you have answered ten"
    print(
        f"To {made.by}, {made.days} days: {made.cards_a_day:g} cards a day, {made.busiest} on the fullest one, about "
        f"{made.minutes_a_day:g} minutes a day{guess}.\nOf {len(now.causes)} causes you would find {made.recall_today:.0%} "
        f"today, and {made.recall:.0%} then if no answer is wrong. {made.new} were never met: {made.new_a_day} new ones a "
        f"day.\nFirst: {', '.join(made.families[:6])}."
    )
    rows = [[row["from"], *(str(row[name]) for name in ("new", "reviews", "cards"))] for row in made.weeks]
    table(["week from", "new", "come back", "cards"], rows)
