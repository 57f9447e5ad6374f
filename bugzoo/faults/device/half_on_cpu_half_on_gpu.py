"""Training works and the numbers are right. But the GPU is at 5%, and one processor core is busy all the time."""

from bugzoo.faults.model import Fault, LookAlike, Needs, Swap

HOP = 'hidden = self.layer2(hidden.to("cpu")).to(inputs.device)'
MOVED = 'model = Net().to(device)\nmodel.layer2.to("cpu")'

FAULT = Fault(
    title="One layer left on the CPU",
    level=3,
    symptom="slow",
    edits=(
        Swap("model = Net().to(device)", MOVED),
        Swap("hidden = self.layer2(hidden)", HOP),
    ),
    needs=Needs(cuda=True),
    not_on={
        "data_parallel": "DDP refuses a model on several devices and stops with an error at once.",
    },
    evidence=("transfers.inside > 1.5",),
    effect="transfers.inside > healthy",
    why=(
        "One layer computes on the CPU. Its input is copied from the GPU to the CPU, and its output is copied "
        "back. In the backward pass the gradients are copied the same way. Each of these four copies per step is "
        "a host sync: the CPU waits for the GPU, and then the GPU waits for the CPU. The autograd engine follows "
        ".to() without a warning, so only the step time shows the mistake."
    ),
    fix=(
        "Call `model.to(device)` after the last layer is built, so that the whole model moves. Remove the .to() "
        "calls from forward()."
    ),
    repairs={
        "to where its weights are": (
            Swap(MOVED, "model = Net().to(device)"),
            Swap(HOP, "hidden = self.layer2(hidden.to(self.layer2.weight.device))"),
        ),
        "all of it, and no copies": (
            Swap(MOVED, "model = Net()\nmodel.to(device)"),
            Swap(HOP, "hidden = self.layer2(hidden)"),
        ),
    },
    pretences={
        "not waited for": Swap(HOP, HOP.replace("inputs.device", "inputs.device, non_blocking=True")),
        "more threads": Swap(MOVED, f"{MOVED}\ntorch.set_num_threads(8)"),
        "all of it on the CPU": Swap('device = "cuda"', 'device = "cpu"'),
    },
    hints=(
        "Which two processors take turns here, and which tensors are copied between them?",
        "Print the device of each parameter.",
        "Read forward(). Which calls on a tensor do not compute anything?",
    ),
    look_alikes=(
        LookAlike(
            "speed/data_copied_twice",
            "Count the copies that one step makes inside the model's forward pass.",
            "The forward pass makes two copies: the input and the output of one layer.",
            "The forward pass makes no copies: all copies happen earlier in the step.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "Start the script: does the run stop with an error, or does it only take long?",
            "The run finishes, but slowly.",
            "The run stops at the first batch.",
        ),
    ),
    sources=("https://github.com/mit-han-lab/once-for-all/issues/33",),
    terms=("device mismatch", "host sync"),
)
