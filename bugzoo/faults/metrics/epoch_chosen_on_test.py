"""The test result is good in every report, a little better than validation. New texts never give such a good result."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EPOCHS, JUDGED_EACH_EPOCH, TEST_LOADER
from bugzoo.faults.model import Cause, Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "validation_loss, _ = evaluate(test_loader)"

FAULT = Fault(
    title="Best epoch selected on the test set",
    level=4,
    symptom="too_good",
    edits=rewrite(JUDGED_EACH_EPOCH, LOADER="$TEST", given=TEST_LOADER),
    evidence=("kept_weights.chosen_on_report > 0.5",),
    effect="kept_weights.chosen_on_report > healthy",
    why=(
        "The lowest of eight measurements is too optimistic: each one contains some luck, and the minimum selects "
        "the luck too. So one data set selects the epoch, and another one, read once, is reported. Here the same "
        "lines do both. With eight epochs the bias is small. With a hundred settings tried it is large, and its size "
        "is unknown."
    ),
    fix=(
        "Select epochs, learning rates and model sizes on the validation set: `evaluate(validation_loader)`. Read "
        "the test set once, at the very end."
    ),
    repairs=instead(
        LINE,
        {
            "its first number": "validation_loss = evaluate(validation_loader)[0]",
            "in larger batches": (
                "validation_loss, _ = evaluate(DataLoader(validation_loader.dataset, batch_size=128, collate_fn=collate))"
            ),
        },
    ),
    pretences=instead(
        LINE,
        {
            "in another order": (
                "validation_loss, _ = evaluate(DataLoader(test_loader.dataset, 32, shuffle=True, collate_fn=collate))"
            ),
            "by accuracy": "validation_loss = -evaluate(test_loader)[1]",
            "under another name": "held_back = test_loader\nvalidation_loss, _ = evaluate(held_back)",
        },
    )
    | {"half as often": rewrite(EPOCHS, COUNT="fold($COUNT / 2)")},
    hints=(
        "How often does the script read each data set, and for what?",
        "Which data decides which weights the script reports?",
        "Read the last lines of the epoch loop. Which loader does each call of `evaluate()` read?",
    ),
    look_alikes=(
        LookAlike(
            "resume/last_instead_of_best",
            "Load the weights that the loop saved into the model, and measure the loss again.",
            "The loss does not change: `kept_weights.better < 0.01`.",
            "The loss is lower: `kept_weights.better > 0.01`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Compare the reported loss with the loss on lines that the script has never read.",
            "The reported loss is a little better.",
            "Both losses agree. The loss on the training lines is far better than both.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/modules/cross_validation.html",),
    cause=Cause(words.LEAKAGE, either={words.METRIC: {}}),
    terms=("early stopping on the test set", "held-out set"),
)
