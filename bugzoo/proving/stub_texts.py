"""What `bugzoo new` writes into a file: texts that work as they are, once their names are put in."""

FAULT = '''\
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

INSTRUMENT = '''\
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

EXERCISE = '''\
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

LESSON = '''\
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
