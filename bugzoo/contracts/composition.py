"""How modules are put together: when a layer is made, and how often it stands in a list."""

from collections import Counter

from torch import nn

from bugzoo.contracts.layers import FLOOR, STUCK
from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_N = "torch.nn."
_LAYERS = (
    "Linear", "Embedding", "LayerNorm", "GroupNorm", "modules.conv._ConvNd", "modules.rnn.RNNBase",
    "modules.batchnorm._NormBase",
)  # fmt: skip
_NET = (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.first = nn.Linear(2, 2)\n"
    "    def forward(self, x):\n        return {}(self.first(x))\n"
    "net = Net()\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor batch in range(8):\n"
    "    net(torch.ones(1, 2)).sum().backward()\n    optimizer.step()\n"
)


def _in_forward(call: Call) -> nn.Module | None:
    """Return the module whose own `forward` makes the layer, None elsewhere."""
    return call.owner() if call.frame is not None and call.frame.f_code.co_name == "forward" else None


def _made_in_forward(call: Call) -> Numbers | None:
    """Count the steps over which the same `forward` has made a layer anew."""
    if (owner := _in_forward(call)) is None:
        return None
    since = call.about(owner).setdefault(call.site, call.made)
    return {"steps": float(call.made - since), "layer": type(call["self"]).__name__, "owner": type(owner).__name__}


def _dropout_in_forward(call: Call) -> Numbers | None:
    if (owner := _in_forward(call)) is None or not call["p"]:
        return None
    return {"training": float(owner.training), "owner": type(owner).__name__, "p": float(call["p"])}


def _repeated(call: Call) -> Numbers | None:
    """Count how often one module with parameters stands in a list. An iterator is not read, as it can be only once."""
    listed = call["args"] if "args" in call.arguments else call["modules"]
    if not isinstance(listed, list | tuple):
        return None
    counts = Counter(
        module for module in listed if isinstance(module, nn.Module) and any(True for _ in module.parameters())
    )
    return next(
        ({"times": float(times), "layer": type(module).__name__} for module, times in counts.most_common(1)), None
    )


CONTRACTS = (
    Contract(
        name="layer_made_in_forward",
        on=tuple(f"{_N}{name}.__init__" for name in _LAYERS),
        demand="Layers are made in `__init__`, where they become part of the module, and only called in `forward`.",
        given="`forward` of {owner} makes a {layer} anew, for {steps:.0f} steps now. No optimizer knows its weights.",
        instead="Write `self.layer = ...` in `__init__`, and `self.layer(x)` in `forward`.",
        page=PAGES + "generated/torch.nn.Module.html",
        kind="order of calls",
        measure=_made_in_forward,
        broken=lambda numbers: numbers["steps"] >= 2,
        breaks=_NET.format("nn.Linear(2, 2)"),
        keeps=(
            _NET.format("nn.Identity()") + "class Late(nn.Module):\n    def forward(self, x):\n"
            "        if not hasattr(self, 'layer'): self.layer = nn.Linear(2, 2)\n        return self.layer(x)\n"
            "late = Late()\nfor batch in range(8):\n    late(torch.ones(1, 2)).sum().backward()\n    optimizer.step()"
        ),
        wrong="Random layers on purpose, such as a random projection that is drawn anew for each batch.",
        explains=("by itself",),
    ),
    Contract(
        name="dropout_made_in_forward",
        on=(_N + "modules.dropout._DropoutNd.__init__",),
        demand="A new module is in training mode: one that `forward` makes drops also when its model is in eval mode.",
        given="`forward` of {owner} makes a dropout with p={p:.3g} while the model is in eval mode.",
        instead="Write `self.drop = nn.Dropout(p)` in `__init__`, or `F.dropout(x, p, self.training)`.",
        page=PAGES + "generated/torch.nn.Module.html#torch.nn.Module.eval",
        kind="mode",
        measure=_dropout_in_forward,
        broken=lambda numbers: not numbers["training"],
        breaks=_NET.format("nn.Dropout(0.5)") + "with torch.no_grad(): net.eval()(torch.ones(1, 2))",
        keeps=_NET.format("nn.Dropout(0.5)")
        + _NET.format("nn.Dropout(0)")
        + "with torch.no_grad(): net.eval()(torch.ones(1, 2))",
        wrong="Several outputs are drawn on purpose, as in Monte Carlo dropout.",
        explains=("by itself",),
        causes=("modes/dropout_in_functional_form",),
    ),
    Contract(
        name="one_layer_several_times",
        on=(_N + "ModuleList.__init__", _N + "Sequential.__init__"),
        demand="A module that stands in a list several times is one module: these layers share one set of weights.",
        given="The same {layer} stands there {times:.0f} times.",
        instead="Make each one anew: `nn.ModuleList([Block() for _ in range(n)])`.",
        page=PAGES + "generated/torch.nn.ModuleList.html",
        kind="shared object",
        measure=_repeated,
        broken=lambda numbers: numbers["times"] >= 2,
        breaks="nn.ModuleList([nn.Linear(2, 2)] * 3)",
        keeps=(
            "act = nn.ReLU()\nnn.Sequential(nn.Linear(2, 2), act, nn.Linear(2, 2), act)\n"
            "nn.ModuleList(nn.Linear(2, 2) for _ in range(3))\nnn.ModuleList()\nnn.Sequential()"
        ),
        wrong="Layers that share their weights on purpose, as in ALBERT or a recurrent network that is written out.",
        explains=(FLOOR, STUCK),
    ),
)
