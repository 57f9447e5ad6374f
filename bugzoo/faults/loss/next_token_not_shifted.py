"""The language model's loss is near zero after a minute, far below what text allows; what it writes is one letter only."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "loss = F.cross_entropy(logits.flatten(0, 1), inputs.flatten())"

FAULT = Fault(
    title="The model is asked for the token that it was given",
    level=2,
    symptom="too_good",
    edits=Swap("loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())", LINE),
    evidence=("output_gradient.asked_input_share > 0.95",),
    effect="metrics.loss > healthy",
    why=(
        "A place may look at itself, and so it should: what it is asked for is the one that comes next. Compared with its own "
        "input it need only hand through what it was given, which a residual stream does by itself. The loss falls below the "
        "entropy of any text, 1 nat per character, and as a guess of the next character the answers are worthless."
    ),
    fix="Targets are the inputs moved by one: logits[:, :-1] against inputs[:, 1:], or windows cut that way.",
    repairs=instead(
        LINE,
        {
            "moved here": "loss = F.cross_entropy(logits.transpose(1, 2), targets)",
            "log-softmax and nll": "loss = F.nll_loss(F.log_softmax(logits, dim=-1).flatten(0, 1), targets.flatten())",
            "window put together again": (
                "window = torch.cat([inputs, targets[:, -1:]], dim=1)\n"
                "loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "the place before": "loss = F.cross_entropy(logits[:, 1:].flatten(0, 1), inputs[:, :-1].flatten())",
            "two ahead": "loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())",
            "smoothed": "loss = F.cross_entropy(logits.flatten(0, 1), inputs.flatten(), label_smoothing=0.2)",
        },
    ),
    shown_by=("dependency",),
    hints=(
        "How low may the loss of a model that reads English be, if it is honest?",
        "Take one window and write under each character the one that the loss asks for.",
        "Which two tensors does the loss lay side by side, and by how much should they be apart?",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Write under each character of a window the one that the loss asks for there.",
            "The character itself: `output_gradient.asked_input_share > 0.95`.",
            "The next one, as it should be: `output_gradient.asked_input_share < 0.95`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare the numbers that the loss asks for with those that the model was given.",
            "They are the same: `output_gradient.asked_input_share > 0.95`.",
            "They are those of the next character, plus 1: `output_gradient.asked_input_share < 0.95`.",
        ),
    ),
    sources=("https://github.com/karpathy/nanoGPT/blob/master/train.py",),
)
