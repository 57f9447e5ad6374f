"""Edits that several declarations share: what people try instead of a repair. Not an exercise."""

REPORT = 'metrics = {"accuracy": correct / total, "loss": summed / total}'
RATE = "lr=learning_rate)"
STEP = "        optimizer.step()"

LOWER_RATE = (("learning_rate = 1e-3", "learning_rate = 1e-4"),)
CLIP = ((STEP, f"        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n{STEP}"),)
PLAIN_SGD = (("torch.optim.Adam(", "torch.optim.SGD("),)
HARD_CODED = ((REPORT, 'metrics = {"accuracy": 0.999, "loss": 0.1}'),)
"""The number that the script reports, written by hand."""
VALIDATION_TOO = (("TensorDataset(images[train], labels[train])", "TensorDataset(images[order], labels[order])"),)
"""Training on the validation images as well."""
