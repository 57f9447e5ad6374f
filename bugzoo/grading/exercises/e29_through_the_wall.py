"""Write an edit: later characters reach an output, past a mask and a softmax that stay as they are."""

from bugzoo.faults.model import Swap
from bugzoo.faults.verbs import instead
from bugzoo.grading.kinds import Break
from bugzoo.grading.model import Exercise, Ticket

USE, FILL = "attended = weights @ values", "scores = scores.masked_fill(mask == 0, $LOWEST)"
SPLIT = "self.project(x).view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)"
FED, BLOCKS = "self.feed_forward(self.norm2(x))", "self.blocks($X)"

BREAKS = Break(
    must=("dependency.future_leak > 0.01", "both_modes.future_leak > 0.01", "both_modes.later_weight <= 0"),
    on_average=(),
    alarms=("dependency", "class_balance"),  # what it reads first are the common characters
    stays=("mask", "softmax"),
    hints=(
        "The mask hides positions from the weights. Which other lines could carry a character to an earlier position?",
        "Read the model line by line, and say of each axis what it is: batch, position, or channel. Which lines move an axis?",
        "Look at the lines that split the heads and join them again. A shape says how many numbers there are, not which ones.",
    ),
    moral="A mask guards the attention weights, and nothing else. A line that moves, reorders or averages positions passes it, "
    "with shapes that fit. `view` names axes anew, and `transpose` moves them. The loss does not show every such line. In the "
    "character model, values moved by one place lower it from 2.50 to 0.15, and the mean of the window to 2.42. So test the "
    "output: change a later character, and see whether an earlier output moves.",
    counts=instead(
        USE,
        {
            "values one place ahead": "attended = weights @ values.roll(-1, 2)",
            "weights the other way round": "attended = weights.transpose(-2, -1) @ values",
        },
    )
    | {
        "heads split without a permutation": Swap(
            SPLIT, "self.project(x).view(size, 3, heads, time, head_size).permute(1, 0, 2, 3, 4)"
        ),
        "the mean of the window": Swap(FED, "self.feed_forward(self.norm2(x - x.mean(1, keepdim=True)))"),
        "the window read backward": Swap(BLOCKS, "self.blocks(($X).flip(1)).flip(1)"),
        "neighbors added before the head": Swap("self.head($X)", "self.head($X + ($X).roll(-1, 1))"),
    },
    lazy={
        "samples of a batch mixed": Swap(FED, "self.feed_forward(self.norm2(x + x.roll(1, 0)))"),
        "an earlier place instead": Swap(USE, "attended = weights @ values.cumsum(2)"),
        "targets as inputs": Swap("logits = model(inputs)\nloss = $LOSS", "logits = model(targets)\nloss = $LOSS"),
        "only the evaluation": Swap("summed += $LOSS", "logits = logits.roll(1, 1)\nsummed += $LOSS"),
        "only in train mode": Swap(USE, "attended = weights @ (values.roll(-1, 2) if self.training else values)"),
        "only in eval mode": Swap(USE, "attended = weights @ (values if self.training else values.roll(-1, 2))"),
        "only without gradients": Swap(
            USE, "attended = weights @ (values if torch.is_grad_enabled() else values.roll(-1, 2))"
        ),
        "only with gradients": Swap(
            USE, "attended = weights @ (values.roll(-1, 2) if torch.is_grad_enabled() else values)"
        ),
        "the mask under another name": Swap(FILL, f"hidden = mask\nhidden.fill_(1)\n{FILL}"),
        "the scores before the mask": Swap(FILL, f"every = scores\n{FILL}\nscores = every"),
        "a mask one place too wide": Swap("torch.tril($ONES)", "torch.tril($ONES, diagonal=1)"),
        "a softmax over the queries": Swap("F.softmax(scores, dim=-1)", "F.softmax(scores, dim=-2)"),
        "no softmax": Swap(USE, "weights = torch.full_like(weights, 1 / time)\nattended = weights @ values"),
    },
    views=("loss_curve", "influence", "evaluation"),
)

EXERCISE = Exercise(
    title="Let the model see what it must not see",
    story=(
        "This time you break a healthy program. It trains a small transformer to predict the next character, and its "
        "validation loss is 2.50. Write an edit that lets the model see what it must not see: an output then depends on "
        "characters that come later. This has to hold in train mode and in eval mode. You may touch neither the mask nor the "
        "softmax, every shape must fit, and no other alarm may go off. Any edit that does this counts. *“We read the mask "
        "line by line for a day, and it was right,”* says a team whose model saw the future anyway."
    ),
    program="mini_transformer",
    fault="shape/view_instead_of_permute",
    points=(10.0, 0.0),
    kind=BREAKS,
    tickets=(
        Ticket(
            "A reviewer approves each attention layer whose mask is right. *“Such a layer cannot look ahead,”* he says. Show "
            "him a layer that can. Break this healthy language model, whose validation loss is {healthy.loss:.2f}. After your "
            "edit an output depends on characters that come later, in train mode and in eval mode. The mask and the softmax "
            "stay as they are, every shape fits, and no other alarm goes off. Any edit that does this counts.",
        ),
        Ticket(
            "This language model trains in mixed precision, and its validation loss is {healthy.loss:.2f}. Each week its "
            "author prints the attention weights. No weight ever lies on a later character. *“So my model reads the past "
            "only,”* she says. Write an edit after which her table stays as clean as it is, and the model reads the future. An "
            "output has to depend on later characters, in train mode and in eval mode. Leave the mask and the softmax as they "
            "are, let every shape fit, and set off no other alarm. Any edit that does this counts.",
            program="amp_transformer",
        ),
        Ticket(
            "You write a task for a job interview. The candidates get a transformer that predicts the next word of a line. "
            "Its healthy test loss is {healthy.loss:.2f}. *“Last year the bug was in the mask, and they all looked there "
            "first,”* says the interviewer. This year the mask and the softmax are right. Write an edit after which an output "
            "depends on later words of its line, in train mode and in eval mode. Every shape has to fit, and no other alarm "
            "may go off. Any edit that does this counts.",
            program="word_lines",
        ),
    ),
)
