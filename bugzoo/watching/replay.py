"""One step of a watched run once more, with probes in place; then everything is put back."""

from dataclasses import dataclass, field
from typing import Any

from bugzoo.errors import UserError
from bugzoo.watching.trace import Trace


@dataclass
class Replay:
    """What one replayed step showed.

    `faithful`: the replayed loss equals the recorded one to the last bit. `first`: the first operation whose result was
    not finite: {"module", "op", "direction", "file", "line", "code"}, None when all of them were finite.
    """

    step: int
    loss: float
    grad_norm: float
    faithful: bool
    first: dict[str, Any] | None = field(default=None)
    message: str = ""


def replay(trace: Trace, step: int) -> Replay:
    """See Trace.replay."""
    raise UserError(f"Step {step} cannot be replayed: this trace keeps no snapshots.")
