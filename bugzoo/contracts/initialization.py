"""`torch.nn.init`: which tensor is filled, and with what."""

import weakref

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_PAGE = PAGES + "nn.init.html"
_GENERATED = PAGES + "generated/torch.nn."
_MASKS = ("torch.nn.functional.multi_head_attention_forward", "torch.nn.utils.rnn.pack_padded_sequence")
LATER = 3
"""The call of an embedding from which on a mask of the padding would have been seen."""
_NAMES = (
    "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "xavier_uniform_", "xavier_normal_",
    "kaiming_uniform_", "kaiming_normal_", "orthogonal_",
)  # fmt: skip
_ALL = tuple(f"torch.nn.init.{name}" for name in _NAMES)


def _computed(call: Call) -> Numbers | None:
    """Whether the tensor is the result of an operation, and no view of a parameter."""
    tensor = call["tensor"]
    if not call.direct() or not isinstance(tensor, torch.Tensor):
        return None
    node = None if tensor._is_view() or tensor.is_leaf else tensor.grad_fn
    return {"made": node.name().split("Backward")[0] if node is not None else "", "shape": str(tuple(tensor.shape))}


def _spread(call: Call) -> Numbers | None:
    if "mean" not in call.given or "std" in call.given:
        return None
    return {"mean": float(call["mean"]), "std": float(call["std"])}


def _padding_row(call: Call) -> Numbers | None:
    """The row of the padding in an embedding that `torch.nn.init` has filled, if nothing masks the padding."""
    if call.target in _MASKS:
        mask = call["lengths"] if "lengths" in call.arguments else call["key_padding_mask"]
        if mask is not None:
            call.shared["masked"] = True
        return None
    if not call.target.endswith("embedding"):
        if call.direct() and isinstance(call["tensor"], torch.nn.Parameter):
            call.shared[id(call["tensor"])] = weakref.ref(call["tensor"])
        return None
    if call["padding_idx"] is None or "masked" in call.shared or call.count < LATER:
        return None
    kept = call.shared.get(id(call["weight"]))
    if kept is None or kept() is not call["weight"]:
        return None
    row = call.tensor("weight")[call["padding_idx"]]
    return {
        "row": float(call["padding_idx"]),
        "largest": row.abs().amax(),
        "found": (call.tensor("input") == call["padding_idx"]).sum(),
    }


CONTRACTS = (
    Contract(
        name="init_of_a_result",
        on=_ALL,
        demand=(
            "`torch.nn.init` fills the tensor that it gets. A result of an operation is made anew, and is not "
            "the parameter."
        ),
        given="The tensor of shape {shape} is the result of {made}, not a parameter.",
        instead="Fill the parameter itself. With `weight_norm` and the like, fill it before they are applied.",
        page=_PAGE,
        kind="order of calls",
        measure=_computed,
        broken=lambda numbers: bool(numbers["made"]),
        breaks="layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))\nnn.init.kaiming_normal_(layer.weight)",
        keeps=(
            "lstm = nn.LSTM(3, 4)\n"
            "nn.init.orthogonal_(lstm.weight_hh_l0[:4])\n"
            "nn.init.xavier_uniform_(lstm.weight_ih_l0.view(4, 4, 3)[0].T)\n"
            "nn.init.ones_(lstm.bias_ih_l0.data)\n"
            "for gate in lstm.weight_hh_l0.chunk(4):\n"
            "    nn.init.orthogonal_(gate)"
        ),
        wrong="A tensor that the script makes a parameter of afterwards.",
        explains=("by itself",),
    ),
    Contract(
        name="init_normal_std",
        on=("torch.nn.init.normal_", "torch.nn.init.trunc_normal_"),
        demand="The first number of `init.normal_` is the mean. The standard deviation is 1 unless `std` is given.",
        given="The mean is {mean:.3g}, and the standard deviation is {std:.3g}.",
        instead="Name it: `nn.init.normal_(weight, std=0.02)`.",
        page=_PAGE + "#torch.nn.init.normal_",
        kind="unit",
        measure=_spread,
        broken=lambda numbers: 0 < abs(numbers["mean"]) < 1,
        breaks="nn.init.normal_(nn.Linear(3, 3).weight, 0.02)",
        keeps=(
            "weight = nn.Linear(3, 3).weight\n"
            "nn.init.normal_(weight), nn.init.normal_(weight, 0.0, 0.02), nn.init.normal_(weight, 1.0, 0.02)\n"
            "nn.init.normal_(weight, std=0.02), nn.init.normal_(weight, 0)"
        ),
        wrong="The mean is wanted, with a standard deviation of 1.",
        explains=("by itself",),
    ),
    Contract(
        name="padding_row_filled",
        on=(*_ALL, *_MASKS, "torch.nn.functional.embedding"),
        demand="`nn.Embedding(padding_idx=...)` sets that row to 0, and it is not trained. `torch.nn.init` fills it again.",
        given="Row {row:.0f} of the padding has numbers up to {largest:.3g}, and {found:.0f} tokens of the batch read it.",
        instead="Set the row to 0 after the init: `embedding.weight.data[embedding.padding_idx] = 0`.",
        page=_GENERATED + "Embedding.html",
        kind="order of calls",
        measure=_padding_row,
        broken=lambda numbers: numbers["largest"] > 0 and numbers["found"] > 0,
        breaks=(
            "table = nn.Embedding(5, 3, padding_idx=0)\n"
            "nn.init.normal_(table.weight, std=0.02)\n"
            "for _ in range(4):\n"
            "    table(torch.tensor([[1, 2, 0]])).mean(1)"
        ),
        keeps=(
            "table, other, third = nn.Embedding(5, 3, padding_idx=0), nn.Embedding(5, 3), nn.Embedding(5, 3, padding_idx=0)\n"
            "nn.init.normal_(table.weight), nn.init.normal_(other.weight), nn.init.normal_(third.weight)\n"
            "with torch.no_grad():\n"
            "    table.weight[0].fill_(0)\n"
            "for _ in range(4):\n"
            "    table(torch.tensor([[1, 2, 0]])), other(torch.tensor([[1, 2, 0]]))\n"
            "    nn.Embedding.from_pretrained(torch.ones(5, 3), padding_idx=0)(torch.tensor([[1, 2, 0]]))\n"
            "for _ in range(4):\n"
            "    nn.utils.rnn.pack_padded_sequence(third(torch.tensor([[1, 2, 0]])), [2], batch_first=True)"
        ),
        wrong="The script masks the padding itself later on, so that its row does not count.",
        explains=(),
        causes=("recurrent/padding_row_trained",),
    ),
)
