"""The GPU is idle between short bursts of work, although each batch is ready in time. The log is very detailed."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead

LINE = "for parameter in model.parameters():\n    print(step, parameter.grad.norm().item())"
INNER = LINE.replace("\n", "\n    ")
ALL = "[parameter.grad.norm() for parameter in model.parameters()]"

FAULT = Fault(
    title="Host sync (.item()) for every parameter at each step",
    level=3,
    symptom="slow",
    edits=after(STEP, LINE),
    not_on={"data_parallel": "the check re-runs one training step, and one of several ranks cannot do that alone."},
    evidence=("host_syncs.syncs > 4.5",),
    effect="host_syncs.syncs > healthy",
    why=(
        "A GPU works through a queue that Python fills ahead of time. .item() needs a result, so Python waits until "
        "the queue is empty. Only then does Python prepare the next operation, and the device idles meanwhile. One "
        "host sync per step for the loss costs little. One per parameter is a dozen here and hundreds in a "
        "transformer, and print() also waits for the terminal."
    ),
    fix="Keep logged values on the device. Read all of them back in one tensor, every hundred steps or so.",
    repairs=instead(
        LINE,
        {
            "now and then": f"if step % 200 == 199:\n    {INNER}",
            "in one piece": f"print(step, torch.stack({ALL}).tolist())",
            "kept as tensors": f"norms = {ALL}",
            "one number for all": f"print(step, torch.stack({ALL}).norm().item())",
        },
    ),
    pretences=instead(
        LINE,
        {
            "not printed": f"norms = [one.item() for one in {ALL}]",
            "with float()": LINE.replace("parameter.grad.norm().item()", "float(parameter.grad.norm())"),
            "through the CPU": LINE.replace("item()", "cpu().numpy()"),
            "in a text": LINE.replace("step, parameter.grad.norm().item()", "f'{step} {parameter.grad.norm():.3f}'"),
            "without a gradient": f"with torch.no_grad():\n    {INNER}",
        },
    ),
    hints=(
        "Is the device slow, or does it have nothing to do most of the time?",
        "Count how often in one step Python needs a value that the device has not computed yet.",
        "Find the code that exists only for the log. Multiply its cost by the number of parameters.",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Time one step: how much is the wait for a batch, and how much is the step itself?",
            (
                "The step itself takes most of the time, because a line in it waits for the device: "
                "`host_syncs.syncs > 4.5`."
            ),
            "The wait for a batch takes most of the time: `step_timeline.data_share > 0.6`.",
        ),
        LookAlike(
            "speed/anomaly_mode_left_on",
            "Count the values that one step reads back from the device, and the lines that it prints.",
            "The step reads back many values: `host_syncs.syncs > 4.5`.",
            "The step reads back one value, as usual: `host_syncs.syncs < 4.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
        "https://github.com/meta-pytorch/torchtune/pull/522",
    ),
    terms=("host sync", "profiler"),
)
