"""Losses of sequences: their lengths, and padding among the targets."""

import weakref

import torch

from bugzoo.contracts.model import PAGES, Aside, Call, Contract, Numbers, dense
from bugzoo.contracts.values import largest, smallest

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
NEGATIVE, FLOOR, STUCK, NAN = "negative loss", "loss falls little", "nothing learned", "loss not finite"


def _ctc_input(call: Call) -> Numbers:
    return {"largest": largest(call.tensor("log_probs"))}


def _ctc_lengths(call: Call) -> Numbers | None:
    if call["zero_infinity"]:
        return None
    labels, frames = (torch.as_tensor(call[name]).detach() for name in ("target_lengths", "input_lengths"))
    if labels.device != frames.device or labels.shape != frames.shape:
        raise Aside("the lengths are not on one device")
    dense(labels, "target_lengths")
    return {
        "over": (labels > frames).sum(),
        "all": float(labels.numel()),
        "longest": largest(labels),
        "frames": smallest(frames),
    }


def _padded(call: Call) -> Numbers | None:
    """Targets that `pad_sequence` has filled up, in a mean over all but `ignore_index`."""
    if call.target.endswith("pad_sequence"):
        sizes = {len(tensor) for tensor in call["sequences"]}
        if len(sizes) > 1 and isinstance(call.result, torch.Tensor) and not call.result.is_floating_point():
            call.shared[id(call.result)] = (weakref.ref(call.result), float(call["padding_value"]))
        return None
    target = call["target"]
    if call["reduction"] == "none" or not isinstance(target, torch.Tensor):
        return None
    for tensor in (target, target._base):
        reference, padding = call.shared.get(id(tensor), (lambda: None, 0.0))
        if tensor is not None and reference() is tensor:
            padded = (dense(target) == padding).sum()
            return {"found": padded, "all": float(target.numel()), "padding": padding, "ignored": call["ignore_index"]}
    return None


CONTRACTS = (
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
        demand=(
            "`ctc_loss` needs as many frames as labels at least: otherwise the loss is infinite, unless "
            "`zero_infinity=True`."
        ),
        given=(
            "{over:.0f} of {all:.0f} samples have more labels than frames. The most labels are {longest:.0f}, "
            "the fewest frames {frames:.0f}."
        ),
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
        name="padding_in_targets",
        on=(_F + "cross_entropy", _F + "nll_loss", "torch.nn.utils.rnn.pad_sequence"),
        demand=(
            "The loss leaves out targets that are `ignore_index`, -100 by default. `pad_sequence` fills up with "
            "0 by default."
        ),
        given=(
            "{found:.0f} of {all:.0f} targets are {padding:.0f}, with which they were filled up. `ignore_index` "
            "is {ignored}."
        ),
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
        causes=("loss/padding_counted",),
        after=True,
    ),
)
