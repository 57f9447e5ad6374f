"""After some steps the job stands still. No error, no output; every process is alive and waits."""

from bugzoo.faults.idioms import BATCH_COUNTER, COUNTER, RANKS, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Needs, Param
from bugzoo.faults.verbs import before, either, instead

AWAY = "if $COUNT >= $step and $DIST.get_rank() == 1:\n    continue"

GONE = "if step >= $STEPS and dist.get_rank() == 1:\n    continue"

FAULT = Fault(
    title="One rank skips a batch",
    level=2,
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
    repairs=instead(
        GONE,
        {
            "nobody goes": "",
            "never reached": "if dist.get_rank() >= dist.get_world_size():\n    continue",
            "noted, and done all the same": "if step >= $STEPS and dist.get_rank() == 1:\n    own_batches = step",
        },
    ),
    pretences=instead(
        GONE,
        {
            "the other rank": GONE.replace("== 1", "== 0"),
            "later": GONE.replace("$STEPS", "fold($STEPS * 5)"),
            "all together": "if step >= $STEPS:\n    step += 1\n    losses.append(losses[-1])\n    continue",
            "a barrier": GONE.replace("continue", "dist.barrier()\n    continue"),
        },
    ),
    hints=(
        "Is the job slow or does it stand still? Look at the time since the last step of each rank.",
        "Print the Python stack of every rank. Who waits where?",
        "Look in the loop for a way that only some of the ranks take.",
    ),
    look_alikes=(
        LookAlike(
            "distributed/rank_zero_only_collective",
            "Print the Python stack of every rank, and see in which call each of them waits.",
            "In the averaging of gradients, or at its end.",
            "Rank 0 in a call that nobody else makes.",
        ),
        LookAlike(
            "speed/starved_loader",
            "Look at the clock: is any step made in the next minute, on whichever rank?",
            "None.",
            "Some, slowly.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/distributed.algorithms.join.html",),
)
