"""`checkup`: a training script of one's own under every instrument that applies, told to a tired engineer."""

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import finite, place
from bugzoo.cli.output import emit, json_option, steps
from bugzoo.errors import UserError
from bugzoo.files import check_folder, check_place, write_atomic
from bugzoo.syntax import source_lines

WIDTH = 112
CODES = {"nothing": 0, "found": 1, "unjudged": 3}
"""Outcome -> what --exit-code ends with; 2 is bad input."""
SKIP = 125
"""What `git bisect run` takes for a commit that cannot be judged."""
TESTED = 3
"""Suspects that get a test to make next."""


def _page(out: str | None) -> str | None:
    """Said before the work is done and not after it."""
    if out in ("", "-"):
        raise typer.BadParameter(f"{out!r} is no file; name one, such as report.html")
    if out:
        check_place(out)
    return out


@app.command(context_settings={"allow_extra_args": True})
def checkup(
    context: typer.Context,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET.py",
            parser=place,
            help="A training script; it is run, once or twice, with --budget more often.",
        ),
    ],
    seconds: Annotated[float, typer.Option(help="End the script after so long; judge what was seen until then.")] = 60,
    budget: Annotated[
        float | None,
        typer.Option(
            help="About so long for all of it, and time for experiments: changed copies of the script are run (a tenth of "
            "the rate, clipped gradients, ...). What there was no time for is named. [default: twice --seconds, and none]"
        ),
    ] = None,
    ranks: Annotated[int, typer.Option(help="Start it so many times, as torchrun would.", min=1, max=16)] = 1,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy what the script writes to this folder, which must not be there yet."),
    ] = None,
    no_rerun: Annotated[
        bool, typer.Option("--no-rerun", help="Run nothing again, neither the script nor a part of it.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 0: nothing found, 1: found, 3: could not judge.")
    ] = False,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="REPORT.html",
            help="Write the report with its pictures to this file, to be read in a browser.",
            callback=_page,
        ),
    ] = None,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """Run a training script under every instrument that applies, and rank the suspects. It changes none of your files.

    The script runs in a process of its own. What it writes is thrown away, where the kernel allows an overlay; elsewhere it
    writes as under `python`, and no part of it runs again unless it wrote nothing. What follows `--` are its arguments.
    Ctrl-C ends the script and judges what was seen until then. Exit code 0 whatever is found, unless `--exit-code` is given;
    2 for bad input.

    Which commit broke the training? git takes 125 for a commit that cannot be judged; `bugzoo verdict` says it so, or:

    `git bisect run sh -c 'bugzoo checkup --exit-code train.py; c=$?; [ $c -lt 2 ] || c=125; exit $c'`

    Examples:

    - `bugzoo checkup train.py`
    - `bugzoo checkup --seconds 120 train.py --json report.json -- --epochs 2`
    - `bugzoo checkup --seconds 300 --budget 400 train.py`
    - `bugzoo checkup train.py --html report.html`
    - `bugzoo checkup --ranks 2 train_ddp.py`
    """
    finite("--seconds", seconds, 0)
    if budget is not None:
        finite("--budget", budget, 0)
    from bugzoo.diagnostics.checkup import checkup as examine
    from bugzoo.diagnostics.checkup import read

    read(target)  # a file that is no script is told before torch is loaded
    if keep is not None:
        _new_folder(keep)
    print(_promise(target, keep), file=sys.stderr, flush=True)
    with steps(json) as step:
        report = examine(
            target, context.args, seconds=seconds, ranks=ranks, on_step=partial(step, "checkup"), budget=budget,
            rerun=not no_rerun, keep=keep,
        )  # fmt: skip
    tests = next_tests(report)
    if json:
        emit(as_json(report, tests), json)
    if html:
        from bugzoo.pages.report import page

        write_atomic(html, page(report, tests))
    if json != "-":
        print(tell(report, tests))
        if html:
            print(f"written: {html}")
    raise typer.Exit(CODES[report.outcome] if exit_code else 0)


@app.command(context_settings={"allow_extra_args": True})
def verdict(
    context: typer.Context,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET.py", parser=place, help="A training script; it is run once.")
    ],
    cause: Annotated[
        str | None, typer.Option(help="Only this counts as found: a cause as `checkup` prints it, or its family.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="End the script after so long; judge what was seen until then.")] = 60,
    json: Annotated[str | None, json_option()] = None,
) -> None:
    """One word on a training script, for `git bisect run`: which commit broke the training? It changes none of your files.

    What the script writes is thrown away, as under `checkup`.

    Exit code 0: nothing found, 1: found, 2: a slip in an option, 125 (git skips the commit): the script cannot be read or judged.

    Examples:

    - `git bisect run bugzoo verdict train.py`
    - `git bisect run bugzoo verdict train.py --cause loop/stale_gradients -- --epochs 2`
    """
    finite("--seconds", seconds, 0)
    if cause is not None:
        from bugzoo.proving.next_test import check_cause

        check_cause(cause)
    from bugzoo.diagnostics.checkup import checkup as examine

    try:
        report = examine(target, context.args, seconds=seconds, most_reruns=0)
    except UserError as error:
        _say_verdict(target, "unjudged", str(error), json)
        raise typer.Exit(SKIP) from None
    found = [one for one in report.suspects if cause is None or f"{one.cause}/".startswith(f"{cause.rstrip('/')}/")]
    outcome = report.outcome if found or report.outcome != "found" else "nothing"
    _say_verdict(target, outcome, found[0].cause if found else report.why, json)
    raise typer.Exit(SKIP if outcome == "unjudged" else CODES[outcome])


def _say_verdict(target: Path, outcome: str, why: str, json: str | None) -> None:
    if json:
        emit({"file": str(target), "outcome": outcome, "why": why}, json)
    if json != "-":
        print(f"{target}: {outcome}" + (f": {why}" if why else ""))


def _new_folder(keep: Path) -> None:
    """Raises UserError where `--keep` cannot have this folder: said before the script runs."""
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UserError(f"--keep: {str(keep)!r} is there already and not empty. Name a folder that is not there yet.")
    check_folder(keep)


def _promise(target: Path, keep: Path | None) -> str:
    """The first line: what becomes of what the script writes."""
    from bugzoo.running import overlay

    if why := overlay.impossible(str(target.resolve().parent)):
        kept = "; --keep copies nothing" if keep is not None else ""
        return (
            f"checkup: {target} writes where it is, as under python: no overlay here ({why}){kept}. "
            "No part of it runs again unless it writes nothing."
        )
    if keep is not None:
        return f"checkup: {target} runs; what it writes is copied to {keep} and to nowhere else"
    return f"checkup: {target} runs; what it writes is thrown away (--keep FOLDER copies it)"


def _thrown_away(writes: Any) -> list[str]:
    """The last lines: the same, with how much it was."""
    if writes is None:
        return []
    if not writes.apart:
        lines = [f"The script wrote where it is, as under python ({writes.why})."]
    elif writes.kept:
        lines = [
            f"Copied: {writes.kept} file{'s' * (writes.kept != 1)} that the script wrote; none of yours has changed."
        ]
    else:
        lines = [f"Thrown away: what the script wrote ({_size(writes.bytes)}); --keep FOLDER copies it."]
    if writes.read_only:
        lines.append(f"Could not be written meanwhile: {', '.join(writes.read_only)}.")
    if refused := writes.outward.get("refused"):
        lines.append(f"Not done when the script had ended: it {refused}.")
    return ["", *(line for text in lines for line in _fold(text, ""))]


def _size(count: int) -> str:
    return "nothing" if not count else f"{count} bytes" if count < 10_000 else f"{count / 2**20:.1f} MiB"


def next_tests(report: Any) -> dict[str, Any]:
    """Cause -> the test that tells it from what it can be mistaken for, of the first few suspects."""
    from bugzoo.proving.next_test import next_test

    remain = [suspect.cause for suspect in report.remaining]
    found = {}
    for cause in remain[:TESTED]:
        same = [suspect.cause for suspect in report.suspects if suspect.instead_of == cause]
        test = next_test(cause, [*same, *(other for other in remain if other != cause)])
        if test:
            found[cause] = test
    return found


def as_json(report: Any, tests: Mapping[str, Any]) -> dict[str, Any]:
    """The report as plain data, each suspect with its `next_test` (None where the catalogue has none, or past the first)."""
    found = report.to_json()
    for suspect in found["suspects"]:
        test = tests.get(suspect["cause"])
        suspect["next_test"] = asdict(test) if test else None
    return found


def tell(report: Any, tests: Mapping[str, Any]) -> str:
    """The report in words: what was seen, where, why it matters, what to do next, what follows from what."""
    ran = f"{report.steps} optimiser steps in {report.seconds:.1f} s" if report.steps else "no optimiser step"
    head = {"found": "something is wrong", "nothing": "nothing found", "unjudged": "not judged"}[report.outcome]
    lines = [f"{report.file}: {head} ({ran})"]
    if report.why:
        lines += _fold(f"{report.why[0].upper()}{report.why[1:]}.", "  ")
    text = _source(report)
    remain = report.remaining
    for number, suspect in enumerate(remain, 1):
        lines += ["", f"{number}. {suspect.cause}   (score {suspect.score:.2f})"]
        if suspect.line:
            code = text[suspect.line - 1].strip() if suspect.line <= len(text) else ""
            lines.append(f"   where  line {suspect.line}" + (f": {code}" if code else ""))
        lines += _fold(suspect.evidence, "   seen   ")
        if number == 1:
            lines += _catalogue(suspect.cause)
        lines += _test(tests.get(suspect.cause))
        for other in report.belonging(suspect):
            lines += _belonging(other)
    if report.tried:
        lines += ["", "Tried on changed copies of the script:", *_fold(report.tried, "  ")]
    lines += _unchecked(report)
    lines += _thrown_away(report.run.writes if report.run is not None else None)
    return "\n".join(lines)


def _fold(text: str, label: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)


def _source(report: Any) -> list[str]:
    try:
        return source_lines(Path(report.file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def _catalogue(cause: str) -> list[str]:
    """Why it matters and what to do, where the catalogue holds this cause."""
    from bugzoo.proving import listing

    try:
        row = listing.detail(cause)
    except UserError:
        return []
    why = _fold(f"(its numbers are those of bugzoo's own case) {row['why']}", "   why    ")
    return [*why, *_fold(row["fix"], "   next   "), f"   more   bugzoo show {cause}"]


def _test(test: Any) -> list[str]:
    """The test to make next, and what it shows in either case."""
    if test is None:
        return []
    lines = _fold(test.test, "   test   ")
    lines += _fold(test.if_this, "          this one: ")
    return lines + _fold(test.if_other, f"          {test.against}: ")


def _belonging(other: Any) -> list[str]:
    """A suspect that a stronger one explains, or that is another reading of its evidence: mend that one and look again."""
    label = "   so     " if other.explained_by else "   or     "
    how = "explained by" if other.explained_by else "the same evidence as"
    return _fold(f"{other.cause} (score {other.score:.2f}): {how} {other.explained_by or other.instead_of}", label)


def _unchecked(report: Any) -> list[str]:
    """What could not be looked at, one line a reason."""
    reasons: dict[str, list[str]] = {}
    for item in report.not_checked:
        reasons.setdefault(item["why"], []).append(item["instrument"])
    if not reasons:
        return []
    if not report.steps:
        return ["", f"Not checked: {len(report.not_checked)} instruments, for want of a training step."]
    lines = ["", "Not checked, or with nothing to check:"]
    for why, names in reasons.items():
        lines += _fold(f"{', '.join(names)}: {why}", "  ")
    return lines
