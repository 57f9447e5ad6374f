"""The model learns, but less than it should. The printed parameter count is too small for the network."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead, rewrite

MIDDLE, BLOCKS = "self.middle = [nn.Linear(hidden_size, hidden_size)]", "self.blocks = [Block() for _ in range(layers)]"

FAULT = Fault(
    title="Layers in a Python list instead of nn.ModuleList",
    level=3,
    symptom="degraded",
    edits=either(
        Swap("self.blocks = nn.ModuleList([Block() for _ in range(layers)])", BLOCKS),
        (
            Swap("self.layer2 = nn.Linear(hidden_size, hidden_size)", MIDDLE),
            Swap("self.layer2($INPUT)", "self.middle[0]($INPUT)"),
        ),
    ),
    not_on={
        "sequence_classifier": "its final loss is below the healthy one on 1 of 5 seeds (measured).",
        "finetune": "it uses model.layer2 by name and stops there with an AttributeError, which is another symptom.",
    },
    evidence=("parameter_audit.unregistered_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "nn.Module registers the modules that are assigned to its attributes. nn.Module does not look into lists, "
        "tuples and dicts. A layer in a list is called and gets gradients, but model.parameters() does not contain it, "
        "so the optimizer never updates it. The calls to(device), eval() and state_dict() skip such a layer as well. "
        "In mlp that is 63 % of the parameters."
    ),
    fix=(
        "Use nn.ModuleList, nn.ModuleDict or nn.Sequential. Compare sum(p.numel() for p in model.parameters()) with "
        "the number that you expect."
    ),
    repairs=instead(
        MIDDLE,
        {
            "a ModuleList": "self.middle = nn.ModuleList([nn.Linear(hidden_size, hidden_size)])",
            "a Sequential": "self.middle = nn.Sequential(nn.Linear(hidden_size, hidden_size))",
            "registered by hand": f'{MIDDLE}\nself.add_module("layer2", self.middle[0])',
        },
    )
    | instead(
        BLOCKS,
        {
            "blocks in a Sequential": "self.blocks = nn.Sequential(*[Block() for _ in range(layers)])",
            "a ModuleList that grows": (
                "self.blocks = nn.ModuleList()\nfor _ in range(layers):\n    self.blocks.append(Block())"
            ),
        },
    ),
    pretences=instead(
        MIDDLE,
        {
            "a tuple": "self.middle = (nn.Linear(hidden_size, hidden_size),)",
            "a dictionary": "self.middle = {0: nn.Linear(hidden_size, hidden_size)}",
            "moved to the device": "self.middle = [nn.Linear(hidden_size, hidden_size).to(device)]",
        },
    )
    | instead(
        BLOCKS,
        {
            "a tuple of blocks": "self.blocks = tuple(Block() for _ in range(layers))",
            "blocks moved to the device": "self.blocks = [Block().to(device) for _ in range(layers)]",
        },
    )
    | {"higher rate": rewrite(LEARNING_RATE, LR="fold($LR * 5)")},
    hints=(
        "How many parameters should this network have? Compare with sum(p.numel() for p in model.parameters()).",
        "Print the names in model.named_parameters() next to the layers that forward() calls.",
        "Which attributes does the model's __init__ assign, and which type does each of them have?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Look for the layers that never change in the list of model.named_parameters().",
            "These layers are not in the list: `parameter_audit.frozen_share < 0.3`.",
            "These layers are in the list, and they are not trainable: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "graph/detached_activation",
            "After backward(), check whether the layers that never change have a gradient.",
            "These layers have a gradient that no step uses: `parameter_audit.without_gradient_share < 0.1`.",
            "These layers have no gradient: `parameter_audit.without_gradient_share > 0.1`.",
        ),
        LookAlike(
            "optimizer/some_parameters_left_out",
            "Compare model.parameters() with the parameters in optimizer.param_groups.",
            "Both hold the same parameters.",
            "The optimizer holds fewer parameters.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/666",
        "https://github.com/pytorch/pytorch/issues/715",
        "https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",
    ),
    terms=("optimizer",),
)
