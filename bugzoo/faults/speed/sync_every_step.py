"""The GPU is idle between short bursts of work, although the data is there in time. The log is very detailed."""

from bugzoo.faults.idioms import STEP
from bugzoo.faults.model import Fault, LookAlike
from bugzoo.faults.verbs import after, instead

LINE = "for parameter in model.parameters():\n    print(step, parameter.grad.norm().item())"
INNER = LINE.replace("\n", "\n    ")
ALL = "[parameter.grad.norm() for parameter in model.parameters()]"

FAULT = Fault(
    title="A number of every parameter is fetched and printed at each step",
    level=3,
    symptom="slow",
    edits=after(STEP, LINE),
    not_on={"data_parallel": "one of several ranks cannot run its step again, which is how this is seen."},
    evidence=("fetched_numbers.fetched > 4.5",),
    effect="fetched_numbers.fetched > healthy",
    why=(
        "A GPU works through a queue that Python fills ahead of it. .item() needs a result, so that Python waits until the "
        "queue is empty, and only then begins to prepare the next operation: the device stands still meanwhile. One such wait "
        "a step for the loss is hardly felt; one for each parameter is a dozen here and hundreds in a transformer, and print() "
        "waits for the terminal besides."
    ),
    fix="Keep what is logged on the device and fetch it once, every hundred steps or so, in one tensor.",
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
        "Count how often in one step Python needs a number that the device has not computed yet.",
        "Look for what is there for the log only, and multiply it by the number of parameters.",
    ),
    look_alikes=(
        LookAlike(
            "speed/starved_loader",
            "Measure where the time of a step goes: to the wait for a batch, or to the step itself.",
            "To the step: something in it waits for the device: `fetched_numbers.fetched > 4.5`.",
            "To the wait for a batch: `step_timeline.data_share > 0.6`.",
        ),
        LookAlike(
            "speed/anomaly_mode_left_on",
            "Count the numbers that a step fetches from the device and the lines that it prints.",
            "Many: `fetched_numbers.fetched > 4.5`.",
            "One, as usual: `fetched_numbers.fetched < 4.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
        "https://github.com/meta-pytorch/torchtune/pull/522",
    ),
)
