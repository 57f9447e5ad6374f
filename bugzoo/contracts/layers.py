"""Layers and functionals: how they are made, and what they do with what they are fed."""

import math
from collections.abc import Iterable

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
FLOOR, STUCK = "loss falls little", "nothing learned"
CALLS = 4
"""Calls in a row before a size is taken for a habit of the script."""
_FLAGS = {
    "torch.nn.LeakyReLU.__init__": "negative_slope",
    "torch.nn.modules.dropout._DropoutNd.__init__": "p",
    "torch.nn.modules.batchnorm._NormBase.__init__": "eps",
    "torch.nn.LayerNorm.__init__": "eps",
    "torch.nn.GroupNorm.__init__": "eps",
}


def _flag(call: Call) -> Numbers:
    name = _FLAGS[call.target]
    value = call[name]
    return {
        "layer": type(call["self"]).__name__,
        "name": name,
        "flag": str(value),
        "yes": float(isinstance(value, bool)),
    }


def _momentum(call: Call) -> Numbers | None:
    momentum = call["momentum"]
    if isinstance(momentum, bool) or not isinstance(momentum, int | float) or not call["track_running_stats"]:
        return None
    return {"layer": type(call["self"]).__name__, "momentum": float(momentum), "other": 1 - momentum}


def _normalized(call: Call) -> Numbers | None:
    if call.target.endswith("group_norm"):
        shape, groups = call.tensor("input").shape, call["num_groups"]
        return {"values": float(math.prod(shape[1:]) // groups), "shape": str(tuple(shape)), "what": "group_norm"}
    shape = call["normalized_shape"]
    sizes = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    return {"values": float(math.prod(sizes)), "shape": str(sizes), "what": "LayerNorm"}


def _softmax_of_one(call: Call) -> Numbers | None:
    """Calls that were looked at in which the softmax ran over one number, as long as none ran over more."""
    tensor, dim = call["input"], call["dim"]
    if not isinstance(tensor, torch.Tensor) or dim is None or not tensor.ndim:
        return None
    if tensor.shape[dim] != 1:
        call.kept["more"] = True
    elif tensor.requires_grad and tensor.numel() > 1:
        call.kept["ones"] = call.kept.get("ones", 0) + 1
    ones = 0 if "more" in call.kept else call.kept.get("ones", 0)
    return {"dim": float(dim), "shape": str(tuple(tensor.shape)), "ones": float(ones)}


def _functional_dropout(call: Call) -> Numbers | None:
    if "training" in call.given or not call["p"] or (owner := call.owner()) is None:
        return None
    return {"p": float(call["p"]), "owner": type(owner).__name__, "training": float(owner.training)}


CONTRACTS = (
    Contract(
        name="flag_for_a_number",
        on=tuple(_FLAGS),
        demand=(
            "The second argument of a normalization is `eps`; the first of `nn.LeakyReLU` is the slope, that of "
            "`nn.Dropout` is `p`."
        ),
        given="{layer} was made with `{name}={flag}`: True counts as 1, and False as 0.",
        instead="Name the argument: `nn.LeakyReLU(inplace=True)`, `nn.InstanceNorm2d(64, affine=True)`.",
        page=_GENERATED + "LeakyReLU.html",
        kind="unit",
        measure=_flag,
        broken=lambda numbers: numbers["yes"] > 0,
        breaks="nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU(True))",
        keeps=(
            "nn.LeakyReLU(0.1, True), nn.LeakyReLU(inplace=True), nn.Dropout(0), nn.Dropout2d(0.1, True)\n"
            "nn.BatchNorm2d(3, affine=False), nn.InstanceNorm2d(3, 1e-3, 0.1, True), nn.LayerNorm(3, "
            "elementwise_affine=False)"
        ),
        wrong="No case is known.",
        explains=("by itself",),
    ),
    Contract(
        name="running_statistics_momentum",
        on=("torch.nn.modules.batchnorm._NormBase.__init__",),
        demand=(
            "`momentum` of batch norm is the share of the new batch, 0.1 by default. TensorFlow and Keras mean "
            "the share of the old."
        ),
        given="{layer} was made with `momentum={momentum:.4g}`: its running statistics are nearly those of the last batch.",
        instead="Pass 1 minus that number.",
        page=_GENERATED + "BatchNorm2d.html",
        kind="convention",
        measure=_momentum,
        broken=lambda numbers: 0.9 <= numbers["momentum"] < 1,
        breaks="nn.BatchNorm2d(8, momentum=0.99, eps=1e-3)",
        keeps=(
            "nn.BatchNorm2d(8, momentum=0.01), nn.BatchNorm1d(8, momentum=None), nn.BatchNorm1d(8, momentum=1.0)\n"
            "nn.InstanceNorm2d(8, momentum=0.9)"
        ),
        wrong="The last batch is to count nearly alone, as after a change of the data.",
        explains=("held-out loss far above training",),
    ),
    Contract(
        name="norm_of_one_value",
        on=("torch.nn.LayerNorm.__init__", _F + "group_norm"),
        demand="A layer or group norm subtracts the mean of its values. Of one value, nothing but the bias is left.",
        given="`{what}` normalizes {values:.0f} value at a time; the shape is {shape}.",
        instead="Normalize over more features, or leave the layer out.",
        page=_GENERATED + "LayerNorm.html",
        kind="shape",
        measure=_normalized,
        broken=lambda numbers: numbers["values"] == 1,
        breaks="nn.LayerNorm(1)(torch.randn(4, 1))",
        keeps=(
            "nn.LayerNorm([1, 3])(torch.randn(4, 1, 3))\n"
            "nn.GroupNorm(4, 4)(torch.randn(2, 4, 3, 3))\n"
            "nn.GroupNorm(2, 4)(torch.randn(2, 4))"
        ),
        wrong="A general script that is run with one feature as a trial.",
        explains=("by itself",),
    ),
    Contract(
        name="softmax_of_one",
        on=(_F + "softmax",),
        demand="A softmax makes the numbers along `dim` sum to 1. A single number always becomes 1, and gets no gradient.",
        given="`dim` is {dim:.0f}, and the shape is {shape}: there is one number in each of the first {ones:.0f} calls.",
        instead="Use a sigmoid for one output, or pass the dimension of the classes.",
        page=_GENERATED + "Softmax.html",
        kind="shape",
        measure=_softmax_of_one,
        broken=lambda numbers: numbers["ones"] >= CALLS,
        breaks="s = torch.randn(8, 1, requires_grad=True)\nfor _ in range(4):\n    nn.Softmax(dim=1)(s)",
        keeps=(
            "s = torch.randn(8, 5, requires_grad=True)\n"
            "for i in range(1, 9):\n"
            "    F.softmax(s[:, : 1 + i // 4], dim=1)\n"
            "for _ in range(8):\n"
            "    F.softmax(s[:1], dim=1)"
        ),
        wrong="Attention over sequences of which each has one token.",
        explains=("by itself",),
    ),
    *(
        Contract(
            name=f"functional_{name}_in_eval",
            on=(_F + name,),
            demand=f"`F.{name}` drops unless it is told `training=False`: it does not know the mode of the model.",
            given="It was called without `training` in a {owner} that is in eval mode, with p = {p:.3g}.",
            instead=f"Pass `training=self.training`, or use the module `nn.{module}`.",
            page=f"{_GENERATED}functional.{name}.html",
            kind="mode",
            measure=_functional_dropout,
            broken=lambda numbers: not numbers["training"],
            breaks=(
                "class Net(nn.Module):\n"
                "    def forward(self, x):\n"
                f"        return F.{name}(x, 0.5)\n"
                f"Net().eval()(torch.randn({shape}))"
            ),
            keeps=(
                "class Net(nn.Module):\n"
                "    def __init__(self):\n"
                "        super().__init__()\n"
                f"        self.drop = nn.{module}(0.5)\n"
                "    def forward(self, x):\n"
                f"        return F.{name}(F.{name}(self.drop(x), 0.5, self.training), training=True)\n"
                f"Net()(torch.randn({shape}))\n"
                "net = Net().eval()\n"
                f"net.drop.train()  # Monte Carlo dropout\nnet(torch.randn({shape}))\nF.{name}(torch.randn({shape}))"
            ),
            wrong="Several outputs are drawn on purpose, as in Monte Carlo dropout.",
            explains=("by itself",),
            causes=("modes/dropout_in_functional_form",),
        )
        for name, module, shape in (("dropout", "Dropout", "4"), ("dropout2d", "Dropout2d", "1, 2, 3, 3"))
    ),
)
