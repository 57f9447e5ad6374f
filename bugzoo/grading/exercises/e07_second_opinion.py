"""A reviewer objects. Is there anything to repair?"""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

LINE = "loss = F.cross_entropy(F.log_softmax(logits, dim=-1), targets)"

EXERCISE = Exercise(
    title="A reviewer objects",
    story=(
        "A pull request waits for you. The reviewer wrote: *“I have seen this before, it ruins the training, please "
        "repair it.”* The author answered: *“I trained it, and it is as good as ever.”* Who is right? Look before you change "
        "anything."
    ),
    program="mlp",
    fault="traps/log_softmax_first",
    answers=Answers(
        cause="nothing is wrong",
        evidence=("double_normalisation", "loss_curve", "fresh_gradient", "overfit_one_batch", "initial_loss"),
        tests=(
            "Look at the accuracy of the last epoch only",
            "Lower the learning rate and see whether it gets better",
            "Train with more data",
            "Lay the losses beside those of the run that is beyond doubt, step by step, with the same seed",
        ),
        test="D",
    ),
    hints=(
        "How would you know that a run is healthy? Write the signs down before you look for an illness.",
        "Run the twin with the same seed and compare the losses step by step.",
        "Take the line that the reviewer means and work out on paper what it does to two classes.",
    ),
    solution=(),
    correct={
        "the spare call taken out": ((LINE, "loss = F.cross_entropy(logits, targets)"),),
        "nll": ((LINE, "loss = F.nll_loss(F.log_softmax(logits, dim=-1), targets)"),),
        "a look at the validation data": (
            (
                "        losses.append(loss.item())",
                "        losses.append(loss.item())\n    model.eval()\n    with torch.no_grad():\n"
                "        right = sum((model(x).argmax(-1) == y).sum().item() for x, y in validation_loader)\n"
                "    print(epoch, right / len(validation))",
            ),
        ),
        "a remark": ((LINE, f"{LINE}  # once more changes nothing"),),
    },
    degenerate={
        "lower rate": t.LOWER_RATE,
        "clipping": t.CLIP,
        "another optimiser": t.PLAIN_SGD,
        "more epochs": (("epochs = 6", "epochs = 12"),),
        "softmax instead": ((LINE, "loss = F.cross_entropy(F.softmax(logits, dim=-1), targets)"),),
        "weight decay": ((t.RATE, "lr=learning_rate, weight_decay=0.1)"),),
        "a gradient cut short": (
            (t.STEP, f"        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n{t.STEP}"),
        ),
        "answers looked up": t.LOOKED_UP,
        "hard-coded": t.HARD_CODED,
    },
)
