"""The healthy references: plain percent scripts, read here as text and never imported.

A program runs by itself, and its loop stands at top level. Its docstring ends in two tables of TOML:

    [facts]     task, metric, better, chance, floor, healthy (the band of the metric), tiny_healthy; ranks and runs if not 1.
                `held_out`, `training` and `validation` make it gradable: see `bugzoo.grading.evaluation`
    [tiny]      settings of a run of at most 3 s

A program that can stop and resume says `runs = 2` and `second = "resume"`. Its setting `stop_after` is the number of epochs after
which it writes a checkpoint to its working folder and ends; 0 trains to the end. A second start resumes from that checkpoint.

`film_reviews/` beside them is what two of them read; it is installed under its own name, as they import no bugzoo.
"""

import ast
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bugzoo.errors import unknown
from bugzoo.syntax import parse, source_lines

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One script: its text, the facts stated in its docstring, the settings of its tiny size and its defaults."""

    name: str
    file: str
    source: str
    facts: dict[str, Any]
    tiny: dict[str, Any]
    settings: dict[str, Any]
    title: str = ""


def names() -> list[str]:
    """Every program, sorted."""
    return list(_names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_")))


@cache
def load(name: str) -> Program:
    """One program by name. Raises UserError with the nearest names for an unknown one."""
    if name not in names():
        raise unknown("program", name, names(), "bugzoo list programs")
    path = _FOLDER / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    tree = parse(source)
    prose, _, block = (ast.get_docstring(tree) or "").partition("[facts]")
    stated = tomllib.loads("[facts]" + block)
    settings = {}
    start, stop = _section(source, "Settings")
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and start <= node.lineno < stop:
            try:
                settings[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return Program(
        name, str(path), source, stated["facts"], stated.get("tiny", {}), settings, prose.strip().split("\n")[0]
    )


def _section(source: str, title: str) -> tuple[int, int]:
    """First line of a `# %% title` section and the line of the next one."""
    lines = source_lines(source)
    marks = [i for i, line in enumerate(lines, 1) if line.startswith("# %%")]
    begin = next(i for i in marks if lines[i - 1].split("# %%")[1].strip() == title)
    return begin, next((i for i in marks if i > begin), len(lines) + 1)
