"""The first forward pass stops: a tensor "is not on the expected device". The script names one device, and that is the CPU."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, instead

HELD = 'with torch.device("meta"):\n    model = Net()'
BATCH = "$INPUTS, $TARGETS = $INPUTS.to(device), $TARGETS.to(device)"
CHANGED = "$INPUTS, $TARGETS = $VALUE.to(device), $TARGETS.to(device)"
ZERO = "optimizer.zero_grad()"

FAULT = Fault(
    title="The batch is on the CPU, and the model is not",
    level=1,
    symptom="crash",
    edits=either(
        Swap("model = Net().to(device)", HELD, where='device = "cpu"'),
        Swap(f"{BATCH}\n{ZERO}", ZERO),
        Swap(f"{ZERO}\n{BATCH}", ZERO),
        Swap(f"{CHANGED}\n{ZERO}", f"$INPUTS = $VALUE\n{ZERO}"),
    ),
    not_on={"data_parallel": "DistributedDataParallel stops at once over a model on 'meta', before there is a batch."},
    evidence=("outcome == crashed", "crash.batch_apart > 0.5"),
    effect="outcome == crashed",
    why=(
        "An operation needs all that it computes with on one device; torch moves nothing by itself. With a GPU it is mostly the "
        "batch that was forgotten: a DataLoader gives tensors on the CPU, and only the model was moved. Without one it happens "
        "with 'meta', a device whose tensors have a shape and no numbers: a model is built there to save memory until its "
        "weights are loaded, and here they never were. The first operation that checks its devices complains; a product of "
        "matrices and an embedding let meta tensors pass, so that it may be some layers further on, or the loss."
    ),
    fix="Bring both to one device: .to(device) for the batch, and weights with numbers in them for a model made on meta.",
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
        "Which two devices does the message speak of, and which of them did you ask for?",
        "Print .device of the batch and of the first parameter, right before the line that fails.",
        "Read the line that builds the model, and those that move something.",
    ),
    look_alikes=(
        LookAlike(
            "device/tensor_created_on_default_device",
            "List the device of every tensor in the model: of parameters, of buffers, of plain attributes.",
            "All are on one, and what comes in is on another: `crash.batch_apart > 0.5`, `crash.stray_tensors < 0.5`.",
            "One of them lies alone: `crash.stray_tensors > 0.5`, `crash.batch_apart < 0.5`.",
        ),
        LookAlike(
            "shape/shape_mismatch_deep",
            "Read of what the message speaks: of two sizes that do not fit, or of two devices.",
            "Of two devices.",
            "Of two sizes.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/meta.html",
        "https://github.com/pytorch/pytorch/issues/13717",
        "https://github.com/vladmandic/sdnext/issues/3080",
    ),
)
