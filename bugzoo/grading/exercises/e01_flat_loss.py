"""The loss comes down to a floor far above zero."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

LINE = "loss = F.cross_entropy(F.softmax(logits, dim=-1), targets)"

EXERCISE = Exercise(
    title="The loss that will not go lower",
    story=(
        "A colleague trains a small perceptron on handwritten digits. It reads most of them, so nobody worried. But the "
        "training loss creeps from 2.3 to 1.55 in six epochs, and three times as many epochs bring it no lower than 1.49: "
        "*“it is as if there were a floor.”*"
    ),
    program="mlp",
    fault="loss/double_softmax",
    answers=Answers(
        cause="a loss that gets the wrong kind of numbers",
        evidence=("double_normalisation", "initial_loss", "overfit_one_batch", "loss_curve"),
        tests=(
            "Train longer with the same learning rate: a slow learner goes on falling",
            "Overfit one batch: a sound loss goes to zero there, this one stops at the same floor",
            "Train on images in another order",
            "Look whether the validation accuracy differs from the training accuracy",
        ),
        test="B",
    ),
    hints=(
        "Which loss would a perfect classifier reach, and which does this one reach on a single batch?",
        "Print the numbers that enter the loss. In which range do they lie, and what does a row add up to?",
        "Read the line in the training loop that computes the loss, next to what its documentation asks for.",
    ),
    solution=((LINE, "loss = F.cross_entropy(logits, targets)"),),
    correct={
        "log-softmax and nll": ((LINE, "loss = F.nll_loss(F.log_softmax(logits, dim=-1), targets)"),),
        "log of softmax and nll": ((LINE, "loss = F.nll_loss(torch.log(F.softmax(logits, dim=-1) + 1e-12), targets)"),),
        "criterion object": (
            ("step = 0\n", "criterion = nn.CrossEntropyLoss()\nstep = 0\n"),
            (LINE, "loss = criterion(logits, targets)"),
        ),
        "by hand": (
            (LINE, "loss = (torch.logsumexp(logits, 1) - logits.gather(1, targets[:, None]).squeeze(1)).mean()"),
        ),
        "probabilities as targets": ((LINE, "loss = F.cross_entropy(logits, torch.eye(10)[targets])"),),
        "a distribution": ((LINE, "loss = -torch.distributions.Categorical(logits=logits).log_prob(targets).mean()"),),
        "the model gives log-probabilities": (
            ("        return self.head(hidden)", "        return F.log_softmax(self.head(hidden), dim=-1)"),
            (LINE, "loss = F.nll_loss(logits, targets)"),
        ),
    },
    degenerate={
        "lower rate": t.LOWER_RATE,
        "clipping": t.CLIP,
        "another optimiser": t.PLAIN_SGD,
        "more epochs": (("epochs = 6", "epochs = 18"),),
        "sharper": ((LINE, "loss = F.cross_entropy(F.softmax(4 * logits, dim=-1), targets)"),),
        "floor taken off": ((LINE, f"{LINE} - 1.461"),),
        "the same in other words": (
            (LINE, "loss = F.cross_entropy(logits.exp() / logits.exp().sum(-1, keepdim=True), targets)"),
        ),
        "a sigmoid": ((LINE, "loss = F.cross_entropy(torch.sigmoid(logits), targets)"),),
        "hard-coded": t.HARD_CODED,
        "validation too": t.VALIDATION_TOO,
    },
)
