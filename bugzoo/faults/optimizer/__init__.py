"""Learning rate, warmup, weight decay, parameter groups, optimizer state."""
