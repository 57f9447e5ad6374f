"""`checkup` and `verdict`: run your own training script under every instrument that applies, and report suspects."""

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import Seconds, finite, path_argument
from bugzoo.cli.output import Json, emit, steps
from bugzoo.errors import UserError
from bugzoo.files import check_folder, check_place, write_atomic
from bugzoo.printable import printable
from bugzoo.syntax import source_lines

WIDTH = 112
CODES = {"nothing": 0, "found": 1, "unjudged": 3}
"""Outcome -> exit code under --exit-code. 2 means bad input."""
SKIP = 125
"""Exit code that tells `git bisect run` to skip a commit that cannot be judged."""
TESTED = 3
"""How many suspects get a test to try next, and stand on the first screen."""


def _page(out: str | None) -> str | None:
    """Return the file name of the report. Raises before the work starts if it cannot be written."""
    if out in ("", "-"):
        raise typer.BadParameter(f"{out!r} is not a file; name one, such as report.html")
    if out:
        check_place(out)
    return out


@app.command(context_settings={"allow_extra_args": True})
def checkup(
    context: typer.Context,
    target: Annotated[
        Path, path_argument("TARGET.py", "A training script. It runs once or twice, with --budget more often.")
    ],
    seconds: Seconds = 60,
    budget: Annotated[
        float | None,
        typer.Option(
            help="Seconds for everything, including experiments on changed copies of the script (a tenth of the learning "
            "rate, clipped gradients, ...). Skipped ones are listed. [default: twice --seconds, without experiments]"
        ),
    ] = None,
    ranks: Annotated[int, typer.Option(help="Start this many processes, as torchrun would.", min=1, max=16)] = 1,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy the files that the script writes to this folder, which must be new."),
    ] = None,
    no_rerun: Annotated[bool, typer.Option("--no-rerun", help="Do not re-run the script or any part of it.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 0: nothing found, 1: found, 3: could not judge.")
    ] = False,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="REPORT.html", help="Write the report with its plots to this file, for a browser.", callback=_page
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Also list further suspects, what was not checked and why, and what a comment silenced."
        ),
    ] = False,
    json: Json = None,
) -> None:
    """Run your training script under every instrument that applies, and rank the suspects. It changes none of your files.

    The script runs in its own process. Files that it writes are discarded if the kernel allows an overlay. Otherwise it
    writes as under `python`, and parts of it run again only if it wrote nothing. Arguments after `--` go to the script.
    Ctrl-C stops the script and judges what was seen so far. The exit code is 0 whatever is found, unless you give
    `--exit-code`, and 2 for bad input.

    Which commit broke the training? `git bisect` skips a commit after exit code 125. `bugzoo verdict` exits that way, or:

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

    read(target)  # a file that is not a script is reported before torch is loaded
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
        print(printable(tell(report, tests, every)))
        if html:
            print(f"written: {html}")
    raise typer.Exit(CODES[report.outcome] if exit_code else 0)


@app.command(context_settings={"allow_extra_args": True})
def verdict(
    context: typer.Context,
    target: Annotated[Path, path_argument("TARGET.py", "A training script. It runs once.")],
    cause: Annotated[
        str | None, typer.Option(help="Only this counts as found: a cause as `checkup` prints it, or its family.")
    ] = None,
    seconds: Seconds = 60,
    json: Json = None,
) -> None:
    """Judge a training script by its exit code, for `git bisect run`: which commit broke the training?

    It changes none of your files: what the script writes is discarded, as under `checkup`.

    Exit code 0: nothing found. 1: found. 2: a wrong option. 125 (git skips the commit): the script cannot be read or judged.

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
    named = [entry.cause for entry in report.suspects]
    if cause is not None:  # a reading of a cause that was asked for is an answer
        every = [*named, *(name for entry in report.readings for name in entry.could_be)]
        named = [entry for entry in every if f"{entry}/".startswith(f"{cause.rstrip('/')}/")]
    outcome = "found" if named else "nothing" if report.outcome == "found" else report.outcome
    _say_verdict(target, outcome, named[0] if named else report.why, json)
    raise typer.Exit(SKIP if outcome == "unjudged" else CODES[outcome])


def _say_verdict(target: Path, outcome: str, why: str, json: str | None) -> None:
    if json:
        emit({"file": str(target), "outcome": outcome, "why": why}, json)
    if json != "-":
        print(printable(f"{target}: {outcome}" + (f": {why}" if why else "")))


def _new_folder(keep: Path) -> None:
    """Raise UserError, before the script runs, if `--keep` names something that exists and is not an empty folder."""
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UserError(f"--keep: {str(keep)!r} exists already and is not empty. Name a new folder.")
    check_folder(keep)


def _promise(target: Path, keep: Path | None) -> str:
    """Return the first line of output: what happens to files that the script writes."""
    from bugzoo.running import overlay

    if why := overlay.impossible(str(target.resolve().parent)):
        remark = "; --keep copies nothing" if keep is not None else ""
        return (
            f"checkup: {target} writes its files for real, as under python: no overlay here ({why}){remark}. "
            "Parts of it run again only if it writes nothing."
        )
    if keep is not None:
        return f"checkup: running {target}; files that it writes go to {keep} only"
    return f"checkup: running {target}; files that it writes are discarded (--keep FOLDER copies them)"


def _thrown_away(writes: Any) -> list[str]:
    """Return the last lines: what happened to the files, and how many bytes they were."""
    if writes is None:
        return []
    if not writes.apart:
        lines = [f"The script wrote its files for real, as under python ({writes.why})."]
    elif writes.kept:
        files = f"{writes.kept} file{'s' * (writes.kept != 1)}"
        lines = [f"Copied: {files} that the script wrote. Your own files are unchanged."]
    else:
        lines = [f"Discarded: files that the script wrote ({_size(writes.bytes)}). --keep FOLDER copies them."]
    if writes.read_only:
        lines.append(f"Read-only during the run: {', '.join(writes.read_only)}.")
    if refused := writes.outward.get("refused"):
        lines.append(f"Blocked after the script had ended: it {refused}.")
    return ["", *(line for text in lines for line in _fold(text, ""))]


def _size(count: int) -> str:
    return f"{count} bytes" if count < 10_000 else f"{count / 2**20:.1f} MiB"


def next_tests(report: Any) -> dict[str, Any]:
    """Return cause -> the test that separates it from its look-alikes, for the first few suspects."""
    from bugzoo.proving.next_test import next_test

    remain = [suspect.cause for suspect in report.remaining]
    tests = {}
    for cause in remain[:TESTED]:
        same = [suspect.cause for suspect in report.suspects if suspect.instead_of == cause]
        test = next_test(cause, [*same, *(other for other in remain if other != cause)])
        if test:
            tests[cause] = test
    return tests


def as_json(report: Any, tests: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report as plain data. Each suspect has a `next_test`, None after the first few or without a known test."""
    fields = report.to_json()
    for suspect in fields["suspects"]:
        test = tests.get(suspect["cause"])
        suspect["next_test"] = asdict(test) if test else None
    return fields


def tell(report: Any, tests: Mapping[str, Any], every: bool = False) -> str:
    """Return the report as text: for each suspect what was seen, where, why it matters, the fix and related suspects.

    Without `every` at most three suspects are told, and what was not checked is one line.
    """
    ran = f"{report.steps} optimizer steps in {report.seconds:.1f} s" if report.steps else "no optimizer step"
    head = {"found": "something is wrong", "nothing": "nothing found", "unjudged": "not judged"}[report.outcome]
    if report.readings and report.outcome == "nothing":
        head = "no cause named"
    lines = [f"{report.file}: {head} ({ran})"]
    if report.why:
        lines += _fold(f"{report.why[0].upper()}{report.why[1:]}.", "  ")
    text = _source(report)
    remain = report.remaining
    for number, suspect in enumerate(remain if every else remain[:TESTED], 1):
        lines += ["", f"{number}. {suspect.cause}   (score {suspect.score:.2f})"]
        if suspect.line:
            code = text[suspect.line - 1].strip() if suspect.line <= len(text) else ""
            lines.append(f"   where  line {suspect.line}" + (f": {code}" if code else ""))
        lines += _fold(suspect.reason, "   seen   ")
        if number == 1:
            lines += _catalogue(suspect.cause)
        lines += _test(tests.get(suspect.cause))
        for other in report.belonging(suspect):
            lines += _belonging(other)
    if len(remain) > TESTED and not every:
        lines += ["", f"{len(remain) - TESTED} more, less likely: `--all` lists them."]
    lines += _readings(report, every)
    lines += _findings(report, every)
    lines += _warned(report, every)
    if report.tried:
        lines += ["", "Experiments on changed copies of the script:", *_fold(report.tried, "  ")]
    lines += _unchecked(report, every)
    lines += _thrown_away(report.run.writes if report.run is not None else None)
    return "\n".join(lines)


def _readings(report: Any, every: bool) -> list[str]:
    """Return what was measured and is too little to name a cause, with the test that would tell more."""
    from bugzoo.proving.next_test import next_test

    readings = report.readings if every else report.readings[:TESTED]
    head = "Also measured" if report.suspects else "Measured"
    lines = ["", f"{head}, and too little to name a cause:"] if readings else []
    for reading in readings:
        lines += _fold(f"{reading.message}.", "  - ")
        test = next_test(reading.could_be[0], reading.could_be[1:]) if reading.could_be else None
        lines += _fold(test.test, "    test   ") if test else []
        if every and reading.could_be:
            lines += _fold(f"{', '.join(reading.could_be)}   (`bugzoo show` describes each)", "    maybe  ")
    if len(report.readings) > len(readings):
        lines.append(f"  - {len(report.readings) - len(readings)} more: `--all` lists them.")
    return lines


def _findings(report: Any, every: bool) -> list[str]:
    """Return the library calls whose demands are not met, if they are no suspects; with `every` also the silenced ones."""
    findings = [finding for finding in report.findings if not finding.effect and not finding.silenced]
    head = "A library asks for something else here, and nothing that it would explain was seen:"
    lines = ["", head] if findings else []
    for finding in findings:
        lines += _fold(f"line {finding.line}: {finding.demand} {finding.given}", "  ")
        lines += _fold(f"{finding.instead} {finding.page}", "    ")
    if every:
        silenced = [finding for finding in report.findings if finding.silenced]
        lines += [f"  line {entry.line}: {entry.contract} is silenced there: {entry.silenced}" for entry in silenced]
        aside = [f"{name} could not judge a call: {why}" for name, why in report.stepped_aside.items()]
        lines += ["", "Demands that were not looked at:"] if aside else []
        for text in aside:
            lines += _fold(text, "  ")
    return lines


def _warned(report: Any, every: bool) -> list[str]:
    """Return what libraries warned of: it is lost easily among the script's own output."""
    warnings = report.warned if every else report.warned[:TESTED]
    lines = ["", "A library warned:"] if warnings else []
    for warning in warnings:
        lines += _fold(f"line {warning['line']}: {warning['message']}" if warning["line"] else warning["message"], "  ")
    if len(report.warned) > len(warnings):
        lines.append(f"  {len(report.warned) - len(warnings)} more: `--all` lists them.")
    return lines


def _fold(text: str, label: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)


def _source(report: Any) -> list[str]:
    try:
        return source_lines(Path(report.file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def _catalogue(cause: str) -> list[str]:
    """Return why it matters and how to fix it, if the cause is in the catalogue or a contract."""
    from bugzoo.contracts import PREFIX, contract
    from bugzoo.proving import listing

    if cause.startswith(PREFIX):
        entry = contract(cause)
        return [*_fold(entry.instead, "   fix    "), f"   more   {entry.page}"]

    try:
        row = listing.detail(cause)
    except UserError:
        return []
    why = listing.general(row["why"])
    return [*_fold(why, "   why    "), *_fold(row["fix"], "   fix    "), f"   more   bugzoo show {cause}"]


def _test(test: Any) -> list[str]:
    """Return the test to try next, and its result in either case."""
    if test is None:
        return []
    lines = _fold(test.test, "   test   ")
    lines += _fold(test.if_this, "          this cause: ")
    return lines + _fold(test.if_other, f"          {test.against}: ")


def _belonging(other: Any) -> list[str]:
    """Return the line of a suspect that a stronger one explains, or that has the same evidence."""
    label = "   so     " if other.explained_by else "   or     "
    how = "explained by" if other.explained_by else "same evidence as"
    return _fold(f"{other.cause} (score {other.score:.2f}): {how} {other.explained_by or other.instead_of}", label)


def _unchecked(report: Any, every: bool) -> list[str]:
    """Return how many instruments could not check anything; with `every` which, one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for item in report.not_checked:
        reasons.setdefault(item["why"], []).append(item["instrument"])
    if not reasons:
        return []
    if not report.steps:
        return ["", f"Not checked: {len(report.not_checked)} instruments, because no training step ran."]
    if not every:
        return ["", f"Not checked, or nothing to check: {len(report.not_checked)} instruments (`--all` says why)."]
    lines = ["", "Not checked, or nothing to check:"]
    for why, names in reasons.items():
        lines += _fold(f"{', '.join(names)}: {why}", "  ")
    return lines
