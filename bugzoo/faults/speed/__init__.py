"""Slow training: data loading, host syncs, torch.compile."""

from bugzoo.faults.model import Cause

CAUSE = Cause("speed: the model waits", also=("slow data loading", "data loader", "dataloader", "synchronisation"))
