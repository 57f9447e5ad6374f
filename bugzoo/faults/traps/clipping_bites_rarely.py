"""The script clips the gradient, and some gradients really were above the limit. Does that hide an instability?"""

from bugzoo.faults.idioms import CLIP, STEP
from bugzoo.faults.model import Fault, LookAlike, Param
from bugzoo.faults.verbs import after, before, remove, rewrite

FAULT = Fault(
    title="Gradient clipping with a rarely reached max_norm",
    level=2,
    symptom="none",
    trap=True,
    params={"limit": Param(2.0, 1.5, 100.0, "max_norm: a gradient with a larger norm is scaled down to it")},
    edits=before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), $limit)"),
    not_on={
        "amp_transformer": "it clips gradients that GradScaler has scaled: a fault that clip_rate reports (measured).",
        "digits_cnn": "98 in 100 of its gradients have a norm above 2, so the clipping is not rare there (measured).",
        "sentiment_lstm": "it clips its gradients already.",
        "mini_transformer": "none of its gradients reaches a norm of 2, so the clipping never acts (measured).",
    },
    evidence=(),
    effect="none",
    why=(
        "A max_norm above the usual gradient norm leaves most steps unchanged. Here it shortens one gradient in a "
        "hundred and keeps its direction. Such clipping is a safety belt, not a sign of unstable training: the losses "
        "with and without clipping are almost the same. With SGD, a max_norm far below every gradient would act like "
        "another learning rate."
    ),
    fix="Nothing needs repair. Measure how often clipping acts before you call it good or bad.",
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
        "At what share of the steps is the gradient shortened? One in a hundred is not nine in ten.",
        "Train once more without this call and plot both losses in one figure.",
        "Compare the limit with the usual gradient norm. clip_grad_norm_() returns the norm before it clips.",
    ),
    look_alikes=(
        LookAlike(
            "clipping/threshold_too_low",
            "Count the share of the steps at which the gradient norm exceeds the limit.",
            "One step in a hundred exceeds the limit.",
            "Nearly every step exceeds the limit.",
        ),
        LookAlike(
            "clipping/clipped_after_step",
            "Record the gradient norm that optimizer.step() uses, and compare it with the limit.",
            "The norm is never above the limit.",
            "The norm is often above the limit: the optimizer uses gradients that were not clipped.",
        ),
    ),
    sources=("https://arxiv.org/abs/1211.5063",),
    terms=("false positive", "gradient clipping"),
)
