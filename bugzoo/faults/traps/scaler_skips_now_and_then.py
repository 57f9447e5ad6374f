"""Every now and then a step leaves the weights as they were, and its gradient is infinite. Is the training broken?"""

from bugzoo.faults.idioms import BACKWARD, SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, remove, rewrite

MADE = "torch.amp.GradScaler(device, init_scale=2.0**$POWER, growth_interval=$INTERVAL)"

FAULT = Fault(
    title="A scaler that skips a step now and then",
    level=2,
    symptom="none",
    trap=True,
    params={"interval": Param(15, 10, 2000, "good steps, after which the scaler tries twice its factor")},
    edits=Swap(
        "torch.amp.GradScaler(device)", "torch.amp.GradScaler(device, init_scale=2.0**32, growth_interval=$interval)"
    ),
    evidence=(),
    effect="none",
    why=(
        "A scaler finds the largest factor that fits by trying: it begins high, and halves it at every step whose gradient "
        "overflows; after so many good steps it doubles it again, until that is too much. Such a step is left out whole, so "
        "that no infinity reaches a weight. Here that is one step in ten, half of them at the start; by default, one in 2000."
    ),
    fix="Nothing needs repair. Skipped steps are how the scaler learns its factor; most steps skipped would be a fault.",
    repairs={
        "a lower start": Swap(MADE, "torch.amp.GradScaler(device, init_scale=2.0**26, growth_interval=2000)"),
        "tried less often": Swap(MADE, "torch.amp.GradScaler(device, init_scale=2.0**20, growth_interval=200)"),
        "as it comes": Swap(MADE, "torch.amp.GradScaler(device)"),
    },
    pretences={
        "never told": remove(SCALER_UPDATE),
        "without a scaler": (
            rewrite(SCALED_BACKWARD, PLACE="$LOSS.backward()"),
            rewrite(SCALED_STEP, PLACE="$OPTIMIZER.step()"),
            remove(SCALER_UPDATE),
        ),
        "a smaller loss": before(BACKWARD, "loss = loss / 1e6"),
    },
    shown_by=("scale_watch",),
    hints=(
        "How many steps are left out, and when? One in ten and nine in ten are two stories.",
        "Follow the factor of the scaler over the steps beside the steps that it left out.",
        "Read what is set where the scaler is made, and look up what each of the two numbers does.",
    ),
    look_alikes=(
        LookAlike(
            "precision/scaler_never_updated",
            "Count the share of the steps that are left out, and how often the factor changes.",
            "A tenth, and the factor changes each time.",
            "Nearly all of them, and it never changes.",
        ),
        LookAlike(
            "precision/half_softmax",
            "Look whether a factor is found with which the steps go well.",
            "One is, after a few steps.",
            "None is: the forward pass itself leaves the range of the format.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/amp.html",),
)
