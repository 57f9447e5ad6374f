"""The log shows a good epoch in the middle. The number reported at the end is much worse than that epoch's."""

from bugzoo.faults.idioms import LEARNING_RATE, RESTORE_BEST
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import remove, rewrite

TEST = "test_loss, accuracy = evaluate(test_loader)"
KEPT = "copy.deepcopy(model.state_dict())"

FAULT = Fault(
    title="Best weights not restored after training",
    level=2,
    symptom="degraded",
    edits=remove(RESTORE_BEST),
    evidence=("kept_weights.better > 0.01",),
    effect="metrics.loss > healthy",
    why=(
        "The loop keeps a copy of the weights whenever the validation loss is the lowest so far, but never loads the "
        "copy. The script then tests the weights of the last epoch, which overfit the training lines. The test loss "
        "of the last epoch is a quarter of a nat above that of the kept epoch."
    ),
    fix=(
        "Call model.load_state_dict(best_weights) after the loop, before anything is measured or saved. Print which "
        "epoch the weights are from."
    ),
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
        # half, not the usual tenth: with a tenth these few epochs do not overfit, and the last epoch is the best
        "lower rate": rewrite(LEARNING_RATE, LR="fold($LR / 2)"),
        "the last ones loaded": Swap(TEST, f"model.load_state_dict(copy.deepcopy(model.state_dict()))\n{TEST}"),
    },
    shown_by=("loss_curve", "generalisation"),
    hints=(
        "Which epoch does the reported number describe, and which one should it describe?",
        "Measure the model after the loop on the validation lines, and look for the number in the log.",
        "Follow what the loop keeps for later. Which line reads it?",
    ),
    look_alikes=(
        LookAlike(
            "metrics/epoch_chosen_on_test",
            "Load what the loop has kept into the model, and measure once more.",
            "The loss is lower: `kept_weights.better > 0.01`.",
            "The loss does not change: `kept_weights.better < 0.01`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Look in the log for an epoch better than the last one, and in the script for a copy of its weights.",
            "There is a better epoch, and a copy of its weights still exists.",
            "The script has no copy of the weights of a better epoch.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html",
        "https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",
    ),
    cause=Cause("a checkpoint from the wrong epoch", also=("wrong checkpoint",)),
    terms=("early stopping", "checkpoint", "overfitting"),
)
