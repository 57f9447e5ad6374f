"""A step is one batch: however many optimizers it takes, whatever differentiates, and also without an optimizer."""

import numpy as np
import pytest
import torch

from bugzoo.watching import watch

from .support import reach, run

HEAD = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))
record = []
"""
LOOP = """
for step in range(60):
    CLEAR
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    STEP
    record.append(loss.item())
"""
FUNC = """
for step in range(60):
    weights = {name: p.detach() for name, p in model.named_parameters()}
    gradients, loss = torch.func.grad_and_value(
        lambda w: F.cross_entropy(torch.func.functional_call(model, w, (x,)), y)
    )(weights)
    for name, p in model.named_parameters():
        p.grad = gradients[name]
    a.step()
    record.append(loss.item())
"""
ALL = "a = torch.optim.Adam(model.parameters(), lr=0.01)"
TWO = "a = torch.optim.Adam(model[0].parameters(), lr=0.01)\nb = torch.optim.Adam(model[2].parameters(), lr=0.01)"
EACH = """
optimizers = {p: torch.optim.Adam([p], lr=0.01) for p in model.parameters()}
def now(p):
    optimizers[p].step()
    optimizers[p].zero_grad()
for p in model.parameters():
    p.register_post_accumulate_grad_hook(now)
"""
BY_HAND = "with torch.no_grad():\n        for p in model.parameters(): p -= 0.1 * p.grad"
SAMPLES = """
objective = lambda w, a, b: F.cross_entropy(torch.func.functional_call(model, w, (a[None],)), b[None])
for step in range(60):
    each = torch.func.vmap(torch.func.grad_and_value(objective), in_dims=(None, 0, 0))
    gradients, losses = each(dict(model.named_parameters()), x, y)
    for name, p in model.named_parameters():
        p.grad = gradients[name].mean(0).detach()
    a.step()
    record.append(losses.mean().item())
"""


def loop(before: str, clear: str, step: str) -> str:
    return HEAD + before + LOOP.replace("CLEAR", clear).replace("STEP", step)


ADAM = loop(ALL, "a.zero_grad()", "a.step()")
SGD = loop(ALL.replace("Adam", "SGD").replace("0.01", "0.1"), "a.zero_grad()", "a.step()")
VALUE = "gradients, loss = torch.func.grad_and_value("
FORMS = {
    "two optimizers": (loop(TWO, "a.zero_grad(); b.zero_grad()", "a.step(); b.step()"), ADAM),
    "one for each parameter": (loop(TWO, "model.zero_grad()", "b.step(); a.step()"), ADAM),
    "within backward": (loop(EACH, "pass", "pass"), ADAM),
    "grad_and_value": (HEAD + ALL + FUNC, ADAM),
    "parameters themselves": (HEAD + ALL + FUNC.replace("p.detach()", "p").replace("s[name]\n", "s[name].detach()\n"), ADAM),
    "vjp": (
        HEAD + ALL + FUNC.replace(VALUE, "loss, back = torch.func.vjp(").replace(
            "    )(weights)\n", "    , weights)\n    gradients, = back(torch.ones(()))\n"
        ),
        ADAM,
    ),
    "each sample": (HEAD + ALL + SAMPLES, ADAM),
    "by hand": (loop("", "model.zero_grad()", BY_HAND), SGD),
    "its data by hand": (loop("", "model.zero_grad()", BY_HAND.replace("p -=", "p.data -=")), SGD),
    "torch.func by hand": (
        HEAD + FUNC.replace("p.grad = gradients[name]", "p.data -= 0.1 * gradients[name]").replace("    a.step()\n", ""), SGD,
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_trace_is_that_of_one_optimizer(form):
    source, usual = FORMS[form]
    names, trace = run(source, "form.py", watched=True)
    _, other = run(usual, "usual.py", watched=True)
    assert trace.step.tolist() == list(range(1, 61)) and not np.any(trace.optimizer) and not np.any(trace.leftover)
    np.testing.assert_allclose(trace.loss, names["record"], rtol=1e-5)
    for part in ("loss", "grad_norm", "backwards", "param_grad_norm", "param_norm", "param_norm_step"):
        np.testing.assert_allclose(getattr(trace, part), getattr(other, part), rtol=1e-3, atol=1e-6, err_msg=part)
    finite = np.isfinite(other.update_ratio)
    np.testing.assert_allclose(trace.update_ratio[finite], other.update_ratio[finite], rtol=1e-3)
    assert [p.name for p in trace.parameters] == [p.name for p in other.parameters] and reach(trace)[1] == 60
    assert all(p.changed > 0 for p in trace.parameters) and [b.step for b in trace.live.batches] == [
        b.step for b in other.live.batches if form != "each sample"
    ]


KEPT = {
    "two optimizers": loop(TWO, "pass", "a.step(); b.step()"),
    "one of two": loop(TWO, "a.zero_grad()", "a.step(); b.step()"),
    "within backward": loop(EACH.replace("    optimizers[p].zero_grad()\n", ""), "pass", "pass"),
    "grad_and_value": HEAD + ALL + FUNC.replace(
        "p.grad = gradients[name]", "p.grad = gradients[name] if p.grad is None else p.grad + gradients[name]"
    ),
    "by hand": loop("", "pass", BY_HAND),
}  # fmt: skip


@pytest.mark.parametrize("form", KEPT)
def test_old_gradients_are_seen_in_each_form(form):
    _, trace = run(KEPT[form], "kept.py", watched=True)
    assert len(trace.step) == 60 and (trace.leftover[1:] > 0.1).all()


def test_two_backward_passes_and_their_steps_stay_two():
    turns = loop(TWO, "model.zero_grad()", "a.step()\n    F.cross_entropy(model(x), y).backward(); b.step()")
    _, trace = run(turns, "turns.py", watched=True)
    assert trace.optimizer.tolist() == [0, 1] * 60 and set(trace.backwards) == {1}


def test_several_backward_passes_before_both_are_one():
    several = loop(TWO, "model.zero_grad()", "F.cross_entropy(model(x), y).backward(); a.step(); b.step()")
    _, trace = run(several, "several.py", watched=True)
    assert len(trace.step) == 60 and set(trace.backwards) == {2} and not np.any(trace.leftover)


def test_a_second_step_of_one_optimizer_is_a_step():
    _, trace = run(loop(TWO, "model.zero_grad()", "a.step(); a.step()"), "again.py", watched=True)
    assert len(trace.step) == 120 and trace.backwards.tolist() == [1, 0] * 60


NOT_STEPS = {
    "drawn anew": "for layer in (model[0], model[2]): layer.reset_parameters()",
    "loaded": "model.load_state_dict({name: value * 0.9 for name, value in model.state_dict().items()})",
    "nothing": "pass",
}


@pytest.mark.parametrize("what", NOT_STEPS)
def test_not_every_change_of_the_weights_is_a_step(what):
    before = f"F.cross_entropy(model(x), y).backward()\n{NOT_STEPS[what]}\n{ALL}"
    _, trace = run(loop(before, "a.zero_grad()", "a.step()"), "warm.py", watched=True)
    assert len(trace.step) == 60


def test_steps_by_hand_are_reported_and_can_be_the_last_ones():
    steps = []
    names = {}
    with watch(on_step=steps.append) as trace:
        exec(compile(FORMS["by hand"][0], "by_hand.py", "exec"), names)
    assert len(trace.step) == 60 and [step["step"] for step in steps] == list(range(1, 60))
    assert steps[3]["loss"] == pytest.approx(names["record"][3])


def test_after_an_optimizer_no_change_by_hand_counts():
    clipped = loop(ALL, "a.zero_grad()", "a.step()\n    for p in model.parameters(): p.data.clamp_(-0.1, 0.1)")
    _, trace = run(clipped, "clipped.py", watched=True)
    assert len(trace.step) == 60


def test_skipped_steps_of_two_optimizers_are_one():
    source = loop(
        TWO + "\nscaler = torch.amp.GradScaler('cpu', init_scale=1e38)", "model.zero_grad()",
        "scaler.step(a); scaler.step(b); scaler.update()",
    ).replace("loss.backward()", "scaler.scale(loss * 1e3).backward()")  # fmt: skip
    _, trace = run(source, "scaled.py", watched=True)
    skipped = [event.step for event in trace.events if event.kind == "skipped_step"]
    assert len(trace.step) == 60 and skipped and len(set(skipped)) == len(skipped)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_the_numbers_of_two_optimizers_on_a_gpu():
    def on_gpu(text: str) -> str:
        return text.replace("nn.Linear(16, 3))", "nn.Linear(16, 3)).cuda()").replace("torch.randn(64, 8)", (
            "torch.randn(64, 8).cuda()")).replace("(64,))", "(64,)).cuda()")  # fmt: skip

    _, trace = run(on_gpu(FORMS["two optimizers"][0]), "two.py", watched=True)
    _, other = run(on_gpu(ADAM), "one.py", watched=True)
    np.testing.assert_allclose(trace.grad_norm, other.grad_norm, rtol=1e-3)
    assert len(trace.step) == 60 and not np.any(trace.leftover)
