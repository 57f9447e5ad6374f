"""Ways to write a training that made its steps hard to work out: a repair's right, and no hiding place for a wrong one."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from collections.abc import Callable

from tests.grading.attack_kinds.asking import when
from tests.grading.attack_kinds.parts import Kind, at, both

CALL = "        logits = model(inputs)\n        loss ="
AROUND = """class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model

    def forward(self, x):
        return self.inner(x)


wrapped = Around()
step = 0
"""


def called(new: str, before: str = "") -> Callable[[str], str]:
    """The training's call of the model written in another way."""
    return lambda source: (at("Model", before) if before else str)(source).replace(CALL, new + "        loss =")


DODGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "called twice a step": ("of several calls the one counts that gives its gradient, if any",
        called("        logits = model(inputs)\n        logits = model(inputs)\n")),
    "a small call first": ("of several calls the one counts that gives its gradient, if any",
        called("        model(inputs[:1])\n        logits = model(inputs)\n")),
    "called by a keyword": ("a batch given by its name is one", called("        logits = model(inputs=inputs)\n")),
    "layers renamed": ("weights are matched by their order and shape where their names are others",
        lambda source: source.replace("layer1", "first").replace("layer2", "second").replace("self.head", "self.last")),
    "wrapped in another module": ("weights are matched by their order and shape where their names are others",
        lambda source: called("        logits = wrapped(inputs)\n")(source).replace("step = 0\n", AROUND)),
    "in double precision": ("steps in another precision are worked out in single precision",
        lambda source: source.replace("Net().to(device)", "Net().to(device).double()").replace(
            "model(inputs)", "model(inputs.double())")),
    "a loss by hand": ("targets that no loss of torch's keeps are looked up by the inputs",
        lambda source: source.replace("F.cross_entropy(", "(lambda x, y: -x.log_softmax(-1)[torch.arange(len(y)), y].mean())(", 1)),
}  # fmt: skip
"""Ways to write the training that made a step hard to work out: each is a repair's right, and no hiding place."""
PARTLY = "with the softmax at every seventh step"
KINDS = {f"{name}, {PARTLY}": Kind("16", why, both(when("step % 7"), edit)) for name, (why, edit) in DODGES.items()}
KINDS |= {
    f"forward() called past its hooks, {PARTLY}": Kind("16", "the layers' calls are no call of a model, and its data is not seen",
        both(when("step % 7"), called("        logits = model.forward(inputs)\n"))),
    f"a small model first, {PARTLY}": Kind("16", "of several models the largest counts, and this one never moved",
        both(when("step % 7"), called("        small(inputs)\n        logits = model(inputs)\n", "small = nn.Linear(64, 1)\n"))),
    f"five calls a step, {PARTLY}": Kind("16", "four calls of a step are kept at most",
        both(when("step % 7"), called("        for _ in range(5):\n            model(inputs[:3])\n        logits = model(inputs)\n"))),
    f"a row more than targets, {PARTLY}": Kind("16", "rows and targets do not fit together",
        both(when("step % 7"), called("        logits = model(torch.cat([inputs, inputs[:1]]))[:-1]\n"))),
    f"two half batches, {PARTLY}": Kind("16", "rows and targets do not fit together",
        both(when("step % 7"), called("        logits = torch.cat([model(inputs[:16]), model(inputs[16:])])\n"))),
}  # fmt: skip
