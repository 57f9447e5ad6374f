"""The training loop: zero_grad, step, scheduler, gradient accumulation."""
