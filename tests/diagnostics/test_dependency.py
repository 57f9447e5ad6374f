"""What cannot be asked about dependence is refused for the right reason."""

from bugzoo.diagnostics import read
from bugzoo.diagnostics._example import example
from bugzoo.running import run_here


def why_not(*edits):
    return read("dependency", run_here(example(*edits).source, file="asked.py")).why_not


def test_a_model_that_answers_nan_is_not_said_to_answer_differently():
    why = why_not(("loss.backward()", "(loss + (0 * logits[0, 0]).log()).backward()"))
    assert "NaN" in why and "different outputs" not in why


def test_and_one_that_does_is():
    noisy = (
        "type('Noisy', (nn.Module,), {'forward': lambda self, x: x + 0.1 * torch.rand(len(x), 1, generator=source)})()"
    )
    why = why_not(
        ("nn.Linear(32, 3))", f"nn.Linear(32, 3), {noisy})"), ("model = ", "source = torch.Generator()\nmodel = ")
    )
    assert "different outputs for the same batch" in why
