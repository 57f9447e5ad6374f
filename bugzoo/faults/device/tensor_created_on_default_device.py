"""All parameters are on the right device. The run still fails, with an error about a device that has no parameters."""

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
    title="Missing register_buffer(): tensor stays on the default device",
    level=2,
    symptom="crash",
    edits=either((WITH_MASK, MADE_LATER), (*WITH_PRIOR, MADE_LATER), WITH_MASK, WITH_PRIOR),
    evidence=("outcome == crashed", "crash.stray_tensors > 0.5"),
    effect="outcome == crashed",
    why=(
        "torch.ones(...) without device= creates its tensor on the default device: the CPU, or the device of an "
        "enclosing `with torch.device(...)`. Calls of .to(), state_dict() and load_state_dict() handle parameters "
        "and buffers only. A tensor in a plain attribute stays where it was created. Here the model is built on "
        "'meta', where tensors have no numbers. The state dict that is loaded does not contain the tensor, so "
        "that tensor stays on meta. On a GPU, that tensor alone would stay on the CPU."
    ),
    fix=(
        'Call `self.register_buffer("mask", mask)` for a tensor that belongs to the model. For a tensor that '
        "forward() creates, pass `device=inputs.device`."
    ),
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
        "Which operation fails, and which of its two tensors is not a parameter?",
        "Print the device of each buffer, and of each tensor attribute that is neither a buffer nor a parameter.",
        "Look in __init__() for a tensor that is neither in model.parameters() nor in model.state_dict().",
    ),
    look_alikes=(
        LookAlike(
            "device/batch_left_on_cpu",
            "Print the device of every tensor in the model: of parameters, buffers and plain attributes.",
            (
                "One tensor of the model is on another device: `crash.stray_tensors > 0.5`. The batch is on the "
                "same device as the parameters: `crash.batch_apart < 0.5`."
            ),
            (
                "The batch is on another device than the model: `crash.batch_apart > 0.5`. All tensors of the "
                "model are on one device: `crash.stray_tensors < 0.5`."
            ),
        ),
        LookAlike(
            "device/half_on_cpu_half_on_gpu",
            "Start the script: does the run stop with an error, or does it only take long?",
            "The run stops at the first batch.",
            "The run finishes, but slowly.",
        ),
        LookAlike(
            "shape/shape_mismatch_deep",
            "Move everything to the CPU: the model, its plain tensors and the batch. Does it still fail?",
            "It runs.",
            "It fails at the same line.",
        ),
    ),
    sources=(
        "https://github.com/coreweave/tensorizer/issues/90",
        "https://docs.pytorch.org/docs/stable/meta.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer",
    ),
    terms=("device mismatch",),
)
