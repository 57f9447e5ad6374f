"""`bugzoo new fault`: the file of a new fault, complete enough that the loader takes it as it is."""

import re
from pathlib import Path

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.files import write_atomic

_NAME = re.compile(r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")

_STUB = '''\
"""The symptom as a learner would report it, in one or two sentences, without naming the cause."""

from bugzoo.faults.idioms import BACKWARD
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import rewrite

FAULT = Fault(
    title="{title}",
    level=2,
    symptom="stuck",  # one of: {symptoms}
    params={{
        # what makes it louder or subtler; written $factor in an edit; delete where no number makes sense
        "factor": Param(10.0, 0.0, 100.0, "what the number means"),
    }},
    # a place that bugzoo.faults.idioms names and a verb: rewrite, remove, before, after; bugzoo.faults.verbs explains them.
    # A tuple of edits is made together, either(...) lists alternatives; Swap(before, after) is for places without a name.
    edits=rewrite(BACKWARD, LOSS="(($LOSS) * $factor)"),
    # instrument.number against a threshold; the instrument must fire as well: `bugzoo run` shows which of them do
    evidence=("data_inspection.agreement_over_chance < 0.1",),
    effect="metrics.accuracy < healthy",  # the number whose change has the same sign on every seed
    why="What happens, and why it shows the way it does.",
    fix="What to write instead.",
    hints=(
        "A nudge: what to ask.",
        "Narrower: which instrument, which part of the program.",
        "The place, without the repair.",
    ),
    repairs={{
        # name -> edits of the broken text, other than taking the fault back: each must pass the grader
    }},
    pretences={{
        # name -> edits of the broken text that look like a repair and must fail
    }},
    look_alikes=(
        # another fault with this symptom; the test that tells them apart; what it shows here, and there. A claim in
        # backticks is checked by runs of both: "It is old: `fresh_gradient.stale_share > 0.5`."
        LookAlike(
            "optimizer/lr_too_high", "Do this and look at that: one sentence.", here="What is seen.", there="Something else."
        ),
    ),
    # not_on={{"mlp": "..."}}: a program that the edits fit and where `bugzoo verify` shows nothing, with the reason
    sources=(),  # a public issue, paper or page where it happened to somebody
)
'''


def write_fault(name: str, folder: Path | None = None) -> Path:
    """Write `<folder>/<family>/<name>.py`; nothing that exists is overwritten. Raises UserError."""
    if not _NAME.match(name):
        raise UserError(f"{name!r} is no fault id; write family/bad_pattern in lower case, such as loop/step_missing.")
    family, stem = name.split("/")
    base = folder or Path(faults.__file__).parent
    if not base.is_dir():
        raise UserError(f"{base} is no folder; name the package folder of your fault pack.")
    path = base / family / f"{stem}.py"
    if path.exists():
        raise UserError(f"{path} exists; choose another name, or edit it. `bugzoo show {name}` shows what it says.")
    package, title = path.parent / "__init__.py", stem.replace("_", " ").capitalize()
    if not package.exists():
        write_atomic(package, "", parents=True)
    write_atomic(path, _STUB.format(title=title, symptoms=", ".join(faults.SYMPTOMS)))
    return path
