"""A view of the reader's own script, which runs in its own process and in a layer over its files, as under `checkup`."""

import math
import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bugzoo import device, views
from bugzoo.errors import UserError
from bugzoo.frontend import fit
from bugzoo.lab.frontend import headless
from bugzoo.lab.look import check_view, show
from bugzoo.running import Job, Limits, Run, run_worker
from bugzoo.syntax import source_lines

SHIPPED = sorted((Path(__file__).parent / "scripts").glob("*.py"))
"""Three healthy scripts: a class with fit, a main() with batches by slices, an evaluation inside the epoch loop."""
MEASURING, PATIENCE, LONGEST = 30.0, 10.0, 60.0
"""Seconds for the view after the script, seconds that its process may be late, and the most minutes of a script."""
NAMED = 5
"""How many of the files that the script wrote are named."""


def mine(
    script: str | os.PathLike[str] | None = None,
    view: str = "weights",
    *,
    args: str | Sequence[str] = "",
    minutes: float = 2,
    write: bool = False,
) -> dict[str, Any]:
    """Run your training script for at most `minutes` and show a view of it; return label -> number.

    Without a script, one of three that ship with bugzoo runs. `args`: the script's own arguments, as in a terminal. Its
    files are discarded; where this machine cannot do that, it runs only with `write=True`. Ctrl-C stops it, and the view
    shows what was measured until then. Raises UserError for what is not a script, and for a script that trains nothing.
    """
    check_view(view, "lab.mine(..., view={!r})")
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= LONGEST:
        raise UserError(f"minutes={minutes!r} is not allowed. Use a number above 0, up to {LONGEST:g}.")
    visit = _Visit(script, view, args, minutes, write)
    if script is not None:
        visit.check_layer()
    job = visit.job(f"bugzoo.views._clock:{60 * minutes}:{60 * minutes + MEASURING}", {"names": [view]})
    print(
        fit(f"{visit.path.name} runs for at most {_minutes(minutes)}. Interrupt the kernel to stop it earlier."),
        flush=True,
    )
    progress = _Progress(visit.path.name)
    try:
        run = run_worker(job, progress)
    finally:
        progress.clear()
    if run.trouble:
        raise UserError(f"{visit.path.name} could not be run: {run.trouble}")
    if not len(run.trace.step):
        raise UserError(
            " ".join([f"There is nothing to look at: {visit.path.name} made no optimizer step.", *visit.ending(run)])
        )
    shipped = ", a script that comes with bugzoo" if script is None else ""
    first = f"{visit.path.name}{shipped}: {len(run.trace.step):,} optimizer steps."
    print(fit("\n".join([first, *visit.ending(run), *visit.files(run)])))
    reading = run.readings.get(view) or views.measure(run, [view])[view]
    return show(view, reading, device.of_text(run.source))


class _Visit:
    """One call of `mine`: the script, and the call as the reader would type it again."""

    def __init__(self, script: Any, view: str, args: str | Sequence[str], minutes: float, write: bool) -> None:
        from bugzoo.diagnostics.checkup import read

        if script is not None and not isinstance(script, str | os.PathLike):
            raise UserError(
                f"`lab.mine` takes the path of a script, not an object of type {type(script).__name__}. "
                f'Type lab.mine("train.py", view="{view}").'
            )
        shipped = SHIPPED[views.names().index(view) % len(SHIPPED)]
        self.path = shipped if script is None else Path(os.fspath(script)).expanduser()
        self.source = read(self.path)
        try:
            self.argv = tuple(shlex.split(args) if isinstance(args, str) else map(str, args))
        except (ValueError, TypeError) as error:
            raise UserError(
                f'args={args!r} cannot be read ({error}). Write them as in a terminal: args="--epochs 2".'
            ) from None
        self._typed = {"script": script, "view": view, "args": args, "minutes": minutes, "write": write}

    def call(self, **changed: Any) -> str:
        """Return this call with some arguments changed."""
        typed = self._typed | changed
        words = [] if typed["script"] is None else [f'"{self.path}"']
        words += [f'view="{typed["view"]}"', *([f'args="{typed["args"]}"'] if typed["args"] else [])]
        words += [f"minutes={typed['minutes']:g}"] if typed["minutes"] != 2 else []
        return f"lab.mine({', '.join([*words, *(['write=True'] if typed['write'] else [])])})"

    def job(self, after: str | None = None, after_args: dict[str, Any] | None = None) -> Job:
        file = self.path.resolve()
        seconds = 60 * self._typed["minutes"] + MEASURING + PATIENCE
        return Job(
            self.source, file=str(file), limits=Limits(seconds=seconds), after=after, after_args=after_args or {},
            argv=self.argv, cwd=str(file.parent), overlay=True,
        )  # fmt: skip

    def check_layer(self) -> None:
        """Raise UserError where the script would write its files for real and the reader did not allow it."""
        from dataclasses import replace

        run = run_worker(replace(self.job(), source="", argv=(), watch=False))
        if run.outcome == "stopped":
            raise KeyboardInterrupt
        if run.writes is not None and not run.writes.apart and not self._typed["write"]:
            raise UserError(
                f"{self.path.name} would write its files for real, as under python: no layer over them is possible here "
                f"({run.writes.why}). If it may, type {self.call(write=True)}."
            )

    def ending(self, run: Run) -> list[str]:
        """Return sentences on how the script ended, and what to type next; nothing if it ended by itself."""
        from bugzoo.diagnostics.checkup import hint

        error, some = run.trace.error, bool(len(run.trace.step))
        line, lines = error.get("line"), source_lines(self.source)
        at = f" at line {line}: `{lines[line - 1].strip()}`" if line and line <= len(lines) else ""
        so_far = " The numbers are from before." if some else ""
        if run.outcome in ("timed_out", "hung"):
            more = self.call(minutes=min(LONGEST, 3 * self._typed["minutes"]))
            return [f"It was stopped after {_minutes(self._typed['minutes'])}{at}.{so_far} For more, type {more}."]
        if run.outcome == "stopped":
            return [f"You stopped it.{so_far}"]
        advice = hint(run, f"Pass the script's own arguments: {self.call(args='--epochs 2')}").lstrip(". ")
        if kind := error.get("type"):
            raised = f"{kind}: {error.get('message')}".splitlines()[0][:300]
            return [f"It ended with an error{at}.", f"{raised}.{so_far}", *([f"{advice}."] if advice else [])]
        if some:
            return [f"It ended as {run.outcome}."] if run.outcome != "finished" else []
        return [
            f"{advice}."
            if advice
            else "Name the script that trains: one that calls loss.backward() and optimizer.step()."
        ]

    def files(self, run: Run) -> list[str]:
        """Return a sentence on the files that the script wrote; nothing without any."""
        writes = run.writes
        if writes is None or not (writes.files or "wrote" in writes.outward):
            return []
        if not writes.apart:
            return [f"It wrote files for real, such as {writes.outward['wrote']}."]
        folder = self.path.resolve().parent
        names = [os.path.relpath(file, folder) if Path(file).is_relative_to(folder) else file for file in writes.files]
        more = ", and more" if len(names) > NAMED else ""
        return [f"Files that it wrote were discarded: {', '.join(names[:NAMED])}{more}. Yours are unchanged."]


class _Progress:
    """One line that says how far the script is, rewritten in place; nothing without a front end."""

    def __init__(self, name: str) -> None:
        self.name, self.began, self.last, self.wide = name, time.monotonic(), 0.0, 0

    def __call__(self, info: dict[str, Any]) -> None:
        now = time.monotonic()
        if headless() or now - self.last < 0.5:
            return
        self.last, loss = now, info.get("loss")
        number = f", loss {loss:.4g}" if isinstance(loss, float) and math.isfinite(loss) else ""
        text = f"{self.name}: step {info['step']}{number}, {now - self.began:.0f} s"
        self.wide = max(self.wide, len(text))
        print(f"\r{text:{self.wide}}", end="", flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self.wide:
            print(f"\r{'':{self.wide}}\r", end="", flush=True)


def _minutes(minutes: float) -> str:
    return f"{minutes:g} minute{'s' * (minutes != 1)}" if minutes >= 1 else f"{60 * minutes:.0f} seconds"
