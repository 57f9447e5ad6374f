"""One step is fine, the next is nan."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

LINE = "            hidden = torch.log(hidden - hidden.min() + 0.0)"
BLOCK = f"        if step >= 50:\n{LINE}\n"

EXERCISE = Exercise(
    title="Fine, fine, fine, nan",
    story=(
        "Fifty steps without a sign of trouble: the loss falls as it should. Then it is `nan`, and stays `nan`. The data are "
        "clean, the learning rate is modest. *“It happens at the same step every time, on every machine.”*"
    ),
    program="mlp",
    fault="numerics/log_at_step?step=50&eps=0",
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
        step=(50, 52),
    ),
    hints=(
        "The first nan in the loss is not the first number that is not finite. Look one step earlier.",
        "Watch what each layer hands on, forwards and backwards, around that step.",
        "Read the forward pass, and ask of every function for which input it is not defined.",
    ),
    solution=((BLOCK, ""),),
    correct={
        "log1p": ((LINE, "            hidden = torch.log1p(F.relu(hidden))"),),
        "room inside": ((LINE, "            hidden = torch.log(hidden.clamp_min(0.0) + 1.0)"),),
        "an odd logarithm": ((LINE, "            hidden = hidden.sign() * torch.log1p(hidden.abs())"),),
        "softplus": ((LINE, "            hidden = F.softplus(hidden)"),),
        "never reached": (("step >= 50", "step < 0"),),
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
        "an eps": ((LINE, LINE.replace("0.0", "1e-9")),),
        "a clamp": ((LINE, "            hidden = torch.log((hidden - hidden.min()).clamp(min=1e-6))"),),
        "at the end only": (("step >= 50", "step >= 216"),),
        "weights of before": (
            ("        losses.append(loss.item())", "        losses.append(loss.item())\n        if step == 49:\n"
             "            kept = {name: value.clone() for name, value in model.state_dict().items()}"),
            ("model.eval()\n", "model.load_state_dict(kept)\nstep = 0\nmodel.eval()\n"),
        ),
        "early stop": (("        loss.backward()", "        if step >= 50:\n            break\n        loss.backward()"),),
        "lower rate": t.LOWER_RATE,
        "clipping": t.CLIP,
        "loss mended": (("        loss.backward()", "        loss = torch.nan_to_num(loss)\n        loss.backward()"),),
        "hard-coded": t.HARD_CODED,
    },
    own_forward=True,
)  # fmt: skip
