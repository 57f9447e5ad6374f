"""Generic edits that look like a *break* exercise's symptom and are not: each must fail, in any program that it fits.

Most change what is reported and not what the model knows. The others change a part that has to stay.
"""

from bugzoo.faults.idioms import BACKWARD, EPOCHS, LEARNING_RATE, STEP
from bugzoo.faults.model import Edits, Swap, together
from bugzoo.faults.verbs import after, before, rewrite

LAZY_BREAKS: dict[str, Edits] = {
    name: together(edits)
    for name, edits in {
        "validation targets alone shuffled": Swap(
            "TensorDataset(images[validation], labels[validation])",
            "TensorDataset(images[validation], labels[validation][torch.randperm(len(validation))])",
        ),
        "another validation set": Swap(
            "TensorDataset(images[validation], labels[validation])",
            "TensorDataset(torch.rand_like(images[validation]), labels[validation])",
        ),
        "noise in eval mode": Swap(
            "model.eval()", "model.eval()\nmodel.register_forward_hook(lambda *call: torch.randn_like(call[2]))"
        ),
        "a constant in eval mode": Swap(
            "return self.head($X)", "return self.head($X) if self.training else self.head($X) * 0"
        ),
        "outputs drawn in the evaluation": Swap(
            "correct += $SUM.sum().item()", "logits = torch.randn_like(logits)\ncorrect += $SUM.sum().item()"
        ),
        "a report by hand": Swap('{"accuracy": $A, "loss": $L}', '{"accuracy": 0.1, "loss": 2.3}'),
        "training ends early": before(BACKWARD, "if step >= 5:\n    break"),
        "no epoch": rewrite(EPOCHS, COUNT="0"),
        "learning rate zero": rewrite(LEARNING_RATE, LR="0.0"),
        "learning rate zero later": after(STEP, 'if step > 2:\n    optimizer.param_groups[0]["lr"] = 0.0'),
        "step only in the first epoch": Swap("optimizer.step()", "if step < 30:\n    optimizer.step()"),
        "gradients wiped": before(STEP, "if step > 40:\n    optimizer.zero_grad()"),
        "the loss climbed": before(BACKWARD, "loss = -loss"),
        "the loss climbed later": before(BACKWARD, "loss = loss if step < 400 else -loss"),
        "a new model before the evaluation": Swap("model.eval()", "model = Net().to(device)\nmodel.eval()"),
        "weights drawn before the evaluation": Swap(
            "model.eval()",
            "with torch.no_grad():\n    for weight in model.parameters():\n        weight.normal_(0, 0.1)\nmodel.eval()",
        ),
        "all targets the same": Swap(
            "TensorDataset(images[train], labels[train])", "TensorDataset(images[train], labels[train] * 0)"
        ),
    }.items()
}
