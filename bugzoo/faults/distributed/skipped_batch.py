"""The job hangs after some steps, without an error and without output. Every process is alive and waits."""

from bugzoo.faults.idioms import BATCH_COUNTER, COUNTER, RANKS, ZERO_GRAD
from bugzoo.faults.model import Fault, LookAlike, Needs, Param
from bugzoo.faults.verbs import before, either, instead

AWAY = "if $COUNT >= $step and $DIST.get_rank() == 1:\n    continue"

GONE = "if step >= $STEPS and dist.get_rank() == 1:\n    continue"

FAULT = Fault(
    title="One rank skips a batch under DDP",
    level=2,
    symptom="hang",
    params={"step": Param(10, 1, 100_000, "optimizer steps before one rank behaves differently")},
    edits=either(
        before(ZERO_GRAD, AWAY, given=(RANKS, COUNTER)), before(ZERO_GRAD, AWAY, given=(RANKS, BATCH_COUNTER))
    ),
    needs=Needs(ranks=2, seconds=20),
    evidence=("rank_check.hung > 0.5",),
    effect="rank_check.hung > healthy",
    why=(
        "Under DDP, backward() averages the gradients over all ranks with all_reduce and waits for every rank. A "
        "rank that skips a batch never makes this call, or makes a later one instead. The other ranks wait "
        "forever. PyTorch calls this problem uneven inputs."
    ),
    fix=(
        "Every rank must make the same collective calls: take the branch out, so that no rank skips a batch. For uneven "
        "inputs, train inside `with model.join():`."
    ),
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
        "Is the job slow, or does it hang? Look at the time since the last step of each rank.",
        "Print the Python stack of every rank. Which rank waits, and in which call?",
        "Look in the training loop for a branch that only some of the ranks take.",
    ),
    look_alikes=(
        LookAlike(
            "distributed/rank_zero_only_collective",
            "Print the Python stack of every rank, and compare the calls in which the ranks wait.",
            "The ranks wait in the all_reduce of the gradients, or at the end of the script.",
            "Rank 0 waits in a call that no other rank makes.",
        ),
        LookAlike(
            "speed/starved_loader",
            "Wait one minute: does any rank make another training step during this time?",
            "No rank makes another step.",
            "The ranks still make steps, but slowly.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/distributed.algorithms.join.html",),
    terms=("all_reduce", "hang (deadlock)", "NCCL"),
)
