"""Train mode, eval mode and no_grad."""
