"""The language model's loss is near zero after a minute, far below what text allows. The generated text repeats one letter."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

LINE = "loss = F.cross_entropy(logits.flatten(0, 1), inputs.flatten())"

FAULT = Fault(
    title="Next-token targets not shifted by one",
    level=2,
    symptom="too_good",
    edits=Swap("loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())", LINE),
    evidence=("output_gradient.asked_input_share > 0.95",),
    effect="metrics.loss > healthy",
    why=(
        "A position may attend to itself, because its target is the token after it. Here the target is the "
        "position's own input token, so the model only has to copy. The residual stream does this by itself. The "
        "loss falls below the entropy of any text, 1 nat per character. As predictions of the next character, the "
        "outputs are worthless."
    ),
    fix=(
        "Compare logits[:, :-1] with inputs[:, 1:], or cut the windows so that the targets are the inputs one token "
        "ahead."
    ),
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
        "How low can the loss per character honestly be on English text? Compare this with the run.",
        "Print one window, and under each character the one that the loss asks for.",
        "Which two tensors does the loss compare, and by how many positions should they differ?",
    ),
    look_alikes=(
        LookAlike(
            "attention/causal_mask_missing",
            "Print one window, and under each character the target at that position.",
            "Each target is the character itself: `output_gradient.asked_input_share > 0.95`.",
            "Each target is the next character, as it should be: `output_gradient.asked_input_share < 0.95`.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Compare the targets of the loss with the tokens that the model was given.",
            "The targets and the inputs are the same: `output_gradient.asked_input_share > 0.95`.",
            "The targets are the next characters, plus 1: `output_gradient.asked_input_share < 0.95`.",
        ),
    ),
    sources=("https://github.com/karpathy/nanoGPT/blob/master/train.py",),
    cause=Cause(words.DATA),
    terms=("next-token shift",),
    beside={"mini_transformer": ("freezing/frozen_layers", "attention/causal_mask_missing")},
)
