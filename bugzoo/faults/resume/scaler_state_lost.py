"""Where the training was stopped and went on, it stands still for some steps: the loss neither falls nor rises."""

from bugzoo.faults.idioms import LEARNING_RATE, SCALER_UPDATE
from bugzoo.faults.model import Fault, LookAlike, Param, Swap
from bugzoo.faults.verbs import after, instead, rewrite

NEW = "scaler = torch.amp.GradScaler(device, init_scale=2.0**$POWER)"
KEPT = 'torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)'
READ = 'optimizer.load_state_dict(saved["optimizer"])'
BEGUN = NEW.replace("$POWER", "$power")
GOES_ON = f"{READ}\n{NEW}"

FAULT = Fault(
    title="A checkpoint without the gradient scaler's state",
    level=3,
    symptom="drift",
    params={"power": Param(36, 34, 40, "power of two at which a scaler begins; higher costs more steps")},
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
    evidence=("scale_course.rise > 8",),
    effect="scale_watch.skipped_share > healthy",
    why=(
        "A scaler begins at a factor that is too high and halves it at each step whose gradient overflows; such a step is left "
        "out. Started at 2**36, here, it takes eight steps to find one that fits. What was found, and the number of good steps "
        "since, is its state. Who resumes with a new scaler pays for it again at every stop, and a scheduler that is stepped all "
        "the same runs ahead by as many steps. Weights and optimiser are right, so that nothing fails."
    ),
    fix="Keep scaler.state_dict() in the checkpoint, beside the model's and the optimiser's, and load it.",
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
    shown_by=("scale_watch",),
    hints=(
        "Which steps change no weight at all? Count them at the start of the training, and behind the stop.",
        "Print, at every step, the number by which the loss is multiplied before backward().",
        "List every object of this script that remembers something from one step to the next, and look where each is kept.",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Count the steps behind the stop that leave the weights as they are.",
            "Several in a row.",
            "None: the very first one moves them, and by more than it should.",
        ),
        LookAlike(
            "traps/scaler_skips_now_and_then",
            "Look how the factor on the loss rises: by how much, from one step to the next.",
            "A hundred times and more, at the stop: `scale_course.rise > 8`.",
            "It doubles, after so many good steps: `scale_course.rise < 4`.",
        ),
    ),
    sources=(
        "https://github.com/huggingface/transformers/issues/34053",
        "https://github.com/allenai/tango/issues/154",
        "https://github.com/facebookresearch/metaseq/issues/3",
    ),
)
