"""Each declared incident solved from its folder alone, as somebody would who has read the ticket: no run, no catalogue.

`SOLVERS[name](folder)` -> the answers, as they would be typed.
"""

import ast
import json
import math
import re
from pathlib import Path

import numpy as np


def rows(folder: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def line_of(folder: Path, pattern: str) -> int:
    """The only line of the script that a pattern is found in, from 1."""
    lines = (folder / "train.py").read_text().splitlines()
    [found] = [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
    return found


def loss_went_nan(folder: Path) -> list[object]:
    first = next(row["step"] for row in rows(folder, "losses.jsonl") if not math.isfinite(float(row["loss"])))
    before = [row for row in rows(folder, "losses.jsonl") if row["step"] < first]
    # the factor had not moved before, and it is applied behind the loss: the loss itself was nan
    part = "forward" if len({row["scale"] for row in before}) == 1 else "backward"
    return [first, part, line_of(folder, r"torch\.exp\(")]


def night_run_stands(folder: Path) -> list[object]:
    stacks = {rank: (folder / f"rank{rank}.stack").read_text() for rank in "01"}
    [waits] = [rank for rank, stack in stacks.items() if "in backward" in stack]
    made = min(len(rows(folder, f"rank{rank}.jsonl")) for rank in "01")
    text = (folder / "train.py").read_text()
    [away] = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Continue)]
    return [waits, made, away.lineno]


def worse_when_served(folder: Path) -> list[object]:
    found = rows(folder, "requests.jsonl")
    turned = sum((row["praise_alone"] > 0.5) != (row["praise_in_batch"] > 0.5) for row in found)
    again = all(row["praise_alone"] == row["praise_in_batch"] for row in found)
    # the same weights, words and precision: what differs between the two columns is who stands beside a request
    return [turned, "precision" if again else "neighbours", line_of(folder, r"self\.lstm\(") - 1]


def slow_since_monday(folder: Path) -> list[object]:
    events = json.loads((folder / "profile_today.json").read_text())["traceEvents"]
    done = [one for one in events if one["ph"] == "X" and one.get("cat") in ("cpu_op", "user_annotation")]
    whole = max(one["ts"] + one["dur"] for one in done) - min(one["ts"] for one in done)
    fetched, end = 0.0, -math.inf
    for one in sorted(
        (one for one in done if one["name"].startswith("enumerate(DataLoader)")), key=lambda one: one["ts"]
    ):
        if one["ts"] >= end:
            fetched, end = fetched + one["dur"], one["ts"] + one["dur"]
    share = fetched / whole
    return [round(100 * share, 2), "fetching" if share > 0.5 else "forward", line_of(folder, r"return prepare\(")]


def old_customers(folder: Path) -> list[object]:
    before, after = rows(folder, "releases.jsonl")
    norms = [float(row["layer1_gradient"]) for row in rows(folder, "steps.jsonl")]
    frozen = next(at for at, norm in enumerate(norms) if math.isnan(norm))
    thawed = next(at for at in range(frozen, len(norms)) if not math.isnan(norms[at]))
    lost = 100 * (before["old_accuracy"] - after["old_accuracy"])
    return [round(lost, 2), thawed + 1, line_of(folder, r'"params": backbone')]


def memory_alarm(folder: Path) -> list[object]:
    late = [row for row in rows(folder, "memory.jsonl") if row["step"] >= 25]
    slope, start = np.polyfit([row["step"] for row in late], [row["mib"] for row in late], 1)
    # of what is kept in the loop, that which is no number
    kept = r"\.append\((?!loss\.item\(\))"
    return [round(slope, 4), round((8192 - start) / slope), line_of(folder, kept)]


def after_the_reboot(folder: Path) -> list[object]:
    until, after = rows(folder, "until_reboot.jsonl"), rows(folder, "after_reboot.jsonl")
    never = rows(folder, "never_stopped.jsonl")[len(until) :]
    parted = next(a["step"] for a, b in zip(after, never, strict=True) if a["learning_rate"] != b["learning_rate"])
    text = (folder / "train.py").read_text()
    saved = {
        name
        for name in ("model", "optimizer", "scheduler", "generator")
        if re.search(rf'saved\["{name}"\] =|"{name}":', text)
    }
    taken = {name for name in saved if re.search(rf'\(saved\["{name}"\]\)', text)}
    [lost] = saved - taken
    return [len(until), parted, {"scheduler": "schedule"}.get(lost, lost)]


SOLVERS = {
    name.replace("_", "-"): solver
    for name, solver in list(globals().items())
    if callable(solver) and getattr(solver, "__annotations__", {}).get("return") == list[object]
}
