"""What losses demand of targets: their numbers, their padding, and the shape beside the input's."""

import weakref
from collections.abc import Callable

import torch

from bugzoo.contracts.model import PAGES, Aside, Call, Contract, Numbers, dense
from bugzoo.contracts.values import largest, smallest

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
NEGATIVE, FLOOR, STUCK, NAN = "negative loss", "loss falls little", "nothing learned", "loss not finite"


def _left(call: Call) -> Numbers | None:
    """Targets that are not ignored."""
    target = call.tensor("target")
    if call["reduction"] != "mean" or target.is_floating_point():
        return None
    return {"left": (target != call["ignore_index"]).sum(), "all": float(target.numel()), "ignored": call["ignore_index"]}


def _classes(call: Call) -> Numbers:
    scores = call.tensor("input")
    return {"classes": float(scores.shape[1 if scores.ndim > 1 else 0]), "targets": float(call.tensor("target").numel())}


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


def _ctc_input(call: Call) -> Numbers:
    return {"largest": largest(call.tensor("log_probs"))}


def _ctc_lengths(call: Call) -> Numbers | None:
    if call["zero_infinity"]:
        return None
    labels, frames = (torch.as_tensor(call[name]).detach() for name in ("target_lengths", "input_lengths"))
    if labels.device != frames.device or labels.shape != frames.shape:
        raise Aside("the lengths are not on one device")
    dense(labels, "target_lengths")
    return {"over": (labels > frames).sum(), "all": float(labels.numel()), "longest": largest(labels), "frames": smallest(frames)}


def _counts(call: Call) -> Numbers:
    return {"smallest": smallest(call.tensor("target"))}


def _unit(call: Call) -> Numbers:
    target = call.tensor("target")
    return {"smallest": smallest(target), "largest": largest(target)}


def _similarity(call: Call) -> Numbers:
    given = call["distance_function"]
    alike = given is torch.nn.functional.cosine_similarity or isinstance(given, torch.nn.CosineSimilarity)
    return {"name": getattr(given, "__name__", type(given).__name__), "alike": float(alike)}


def _padded(call: Call) -> Numbers | None:
    """Targets that `pad_sequence` has filled up, in a mean over all but `ignore_index`."""
    if call.target.endswith("pad_sequence"):
        sizes = {len(one) for one in call["sequences"]}
        if len(sizes) > 1 and isinstance(call.result, torch.Tensor) and not call.result.is_floating_point():
            call.run[id(call.result)] = (weakref.ref(call.result), float(call["padding_value"]))
        return None
    target = call["target"]
    if call["reduction"] == "none" or not isinstance(target, torch.Tensor):
        return None
    for one in (target, target._base):
        kept, padding = call.run.get(id(one), (lambda: None, 0.0))
        if one is not None and kept() is one:
            found = (dense(target) == padding).sum()
            return {"found": found, "all": float(target.numel()), "padding": padding, "ignored": call["ignore_index"]}
    return None


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
        keeps="F.cross_entropy(torch.randn(3, 4), torch.tensor([-100, -100, 1]))\nF.cross_entropy(torch.randn(3, 4), torch.full((3,), -100), reduction='sum')",
        wrong="A script that leaves out losses that are NaN.",
        explains=(NAN,),
    ),
    Contract(
        name="two_classes_at_least",
        on=(_F + "cross_entropy",),
        demand="`cross_entropy` needs a score for each class: the softmax of one number is always 1, and the loss 0.",
        given="`input` has {classes:.0f} class, for {targets:.0f} targets.",
        instead="Use `nn.BCEWithLogitsLoss` for one output, or give the model two outputs.",
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="shape",
        measure=_classes,
        broken=lambda numbers: numbers["classes"] == 1,
        breaks="F.cross_entropy(torch.randn(4, 1), torch.zeros(4).long())",
        keeps="F.cross_entropy(torch.randn(4, 2), torch.zeros(4).long())\nF.cross_entropy(torch.randn(1, 2, 1), torch.zeros(1, 1).long())",
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
        keeps="nn.GaussianNLLLoss()(torch.randn(4, 3), torch.randn(4, 1), torch.ones(4, 1))\nF.gaussian_nll_loss(torch.randn(4), torch.randn(4), torch.ones(4))",
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
        keeps="nn.MultiLabelMarginLoss()(torch.randn(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]]))\nF.multilabel_margin_loss(torch.randn(1, 2), torch.tensor([[0, 1]]))",
        wrong="No case is known.",
        explains=(FLOOR, STUCK),
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
        name="ctc_input",
        on=(_F + "ctc_loss",),
        demand="`ctc_loss` takes log-probabilities: no value is above 0.",
        given="`log_probs` has values up to {largest:.3g}.",
        instead="Pass `F.log_softmax(scores, dim=2)`, not scores or probabilities.",
        page=_GENERATED + "CTCLoss.html",
        kind="values",
        measure=_ctc_input,
        broken=lambda numbers: numbers["largest"] > 1e-3,
        breaks="F.ctc_loss(torch.randn(9, 1, 5), torch.tensor([[1, 2, 3]]), [9], [3])",
        keeps="F.ctc_loss(torch.randn(9, 1, 5).log_softmax(2), torch.tensor([[1, 2, 3]]), [9], [3])",
        wrong="No case is known.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    Contract(
        name="ctc_lengths",
        on=(_F + "ctc_loss",),
        demand="`ctc_loss` needs as many frames as labels at least: otherwise the loss is infinite, unless `zero_infinity=True`.",
        given="{over:.0f} of {all:.0f} samples have more labels than frames. The most labels are {longest:.0f}, the fewest frames {frames:.0f}.",
        instead="Shrink the time axis less, leave such samples out, or pass `zero_infinity=True`.",
        page=_GENERATED + "CTCLoss.html",
        kind="shape",
        measure=_ctc_lengths,
        broken=lambda numbers: numbers["over"] > 0,
        breaks="F.ctc_loss(torch.randn(3, 1, 5).log_softmax(2), torch.tensor([[1, 2, 3, 4]]), [3], [4])",
        keeps=(
            "scores, labels = torch.randn(3, 1, 5).log_softmax(2), torch.tensor([[1, 2, 3, 4]])\n"
            "F.ctc_loss(scores, labels, [3], [4], zero_infinity=True)\n"
            "F.ctc_loss(scores, labels[:, :3], torch.tensor([3]), torch.tensor([3]))"
        ),
        wrong="A script that leaves out losses that are infinite.",
        explains=(NAN,),
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
        keeps="F.triplet_margin_with_distance_loss(*torch.randn(3, 4, 8), distance_function=lambda a, b: 1 - F.cosine_similarity(a, b))",
        wrong="Positives and negatives are exchanged as well.",
        explains=("by itself",),
    ),
    Contract(
        name="padding_in_targets",
        on=(_F + "cross_entropy", _F + "nll_loss", "torch.nn.utils.rnn.pad_sequence"),
        demand="The loss leaves out targets that are `ignore_index`, -100 by default. `pad_sequence` fills up with 0 by default.",
        given="{found:.0f} of {all:.0f} targets are {padding:.0f}, with which they were filled up. `ignore_index` is {ignored}.",
        instead="Pass `padding_value=-100` for the targets, or the padding's number as `ignore_index`.",
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="convention",
        measure=_padded,
        broken=lambda numbers: numbers["padding"] != numbers["ignored"] and numbers["found"] > 0,
        breaks=(
            "tags = torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 1]), torch.tensor([2])], batch_first=True)\n"
            "F.cross_entropy(torch.randn(2, 3, 3), tags)"
        ),
        keeps=(
            "tags = torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 1]), torch.tensor([2])], batch_first=True)\n"
            "F.cross_entropy(torch.randn(6, 3), tags.view(-1), ignore_index=0)\n"
            "(F.cross_entropy(torch.randn(2, 3, 3), tags, reduction='none') * (tags > 0)).sum()"
        ),
        wrong="The padding is a class that the model is to learn, such as an end token.",
        explains=(FLOOR, STUCK),
        after=True,
    ),
)
