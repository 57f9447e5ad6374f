"""Weights of classes in losses: which of them balance, and which make it worse."""

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
LEAST = 30
"""Targets of the rarest class that have to be counted first."""
NEAR, UNEVEN = 1.5, 2.0
"""Weights follow the counts if all are in proportion up to the factor NEAR, of counts that differ by UNEVEN or more."""
_RARE = "target = torch.arange(400) % 8 // 7\nshare = torch.bincount(target) / 400\ns = torch.zeros(400, 2)\n"


def _class_weights(call: Call) -> Numbers | None:
    """Compare the weights with the counts of all targets so far."""
    if call["weight"] is None or call["target"].is_floating_point():
        return None
    weight, target = call.tensor("weight").double(), call.tensor("target").flatten()
    taken = (target != call["ignore_index"]).double()
    counts = torch.zeros_like(weight).index_add_(0, target.clamp(0, len(weight) - 1), taken)
    counts = call.kept["counts"] = call.kept.get("counts", 0) + counts
    ratios = (weight / counts).log()
    return {
        "rarest": counts.min(),
        "off": (ratios.amax() - ratios.amin()).exp(),
        "times": counts.max() / counts.min(),
        "common": weight.gather(0, counts.argmax().reshape(1)).sum(),
        "rare": weight.gather(0, counts.argmin().reshape(1)).sum(),
    }


def _pos_weight(call: Call) -> Numbers | None:
    """Compare a single `pos_weight` with the counts of both kinds of targets so far."""
    if call["pos_weight"] is None or call["pos_weight"].numel() != 1:
        return None
    target, weight = call.tensor("target").double(), call.tensor("pos_weight").double().sum()
    positive = call.kept["positive"] = call.kept.get("positive", 0) + target.sum()
    negative = call.kept["negative"] = call.kept.get("negative", 0) + (1 - target).sum()
    return {
        "rarest": torch.minimum(positive, negative),
        "off": (weight.log() - (positive / negative).log()).abs().exp(),
        "times": torch.maximum(positive / negative, negative / positive),
        "percent": 100 * positive / (positive + negative),
        "weight": weight,
    }


def _follows(numbers: Numbers) -> bool:
    return numbers["rarest"] >= LEAST and numbers["off"] <= NEAR and numbers["times"] >= UNEVEN


CONTRACTS = (
    Contract(
        name="class_weights_upside_down",
        on=(_F + "cross_entropy", _F + "nll_loss"),
        demand="`weight` multiplies the loss of each class: a rare class needs the larger one, such as one over its count.",
        given="The rarest class weighs {rare:.3g}. The commonest comes {times:.1f} times as often, and weighs {common:.3g}.",
        instead="Pass `weight=counts.sum() / (len(counts) * counts)`, in the order of the classes' numbers.",
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="unit",
        measure=_class_weights,
        broken=_follows,
        breaks=_RARE + "nn.CrossEntropyLoss(weight=share)(s, target)",
        keeps=(
            _RARE + "nn.CrossEntropyLoss(weight=1 / share)(s, target)\nnn.CrossEntropyLoss()(s, target)\n"
            "F.cross_entropy(s, target, weight=torch.tensor([1.0, 1.2]))\n"
            "F.cross_entropy(s, torch.arange(400) % 2, weight=share)"
        ),
        wrong="Rare classes that count less on purpose.",
        explains=("by itself",),
    ),
    Contract(
        name="pos_weight_upside_down",
        on=(_F + "binary_cross_entropy_with_logits",),
        demand="`pos_weight` multiplies the loss of positive targets: negatives / positives gives both kinds the same weight.",
        given="{percent:.0f} % of the targets are positive, and `pos_weight` is {weight:.3g}: about positives / negatives.",
        instead="Pass `pos_weight=negatives / positives`.",
        page=_GENERATED + "BCEWithLogitsLoss.html",
        kind="unit",
        measure=_pos_weight,
        broken=_follows,
        breaks=_RARE + "nn.BCEWithLogitsLoss(pos_weight=torch.tensor(1 / 7))(s[:, 0], target.float())",
        keeps=(
            _RARE + "nn.BCEWithLogitsLoss(pos_weight=torch.tensor(7.0))(s[:, 0], target.float())\n"
            "nn.BCEWithLogitsLoss()(s[:, 0], target.float())\n"
            "F.binary_cross_entropy_with_logits(s[:, 0], target.float(), pos_weight=torch.tensor(0.8))"
        ),
        wrong="Positive targets that count less on purpose.",
        explains=("by itself",),
    ),
)
