"""Batch norm: the statistics with which it is evaluated."""

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_MADE = (
    "import copy\nmodel = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
)
_AVERAGE = (
    "average = copy.deepcopy(model).eval()\nmodel(torch.randn(4, 2)).sum().backward()\noptimizer.step()\n"
    "with torch.no_grad():\n    for old, new in zip(average.{0}, model.{0}):\n        old.copy_(new)\n"
    "    average(torch.randn(4, 2))"
)


def _as_made(call: Call) -> Numbers | None:
    """Note which line reads a module's parameters without gradients: a copy by parameters leaves the statistics behind."""
    if call.target.endswith("parameters"):
        if call.direct() and not torch.is_grad_enabled():
            for buffer in call["self"].buffers():
                call.about(buffer)["site"] = call.site
        return None
    mean, spread = call["running_mean"], call["running_var"]
    if call["training"] or mean is None or not call.made:
        return None
    call.site = call.about(mean).get("site", call.site)
    others = (mean != 0).sum() + (spread != 1).sum()
    return {"others": others, "channels": float(len(mean)), "steps": float(call.made)}


CONTRACTS = (
    Contract(
        name="batch_norm_statistics_as_made",
        on=("torch.nn.functional.batch_norm", "torch.nn.Module.parameters"),
        demand="In evaluation mode batch norm divides by running statistics, which are buffers and no parameters.",
        given="After {steps:.0f} optimizer steps the mean is still 0 and the variance 1 in all {channels:.0f} channels.",
        instead="Copy `model.state_dict()` or `model.buffers()` as well, or run the layer in training mode before.",
        page=PAGES + "generated/torch.nn.BatchNorm1d.html",
        kind="mode",
        measure=_as_made,
        broken=lambda numbers: numbers["others"] == 0,
        breaks=_MADE + _AVERAGE.format("parameters()"),
        keeps=_MADE + _AVERAGE.format("state_dict().values()"),
        wrong="A layer that is kept as it was made on purpose, such as in a random network that stays fixed.",
        explains=("by itself",),
    ),
)
