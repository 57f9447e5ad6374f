"""Gradients are averaged at every step, and still the ranks do not have the same model when the training is over."""

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
    title="Weights are drawn anew on every rank, by a seed of its own, after the wrapper made them equal",
    level=3,
    symptom="drift",
    edits=Swap(WRAP, f"{WRAP}\n{WEIGHTS}"),
    evidence=("rank_check.parameter_spread > 0.00001",),
    effect="rank_check.parameter_spread > healthy",
    why=(
        "DistributedDataParallel sends rank 0's weights to all ranks once, when it is made, and afterwards only averages "
        "gradients. What is drawn later with seed + rank differs, and equal updates keep the difference for ever: the "
        "gradients that are averaged belong to different models, so that the update is right for none of them, and the "
        "checkpoint is rank 0's alone."
    ),
    fix=(
        "Initialise before wrapping the model, or with the same seed on every rank; rank-dependent seeds are for data and "
        "dropout."
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
        "Equal gradients keep equal models equal. What do they do to models that are not?",
        "Print the norm of one weight on every rank before the first step.",
        "When does the wrapper make the ranks alike, and what touches the weights after that?",
    ),
    look_alikes=(
        LookAlike(
            "distributed/unsynchronised_model",
            "Print the norm of one weight on every rank before the first step and after each of the next ones.",
            "Different before the first step already.",
            "Equal at first, and then they drift.",
        ),
        LookAlike(
            "reproducibility/unseeded",
            "Run it twice and compare the losses; then compare the weights of the ranks within one run.",
            "The runs agree, the ranks do not: `rank_check.parameter_spread > 0.00001`.",
            "The runs differ, the ranks agree: `rank_check.parameter_spread < 0.00001`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
)
