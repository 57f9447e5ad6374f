"""What the autograd graph of a loss shows: the kind of loss, the number of classes, a softmax in front of another."""

from collections import deque
from typing import Any

import torch

LOSSES = ("NllLoss", "MseLoss", "BinaryCrossEntropy", "SmoothL1Loss", "HuberLoss", "KlDiv", "SoftMarginLoss", "L1Loss",
          "CtcLoss", "MultiMarginLoss", "MultilabelMarginLoss", "CrossEntropy")  # fmt: skip
_SHAPES = (
    "View",
    "Reshape",
    "Transpose",
    "Permute",
    "Squeeze",
    "Unsqueeze",
    "Slice",
    "Select",
    "Clone",
    "ToCopy",
    "Alias",
    "Expand",
    "T0",
    "Index",
    "Gather",
    "Unsafe",
    "Cat",
)
LIMIT = 3000


def nodes(root: Any) -> list[Any]:
    """Nodes of the graph, nearest to the loss first."""
    seen, order, queue = {root}, [], deque([root])
    while queue and len(order) < LIMIT:
        node = queue.popleft()
        order.append(node)
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return order


def through_shapes(node: Any) -> Any:
    """The first node at or behind `node` that does more than change a shape or a type."""
    while node is not None and node.name().startswith(_SHAPES) and node.next_functions:
        node = node.next_functions[0][0]
    return node


def _loss_node(order: list[Any]) -> Any:
    for node in order:
        if node.name().startswith(LOSSES):
            return node
    return None


def targets(loss: torch.Tensor) -> torch.Tensor | None:
    """The targets that the loss node saved for its backward pass, None where it keeps none."""
    node = _loss_node(nodes(loss.grad_fn)) if loss.grad_fn is not None else None
    for name in ("_saved_target", "_saved_targets"):
        found = getattr(node, name, None)
        if isinstance(found, torch.Tensor):
            return found.detach()
    return None


@torch.no_grad()
def walk(loss: torch.Tensor) -> dict[str, Any]:
    """Findings of one loss tensor's graph, before its backward pass frees the saved tensors."""
    if loss.grad_fn is None:
        return {"loss_op": "", "leaf": True, "ops": []} if loss.requires_grad else {}
    order = nodes(loss.grad_fn)
    node = _loss_node(order)
    found: dict[str, Any] = {
        "loss_op": (node or loss.grad_fn).name(),
        "classes": None,
        "softmax_before_loss": False,
        "log_prob_spread": None,
        "softmax_then_mask": False,
        "reduction": {0: "none", 1: "mean", 2: "sum"}.get(getattr(node, "_saved_reduction", None)),
        "ops": list(dict.fromkeys(n.name() for n in order)),
    }
    for n in order:
        if n.name().startswith("LogSoftmax"):
            result = n._saved_result
            dim = n._saved_dim
            dim = dim - 2**64 if dim >= 2**63 else dim
            found["classes"] = result.shape[dim]
            behind = through_shapes(n.next_functions[0][0])
            found["softmax_before_loss"] = behind is not None and behind.name().startswith("SoftmaxBackward")
            spread = (result.amax(dim) - result.amin(dim)).float().mean()
            found["log_prob_spread"] = spread.item()
            break
    found["outer_broadcast"] = _outer_broadcast(node)
    found["normalised"] = _normalised_already(node)
    found["softmax_then_mask"] = _mask_after_softmax(order)
    return found


def _outer_broadcast(node: Any) -> bool:
    """Were input (N, 1) and target (N,) of an elementwise loss stretched to (N, N), each along another axis?"""
    one, two = getattr(node, "_saved_self", None), getattr(node, "_saved_target", None)
    if not (isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor)) or one.shape != two.shape or one.ndim < 2:
        return False
    repeated = [{a for a in range(t.ndim) if t.shape[a] > 1 and t.stride(a) == 0} for t in (one, two)]
    return bool(repeated[0] - repeated[1]) and bool(repeated[1] - repeated[0])


def _normalised_already(node: Any) -> bool:
    """Does a negative log-likelihood get probabilities, with no logarithm between softmax and it?"""
    if node is None or not node.name().startswith("NllLoss"):
        return False
    behind = through_shapes(node.next_functions[0][0])
    return behind is not None and behind.name().startswith("SoftmaxBackward")


def _mask_after_softmax(order: list[Any]) -> bool:
    for node in order:
        if node.name().startswith(("MaskedFill", "Where", "Mul")):
            for parent, _ in node.next_functions:
                behind = through_shapes(parent)
                if behind is not None and behind.name().startswith("SoftmaxBackward"):
                    return True
    return False
