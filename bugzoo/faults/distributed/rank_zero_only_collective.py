"""The job stands still after a few steps. Only rank 0 writes the log, and its last line never came."""

from bugzoo.faults.idioms import COUNTER, RANKS, STEP
from bugzoo.faults.model import Fault, LookAlike, Needs, Param
from bugzoo.faults.verbs import after, instead

GATHER = (
    "shares = [torch.zeros(()) for _ in range($DIST.get_world_size())]\n    $DIST.all_gather(shares, $LOSS.detach())"
)
LINES = (
    "if $COUNT % $EVERY == $REST and dist.get_rank() == 0:\n"
    "    $SHARES = $ZEROS\n    dist.all_gather($SHARES, $LOSS.detach())"
)

FAULT = Fault(
    title="A collective call behind `if rank == 0`",
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
        "all_gather, all_reduce, broadcast and barrier are meetings of all ranks. Behind `if rank == 0` one rank goes to the "
        "meeting and waits; the others go on to the next one, the averaging of the gradients, and wait there. Nobody fails, "
        "and with the default timeout it takes half an hour, ten minutes with NCCL, until somebody says so."
    ),
    fix="All ranks make the call; only what is done with the result stands behind `if rank == 0`.",
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
        "Is the job slow or does it stand still? Look at the time since the last step of each rank.",
        "Print the Python stack of every rank, and compare the calls in which they wait.",
        "Which calls in the loop need every rank, and does every rank come by?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/skipped_batch",
            "Print the Python stack of every rank, and see in which call each of them waits.",
            "Rank 0 in a call that nobody else makes.",
            "In the averaging of gradients, or at its end.",
        ),
        LookAlike(
            "distributed/loss_normalised_per_rank",
            "Look at the clock: is any step made in the next minute, on whichever rank?",
            "None, on none of them.",
            "Some, as fast as ever.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/distributed.html#collective-functions",),
)
