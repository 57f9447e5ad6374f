"""After some steps the job stands still. No error, no output; every process is alive and waits."""

from bugzoo.faults.idioms import BATCH_COUNTER, COUNTER, RANKS, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Needs, Param
from bugzoo.faults.verbs import before, either

AWAY = "if $COUNT >= $step and $DIST.get_rank() == 1:\n    continue"

FAULT = Fault(
    title="One rank skips a batch",
    level=3,
    symptom="hang",
    params={"step": Param(10, 1, 100_000, "optimiser steps that are done before a rank goes its own way")},
    edits=either(
        before(ZERO_GRAD, AWAY, given=(RANKS, COUNTER)), before(ZERO_GRAD, AWAY, given=(RANKS, BATCH_COUNTER))
    ),
    needs=Needs(ranks=2, seconds=20),
    evidence=("rank_check.hung > 0.5",),
    effect="rank_check.hung > healthy",
    why=(
        "backward() under DDP averages gradients over all ranks and waits for each of them. A rank that leaves out one "
        "batch never comes to that meeting, or comes to another one; the rest wait for ever."
    ),
    fix="Every rank must make the same collective calls: let all skip together, or use the join() context.",
    hints=(
        "Is the job slow or does it stand still? Look at the time since the last step of each rank.",
        "Print the Python stack of every rank. Who waits where?",
        "Look in the loop for a way that only some of the ranks take.",
    ),
    look_alikes=(
        LookAlike(
            "distributed/rank_zero_only_collective",
            "There rank 0 waits in a collective that nobody else calls; compare the stacks.",
        ),
        LookAlike("speed/starved_loader", "A slow job still makes steps."),
    ),
    sources=("https://pytorch.org/docs/stable/distributed.algorithms.join.html",),
)
