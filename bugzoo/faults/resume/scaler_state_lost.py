"""After a stop and a resume, training makes no progress for some steps. The loss neither falls nor rises."""

from bugzoo.faults.idioms import LEARNING_RATE, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, instead, rewrite

NEW = "scaler = torch.amp.GradScaler(device, init_scale=2.0**$POWER)"
KEPT = 'torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)'
READ = 'optimizer.load_state_dict(saved["optimizer"])'
BEGUN = NEW.replace("$POWER", "$power")
GOES_ON = f"{READ}\n{NEW}"

FAULT = Fault(
    title="GradScaler state not restored on resume",
    level=3,
    symptom="drift",
    params={"power": Param(36, 34, 40, "init_scale is two to this power (a higher power costs more steps)")},
    edits=(
        Swap("import math", "import io\nimport math"),
        Swap("scaler = torch.amp.GradScaler(device)", BEGUN),
        after(
            SCALER_UPDATE,
            "if step + 1 == steps // 2:  # stopped here, and started again from the checkpoint\n"
            f"    checkpoint = io.BytesIO()\n    {KEPT}\n    checkpoint.seek(0)\n    saved = torch.load(checkpoint)\n"
            f'    model.load_state_dict(saved["model"])\n    {READ}\n    {BEGUN}',
        ),
    ),
    evidence=("loss_scale.rise > 8",),
    effect="loss_scale.skipped_share > healthy",
    why=(
        "GradScaler starts with a loss scale that is too high. Each step whose gradient overflows is skipped and "
        "halves the loss scale: from 2**36, as here, that costs eight steps. A new scaler has lost the loss scale and "
        "its count of good steps, so it pays again at every resume. A scheduler that steps anyway runs ahead by as "
        "many steps. Weights and optimizer state are right, so no error appears."
    ),
    fix=(
        "Save scaler.state_dict() in the checkpoint, next to the model's and the optimizer's. Load it on resume with "
        "scaler.load_state_dict()."
    ),
    repairs={
        "kept and read": (
            Swap(
                KEPT, KEPT.replace("optimizer.state_dict()}", 'optimizer.state_dict(), "scaler": scaler.state_dict()}')
            ),
            Swap(GOES_ON, f'{GOES_ON}\nscaler.load_state_dict(saved["scaler"])'),
        ),
        "the same scaler": Swap(GOES_ON, READ),
        "a new one at its factor": Swap(
            GOES_ON, f"{READ}\nscaler = torch.amp.GradScaler(device, init_scale=scaler.get_scale())"
        ),
    },
    pretences={
        "kept and not read": Swap(
            KEPT, KEPT.replace("optimizer.state_dict()}", 'optimizer.state_dict(), "scaler": scaler.state_dict()}')
        ),
        "a smaller step": rewrite(LEARNING_RATE, LR="fold($LR / 3)"),
    }
    | instead(
        GOES_ON,
        {
            "one that grows faster": GOES_ON.replace("**$POWER)", "**$POWER, growth_interval=10)"),
            "one that backs off faster": GOES_ON.replace("**$POWER)", "**$POWER, backoff_factor=0.25)"),
            "its own state": f"{GOES_ON}\nscaler.load_state_dict(scaler.state_dict())",
        },
    ),
    shown_by=("loss_scale",),
    hints=(
        "Which steps change no weight at all? Count them at the start of training and after the stop.",
        "At every step, print the number that multiplies the loss before backward().",
        "List every object that remembers something from one step to the next. Where is each object saved?",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Count the steps after the stop that leave the weights unchanged.",
            "Several steps in a row leave the weights unchanged.",
            "The very first step changes the weights, and by more than it should.",
        ),
        LookAlike(
            "traps/scaler_skips_now_and_then",
            "Print the loss scale at every step. By how much does it rise from one step to the next?",
            "The loss scale rises a hundredfold or more at the stop: `loss_scale.rise > 8`.",
            "The loss scale doubles after a number of good steps: `loss_scale.rise < 4`.",
        ),
    ),
    sources=(
        "https://github.com/huggingface/transformers/issues/34053",
        "https://github.com/allenai/tango/issues/154",
        "https://github.com/facebookresearch/metaseq/issues/3",
    ),
    terms=("checkpoint", "GradScaler", "loss scale"),
)
