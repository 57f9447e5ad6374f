"""A lesson that was handed out runs to its end, gone through by a learner who answers everything."""

import pytest

from bugzoo.proving.notebook_run import run_notebook
from tests.handed_out.files import HERE, LESSON, filled

ANSWERED = {
    "first-loss": "first_loss.say(0.7)",
    "classes": 'classes.answer("acb")',
    "one-batch": "one_batch.say(0.1, 0.01, 0.001)",
    "outcomes": 'outcomes.answer("bdca")',
    "suspects": 'suspects.say("d")',
    "who": 'who.say("b")',
    "which-number": 'which_number.say("a")',
    "repaired": 'repaired.say("c")',
    "share": 'share.say("c")',
    "frozen": 'frozen.say("b")',
    "turn-form": 'form.hand_in(cause="mixed-up dimensions", place=76, test="C")',
    "recap-check": 'recap_check.answer("c")',
}
WRITTEN = {
    "overfit": """
def overfit(model, optimizer, loss_of, batch, steps=200):
    model, optimizer = copy.deepcopy((model, optimizer))
    model.train()
    losses = []
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            losses.append(loss.item())
    return losses
""",
    "moved": """
def moved(before, after):
    return [name for name, tensor in before.items() if not torch.equal(tensor, after[name])]
""",
    "outsiders": """
def outsiders(model, optimizer):
    held = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
    return [name for name, parameter in model.named_parameters() if id(parameter) not in held]
""",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_it_runs_to_its_end() -> None:
    text = (HERE / f"{LESSON}.ipynb").read_text(encoding="utf-8")
    outputs = {cell["cell"]: cell["text"] for cell in run_notebook(filled(text, ANSWERED | WRITTEN))}
    assert not [name for name, printed in outputs.items() if "Traceback" in printed]
    for name in WRITTEN:
        assert "All checks pass" in outputs[f"try-{name}"], outputs[f"try-{name}"]
    for name in ("suspects-run", "who-run", "look", "repair-numbers", "figure"):
        assert "You said: " in outputs[name] and "It was: " in outputs[name], outputs[name]
    assert "Right: " in outputs["classes"]
    for name in ("one-batch", "share", "recap-check"):  # asked no longer: the notebook says so, and goes on
        assert f"02/{name.replace('-', '_')}" in outputs[name] and "earlier version" in outputs[name], outputs[name]
    assert "4 of 4 are right." in outputs["turn-answer"]
