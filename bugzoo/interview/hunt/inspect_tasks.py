"""The hunts as a task set of Inspect, so that a coding agent sits them before the judge that people have.

    pip install -e ".[agents]"
    inspect eval bugzoo/interview/hunt/inspect_tasks.py --model ... -T count=10

The tools are those of `bugzoo hunt agent`. A score is the share of the points that a machine can have: repairs, nothing new
broken and findings. What the agent writes is run on this machine: give one that you do not trust a machine of its own.
"""

import tempfile
from pathlib import Path
from typing import Any

# an optional extra: what is not installed has no types either
from inspect_ai import Task, task  # pyright: ignore[reportMissingImports]
from inspect_ai.agent import react  # pyright: ignore[reportMissingImports]
from inspect_ai.dataset import MemoryDataset, Sample  # pyright: ignore[reportMissingImports]
from inspect_ai.scorer import Score, mean, scorer  # pyright: ignore[reportMissingImports]
from inspect_ai.solver import solver  # pyright: ignore[reportMissingImports]
from inspect_ai.tool import tool  # pyright: ignore[reportMissingImports]
from inspect_ai.util import store  # pyright: ignore[reportMissingImports]

from bugzoo.interview.hunt import case, recipe
from bugzoo.interview.hunt.agent import Desk

SAID = (
    "You are asked to repair a training script with several bugs. Read BRIEF.md and train.py, run it, repair it, and hand in "
    "with what you found, one paragraph for each bug. Reaching the public bar does not mean that every bug is gone."
)
_DESKS: dict[str, tuple[Desk, Any]] = {}


@task
def hunts(count: int = 10, program: str = "", minutes: int = 0, level: int = 0) -> Task:
    """Proved hunts, the first `count` of those asked for."""
    found = [
        one
        for one in recipe.published()
        if program in ("", one.program) and minutes in (0, one.minutes) and level in (0, one.level)
    ][:count]
    samples = [Sample(id=one.name, input=case.freeze(one).brief, metadata={"recipe": one.name}) for one in found]
    tools = [read(), write(), run(), check(), hand_in()]
    return Task(
        dataset=MemoryDataset(samples),
        solver=[sit_down(), react(prompt=SAID, tools=tools)],
        scorer=points(),
        message_limit=100,
    )


def _ask(asked: dict[str, Any]) -> str:
    found = _DESKS[store().get("desk")][0].answer(asked)
    return (
        found["error"]
        if not found["ok"]
        else "\n".join(f"{name}: {value}" for name, value in found.items() if name != "ok")
    )


@solver
def sit_down() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        place = tempfile.TemporaryDirectory(prefix="hunt-")
        key = f"{state.sample_id} {state.epoch} {place.name}"
        _DESKS[key] = Desk(case.freeze(recipe.named(state.metadata["recipe"])), Path(place.name) / "desk"), place
        store().set("desk", key)
        return state

    return solve


@tool
def read() -> Any:
    async def execute(file: str) -> str:
        """Read a file.

        Args:
            file: train.py, FINDINGS.md or BRIEF.md.
        """
        return _ask({"do": "read", "file": file})

    return execute


@tool
def write() -> Any:
    async def execute(file: str, text: str) -> str:
        """Replace a file.

        Args:
            file: train.py or FINDINGS.md.
            text: All of its new text.
        """
        return _ask({"do": "write", "file": file, "text": text})

    return execute


@tool
def run() -> Any:
    async def execute(seconds: int) -> str:
        """Run train.py and see the end of what it prints.

        Args:
            seconds: After so many it is ended; at most 300.
        """
        return _ask({"do": "run", "seconds": seconds})

    return execute


@tool
def check() -> Any:
    async def execute() -> str:
        """Hold train.py against the public bar: pass or fail."""
        return _ask({"do": "check"})

    return execute


@tool
def hand_in() -> Any:
    async def execute(findings: str) -> str:
        """Hand in. Nothing can be changed afterwards.

        Args:
            findings: A paragraph for each bug: what is wrong, in which line, how you know, what you changed.
        """
        return _ask({"do": "done", "findings": findings})

    return execute


@scorer(metrics=[mean()])
def points() -> Any:
    async def score(state: Any, target: Any) -> Any:
        desk, place = _DESKS.pop(store().get("desk"))
        if desk.score is None:
            desk.answer({"do": "done"})
        found = desk.score
        place.cleanup()
        assert found is not None
        told = ", ".join(f"{row.name} {row.points:g}" for row in found.rows if row.points is not None)
        return Score(value=found.points / found.of, explanation=told, metadata={"repaired": len(found.repaired)})

    return score
