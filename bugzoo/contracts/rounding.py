"""Parameters of 16 bits: what an optimizer's step leaves of an update."""

from typing import Any

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

LOW = (torch.bfloat16, torch.float16)
SAMPLE = 4096
"""Numbers of a parameter that are compared."""
LOOKS = 4
MOST = 0.9
_MODEL = (
    "torch.manual_seed(0)\nmodel = nn.Linear(32, 32){0}\noptimizer = torch.optim.SGD(model.parameters(), lr={1})\n"
    "for step in range(40):\n    optimizer.zero_grad()\n    (model(torch.randn(8, 32, dtype=model.weight.dtype)) ** 2).mean()"
    ".backward()\n    optimizer.step()\n"
)


def _unchanged(call: Call) -> Numbers | None:
    """Compare a parameter of 16 bits with itself one step before, where it had a gradient."""
    if "Module." in call.target:
        asked = (*(call["args"] or ()), *(call["kwargs"] or {}).values())
        some = list(call["self"].parameters())
        if some and (
            not call.target.endswith(".to") or any(one in LOW for one in asked if isinstance(one, torch.dtype))
        ):
            call.about(max(some, key=torch.Tensor.numel))["cast"] = call.site
        return None
    optimizer: Any = call["self"]
    some = [
        one for group in optimizer.param_groups for one in group["params"] if one.dtype in LOW and one.requires_grad
    ]
    if not some:
        return None
    largest = max(some, key=torch.Tensor.numel)
    notes = call.about(largest)
    before, gradient, rows = notes.get("before"), largest.grad, largest.detach().flatten()[:SAMPLE]
    notes["before"] = (call.site, call.count, call.made, rows.clone())
    if before is None or before[:2] != (call.site, call.count - 1) or before[2] != call.made - 1 or gradient is None:
        return None
    asked = gradient.flatten()[:SAMPLE] != 0
    same = ((rows == before[3]) & asked).sum() / asked.sum().clamp(min=1)
    notes["looks"], notes["same"] = notes.get("looks", 0) + 1, notes.get("same", 0) + same
    call.site = notes.get("cast", call.site)
    share = notes["same"] / notes["looks"]
    return {"same": 100 * share, "looks": float(notes["looks"]), "kind": str(largest.dtype).removeprefix("torch.")}


CONTRACTS = (
    Contract(
        name="update_lost_in_rounding",
        on=("torch.optim.Optimizer.zero_grad", *(f"torch.nn.Module.{name}" for name in ("to", "half", "bfloat16"))),
        demand="Parameters stay in float32, and `autocast` computes in 16 bits: a model is not cast with `half` or `bfloat16`.",
        given="{same:.0f} % of the numbers of a {kind} parameter that have a gradient are the same after a step: the update is "
        "smaller than what 16 bits can add to them.",
        instead="Leave the model in float32 and run forward pass and loss under `torch.autocast`.",
        page=PAGES + "amp.html",
        kind="unit",
        measure=_unchanged,
        broken=lambda numbers: numbers["looks"] >= LOOKS and numbers["same"] > 100 * MOST,
        breaks=_MODEL.format(".bfloat16()", "1e-3"),
        keeps=_MODEL.format("", "1e-3") + _MODEL.format(".bfloat16()", "1.0"),
        wrong="A rate that has come down to almost nothing, at the end of a schedule.",
        explains=("by itself",),
        causes=("precision/half_parameters",),
        pairs=True,
    ),
)
