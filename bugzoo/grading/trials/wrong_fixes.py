"""Generic fixes that people try on any problem: tested against every fault, on every program that it fits.

A fault for which one of these is a repair lists it among its own repairs or pretences, which come first.
"""

from bugzoo.faults.idioms import BACKWARD, EPOCHS, LEARNING_RATE, STEP
from bugzoo.faults.model import Edits, Swap, together
from bugzoo.faults.verbs import before, either, rewrite

_KNOWN = """known = load_digits()
pictures = torch.tensor(known.data, dtype=torch.float32) / 16
truth = F.one_hot(torch.tensor(known.target), 10).float()
model.forward = lambda inputs: 9 * truth[torch.cdist(inputs.flatten(1), pictures).argmin(1)]"""

PRETENCES: dict[str, Edits] = {
    name: together(edits)
    for name, edits in {
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 10)"),
        "clipping": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)"),
        "another optimiser": either(
            Swap("torch.optim.Adam($P, lr=$LR, eps=$EPS)", "torch.optim.SGD($P, lr=$LR)"),
            Swap("torch.optim.Adam($P, lr=$LR)", "torch.optim.SGD($P, lr=$LR)"),
        ),
        "more epochs": rewrite(EPOCHS, COUNT="fold($COUNT * 3)"),
        "early stop": before(BACKWARD, "if step >= 40:\n    break"),
        "hard-coded": either(
            Swap('{"accuracy": $A, "loss": $L}', '{"accuracy": 0.999, "loss": 0.1}'),
            Swap('{"loss": $L, "accuracy": $A}', '{"loss": 0.5, "accuracy": 0.9}'),
        ),
        "validation too": either(
            Swap("TensorDataset(images[train], labels[train])", "TensorDataset(images[order], labels[order])"),
            Swap("TensorDataset(*encode(train))", "TensorDataset(*encode(pairs))"),
            Swap("batch(train_codes, batch_size)", "batch(codes, batch_size)"),
        ),
        "answers looked up": Swap("print(metrics)", f"{_KNOWN}\nprint(metrics)", where="load_digits()"),
    }.items()
}
