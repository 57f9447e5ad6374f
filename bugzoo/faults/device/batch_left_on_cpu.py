"""The first forward pass fails with an error message that names two devices, although only one was chosen."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

HELD = 'with torch.device("meta"):\n    model = Net()'
BATCH = "$INPUTS, $TARGETS = $INPUTS.to(device), $TARGETS.to(device)"
CHANGED = "$INPUTS, $TARGETS = $VALUE.to(device), $TARGETS.to(device)"
ZERO = "optimizer.zero_grad()"

FAULT = Fault(
    title="Batch and model on different devices",
    level=1,
    symptom="crash",
    edits=either(
        Swap("model = Net().to(device)", HELD, where='device = "cpu"'),
        Swap(f"{BATCH}\n{ZERO}", ZERO),
        Swap(f"{ZERO}\n{BATCH}", ZERO),
        Swap(f"{CHANGED}\n{ZERO}", f"$INPUTS = $VALUE\n{ZERO}"),
    ),
    not_on={
        "data_parallel": "DistributedDataParallel stops with an error for a model on meta, before the first batch.",
    },
    evidence=("outcome == crashed", "crash.batch_apart > 0.5"),
    effect="outcome == crashed",
    why=(
        "All tensors of one operation must be on one device, and torch moves no tensor by itself. With a GPU, the "
        "cause is usually the batch: a DataLoader returns CPU tensors, and only the model was moved. Without a "
        "GPU, the second device is 'meta', whose tensors have a shape but no numbers. A model is built on meta to "
        "save memory until its weights are loaded. Here the weights were never loaded. Matrix products and "
        "embeddings accept meta tensors, so the error can come some layers later, or in the loss."
    ),
    fix=(
        "Move the model and the batch to one device: `model.to(device)`, `inputs.to(device)`, "
        "`targets.to(device)`. A model on meta first needs real weights: `model.load_state_dict(state, "
        "assign=True)`."
    ),
    repairs=instead(
        HELD,
        {
            "built where it runs": "with torch.device(device):\n    model = Net()",
            "another one's weights": f"{HELD}\nmodel.load_state_dict(Net().state_dict(), assign=True)",
            "room, then weights": f"{HELD}\nmodel.to_empty(device=device)\nmodel.load_state_dict(Net().state_dict())",
        },
    )
    | {
        "moved in the loop": Swap(
            ZERO, f"inputs, targets = inputs.to(device), targets.to(device)\n{ZERO}", 'device = "cuda"'
        )
    },
    pretences=instead(
        HELD,
        {
            "moved afterwards": f"{HELD}\nmodel = model.to(device)",
            "room without weights": (
                f"{HELD}\nmodel.to_empty(device=device)\nfor weights in model.parameters():\n    weights.data.zero_()"
            ),
        },
    )
    | {"the batch goes there too": Swap(ZERO, f'inputs, targets = inputs.to("meta"), targets.to("meta")\n{ZERO}')},
    hints=(
        "Which two devices does the error message name, and which of them did you ask for?",
        "Print .device of the batch and of the first parameter, right before the line that fails.",
        "Read the line that builds the model, and every line that moves a tensor.",
    ),
    look_alikes=(
        LookAlike(
            "device/tensor_created_on_default_device",
            "Print the device of every tensor in the model: of parameters, buffers and plain attributes.",
            (
                "The batch is on another device than the model: `crash.batch_apart > 0.5`. All tensors of the "
                "model are on one device: `crash.stray_tensors < 0.5`."
            ),
            (
                "One tensor of the model is on another device: `crash.stray_tensors > 0.5`. The batch is on the "
                "same device as the parameters: `crash.batch_apart < 0.5`."
            ),
        ),
        LookAlike(
            "shape/shape_mismatch_deep",
            "Read the error message: does it name two sizes that do not fit, or two devices?",
            "The message names two devices.",
            "The message names two sizes.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/meta.html",
        "https://github.com/pytorch/pytorch/issues/13717",
        "https://github.com/vladmandic/sdnext/issues/3080",
    ),
    terms=("device mismatch",),
)
