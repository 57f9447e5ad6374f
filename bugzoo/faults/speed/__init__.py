"""Slow training: data loading, host syncs, torch.compile."""
