"""Where a declared incident is made: runs of its scenario, and what of them is written into the folder."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.diagnosis import changed_lines
from bugzoo.grading.grade import tidy
from bugzoo.running import Run, run_worker
from bugzoo.scenario import Scenario

SCRIPT = "train.py"
PROFILED = """
import json, sys
import torch
from torch.profiler import ProfilerActivity, profile

torch.set_num_threads(1)
text, out = open(sys.argv[1]).read(), sys.argv[2]
before, training = text.split("# %% Training\\n")
training = training.partition("# %% Evaluation\\n")[0]
names = {"__name__": "__main__", "__file__": sys.argv[1]}
exec(compile(before, "train.py", "exec"), names)
with profile(activities=[ProfilerActivity.CPU]) as watched:
    exec(compile("\\n" * before.count("\\n") + training, "train.py", "exec"), names)
watched.export_chrome_trace(out)
"""


@dataclass
class Stage:
    """`folder`: where artefacts go; `tell(done)` after each run."""

    folder: Path
    seed: int
    tell: Callable[[int], None] = lambda done: None
    runs: int = field(default=0)

    def run(self, case: Scenario, source: str | None = None, **extra: Any) -> Run:
        """A run of a scenario in a worker, under the file name that the folder has. Raises UserError where none came back."""
        self.tell(self.runs)
        job = replace(case.job(**extra), source=source or tidy(case.source), file=SCRIPT)
        run = run_worker(job, lambda info: self.tell(self.runs))
        self.runs += 1
        if run.trouble:
            raise UserError(f"A run of {case.program} could not be made: {run.trouble}. Try again.")
        return run

    def profile(self, case: Scenario, name: str) -> dict[str, Any]:
        """The training part under torch.profiler, written as a Chrome trace; what was written."""
        self.tell(self.runs)
        with tempfile.TemporaryDirectory(prefix="bugzoo-incident-") as place:
            script, out = Path(place, SCRIPT), Path(place, "trace.json")
            script.write_text(tidy(case.source), encoding="utf-8")
            words = [sys.executable, "-c", PROFILED, str(script), str(out)]
            done = subprocess.run(
                words, cwd=place, capture_output=True, text=True, check=False, timeout=300,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
                raise UserError(f"The profile of {case.program} could not be taken: {last[:300]}")
            trace = json.loads(out.read_text(encoding="utf-8"))
        self.runs += 1
        kept = {"schemaVersion": trace.get("schemaVersion", 1), "displayTimeUnit": "ms"}
        kept["traceEvents"] = [event for event in trace["traceEvents"] if event.get("ph") in ("X", "M")]
        self.write(name, json.dumps(kept))
        return kept

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def rows(self, name: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """JSONL, as it was measured; what is not finite is written as text, since JSON has no word for it."""
        made = [{key: _plain(value) for key, value in row.items()} for row in rows]
        self.write(name, "".join(json.dumps(row) + "\n" for row in made))
        return made

    def code(self, case: Scenario) -> str:
        """The script into the folder; its text."""
        text = tidy(case.source)
        self.write(SCRIPT, text)
        return text


def steps(run: Run, *names: str) -> list[dict[str, Any]]:
    """A row for each optimiser step: its number, its loss, and what else of the trace is named."""
    trace = run.trace
    columns = {name: getattr(trace, name) for name in ("loss", *names)}
    return [
        {"step": int(step)} | {name: float(values[at]) for name, values in columns.items()}
        for at, step in enumerate(trace.step)
    ]


def log(run: Run) -> str:
    """What a run left in its log: what it printed, and how it ended."""
    error = run.trace.error
    said = [run.stdout.rstrip()] if run.stdout.strip() else []
    if run.outcome == "hung":
        said.append("killed: no progress")
    elif trace := error.get("traceback"):
        said.append(trace.rstrip())
    return "\n".join([*said, f"outcome: {run.outcome}, {len(run.trace.step)} steps", ""])


def stack(frames: Sequence[str]) -> str:
    """A stack down to the script, innermost call first, without the paths of this machine; what watches is left out."""
    seen = [frame for frame in frames if "/bugzoo/" not in frame]
    last = max((at for at, frame in enumerate(seen) if f'"{SCRIPT}"' in frame), default=None)
    if last is None:
        return f"no frame of {SCRIPT}: the script has come to its end, the process waits to be ended\n"
    shown = [re.sub(r'File "/[^"]*/(?:site-packages|python3\.\d+)/', 'File "', frame) for frame in seen[: last + 1]]
    return "\n".join([*(re.sub(r'File "/[^"]*/', 'File "', frame) for frame in shown), ""])


def span(case: Scenario) -> tuple[float, float]:
    """(middle, room) of the last lines in which the text with the fault differs, counted from 1; a line beside them will do."""
    low, high = changed_lines(tidy(case.healthy().source), tidy(case.source))[-1]
    return (low + high) / 2, (high - low) / 2 + 1


def nothing(why: str) -> UserError:
    """For runs that do not show what the incident is about."""
    return UserError(f"These runs have nothing to show: {why}. Take another --seed.")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else str(value)
    return value
