"""`torch.optim.swa_utils`: averages of weights, and batch norm in them."""

from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_SWA = "torch.optim.swa_utils."
_PAGE = PAGES + "optim.html#weight-averaging-swa-and-ema"
OLD = 32
"""Updates after which an average is more than its newest weights, also with a warm-up of its decay."""
MADE = (
    "from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn\n"
    "model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\naverage = AveragedModel(model)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
)
_MOVE = (
    "average = AveragedModel(model, multi_avg_fn={})\nfor _ in range(40):\n    with torch.no_grad():\n"
    "        model[0].weight.add_(torch.randn(2, 2))\n    average.update_parameters(model)"
)


def _norms(call: Call) -> None:
    """Note averages that are evaluated, and whether the statistics of their batch norm were made anew."""
    if call.target.endswith("update_bn"):
        call.about(getattr(call["model"], "module", call["model"]))["fresh"] = True
        return
    average = call["self"]
    if average.use_buffers or average.avg_fn is not None or average.multi_avg_fn is not None:
        return
    notes = call.about(average.module)
    if average.training:
        notes["fresh"] = True
    elif "averaged" not in notes:
        layers = [
            layer for layer in average.modules() if isinstance(layer, _BatchNorm) and layer.running_mean is not None
        ]
        notes.update(averaged=average.n_averaged, layers=float(len(layers)))


def _stale(notes: dict[str, Any]) -> Numbers | None:
    if "fresh" in notes or not notes.get("layers"):
        return None
    return {"averaged": notes["averaged"], "layers": notes["layers"]}


def _used(call: Call) -> None:
    average = call["self"]
    if not average.training or not torch.is_grad_enabled():
        call.about(average).update(averaged=average.n_averaged, steps=float(call.made))


def _share(call: Call) -> Numbers | None:
    """Measure which share of the newest weights an update took into an average that is many updates old."""
    average = call["self"]
    pairs = zip(average.module.parameters(), call["model"].parameters(), strict=False)
    pair = next(((averaged, new) for averaged, new in pairs if new.requires_grad and new.is_floating_point()), None)
    if pair is None:
        return None
    notes, (averaged, new) = call.about(average), (tensor.detach().double() for tensor in pair)
    before, notes["before"] = notes.get("before"), (call.count, averaged.clone())
    if before is None or before[0] != call.count - 1 or call.count < OLD or before[1].shape != new.shape:
        return None
    way = new.to(averaged.device) - before[1]
    return {"share": 100 * ((averaged - before[1]) * way).sum() / way.square().sum(), "updates": float(call.count)}


CONTRACTS = (
    Contract(
        name="average_without_update_bn",
        on=(_SWA + "AveragedModel.forward", _SWA + "update_bn"),
        demand="Averaged weights need batch norm statistics of their own: `update_bn(loader, swa_model)` makes them.",
        given="An average of {averaged:.0f} models is evaluated with the statistics of one in its {layers:.0f} batch norms.",
        instead="Call `torch.optim.swa_utils.update_bn(train_loader, swa_model)` after training.",
        page=_PAGE,
        kind="order of calls",
        measure=_norms,
        broken=lambda numbers: numbers["averaged"] >= 2,
        breaks=MADE + "for _ in range(3):\n    average.update_parameters(model)\naverage.eval()(torch.ones(4, 2))",
        keeps=(
            MADE + "for _ in range(3):\n    average.update_parameters(model)\n"
            "update_bn([torch.randn(4, 2)], average)\naverage.eval()(torch.ones(4, 2))\n"
            "ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))\n"
            "for _ in range(3):\n    ema.update_parameters(model)\nema.eval()(torch.ones(4, 2))"
        ),
        wrong="A script that makes the statistics anew in a way of its own.",
        explains=("by itself",),
        last=_stale,
    ),
    Contract(
        name="average_never_updated",
        on=(_SWA + "AveragedModel.forward",),
        demand="`AveragedModel` is a copy of the first weights until `update_parameters(model)` is called.",
        given="After {steps:.0f} optimizer steps it is evaluated, and {averaged:.0f} sets of weights were averaged.",
        instead="Call `averaged.update_parameters(model)` after each step or epoch.",
        page=_PAGE,
        kind="order of calls",
        measure=_used,
        broken=lambda numbers: numbers["steps"] > 0 and numbers["averaged"] == 0,
        breaks=MADE + "optimizer.step()\nobserved = average.eval()(torch.ones(4, 2))",
        keeps=(
            MADE + "optimizer.step()\naverage.eval()(torch.ones(4, 2))\naverage.update_parameters(model)\n"
            "average(torch.ones(4, 2))"
        ),
        wrong="A run that is stopped before averaging begins, and that evaluates the average before.",
        explains=("by itself",),
        last=lambda notes: notes,
    ),
    Contract(
        name="average_follows_the_newest",
        on=(_SWA + "AveragedModel.update_parameters",),
        demand="`decay` is the share that an average keeps of itself, such as 0.999. `avg_fn` gets the average first.",
        given="At update {updates:.0f} the average takes {share:.0f} % from the newest weights.",
        instead="Write `AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.999))`.",
        page=_PAGE,
        kind="convention",
        measure=_share,
        broken=lambda numbers: numbers["share"] > 50,
        breaks=MADE + _MOVE.format("get_ema_multi_avg_fn(0.01)"),
        keeps=MADE + _MOVE.format("get_ema_multi_avg_fn(0.9)") + "\n" + _MOVE.format("None"),
        wrong="A half-life of less than one update, on purpose.",
        explains=("by itself",),
        after=True,
        pairs=True,
    ),
)
