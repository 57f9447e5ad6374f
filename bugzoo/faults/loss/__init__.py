"""The loss: logits, targets, reduction, broadcasting, sign."""
