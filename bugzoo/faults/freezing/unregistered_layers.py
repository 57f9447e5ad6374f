"""It learns, but less than it should, and the parameter count that is printed is too small for the network."""

from bugzoo.faults.idioms import LEARNING_RATE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead, rewrite

MIDDLE, BLOCKS = "self.middle = [nn.Linear(hidden_size, hidden_size)]", "self.blocks = [Block() for _ in range(layers)]"

FAULT = Fault(
    title="Layers in a plain list",
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
        "sequence_classifier": "its last loss is below the healthy one's on 1 of 5 seeds, measured.",
        "finetune": "it takes model.layer2 by its name and stops there with an AttributeError: another symptom.",
    },
    evidence=("parameter_audit.unregistered_share > 0.1",),
    effect="loss_curve.final_loss > healthy",
    why=(
        "nn.Module keeps account of the modules that are assigned to it, and does not look into lists, tuples and dicts. The "
        "layer is called and gets gradients, but parameters() does not give it out: the optimiser never moves it, to(device) "
        "does not move it either, eval() does not reach it and state_dict() leaves it out. In mlp that is 63 numbers in 100."
    ),
    fix="nn.ModuleList, nn.ModuleDict or nn.Sequential hold modules for a model; compare sum(p.numel()) with what you expect.",
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
        "How many numbers should this network have to learn, and how many does it say it has?",
        "Print the names in model.named_parameters() next to the layers that the forward pass calls.",
        "What does the model's constructor assign, and of which types are the things that it assigns?",
    ),
    look_alikes=(
        LookAlike(
            "freezing/frozen_layers",
            "Look for the layers that never move in the list of the model's own parameters.",
            "They are not in it: `parameter_audit.frozen_share < 0.3`.",
            "They are in it, and not trainable: `parameter_audit.frozen_share > 0.3`.",
        ),
        LookAlike(
            "graph/detached_activation",
            "Ask the layers that never move whether they have a gradient behind backward().",
            "They have one, and nobody uses it: `parameter_audit.without_gradient_share < 0.1`.",
            "They have none: `parameter_audit.without_gradient_share > 0.1`.",
        ),
        LookAlike(
            "optimizer/some_parameters_left_out",
            "Compare the parameters that the model gives out with those that the optimiser holds.",
            "They are the same ones.",
            "The optimiser holds fewer.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/666",
        "https://github.com/pytorch/pytorch/issues/715",
        "https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html",
    ),
)
