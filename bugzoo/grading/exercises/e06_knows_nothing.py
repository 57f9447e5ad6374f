"""Write an edit: the network passes the one-batch test, and knows nothing of the validation data."""

from dataclasses import replace

from bugzoo.faults.model import Swap
from bugzoo.faults.verbs import instead
from bugzoo.grading.kinds import Break
from bugzoo.grading.model import Exercise, Ticket

DATA, PLACE = "TensorDataset(images[train], labels[train])", "order = torch.randperm($COUNT)"

BREAKS = Break(
    must=(
        "overfit_one_batch.ratio < 0.2",
        "loss_curve.final_loss > 1.8",
        "metrics.accuracy < 0.35",
        "grader.accuracy < 0.35",
    ),
    on_average=("grader.accuracy < 0.2",),
    alarms=("data_inspection",),
    stays=("model", "optimizer", "loss"),
    hints=(
        "The one-batch test takes its batch as given. Which property of a batch does it not look at?",
        "The step stays as it is, so change what reaches it. What must be true of a sample before a network can learn it?",
        "Look at the line that builds `train_loader`, and at the first line inside the loop. What belongs together there?",
    ),
    moral="Each pair of a batch may be wrong, and a network memorizes the batch all the same. The test shows that a step can "
    "learn, not what there is to learn. Print a few samples beside their targets: that takes half a minute.",
    counts={"each batch in reverse": Swap("optimizer.zero_grad()", "inputs = inputs.flip(0)\noptimizer.zero_grad()")}
    | {"all targets shuffled before the split": Swap(PLACE, f"labels = labels[torch.randperm(len(labels))]\n{PLACE}")}
    | instead(DATA, {"targets moved by a place": "TensorDataset(images[train], labels[train].roll(1))"})
    | instead(DATA, {"targets drawn": "TensorDataset(images[train], torch.randint(10, (len(train),)))"})
    | instead(DATA, {"images in their first order": "TensorDataset(images[train.sort().values], labels[train])"}),
    lazy=instead(DATA, {"every class named as the next": "TensorDataset(images[train], (labels[train] + 1) % 10)"})
    | instead(DATA, {"training images upside down": "TensorDataset(images[train].flip(2), labels[train])"})
    | instead(DATA, {"a third of the targets": "TensorDataset(images[train], labels[train * (train % 3 > 0)])"}),
)
# On ten seeds, edits that teach it nothing leave this perceptron at 0.02 to 0.25. Its images are rows of 64 numbers without
# a third dimension: in reverse, a row is the digit turned by half a turn.
ROWS = replace(
    BREAKS,
    on_average=("grader.accuracy < 0.25",),
    lazy={
        **BREAKS.lazy,
        **instead(DATA, {"training images upside down": "TensorDataset(images[train].flip(1), labels[train])"}),
    },
)

EXERCISE = Exercise(
    title="Pass the one-batch test and know nothing",
    story=(
        "This time you break a healthy program. It trains a convolutional network on handwritten digits, and its validation "
        "accuracy is 94 %. Write an edit after which it still passes the one-batch test, and only guesses on the validation "
        "data. Training and validation then lie at one height, that of a guess. The alarm that this sets off is allowed; no "
        "other may go off. The loss, the learning rate, and the model stay as they are. Any edit that does this counts. "
        "*“The one-batch test passed, so we searched the wrong half of the program for a week,”* says a team that had it by "
        "accident."
    ),
    program="digits_cnn",
    fault="data/labels_out_of_sync",
    points=(10.0, 0.0),
    kind=BREAKS,
    tickets=(
        Ticket(
            "A reviewer accepts a change as soon as the network memorizes a batch. *“A program that can do this is correct,”* "
            "she says. Show her a program that can, and is not. Break this healthy perceptron, whose validation accuracy is "
            "{healthy.accuracy:.0f} %. After your edit the one-batch test still passes. But the training loss and the "
            "validation accuracy stay those of a guess. No other alarm goes off, and the model, the loss and the learning rate "
            "are untouched. Any edit that does this counts.",
            program="mlp",
            kind=ROWS,
        ),
        Ticket(
            "A job interview needs a broken program, and you write it. The candidates get this convolutional network, whose "
            "healthy accuracy on digits is {healthy.accuracy:.0f} %. *“Last year they all ran the one-batch test and had the "
            "bug in a minute. This year it has to pass,”* says the interviewer. Training on all of the data should lead "
            "nowhere: training loss and validation accuracy stay those of a guess. Leave the model, the loss and the learning "
            "rate as they are, and set off no other alarm. Any edit that does this counts.",
        ),
        Ticket(
            "A company lost its customers' trust, since its perceptron for digits answered at random. All along, the nightly "
            "one-batch test had passed. You are asked how that is possible. *“The network learns each batch that we give it. So "
            "it must have been the validation,”* says its author. Answer with an edit of the healthy program, which reaches "
            "{healthy.accuracy:.0f} %. Its training loss and its validation accuracy become those of a guess, the test passes, "
            "and no other alarm goes off. The evaluation stays honest, and the model, the loss and the learning rate stay as "
            "they are.",
            program="mlp",
            kind=ROWS,
        ),
    ),
)
