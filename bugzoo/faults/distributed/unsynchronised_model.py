"""Training on two processes runs without an error, but each rank reports other validation numbers at the end."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

LINE = "$OUT = model.module($INPUTS)"
EACH = "for parameter in model.parameters():\n    "
FLAT = (
    "gradients = [parameter.grad for parameter in model.parameters()]\n"
    "flat = torch.cat([one.flatten() for one in gradients])\n"
    "dist.all_reduce(flat)\n"
    "parts = flat.div(dist.get_world_size()).split([one.numel() for one in gradients])\n"
    "for one, part in zip(gradients, parts):\n    one.copy_(part.view_as(one))"
)

FAULT = Fault(
    title="The training loop goes round the wrapper that averages the gradients",
    level=3,
    symptom="drift",
    edits=Swap(
        "$OUT = $MODEL($INPUTS)\n$LOSS = $F($OUT, $TARGETS)",
        "$OUT = $MODEL.module($INPUTS)\n$LOSS = $F($OUT, $TARGETS)",
        where="$MODEL = DistributedDataParallel($MODEL)",
    ),
    evidence=("rank_check.parameter_spread > 0.00001",),
    effect="rank_check.parameter_spread > healthy",
    why=(
        "DistributedDataParallel prepares the averaging of the gradients in its own forward(). Called through .module the "
        "network works, and nobody averages: each rank trains a model of its own on its half of the data. They begin equal, "
        "because the wrapper sent out rank 0's weights when it was made, and drift apart from the first step on."
    ),
    fix="Call the wrapper, model(inputs), wherever a backward() follows; .module is for saving and for single attributes.",
    repairs={
        "averaged by hand": before(
            STEP, f"{EACH}dist.all_reduce(parameter.grad)\n    parameter.grad /= dist.get_world_size()"
        ),
        "averaged in one piece": before(STEP, FLAT),
        "averaged as they come": Swap(
            "step = 0",
            "step = 0\n\n\ndef averaged(gradient):\n    shared = gradient / dist.get_world_size()\n    dist.all_reduce(shared)\n"
            "    return shared\n\n\nfor parameter in model.parameters():\n    parameter.register_hook(averaged)",
        ),
    },
    pretences={
        "a barrier at every step": before(STEP, "dist.barrier()"),
        "equal at the beginning": Swap("step = 0", f"step = 0\n{EACH}dist.broadcast(parameter.data, 0)"),
        "the loss averaged": before(STEP, "average = loss.detach().clone()\ndist.all_reduce(average)"),
        "only the last layer": before(
            STEP,
            "for parameter in model.module.head.parameters():\n    dist.all_reduce(parameter.grad)\n"
            "    parameter.grad /= dist.get_world_size()",
        ),
    },
    hints=(
        "Two ranks that start alike and average their gradients: what must be true of their weights after each step?",
        "Print the norm of one weight on every rank, before the first step and after each of the next.",
        "Who averages the gradients here, and at which call is that set up?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/rank_dependent_init",
            "Print the norm of one weight on every rank before the first step and after each of the next ones.",
            "Equal at first, and then they drift.",
            "Different before the first step already.",
        ),
        LookAlike(
            "distributed/same_shard_everywhere",
            "Compare the weights of the ranks when the training is over.",
            "They differ: `rank_check.parameter_spread > 0.00001`.",
            "They are equal: `rank_check.parameter_spread < 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/ddp.html#internal-design",),
)
