"""Training on two processes runs without an error, but at the end each rank reports different validation metrics."""

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
    title="Forward pass through model.module bypasses DDP",
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
        "DistributedDataParallel prepares the averaging of the gradients in its own forward(). Called through "
        "model.module, the network works, but DDP averages no gradients. Each rank trains its own model on its "
        "half of the data. The models start equal, because DDP copies rank 0's weights when you wrap the model. "
        "From the first step on, the models drift apart."
    ),
    fix=(
        "Call the wrapper, `model(inputs)`, wherever a backward() follows. Use model.module only to save the "
        "model or to read single attributes."
    ),
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
        (
            "Two ranks start with equal weights and average their gradients. What must be true of the weights "
            "after each step?"
        ),
        "Print the norm of one weight on every rank, before the first step and after each of the next steps.",
        "Which object averages the gradients here, and which call must run for that?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/rank_dependent_init",
            "Print the norm of one weight on every rank, before the first step and after each step.",
            "The norms are equal at first, and then they drift apart.",
            "The norms differ before the first step already.",
        ),
        LookAlike(
            "distributed/same_shard_everywhere",
            "Compare the weights of all ranks after the last training step.",
            "The ranks have different weights: `rank_check.parameter_spread > 0.00001`.",
            "All ranks have the same weights: `rank_check.parameter_spread < 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/ddp.html#internal-design",),
    terms=("DDP", "gloo", "rank"),
)
