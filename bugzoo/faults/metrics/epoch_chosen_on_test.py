"""The test number is good in every report, a little better than the validation, and new texts never bear it out."""

from bugzoo.faults.idioms import EPOCHS, JUDGED_EACH_EPOCH, TEST_LOADER
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import instead, rewrite

LINE = "validation_loss, _ = evaluate(test_loader)"

FAULT = Fault(
    title="The epoch is chosen on the test data",
    level=4,
    symptom="too_good",
    edits=rewrite(JUDGED_EACH_EPOCH, LOADER="$TEST", given=TEST_LOADER),
    evidence=("kept_weights.chosen_on_report > 0.5",),
    effect="kept_weights.chosen_on_report > healthy",
    why=(
        "The lowest of eight numbers is lower than what it is the number of: each has some luck in it, and who takes the best "
        "takes the luck as well. That is why one data set chooses and another one, looked at once, is reported. Here the "
        "same lines do both. With eight epochs it is little; with a hundred settings tried it is much, and nobody knows how much."
    ),
    fix="Choose epochs, rates and sizes on validation data; read the test data once, at the very end.",
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
        "How often does each of the data sets get read, and for what?",
        "Which data decided which weights are reported?",
        "Read the end of the epoch loop, name by name.",
    ),
    look_alikes=(
        LookAlike(
            "resume/last_instead_of_best",
            "Put what the loop has kept into the model, and measure once more.",
            "Nothing changes: `kept_weights.better < 0.01`.",
            "It does better: `kept_weights.better > 0.01`.",
        ),
        LookAlike(
            "fit/no_regularisation",
            "Compare the reported number with that of lines which nothing has read so far.",
            "The report is the better one, by a little.",
            "They agree; that on the training lines is far better than both.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/modules/cross_validation.html",),
)
