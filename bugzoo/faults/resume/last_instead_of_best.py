"""The log shows a good epoch in the middle, and the number in the report is a good deal worse than that epoch's."""

from bugzoo.faults.idioms import LEARNING_RATE, RESTORE_BEST
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import remove, rewrite

TEST = "test_loss, accuracy = evaluate(test_loader)"
KEPT = "copy.deepcopy(model.state_dict())"

FAULT = Fault(
    title="The last epoch's weights in place of the best ones",
    level=2,
    symptom="degraded",
    edits=remove(RESTORE_BEST),
    evidence=("kept_weights.better > 0.01",),
    effect="metrics.loss > healthy",
    why=(
        "The loop keeps a copy of the weights whenever the validation loss is the lowest so far, and never puts it back. What is "
        "measured at the end is the last epoch, which has learnt the training lines by heart: its test loss is a quarter of a "
        "nat above that of the epoch that was kept."
    ),
    fix="Load the kept weights behind the loop, before anything is measured or saved; print which epoch they are from.",
    repairs={
        "in front of the report": Swap(TEST, f"model.load_state_dict(best_weights)\n{TEST}"),
        "number by number": Swap(
            TEST,
            "with torch.no_grad():\n    for name, value in model.state_dict().items():\n"
            f"        value.copy_(best_weights[name])\n{TEST}",
        ),
        "into the parameters": Swap(
            TEST,
            f"for name, parameter in model.named_parameters():\n    parameter.data = best_weights[name].clone()\n{TEST}",
        ),
    },
    pretences={
        "kept without a copy": (
            Swap(KEPT, "model.state_dict()"),
            Swap(TEST, f"model.load_state_dict(best_weights)\n{TEST}"),
        ),
        "the report of the best": Swap(TEST, "test_loss, accuracy = best_loss, evaluate(test_loader)[1]"),
        # a tenth of it, which everybody tries, would not overfit in these few epochs: then the last is the best
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)"),
        "the last ones loaded": Swap(TEST, f"model.load_state_dict(copy.deepcopy(model.state_dict()))\n{TEST}"),
    },
    shown_by=("loss_curve", "generalisation"),
    hints=(
        "Which epoch is the reported number about, and which one should it be about?",
        "Measure the model behind the loop on the validation lines, and look for the number in the log.",
        "Follow what the loop keeps for later. Who reads it?",
    ),
    look_alikes=(
        LookAlike(
            "metrics/epoch_chosen_on_test",
            "Put what the loop has kept into the model, and measure once more.",
            "It does better: `kept_weights.better > 0.01`.",
            "Nothing changes: `kept_weights.better < 0.01`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Look for an epoch in the log that was better than the last one, and for what was kept of it.",
            "There is one, and its weights are still there.",
            "There is none that anything was kept of.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html",
        "https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",
    ),
)
