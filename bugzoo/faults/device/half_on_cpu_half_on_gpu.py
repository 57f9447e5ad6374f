"""It trains and its numbers are right, but the GPU is at 5% and one processor core is busy all the time."""

from bugzoo.faults.model import Fault, LookAlike, Needs, Swap

HOP = 'hidden = self.layer2(hidden.to("cpu")).to(inputs.device)'
MOVED = 'model = Net().to(device)\nmodel.layer2.to("cpu")'

FAULT = Fault(
    title="One layer on the CPU, the others on the GPU",
    level=3,
    symptom="slow",
    edits=(
        Swap("model = Net().to(device)", MOVED),
        Swap("hidden = self.layer2(hidden)", HOP),
    ),
    needs=Needs(cuda=True),
    not_on={"data_parallel": "DDP refuses a model of several devices, so that it stops at once."},
    evidence=("transfers.inside > 1.5",),
    effect="transfers.inside > healthy",
    why=(
        "The layer computes on the CPU. What goes into it is fetched from the GPU, what comes out is sent back, and the "
        "gradients make the same way in the other direction: four copies a step that each wait for the GPU to finish, which "
        "then waits for the CPU. autograd follows .to() without a word, so that nothing but the time shows it."
    ),
    fix="Move the whole model, after its last layer was made, and take the .to() calls out of its forward pass.",
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
        "Which two processors work in turns here, and what goes to and fro between them?",
        "List the device of each parameter.",
        "Look at what the model's forward pass does to a tensor beside computing with it.",
    ),
    look_alikes=(
        LookAlike(
            "speed/data_copied_twice",
            "Count the copies of a step that lie within the model's forward pass.",
            "Two of every activation of one layer.",
            "None: they all come before it.",
        ),
        LookAlike(
            "device/batch_left_on_cpu",
            "See whether it stops with an error, or goes on and only takes long.",
            "It runs to its end, slowly.",
            "It stops at the first batch.",
        ),
    ),
    sources=("https://github.com/mit-han-lab/once-for-all/issues/33",),
)
