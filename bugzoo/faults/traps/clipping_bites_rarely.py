"""The gradient is clipped, and at some steps it really was longer. Does that hide that something blows up?"""

from bugzoo.faults.idioms import CLIP, STEP
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Clipping that bites rarely",
    level=2,
    symptom="none",
    trap=True,
    params={"limit": Param(2.0, 1.5, 100.0, "norm to which a longer gradient is cut")},
    edits=before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), $limit)"),
    not_on={
        "amp_transformer": (
            "the line clips what the GradScaler has scaled: there it is a fault, and clip_rate says so, measured."
        ),
        "digits_cnn": "98 in 100 of its gradients are longer than 2: there it does not bite rarely, measured.",
        "sentiment_lstm": "it clips its gradients anyhow.",
        "mini_transformer": "none of its gradients is as long as 2, so that nothing is to be seen, measured.",
    },
    evidence=(),
    effect="none",
    why=(
        "A limit above the usual gradient leaves most steps alone and cuts the few that stick out, here one in a hundred. It "
        "keeps their direction. It is a belt, and says nothing of the health of the training: the losses with and without "
        "it can hardly be told apart. At a limit far below every gradient it would be another learning rate."
    ),
    fix="Nothing needs repair. Look at how often it bites before you call it good or bad.",
    repairs={
        "written out": rewrite(
            CLIP,
            PLACE=(
                "total = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()\n"
                "for parameter in model.parameters():\n    parameter.grad *= min(1.0, $LIMIT / (total.item() + 1e-6))"
            ),
        ),
        "a wider limit": rewrite(CLIP, LIMIT="1.5 * $LIMIT"),
    },
    pretences={
        "to a hundredth": rewrite(CLIP, LIMIT="0.01 * $LIMIT"),
        "behind the step": (remove(CLIP), after(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)")),
        "by value": rewrite(CLIP, PLACE="torch.nn.utils.clip_grad_value_(model.parameters(), 1e-3)"),
    },
    shown_by=("clip_rate", "gradient_health"),
    hints=(
        "How often does it act? One step in a hundred is not nine in ten.",
        "Train once more without it and lay the two losses side by side.",
        "Compare the limit with the usual length of a gradient.",
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Count the share of the steps at which the limit is met.",
            "One in a hundred.",
            "Nearly all.",
        ),
        LookAlike(
            "clipping/clipped_after_step",
            "Ask whether what the optimiser follows is ever longer than the limit.",
            "Never.",
            "Often: nothing that it follows was cut.",
        ),
    ),
    sources=("https://arxiv.org/abs/1211.5063",),
)
