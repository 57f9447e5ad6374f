"""The job hangs after a few steps. Rank 0 writes the log, and the next log line never appears."""

from bugzoo.faults.idioms import COUNTER, RANKS, STEP
from bugzoo.faults.model import Fault, LookAlike, Needs, Param
from bugzoo.faults.verbs import after, instead

GATHER = "shares = [torch.zeros_like($LOSS) for _ in range($DIST.get_world_size())]\n    $DIST.all_gather(shares, $LOSS.detach())"
LINES = (
    "if $COUNT % $EVERY == $REST and dist.get_rank() == 0:\n"
    "    $SHARES = $ZEROS\n    dist.all_gather($SHARES, $LOSS.detach())"
)

FAULT = Fault(
    title="all_gather() called only on rank 0",
    level=2,
    symptom="hang",
    params={"every": Param(10, 2, 100, "steps from one log line to the next")},
    edits=after(
        STEP,
        "if $COUNT % $every == 1 and $DIST.get_rank() == 0:\n" + "    " + GATHER.replace("$LOSS", "loss"),
        given=(RANKS, COUNTER),
    ),
    needs=Needs(ranks=2, seconds=20),
    evidence=("rank_check.hung > 0.5",),
    effect="rank_check.hung > healthy",
    why=(
        "all_gather, all_reduce, broadcast and barrier are collectives: every rank must call them. Inside `if "
        "rank == 0`, only rank 0 makes the call, and it waits for the others. The other ranks go on to the next "
        "collective, the all_reduce of the gradients, and wait there. No rank raises an error before the timeout. "
        "The default timeout is half an hour, or ten minutes with NCCL."
    ),
    fix="Make the collective call on all ranks. Put only the code that uses the result inside `if rank == 0`.",
    repairs=instead(
        LINES,
        {
            "everybody calls": "if $COUNT % $EVERY == $REST:\n    $SHARES = $ZEROS\n    dist.all_gather($SHARES, $LOSS.detach())",
            "its own loss alone": "if $COUNT % $EVERY == $REST and dist.get_rank() == 0:\n    $SHARES = [$LOSS.detach()]",
            "summed by everybody": "if $COUNT % $EVERY == $REST:\n    share = $LOSS.detach().clone()\n    dist.all_reduce(share)",
        },
    ),
    pretences=instead(
        LINES,
        {
            "the other rank": LINES.replace("== 0:", "== 1:"),
            "a barrier first": LINES.replace("== 0:\n", "== 0:\n    dist.barrier()\n"),
            "less often": LINES.replace("$COUNT % $EVERY", "$COUNT % fold($EVERY * 2)"),
            "a copy is sent": LINES.replace("$LOSS.detach()", "$LOSS.detach().clone()"),
        },
    ),
    hints=(
        "Is the job slow, or does it hang? Look at the time since the last step of each rank.",
        (
            "Print the Python stack of every rank, for example with `py-spy dump --pid PID`. Compare the calls in "
            "which the ranks wait."
        ),
        "List the calls in the loop that need every rank. Does every rank reach each of these calls?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/skipped_batch",
            "Print the Python stack of every rank, and compare the calls in which the ranks wait.",
            "Rank 0 waits in a call that no other rank makes.",
            "The ranks wait in the all_reduce of the gradients, or at the end of the script.",
        ),
        LookAlike(
            "distributed/loss_normalised_per_rank",
            "Wait one minute: does any rank make another training step during this time?",
            "No rank makes another step.",
            "The ranks make steps as fast as ever.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/distributed.html#collective-functions",),
    terms=("all_reduce", "gloo", "NCCL", "hang (deadlock)", "rank"),
)
