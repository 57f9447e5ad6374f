"""Count how many steps' autograd graphs are alive at once: one or two, unless the script keeps references to them."""

import weakref
from typing import Any

HOPS = 8  # from the loss toward the model, past scale and casts: kept outputs hold these nodes, a kept loss its own


class _Mark:
    __slots__ = ("__weakref__",)


class LiveGraphs:
    """Puts a mark into the nodes of each loss's graph. The mark is freed with the last node. Holds no tensor or node."""

    def __init__(self) -> None:
        self.now = self.peak = self.marked = 0
        self._marks: dict[int, weakref.ref] = {}

    def add(self, loss: Any) -> None:
        """Mark the graph of `loss`, a tensor whose backward() is about to run."""
        node = loss.grad_fn
        if node is None:
            return
        mark = _Mark()
        for _ in range(HOPS):
            if node is None or not node.next_functions:  # a leaf's node lives as long as the parameter
                break
            node.metadata["bugzoo"] = mark
            node = node.next_functions[0][0]
        key = id(mark)
        self._marks[key] = weakref.ref(mark, lambda _: self._died(key))
        self.now += 1
        self.marked += 1
        self.peak = max(self.peak, self.now)

    def _died(self, key: int) -> None:
        if self._marks.pop(key, None) is not None:
            self.now -= 1
