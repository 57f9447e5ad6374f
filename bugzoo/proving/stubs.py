"""`bugzoo new program | instrument | exercise | lesson`: a first version that works as it is, to be made into another one."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bugzoo
from bugzoo import diagnostics, lessons, programs
from bugzoo.errors import UserError
from bugzoo.files import write_atomic

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_NUMBERED = re.compile(r"(\d\d)_[a-z][a-z0-9_]*")

_INSTRUMENT = '''\
"""{question}?

What to conclude when it fires, and when it stays quiet.
"""

from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.verdict import Verdict

COST = 0  # 0 reads what the run left behind, 1 calls the model; RERUNS = n says how many more runs it makes
SHOWN = {{
    # number -> what an exercise calls it, without a cause in it, and what is usual
    "first": ("loss of the first step", ""),
    "last": ("loss of the last step", "far below the first"),
}}
# two small scripts: it stays quiet on the one and fires on the other
HEALTHY = example()
SICK = example(("optimizer.step()", "optimizer.zero_grad(), optimizer.step()"))


def measure(run: Any) -> dict[str, Any]:
    """What is measured, with units. Raises NotApplicable where it can say nothing."""
    need_steps(run, 2)
    loss = column(run.trace.loss)
    return {{"first": float(loss[0]), "last": float(loss[-1])}}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when nothing was gained."""
    text = f"the loss went from {{numbers['first']:.3g}} to {{numbers['last']:.3g}}"
    return Verdict("{name}", numbers["last"] > 0.9 * numbers["first"], text, dict(numbers))
'''

_EXERCISE = '''\
"""What the learner sees, in a sentence."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="{title}",
    story=(
        # as somebody would report it who does not know what is wrong; numbers of the run come from the run
        "A colleague has trained over night: *“the loss is the same in the morning as in the evening.”*"
    ),
    program="mlp",  # bugzoo list programs
    fault="loop/stale_gradients",  # bugzoo list faults
)
'''

_LESSON = '''\
"""{title}: what a reader can do afterwards."""

# %% [markdown] title
# # {number} · {title}
#
# A complaint, the way somebody would make it. One and one are {{2 = total}}: a number with a mark is held to what was measured.

# %% sum
total = 1 + 1

# %% [proof] sum-proof
assert total == 2
'''


@dataclass(frozen=True)
class Kind:
    """One kind of thing: where its file goes, what its names look like, what stands in it, what to type next."""

    place: Callable[[str], Path]
    name: re.Pattern[str]
    example: str
    text: Callable[[str], str]
    then: tuple[str, ...]


def _home(*parts: str) -> Path:
    return Path(bugzoo.__file__).parent.joinpath(*parts)


def _said(name: str) -> str:
    return (
        name.partition("_")[2].replace("_", " ").capitalize()
        if name[0].isdigit()
        else name.replace("_", " ").capitalize()
    )


def _program(name: str) -> str:
    """The shortest program's text, to be changed section by section: the phrases of the others are in it."""
    return min((programs.load(one).source for one in ("mlp", "regression_mlp")), key=len)


KINDS: dict[str, Kind] = {
    "program": Kind(
        lambda name: _home("programs", f"{name}.py"),
        _PLAIN,
        "tabular_mlp",
        _program,
        (
            "change it section by section, and keep the phrases of the other programs for the same step",
            "pytest tests/programs: is it healthy on three seeds?",
            "bugzoo verify --program {name}: does any instrument fire on it?",
        ),
    ),
    "instrument": Kind(
        lambda name: _home("diagnostics", f"{name}.py"),
        _PLAIN,
        "loss_gain",
        lambda name: _INSTRUMENT.format(name=name, question=_said(name)),
        (
            "its first line is the question that it answers",
            "pytest tests/diagnostics: quiet on HEALTHY, loud on SICK?",
            "bugzoo verify: quiet on every healthy program?",
        ),
    ),
    "exercise": Kind(
        lambda name: _home("grading", "exercises", f"e{name}.py"),
        _NUMBERED,
        "08_slow_start",
        lambda name: _EXERCISE.format(title=_said(name)),
        (
            "write the story; the name tells the topic and never the fault",
            "bugzoo exercises build: makes the notebook and its solution",
            "bugzoo check {name}: is it proved both ways?",
        ),
    ),
    "lesson": Kind(
        lambda name: _home("lessons", f"{name}.py"),
        _NUMBERED,
        "04_silent_bugs",
        lambda name: _LESSON.format(title=_said(name), number=name[:2]),
        (
            "write it; CONTRIBUTING.md says what a lesson has, and lesson 03 is the example",
            "bugzoo lessons build: makes the notebook",
            "bugzoo lessons check {name}: is every number so?",
        ),
    ),
}


def write(kind: str, name: str) -> Path:
    """Write the file of a new thing of one of KINDS; nothing that exists is overwritten. Raises UserError."""
    one = KINDS[kind]
    if not one.name.fullmatch(name):
        raise UserError(f"{name!r} is no name for {_a(kind)}; write it like {one.example}, in lower case.")
    path = one.place(name)
    if path.exists() or name in _taken(kind):
        raise UserError(f"There is {_a(kind)} {name}; choose another name. `bugzoo list` shows what there is.")
    if kind in ("exercise", "lesson") and (same := [other for other in _taken(kind) if other[:3] == name[:3]]):
        raise UserError(f"{same[0]} has the number {name[:2]}; choose another one.")
    write_atomic(path, one.text(name))
    return path


def _taken(kind: str) -> list[str]:
    from bugzoo.grading.exercises import exercises

    known = {"program": programs.names, "instrument": diagnostics.names, "lesson": lessons.files, "exercise": exercises}
    return list(known[kind]())


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
