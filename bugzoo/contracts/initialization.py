"""`torch.nn.init`: which tensor is filled, and with what."""

import weakref

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers
from bugzoo.contracts.place import users_frame

_PAGE = PAGES + "nn.init.html"
_GENERATED = PAGES + "generated/torch.nn."
_MASKS = ("torch.nn.functional.multi_head_attention_forward", "torch.nn.utils.rnn.pack_padded_sequence")
LATER = 3
"""The call of an embedding from which on a mask of the padding would have been seen."""
_LOADED = (
    "model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))\n"
    "model.load_state_dict({{name: torch.ones_like(one) for name, one in model.state_dict().items()}})\n"
    "for place in {}: nn.init.xavier_uniform_(model[place].weight)"
)
_STEP = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\noptimizer.step()\n"
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
    reference = call.shared.get(id(call["weight"]))
    if reference is None or reference() is not call["weight"]:
        return None
    row = call.tensor("weight")[call["padding_idx"]]
    return {
        "row": float(call["padding_idx"]),
        "largest": row.abs().amax(),
        "found": (call.tensor("input") == call["padding_idx"]).sum(),
    }


def _over_loaded(call: Call) -> Numbers | None:
    """Count weights that were loaded into a new module, and that are filled again before it has made a step."""
    if call.target.endswith("load_state_dict"):
        some = [weight for weight in call["self"].parameters() if weight.ndim >= 2]
        held = {id(weight) for owner in call.optimizers for group in owner.param_groups for weight in group["params"]}
        if not any(id(weight) in held for weight in some):
            load = {"weights": len(some), "filled": 0, "made": call.made, "by": call.site}
            for weight in some:
                call.about(weight)["load"] = load
        return None
    tensor = call["tensor"]
    notes = call.about(tensor) if isinstance(tensor, torch.nn.Parameter) and tensor.ndim >= 2 else {}
    load = notes.pop("load", None)
    if load is None or load["made"] != call.made:
        return None
    load["filled"] += 1
    frame = users_frame(2)
    while frame is not None and frame.f_code is not load["by"][0]:
        frame = frame.f_back
    if frame is not None:  # the finding names the line of the function that loaded them, and not one far within a model
        call.site = (frame.f_code, frame.f_lineno)
    return {"filled": float(load["filled"]), "weights": float(load["weights"])}


CONTRACTS = (
    Contract(
        name="loaded_weights_filled",
        on=("torch.nn.Module.load_state_dict", *_ALL),
        demand="`torch.nn.init` fills weights whatever they hold: a state is loaded after it, and not before.",
        given="{filled:.0f} of {weights:.0f} weights that were loaded are filled with new numbers before any step.",
        instead="Call `load_state_dict` after all initialization.",
        page=_PAGE,
        kind="order of calls",
        measure=_over_loaded,
        broken=lambda numbers: numbers["filled"] > numbers["weights"] / 2,
        breaks=_LOADED.format("range(3)"),
        keeps=(
            _LOADED.format("[2]")
            + "\n"
            + _LOADED.replace("model.load", "nn.init.zeros_(model[0].weight)\nmodel.load").format("[]")
            + "\n"
            + _LOADED.replace("for place", _STEP + "for place").format("range(3)")
        ),
        wrong="Weights of which only the shapes are wanted.",
        explains=("by itself",),
        every=True,
    ),
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
