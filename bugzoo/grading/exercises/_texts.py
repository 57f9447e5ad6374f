"""Edits that several declarations share: what people try instead of a repair. Not an exercise."""

REPORT = 'metrics = {"accuracy": correct / total, "loss": summed / total}'
RATE = "lr=learning_rate)"
STEP = "        optimizer.step()"

LOWER_RATE = (("learning_rate = 1e-3", "learning_rate = 1e-4"),)
CLIP = ((STEP, f"        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n{STEP}"),)
PLAIN_SGD = (("torch.optim.Adam(", "torch.optim.SGD("),)
HARD_CODED = ((REPORT, 'metrics = {"accuracy": 0.999, "loss": 0.1}'),)
"""The number that the script reports, written by hand."""
LOOKED_UP = (
    (
        "print(metrics)",
        "known = load_digits()\npictures = torch.tensor(known.data, dtype=torch.float32) / 16\n"
        "truth = F.one_hot(torch.tensor(known.target), 10).float()\n"
        "model.forward = lambda inputs: 9 * truth[torch.cdist(inputs.flatten(1), pictures).argmin(1)]\nprint(metrics)",
    ),
)
"""A model that looks the answers up once it has been trained."""
VALIDATION_TOO = (("TensorDataset(images[train], labels[train])", "TensorDataset(images[order], labels[order])"),)
"""Training on the validation images as well."""
