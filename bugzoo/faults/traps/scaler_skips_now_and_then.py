"""Every now and then a step leaves the weights unchanged, and its gradient is infinite. Is the training broken?"""

from bugzoo.faults.idioms import BACKWARD, SCALED_BACKWARD, SCALED_STEP, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import before, remove, rewrite

MADE = "torch.amp.GradScaler(device, init_scale=2.0**$POWER, growth_interval=$INTERVAL)"

FAULT = Fault(
    title="Occasional skipped steps under GradScaler",
    level=2,
    symptom="none",
    trap=True,
    params={"interval": Param(15, 10, 2000, "growth_interval: good steps before the scaler doubles the loss scale")},
    edits=Swap(
        "torch.amp.GradScaler(device)", "torch.amp.GradScaler(device, init_scale=2.0**32, growth_interval=$interval)"
    ),
    evidence=(),
    effect="none",
    why=(
        "GradScaler finds the largest usable loss scale by trial. The search starts high, halves the loss scale when "
        "a gradient overflows, and doubles it after enough good steps. The step that overflows is skipped, so no "
        "infinity reaches a weight. Here one step in ten is skipped, half of them at the start. By default it is one "
        "in 2000."
    ),
    fix=(
        "Nothing needs repair. GradScaler finds its loss scale by skipping steps. Skipping most steps would be a fault."
    ),
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
    shown_by=("loss_scale",),
    hints=(
        ("How many steps leave the weights unchanged, and when? One in ten and nine in ten are two different cases."),
        "Plot the loss scale over the steps, and mark the steps that leave the weights unchanged.",
        "Read the arguments on the line that creates the scaler. Look up what each of the two numbers does.",
    ),
    look_alikes=(
        LookAlike(
            "precision/scaler_never_updated",
            "Count the share of the steps without a weight update, and how often the loss scale changes.",
            "A tenth of the steps leave the weights unchanged, and the loss scale changes each time.",
            "Nearly all steps leave the weights unchanged, and the loss scale never changes.",
        ),
        LookAlike(
            "precision/half_softmax",
            "Check whether the steps succeed at some value of the loss scale.",
            "The steps succeed once the loss scale has been halved a few times.",
            "The steps fail at every value: the forward pass itself overflows.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/amp.html",),
    terms=("GradScaler",),
)
