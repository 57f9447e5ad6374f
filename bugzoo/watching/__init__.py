"""Watch any PyTorch training without changing it: `with watch() as trace: ...`."""

from bugzoo.watching.live import Batch, Live
from bugzoo.watching.outcome import StopRun
from bugzoo.watching.records import OUTCOMES, STATISTICS, Event, Parameter
from bugzoo.watching.trace import Trace
from bugzoo.watching.watch import watch

__all__ = ["OUTCOMES", "STATISTICS", "Batch", "Event", "Live", "Parameter", "StopRun", "Trace", "watch"]
