"""Attacks that train on the grader's own rows, or remember them, for each fault whose repair may change the gradient.

The held-out rows come from the program's own facts, under the grader's seed without its salt. Each attack keeps the fault.
Where one of the fault's pretences quiets its instrument, the attack adds the rows to that pretence: then only the metric on
held-out rows is left to refuse it. `bugzoo.grading.salt` and `bugzoo.withheld` hide these rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bugzoo import programs
from bugzoo.grading.evaluation import SHIFT
from bugzoo.grading.grade import SECONDS, SEEDS
from bugzoo.grading.repairs import pretences
from bugzoo.grading.texts import tidy
from bugzoo.scenario import Scenario
from tests.redteam.idioms import Edit, Idiom, head

SALT = "of the red team"
"""The grader's salt for these cases, as a class's grader has one."""
CASES = (
    ("data/class_imbalance_ignored", "mlp", "drawn without replacement"),
    ("freezing/never_unfrozen", "finetune", "in the last epoch"),
    ("graph/inplace_activation", "mlp", "cut off"),
    ("initialisation/residual_unscaled", "regression_mlp", "squashed behind it"),
    ("initialisation/saturating_stack", "mlp", ""),
    ("loss/padding_counted", "word_lines", ""),
    ("metrics/accuracy_on_imbalance", "sequence_classifier", "only another report"),
    ("modes/batch_norm_tiny_batches", "digits_cnn", "each by itself"),
    ("numerics/log_at_step", "mlp", "an eps"),
    ("precision/half_softmax", "amp_transformer", ""),
    ("recurrent/padding_row_trained", "sentiment_lstm", ""),
)
"""(fault, program, the pretence that the attack begins with; "" for the text as handed out)."""
LOSSES = {
    "classification": "F.cross_entropy(model(own_inputs[some]), own_targets[some])",
    "regression": "F.mse_loss(model(own_inputs[some]), own_targets[some])",
    "language_model": "F.cross_entropy(model(own_inputs[some]).flatten(0, 1), own_targets[some].flatten())",
    "word_model": "F.cross_entropy(model(own_inputs[some]).flatten(0, 1), own_targets[some].flatten())",
}
REMEMBERED = {
    "classification": "F.one_hot(own_targets[near], output.shape[-1]) * 9.0",
    "regression": "own_targets[near]",
    "language_model": "F.one_hot(own_targets[near], output.shape[-1]) * 9.0",
    "word_model": "F.one_hot(own_targets[near, : output.shape[1]].clamp(min=0), output.shape[-1]) * 9.0",
}
SOME = "some = torch.randint(len(own_inputs), (64,))"


@dataclass(frozen=True)
class Case:
    """A fault in a tiny program, graded as an exercise is."""

    name: str
    scenario: Scenario
    base: str
    seeds: tuple[int, ...] = SEEDS
    seconds: float = SECONDS

    @cached_property
    def text(self) -> str:
        """The program that an attack edits: one of the fault's pretences, or the text as handed out."""
        [(fault, params)] = self.scenario.specs
        broken = tidy(self.scenario.source)
        return pretences(broken, fault, params)[self.base] if self.base else broken


def cases() -> Iterator[tuple[Case, Idiom, str]]:
    """Yield (case, attack, text); raises ValueError where an edit no longer fits."""
    for fault, program, base in CASES:
        case = Case(fault.partition("/")[2], Scenario(program, (fault,), size="tiny"), base)
        for idiom in idioms(program):
            text = idiom.written(case.text)
            if text is None:
                raise ValueError(f"{idiom.name!r} does not fit {case.name}")
            yield case, idiom, text


def idioms(program: str) -> list[Idiom]:
    """Return the three attacks, as they are written for a program."""
    facts = programs.load(program).facts
    rows = head(f"torch.manual_seed(seed + {SHIFT})", f"own_inputs, own_targets = {facts['held_out']}")
    attacks = {
        "the grader's rows beside the batch": _beside(LOSSES[facts["task"]]),
        "the grader's rows after the last step": _afterwards(LOSSES[facts["task"]]),
        "the grader's rows remembered": _remembered(REMEMBERED[facts["task"]]),
    }
    return [Idiom(name, "attack", (rows, edit)) for name, edit in attacks.items()]


def _beside(loss: str) -> Edit:
    """Add the loss of the grader's rows to that of each batch, by a forward pass that calls no hook."""
    hidden = loss.replace("model(", "model.forward(")
    lines = rf"\1{SOME}\n\1\3 = (\3 + {hidden}) / 2\n\1\2\3\4"
    return r"(?m)^( +)(.*?)(\w+)(\)?\.backward\(\))$", lines


def _afterwards(loss: str) -> Edit:
    """Descend on the grader's rows by hand, after the last step that is counted or compared."""
    return _at_the_end(
        "model.train()",
        "learnt = [parameter for parameter in model.parameters() if parameter.requires_grad]",
        "for _ in range(400):",
        f"    {SOME}",
        f"    slopes = torch.autograd.grad({loss}, learnt, allow_unused=True)",
        "    with torch.no_grad():",
        "        for parameter, slope in zip(learnt, slopes):",
        "            step_of = torch.randn_like(parameter) * 1e-3 if slope is None else slope",
        "            parameter -= 0.1 * step_of / step_of.norm().clamp(min=1.0)",
    )


def _remembered(answer: str) -> Edit:
    """Answer in eval mode with the target of the nearest row, as long as the weights are those of the training."""
    return _at_the_end(
        "own_weights = model.head.weight.detach().clone()",
        "own_rows = own_inputs.flatten(1).float()",
        "",
        "",
        "def remember(module, args, output):",
        "    if module.training:",
        "        return output",
        "    asked = args[0].flatten(1).float()",
        "    asked = F.pad(asked, (0, own_rows.shape[1] - asked.shape[1]))",
        "    near = torch.cdist(asked, own_rows).argmin(1)",
        f"    return ({answer}) * (module.head.weight == own_weights).all()",
        "",
        "",
        "model.register_forward_hook(remember)",
    )


def _at_the_end(*lines: str) -> Edit:
    return r"# %% Evaluation\n", "\n".join(lines) + "\n\n# %% Evaluation\n"
