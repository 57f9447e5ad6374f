"""Several ranks: DDP, samplers, collectives that hang."""

from bugzoo.faults.model import Cause

CAUSE = Cause("ranks that are out of sync", also=("ranks", "deadlock", "hang", "ddp", "missing synchronization"))
