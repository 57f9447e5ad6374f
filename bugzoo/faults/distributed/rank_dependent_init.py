"""Gradients are averaged at every step. Still, the ranks have different weights when training is over."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

WRAP = "model = DistributedDataParallel(model)"
WEIGHTS = (
    "torch.manual_seed(seed + dist.get_rank())\nfor parameter in model.parameters():\n"
    "    if parameter.dim() > 1:\n        nn.init.xavier_uniform_(parameter)"
)
EACH = "for parameter in model.parameters():\n    "

FAULT = Fault(
    title="Weights re-initialized with a per-rank seed after DDP",
    level=3,
    symptom="drift",
    edits=Swap(WRAP, f"{WRAP}\n{WEIGHTS}"),
    evidence=("rank_check.parameter_spread > 0.00001",),
    effect="rank_check.parameter_spread > healthy",
    why=(
        "DistributedDataParallel copies rank 0's weights to all ranks once, when you wrap the model. After that, "
        "DDP averages only gradients. Weights that are drawn later with seed + rank differ, and equal updates "
        "keep the difference forever. The averaged gradients belong to different models, so the update is right "
        "for no rank. The checkpoint contains only rank 0's weights."
    ),
    fix=(
        "Initialize the weights before you wrap the model, or with the same seed on every rank. Use "
        "rank-dependent seeds only for data and dropout."
    ),
    repairs={
        "the same seed everywhere": Swap("torch.manual_seed(seed + dist.get_rank())", "torch.manual_seed(seed)"),
        "sent out once more": Swap("step = 0", f"step = 0\n{EACH}dist.broadcast(parameter.data, 0)"),
        "averaged once": Swap(
            "step = 0",
            f"step = 0\n{EACH}dist.all_reduce(parameter.data)\n    parameter.data /= dist.get_world_size()",
        ),
        "drawn before it is wrapped": Swap(f"{WRAP}\n{WEIGHTS}", f"{WEIGHTS}\n{WRAP}"),
    },
    pretences={
        "a barrier": Swap("step = 0", "step = 0\ndist.barrier()"),
        "gradients averaged once more": before(
            STEP, f"{EACH}dist.all_reduce(parameter.grad)\n    parameter.grad /= dist.get_world_size()"
        ),
        "seeded again afterwards": Swap("step = 0", "step = 0\ntorch.manual_seed(seed)"),
        "the biases sent out": Swap(
            "step = 0", f"step = 0\n{EACH}if parameter.dim() == 1:\n        dist.broadcast(parameter.data, 0)"
        ),
    },
    hints=(
        "Equal gradients keep equal models equal. What do equal gradients do to models that differ?",
        "Print the norm of one weight on every rank before the first step.",
        "When does DDP make the weights of all ranks equal, and which lines change the weights after that?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/unsynchronised_model",
            "Print the norm of one weight on every rank, before the first step and after each step.",
            "The norms differ before the first step already.",
            "The norms are equal at first, and then they drift apart.",
        ),
        LookAlike(
            "reproducibility/unseeded",
            "Run twice and compare the losses. Then compare the weights of the ranks within one run.",
            "The runs agree, but the ranks differ: `rank_check.parameter_spread > 0.00001`.",
            "The runs differ, but the ranks agree: `rank_check.parameter_spread < 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
    terms=("rank", "DDP"),
)
