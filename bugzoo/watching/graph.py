"""Inspect the autograd graph of a loss: the kind of loss, the number of classes, a softmax before another softmax."""

from collections import deque
from typing import Any

import torch

from bugzoo.watching.records import Graph

LOSSES = ("NllLoss", "MseLoss", "BinaryCrossEntropy", "SmoothL1Loss", "HuberLoss", "KlDiv", "SoftMarginLoss", "L1Loss",
          "CtcLoss", "MultiMarginLoss", "MultilabelMarginLoss", "CrossEntropy")  # fmt: skip
_SHAPES = ("View", "Reshape", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Slice", "Select", "Clone", "ToCopy", "Alias",
           "Expand", "T0", "Index", "Gather", "Unsafe", "Cat")  # fmt: skip
LIMIT = 3000
NEAR = 200
"""How many nodes next to the loss are searched for a mask."""


def nodes(root: Any) -> list[Any]:
    """Return the nodes of the graph, nearest to the loss first."""
    visited, order, queue = {root}, [], deque([root])
    while queue and len(order) < LIMIT:
        node = queue.popleft()
        order.append(node)
        for parent, _ in node.next_functions:
            if parent is not None and parent not in visited:
                visited.add(parent)
                queue.append(parent)
    return order


def through_shapes(node: Any) -> Any:
    """Return `node` or the first node before it in the forward pass that does more than change a shape or dtype."""
    while node is not None and node.name().startswith(_SHAPES) and node.next_functions:
        node = node.next_functions[0][0]
    return node


def _loss_node(order: list[Any]) -> Any:
    for node in order:
        if node.name().startswith(LOSSES):
            return node
    return None


def targets(loss: torch.Tensor) -> torch.Tensor | None:
    """Return the targets that the loss node saved for its backward pass, None if it saved none."""
    node = _loss_node(nodes(loss.grad_fn)) if loss.grad_fn is not None else None
    for name in ("_saved_target", "_saved_targets"):
        saved = getattr(node, name, None)
        if isinstance(saved, torch.Tensor):
            return saved.detach()
    return None


@torch.no_grad()
def walk(loss: torch.Tensor) -> Graph | None:
    """Inspect one loss tensor's graph, before its backward pass frees the saved tensors. None without a gradient."""
    if loss.grad_fn is None:
        return Graph(leaf=True) if loss.requires_grad else None
    order = nodes(loss.grad_fn)
    node = _loss_node(order)
    classes, doubled, spread = None, False, None
    for n in order:
        if n.name().startswith("LogSoftmax"):
            result, dim = n._saved_result, _signed(n._saved_dim)
            classes = result.shape[dim]
            behind = through_shapes(n.next_functions[0][0])
            doubled = behind is not None and behind.name().startswith("SoftmaxBackward")
            spread = (result.amax(dim) - result.amin(dim)).float().mean().item()
            break
    return Graph(
        loss_op=(node or loss.grad_fn).name(),
        ops=tuple(dict.fromkeys(n.name() for n in order)),
        classes=classes,
        rows=_rows(node),
        reduction={0: "none", 1: "mean", 2: "sum"}.get(getattr(node, "_saved_reduction", -1)),
        softmax_before_loss=doubled,
        log_prob_spread=spread,
        outer_broadcast=_outer_broadcast(node),
        mask_stretched=any(map(_mask_stretched, order[:NEAR])),
        normalised=_normalised_already(node),
    )


def _signed(number: int) -> int:
    """Convert a number that autograd stores as unsigned."""
    return number - 2**64 if number >= 2**63 else number


def _rows(node: Any) -> int | None:
    """Return how many targets count in a negative log-likelihood. None for another loss or targets that are not classes."""
    targets = getattr(node, "_saved_target", None)
    if not isinstance(targets, torch.Tensor) or not node.name().startswith("NllLoss"):
        return None
    return int((targets != _signed(node._saved_ignore_index)).sum())


def _outer_broadcast(node: Any) -> bool:
    """Return whether input (N, 1) and target (N,) of an elementwise loss were broadcast to (N, N)."""
    one, two = getattr(node, "_saved_self", None), getattr(node, "_saved_target", None)
    if not (isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor)) or one.shape != two.shape or one.ndim < 2:
        return False
    repeated = [{a for a in range(t.ndim) if t.shape[a] > 1 and t.stride(a) == 0} for t in (one, two)]
    return bool(repeated[0] - repeated[1]) and bool(repeated[1] - repeated[0])


def _mask_stretched(node: Any) -> bool:
    """Return whether a mask or constant weights of shape (N,) meet numbers (N, 1), or (N, 1) meet (N,): both become (N, N)."""
    if node.name().startswith("MaskedSelect"):
        masked, mask = tuple(node._saved_self.shape), node._saved_mask
    elif node.name().startswith("MulBackward") and len(node.next_functions) == 2:
        pairs = ((node.next_functions[0], node._saved_other), (node.next_functions[1], node._saved_self))
        behind, mask = next(((b, m) for b, m in pairs if b[0] is not None and m is not None), (None, None))
        metadata = getattr(behind[0], "_input_metadata", None) if behind is not None else None
        if not metadata or mask is None or mask.requires_grad or behind is None:
            return False
        masked = tuple(metadata[behind[1]].shape)
    else:
        return False
    shape = tuple(mask.shape)
    # (N, 1) and (N,): an outer product is not written that way
    if len(shape) != len(masked) and masked[:1] == shape[:1]:
        return _outer(masked, shape)
    return _outer(masked, shape) and bool(((mask == 0) | (mask == 1)).all())


def _outer(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Return whether each shape is broadcast along the other's sample axis, like (N, 1) and (N,)."""
    axes = max(len(one), len(two))
    if axes < 2:
        return False
    one, two = (1,) * (axes - len(one)) + one, (1,) * (axes - len(two)) + two
    sizes = [{b for a, b in zip(x, y, strict=True) if a == 1 < b} for x, y in ((one, two), (two, one))]
    return bool(sizes[0] & sizes[1])


def _normalised_already(node: Any) -> bool:
    """Return whether a negative log-likelihood gets probabilities: there is no logarithm after the softmax."""
    if node is None or not node.name().startswith("NllLoss"):
        return False
    behind = through_shapes(node.next_functions[0][0])
    return behind is not None and behind.name().startswith("SoftmaxBackward")
