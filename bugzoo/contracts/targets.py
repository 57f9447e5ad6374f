"""What losses demand of targets: their numbers, their padding, and the shape beside the input's."""

from collections.abc import Callable

import torch

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers
from bugzoo.contracts.values import largest, smallest

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
NEGATIVE, FLOOR, STUCK, NAN = "negative loss", "loss falls little", "nothing learned", "loss not finite"
CALLS = 4
"""Calls in a row before a size is taken for a habit of the script."""


def _left(call: Call) -> Numbers | None:
    """Targets that are not ignored."""
    target = call.tensor("target")
    if call["reduction"] != "mean" or target.is_floating_point():
        return None
    return {
        "left": (target != call["ignore_index"]).sum(),
        "all": float(target.numel()),
        "ignored": call["ignore_index"],
    }


def _classes(call: Call) -> Numbers:
    """Calls that were looked at with a single class, as long as none had more: a last batch of one pair has one class."""
    scores = call.tensor("input")
    if scores.shape[1 if scores.ndim > 1 else 0] > 1:
        call.kept["more"] = True
    call.kept["calls"] = call.kept.get("calls", 0) + 1
    return {"calls": 0.0 if "more" in call.kept else float(call.kept["calls"]), "shape": str(tuple(scores.shape))}


def _stretched(names: tuple[str, str]) -> Callable[[Call], Numbers]:
    """Sizes of (N, 1) beside (N,): they are broadcast to (N, N)."""

    def measure(call: Call) -> Numbers:
        some = [tuple(call.tensor(name).shape) for name in names]
        few, many = sorted(some, key=len)
        outer = many == (*few, 1) and torch.Size(few).numel() > 1
        return {"first": str(some[0]), "second": str(some[1]), "outer": float(outer)}

    return measure


def _few(call: Call) -> Numbers:
    """Class numbers that end with -1, or the zeros and ones of a table of labels: then a number comes twice in a row."""
    target = call.tensor("target")
    return {"smallest": smallest(target), "largest": largest(target), "classes": float(target.shape[-1])}


def _counts(call: Call) -> Numbers:
    return {"smallest": smallest(call.tensor("target"))}


def _unit(call: Call) -> Numbers:
    target = call.tensor("target")
    return {"smallest": smallest(target), "largest": largest(target)}


def _similarity(call: Call) -> Numbers:
    function = call["distance_function"]
    cosine = function is torch.nn.functional.cosine_similarity or isinstance(function, torch.nn.CosineSimilarity)
    return {"name": getattr(function, "__name__", type(function).__name__), "alike": float(cosine)}


CONTRACTS = (
    Contract(
        name="some_target_left",
        on=(_F + "cross_entropy", _F + "nll_loss"),
        demand="The mean of the cross-entropy needs one target at least that is not `ignore_index`: otherwise it is NaN.",
        given="`target` has {left:.0f} of {all:.0f} that are not {ignored}.",
        instead="Skip such a batch, or sum with `reduction='sum'` and divide by `max(count, 1)`.",
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="values",
        measure=_left,
        broken=lambda numbers: numbers["left"] == 0,
        breaks="F.cross_entropy(torch.randn(3, 4), torch.full((3,), -100))",
        keeps=(
            "F.cross_entropy(torch.randn(3, 4), torch.tensor([-100, -100, 1]))\n"
            "F.cross_entropy(torch.randn(3, 4), torch.full((3,), -100), reduction='sum')"
        ),
        wrong="A script that leaves out losses that are NaN.",
        explains=(NAN,),
    ),
    Contract(
        name="two_classes_at_least",
        on=(_F + "cross_entropy",),
        demand="`cross_entropy` needs a score for each class: the softmax of one number is always 1, and the loss 0.",
        given="`input` has one class in each of the first {calls:.0f} calls; its shape is {shape}.",
        instead="Use `nn.BCEWithLogitsLoss` for one output, or give the model two outputs.",
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="shape",
        measure=_classes,
        broken=lambda numbers: numbers["calls"] >= CALLS,
        breaks="for _ in range(4):\n    F.cross_entropy(torch.randn(4, 1), torch.zeros(4).long())",
        keeps=(
            "for size in (3, 2, 1, 1, 1, 1):  # pairs of a batch\n"
            "    F.cross_entropy(torch.randn(size, size), torch.arange(size))\n"
            "F.cross_entropy(torch.randn(1, 2, 1), torch.zeros(1, 1).long())"
        ),
        wrong="A general script that is run with one class as a trial.",
        explains=("by itself",),
    ),
    *(
        Contract(
            name=f"{name}_shapes",
            on=(_F + name,),
            demand=f"`{first}` and `{second}` of `{name}` have one shape: (N, 1) beside (N,) is broadcast to (N, N).",
            given="`" + first + "` has shape {first}, and `" + second + "` has shape {second}.",
            instead="Bring both to one shape, such as `output.squeeze(-1)`.",
            page=_GENERATED + page,
            kind="shape",
            measure=_stretched((first, second)),
            broken=lambda numbers: numbers["outer"] > 0,
            breaks=f"F.{name}(torch.rand(4, 1), torch.ones(4){more})",
            keeps=f"F.{name}(torch.rand(4, 1), torch.ones(4, 1){more})\nF.{name}(torch.rand(4, 3), torch.ones(3){more})",
            wrong="All pairs of two lists are wanted.",
            explains=(FLOOR, STUCK),
        )
        for name, first, second, page, more in (
            ("poisson_nll_loss", "input", "target", "PoissonNLLLoss.html", ""),
            ("hinge_embedding_loss", "input", "target", "HingeEmbeddingLoss.html", ""),
            ("kl_div", "input", "target", "KLDivLoss.html", ", reduction='sum'"),
        )
    ),
    Contract(
        name="gaussian_nll_shapes",
        on=(_F + "gaussian_nll_loss",),
        demand="`input` and `target` of `gaussian_nll_loss` have one shape: (N, 1) beside (N,) is broadcast to (N, N).",
        given="`input` has shape {first}, and `target` has shape {second}.",
        instead="Bring both to one shape, such as `output.squeeze(-1)`.",
        page=_GENERATED + "GaussianNLLLoss.html",
        kind="shape",
        measure=_stretched(("input", "target")),
        broken=lambda numbers: numbers["outer"] > 0,
        breaks="nn.GaussianNLLLoss()(torch.randn(4, 1), torch.randn(4), torch.ones(4, 1))",
        keeps=(
            "nn.GaussianNLLLoss()(torch.randn(4, 3), torch.randn(4, 1), torch.ones(4, 1))\n"
            "F.gaussian_nll_loss(torch.randn(4), torch.randn(4), torch.ones(4))"
        ),
        wrong="All pairs of two lists are wanted.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="multilabel_margin_target",
        on=(_F + "multilabel_margin_loss",),
        demand="Targets of `multilabel_margin_loss` are numbers of classes, filled up with -1. They are not zeros and ones.",
        given="`target` has {classes:.0f} columns, and numbers from {smallest:.0f} to {largest:.0f} only.",
        instead="Write `[1, 3, -1, -1]` for classes 1 and 3, or use `nn.BCEWithLogitsLoss` with zeros and ones.",
        page=_GENERATED + "MultiLabelMarginLoss.html",
        kind="convention",
        measure=_few,
        broken=lambda numbers: numbers["smallest"] >= 0 and numbers["largest"] < numbers["classes"] - 1,
        breaks="nn.MultiLabelMarginLoss()(torch.randn(2, 4), torch.tensor([[0, 1, 0, 1], [1, 1, 0, 0]]))",
        keeps=(
            "nn.MultiLabelMarginLoss()(torch.randn(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]]))\n"
            "F.multilabel_margin_loss(torch.randn(1, 2), torch.tensor([[0, 1]]))"
        ),
        wrong="No case is known.",
        explains=("by itself",),
    ),
    Contract(
        name="multilabel_soft_margin_target",
        on=(_F + "multilabel_soft_margin_loss",),
        demand="Targets of `multilabel_soft_margin_loss` are 0 and 1.",
        given="`target` has values from {smallest:.3g} to {largest:.3g}.",
        instead="Turn labels -1 and 1 into 0 and 1: `(target + 1) / 2`.",
        page=_GENERATED + "MultiLabelSoftMarginLoss.html",
        kind="convention",
        measure=_unit,
        broken=lambda numbers: numbers["smallest"] < 0 or numbers["largest"] > 1,
        breaks="F.multilabel_soft_margin_loss(torch.randn(2, 3), torch.tensor([[-1.0, 1, -1], [1, 1, -1]]))",
        keeps="nn.MultiLabelSoftMarginLoss()(torch.randn(2, 3), torch.tensor([[0.0, 1, 0], [0.9, 1, 0]]))",
        wrong="No case is known.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    Contract(
        name="poisson_nll_target",
        on=(_F + "poisson_nll_loss",),
        demand="Targets of `poisson_nll_loss` are counts: no value is below 0.",
        given="`target` has values down to {smallest:.3g}.",
        instead="Pass raw counts, which are not standardized.",
        page=_GENERATED + "PoissonNLLLoss.html",
        kind="values",
        measure=_counts,
        broken=lambda numbers: numbers["smallest"] < 0,
        breaks="F.poisson_nll_loss(torch.randn(3), torch.tensor([-0.5, 0.2, 1.0]))",
        keeps="F.poisson_nll_loss(torch.randn(3), torch.tensor([0.0, 2.0, 1.5]))",
        wrong="No case is known.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    Contract(
        name="triplet_distance",
        on=(_F + "triplet_margin_with_distance_loss",),
        demand="`distance_function` is a distance: it is small for what is alike. A similarity is large for it.",
        given="It is {name}.",
        instead="Pass `lambda a, b: 1 - F.cosine_similarity(a, b)`.",
        page=_GENERATED + "TripletMarginWithDistanceLoss.html",
        kind="convention",
        measure=_similarity,
        broken=lambda numbers: numbers["alike"] > 0,
        breaks="nn.TripletMarginWithDistanceLoss(distance_function=nn.CosineSimilarity())(*torch.randn(3, 4, 8))",
        keeps=(
            "F.triplet_margin_with_distance_loss(*torch.randn(3, 4, 8), distance_function=lambda a, b: 1 - "
            "F.cosine_similarity(a, b))"
        ),
        wrong="Positives and negatives are exchanged as well.",
        explains=("by itself",),
    ),
)
