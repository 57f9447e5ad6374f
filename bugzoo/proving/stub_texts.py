"""The templates of `bugzoo new`: they work as they are once the names are filled in."""

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
        # a number that makes the symptom stronger or weaker; write $factor in an edit; delete it if none makes sense
        "factor": Param(10.0, 0.0, 100.0, "what the number means"),
    }},
    # a place from bugzoo.faults.idioms and a verb: rewrite, remove, before, after; see bugzoo.faults.verbs.
    # A tuple of edits is applied together, either(...) lists alternatives; Swap(before, after) is for unnamed places.
    edits=rewrite(BACKWARD, LOSS="(($LOSS) * $factor)"),
    # instrument.number against a threshold; the instrument must fire as well: `bugzoo run` shows which ones fire
    evidence=("data_inspection.agreement_over_chance < 0.1",),
    effect="metrics.accuracy < healthy",  # the number whose change has the same sign on every seed
    why="The mechanism, then its consequence in numbers.",
    fix="The code to write instead.",
    hints=(
        "A nudge: which number or plot to look at.",
        "Narrower: which instrument, which part of the program.",
        "The place, without the repair: what to compare with what.",
    ),
    repairs={{
        # name -> edits of the broken text, other than undoing the fault: each must pass the grader
    }},
    pretences={{
        # name -> edits of the broken text that look like a repair and must fail
    }},
    look_alikes=(
        # another fault with this symptom; the test that tells them apart; its result here, and there. A claim in
        # backticks is checked by runs of both: "It is stale: `fresh_gradient.stale_share > 0.5`."
        LookAlike(
            "optimizer/lr_too_high", "Do this and look at that: one sentence.", here="What you see.", there="Something else."
        ),
    ),
    # not_on={{"mlp": "..."}}: a program that the edits fit but where `bugzoo verify` shows nothing, with the reason
    sources=(),  # a public issue, paper or page that reports it
    terms=("baseline",),  # terms of bugzoo/glossary.py where it is met, the closest first
    # where its cause is not called what its family's is: cause=Cause("a word of the form", also=("a synonym",)) and then
    # `bugzoo causes build`. Faults that it goes well with: beside={{"mlp": ("loss/double_softmax",)}}, `bugzoo pairs --prove`
)
'''

INSTRUMENT = '''\
"""{question}?

What to conclude when it fires, and when it stays quiet.
"""

from dataclasses import dataclass

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, below
from bugzoo.diagnostics.numbers import ANY, Measured, judges, number
from bugzoo.diagnostics.verdict import Verdict
from bugzoo.running.result import Run

COST = 0  # 0 reads the recorded run, 1 calls the model; RERUNS = n is the number of further runs
VIEW = "loss_curve"  # the view in which its numbers stand; that view's ORDER names the instrument
TITLE = "Fall of the loss"  # a check's title for a learner who repairs: no word of a cause
# two small scripts: it stays quiet on the first and fires on the second
HEALTHY = example()
SICK = example(("optimizer.step()", "optimizer.zero_grad(), optimizer.step()"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """The losses at both ends of the training (nats)."""

    # each with its label, without a cause, and its usual range, (smallest, largest) or in words
    first: float = number("loss of the first step")
    last: float = number("loss of the last step", "far below the first")
    fall: float = number("loss of the first step over that of the last", (2, ANY))


# what was done and what came out, and what would pass; the threshold stands once
no_fall = Alarm(
    below("fall", 1.1),
    "The loss was recorded at every step. It goes from {{first:.3g}} to {{last:.3g}}.",
    "The first loss over the last one: at least {{limits[fall]}} passes (usually {{usual[fall]}}).",
)
ALARMS = (no_fall,)


def measure(run: Run) -> Numbers:
    """Return the numbers, with units. Raises NotApplicable if it cannot measure anything."""
    need_steps(run, 2)
    loss = column(run.trace.loss)
    return Numbers(first=float(loss[0]), last=float(loss[-1]), fall=float(loss[0] / loss[-1]))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fire if the loss did not fall."""
    text = f"the loss went from {{numbers.first:.3g}} to {{numbers.last:.3g}}"
    return Verdict("{name}", no_fall(numbers), text, numbers.labeled())
'''

EXERCISE = '''\
"""The symptom, in a sentence."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="{title}",
    story=(
        # as a colleague reports it who does not know the cause; take the numbers from the run
        "A colleague trained overnight: *“the loss in the morning is the same as in the evening.”*"
    ),
    program="mlp",  # bugzoo list programs
    fault="loop/stale_gradients",  # bugzoo list faults
    # kind=...  # what is asked, if it is not to find and repair the fault: bugzoo/grading/kinds
)
'''

LESSON = '''\
"""{title}: what a reader can do after the lesson."""

# %% [markdown] title
# # {number} · {title}
#
# A complaint, as a user would write it. One and one are {{2 = total}}: a marked number is checked against the measured one.

# %% setup
device = "cpu"  # or "auto", "cuda"

from bugzoo import lab

device = lab.use(device)

# %% sum
total = 1 + 1

# %% [proof] sum-proof
assert total == 2
'''
