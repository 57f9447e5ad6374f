"""Every parameter is where it should be, I printed them all. It stops all the same, over a device that none of them is on."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

HELD = 'with torch.device("meta"):\n    model = Net()\nmodel.load_state_dict(Net().state_dict(), assign=True)'
MASK = "self.mask = torch.tril(torch.ones(context, context))"
PRIOR = "self.prior = torch.full((10,), 0.1).log()"
MADE_LATER = Swap("model = Net().to(device)", HELD, where='device = "cpu"')
WITH_MASK = Swap('self.register_buffer("mask", torch.tril(torch.ones(context, context)))', MASK)
WITH_PRIOR = (
    Swap("self.head = nn.Linear($IN, 10)", f"self.head = nn.Linear($IN, 10)\n{PRIOR}"),
    Swap("return self.head($HIDDEN)", "return self.head($HIDDEN) + self.prior"),
)

FAULT = Fault(
    title="A tensor of the model was made on the default device and stayed there",
    level=2,
    symptom="crash",
    edits=either((WITH_MASK, MADE_LATER), (*WITH_PRIOR, MADE_LATER), WITH_MASK, WITH_PRIOR),
    evidence=("outcome == crashed", "crash.stray_tensors > 0.5"),
    effect="outcome == crashed",
    why=(
        "torch.ones(...) without device= makes its tensor on the default device: the CPU, or what a `with torch.device(...)` "
        "around it says. .to(), state_dict() and load_state_dict() know parameters and buffers; a tensor that is a plain "
        "attribute stays where it was made. Here the model is built on 'meta', where tensors have no numbers, and gets its "
        "weights from a state that does not hold this one; on a GPU it would be the only one left on the CPU."
    ),
    fix="register_buffer(...) for what belongs to the model, and device=inputs.device for what is made during the forward pass.",
    repairs=instead(
        MASK,
        {
            "its device named": "self.mask = torch.tril(torch.ones(context, context, device=device))",
            "a buffer of its own device": (
                'self.register_buffer("mask", torch.ones(context, context, device=device).tril(), persistent=False)'
            ),
        },
    )
    | instead(
        PRIOR,
        {
            "its device named there": "self.prior = torch.full((10,), 0.1, device=device).log()",
            "a buffer there": 'self.register_buffer("prior", torch.full((10,), 0.1, device=device).log(), persistent=False)',
        },
    )
    | {
        "made where it is used": Swap(
            "return self.head($HIDDEN) + self.prior", "return self.head($HIDDEN) + $HIDDEN.new_full((10,), 0.1).log()"
        ),
        "built where it runs": Swap('with torch.device("meta"):\n    model = Net()', "model = Net().to(device)"),
    },
    pretences={
        "the model moved": Swap(HELD, f"{HELD}\nmodel = model.to(device)"),
        "not to be saved": either(
            Swap(MASK, 'self.register_buffer("mask", torch.tril(torch.ones(context, context)), persistent=False)'),
            Swap(PRIOR, 'self.register_buffer("prior", torch.full((10,), 0.1).log(), persistent=False)'),
        ),
        "moved when it is used": either(
            Swap("self.head($HIDDEN) + self.prior", "self.head($HIDDEN) + self.prior.to(device)"),
            Swap("self.mask[$$$PART]", "self.mask.to(device)[$$$PART]"),
        ),
        "the batch goes there": Swap("optimizer.zero_grad()", 'inputs = inputs.to("meta")\noptimizer.zero_grad()'),
    },
    hints=(
        "Which operation fails, and which of its two tensors is no parameter?",
        "List the model's buffers, and the attributes that are tensors and neither buffer nor parameter, with their devices.",
        "Look in the constructor for a tensor that nobody registered.",
    ),
    look_alikes=(
        LookAlike(
            "device/batch_left_on_cpu",
            "List the device of every tensor in the model: of parameters, of buffers, of plain attributes.",
            "One of them lies alone: `crash.stray_tensors > 0.5`, `crash.batch_apart < 0.5`.",
            "All are on one, and what comes in is on another: `crash.batch_apart > 0.5`, `crash.stray_tensors < 0.5`.",
        ),
        LookAlike(
            "device/half_on_cpu_half_on_gpu",
            "See whether it stops with an error, or goes on and only takes long.",
            "It stops at the first batch.",
            "It runs to its end, slowly.",
        ),
    ),
    sources=(
        "https://github.com/coreweave/tensorizer/issues/90",
        "https://docs.pytorch.org/docs/stable/meta.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer",
    ),
)
