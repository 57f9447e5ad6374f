"""One step is fine, the next is nan."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

LINE = "            hidden = torch.log(hidden - hidden.min() + 1e-50)"
BLOCK = f"        if step >= 44:\n{LINE}\n"

EXERCISE = Exercise(
    title="Fine, fine, fine, nan",
    story=(
        "One epoch without a sign of trouble: the loss of this convolutional network falls as it should. Early in the second "
        "it is `nan`, and stays `nan`. The data are clean, the learning rate is modest. *“It happens at the same "
        "step every time, on every machine. And last week somebody made this very model safe against it.”*"
    ),
    program="digits_cnn",
    fault="numerics/log_at_step?step=44&eps=1e-50",
    answers=Answers(
        cause="an operation outside its domain",
        evidence=("first_non_finite", "replay", "gradient_health"),
        tests=(
            "Lower the learning rate by ten: a divergence comes later, this one at the same step",
            "Shuffle the data with another seed",
            "Train on one batch only",
            "Count the parameters",
        ),
        test="A",
        step=(44, 46),
    ),
    hints=(
        "The first nan in the loss is not the first number that is not finite. Look one step earlier.",
        "Watch what each layer hands on, forwards and backwards, around that step.",
        "Read the forward pass: for which input is each function not defined, can its tensor hold each constant, and does "
        "this network need it at all?",
    ),
    solution=((BLOCK, ""),),
    settings={"epochs": 12},
    room=2.0,  # with log1p(relu(x)) the network is well and learns a little more slowly than without any logarithm
    correct={
        "log1p": ((LINE, "            hidden = torch.log1p(F.relu(hidden))"),),
        "an odd logarithm": ((LINE, "            hidden = hidden.sign() * torch.log1p(hidden.abs())"),),
        "rectified already here": ((LINE, "            hidden = F.relu(hidden)"),),
        "in one line again": (
            (
                "        hidden = self.norm2(self.layer2(hidden))\n" + BLOCK + "        hidden = F.max_pool2d(F.relu(hidden), 2)",
                "        hidden = F.max_pool2d(F.relu(self.norm2(self.layer2(hidden))), 2)",
            ),
        ),
        "softplus": ((LINE, "            hidden = F.softplus(hidden)"),),
        "an argument above one": ((LINE, "            hidden = torch.log(1 + torch.exp(hidden))"),),
        "never reached": (("step >= 44", "step < 0"),),
    },
    degenerate={
        "nan turned to zero": ((LINE, f"{LINE}\n            hidden = torch.nan_to_num(hidden, neginf=0.0)"),),
        "gradients mended": (
            (t.STEP, "        for parameter in model.parameters():\n"
                     "            parameter.grad = torch.nan_to_num(parameter.grad, 0.0, 0.0, 0.0)\n" + t.STEP),
        ),
        "bad steps left out": (
            (
                t.STEP,
                "        if all(torch.isfinite(p.grad).all() for p in model.parameters()):\n            optimizer.step()",
            ),
        ),
        "an eps": ((LINE, LINE.replace("1e-50", "1e-9")),),
        "a larger eps": ((LINE, LINE.replace("1e-50", "1e-3")),),
        "a clamp": ((LINE, "            hidden = torch.log((hidden - hidden.min()).clamp(min=1e-6))"),),
        "at the end only": (("step >= 44", "step >= 432"),),
        "weights of before": (
            ("        losses.append(loss.item())", "        losses.append(loss.item())\n        if step == 43:\n"
             "            kept = {name: value.clone() for name, value in model.state_dict().items()}"),
            ("model.eval()\n", "model.load_state_dict(kept)\nstep = 0\nmodel.eval()\n"),
        ),
        "early stop": (("        loss.backward()", "        if step >= 44:\n            break\n        loss.backward()"),),
        "lower rate": (("learning_rate = 2e-3", "learning_rate = 2e-4"),),
        "clipping": t.CLIP,
        "loss mended": (("        loss.backward()", "        loss = torch.nan_to_num(loss)\n        loss.backward()"),),
        "hard-coded": t.HARD_CODED,
    },
    own_forward=True,
)  # fmt: skip
