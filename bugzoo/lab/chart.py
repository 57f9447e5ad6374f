"""The moving picture: loss above, gradient norm below, the healthy twin behind.

The widget holds the whole of both curves, thinned for the eye, and what draws them (`front/chart.js`) draws what it holds:
nothing depends on whether an earlier message was seen. Its colours follow the notebook's theme.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from bugzoo.lab.engine import Point

MOST = 1500
"""Points drawn per curve; a longer run is thinned for the eye, never for the numbers."""

FRONT = Path(__file__).parent / "front"
"""What runs in the browser."""


class Chart(anywidget.AnyWidget):
    """Two curves over two axes. `healthy`, `broken`: rows of (step, loss, gradient norm) as float32, nan where none is."""

    _esm = FRONT / "chart.js"
    _css = FRONT / "chart.css"
    healthy = traitlets.Bytes(b"").tag(sync=True)
    broken = traitlets.Bytes(b"").tag(sync=True)
    mark = traitlets.Dict({}).tag(sync=True)
    """{"step", "text"} of the first non-finite step, where it is to be pointed at."""

    def __init__(self) -> None:
        super().__init__()
        self.on_msg(self._asked)

    def clear(self) -> None:
        """An empty sheet for a new run."""
        with self.hold_sync():
            self.healthy, self.broken, self.mark = b"", b"", {}

    def draw(self, which: str, points: Sequence[Point]) -> None:
        """`which`: "healthy" or "broken"; `points` from the start of that run."""
        self.set_trait(which, np.stack(thinned(points), axis=1).astype(np.float32).tobytes())

    def point_at(self, found: tuple[int, str] | None) -> None:
        """A dotted line and a note at the first non-finite step."""
        if found is not None and found[0] != self.mark.get("step"):
            self.mark = {"step": found[0], "text": found[1]}

    def count(self, which: str) -> int:
        """How many points of a run are drawn."""
        return len(getattr(self, which)) // 12

    def all_again(self) -> None:
        """Send the curves again, for whoever missed them: a server on a busy machine drops messages."""
        self.send_state(["healthy", "broken", "mark"])

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("ready"):
            self.all_again()


def thinned(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(steps, losses, gradient norms) with at most MOST rows and the last one; what is not finite or positive as it is."""
    stride = max(1, math.ceil(len(points) / MOST))
    table = np.array([*points[:-1:stride], *points[-1:]], dtype=float).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]
