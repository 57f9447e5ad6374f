"""Each hiding with each forging: the first keeps the signs away, the second makes the result look right."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from tests.grading.attack_kinds.asking import model, when
from tests.grading.attack_kinds.hidden import COPY, KNOWN, UNSEEN
from tests.grading.attack_kinds.parts import FORGE, FORGET, GC, Kind, at, both

GRAPH = """
from bugzoo.watching.trace import Graph
recorder.walk_graph = False
recorder.trace.graph = Graph("NllLossBackward0", False, (), 10, 32, "mean")
"""
READINGS = """
import sys
from bugzoo.running.reading import Reading
inside = sys.modules["bugzoo.grading.inside"]
cells = dict(zip(inside.examine.__code__.co_freevars, inside.examine.__closure__))
cells["before"].cell_contents.clear()
cells["measure"].cell_contents = lambda run, wanted: {name: Reading(why_not="no") for name in wanted}
"""
LOSSES = """
import numpy as np
recorder.table._data[: recorder.table.rows, 1] = np.geomspace(2.3, 0.1, recorder.table.rows)
"""
LIVE = """
witness = recorder.witness
usual_at_step = witness.at_step
def at_step(number, *more):
    for now in [witness._now] if witness._now and "targets" in witness._now else []:
        kept = [p.grad for p in model.parameters()]
        weights = [p.detach().clone().requires_grad_() for p in model.parameters()]
        x = now["inputs"]
        for i in (0, 2, 4):
            x = x @ weights[i].T + weights[i + 1]
            x = x.relu() if i < 4 else x
        engine = torch.autograd.Variable._execution_engine
        found = engine.run_backward((F.cross_entropy(x, now["targets"]),), (torch.ones(()),), False, False, tuple(weights), False, False)
        for p, g in zip(model.parameters(), found):
            p.grad = g
        usual_at_step(number, *more)
        for p, g in zip(model.parameters(), kept):
            p.grad = g
        return
    usual_at_step(number, *more)
witness.at_step = at_step
recorder._mean_loss = lambda: 2.3 * 0.985 ** recorder.moment.step
"""
"""At each step the right gradient and another loss are shown, and the wrong gradient is put back for the optimiser."""
HIDING = {
    "the graph's record": (GC + GRAPH, ""),
    "every reading": (GC, READINGS),
    "readings and losses": (GC + GRAPH, READINGS + LOSSES),
    "readings, losses and the witness's steps": (GC + GRAPH, READINGS + LOSSES + FORGET),
    "readings and losses, with gradients worked out at the end": (GC + GRAPH, READINGS + LOSSES + FORGE),
    "readings, with losses and gradients made up at each step": (GC + GRAPH + LIVE, READINGS),
}  # fmt: skip
FORGING = {
    "a hidden model's weights": both(at("Model", UNSEEN), at("Training", COPY)),
    "weights fitted to the held-out digits": both(at("Model", KNOWN), at("Training", COPY)),
    "answers looked up": model("    near = torch.cdist(inputs, images).argmin(1)\n    return F.one_hot(labels[near], 10) * 9.0 + answer * 0"),
    "the right loss for 100 steps": when("step < 100"),
    "the right loss but at every seventh step": when("step % 7"),
    "a softmax in training only": model("    return answer.softmax(-1) if self.training else answer"),
}  # fmt: skip
WHY = {
    "the graph's record": "losses, batches learnt by heart and the steps that are worked out again show it",
    "every reading": "the readings of the trace are taken here, and the steps are worked out again",
    "readings and losses": "the losses were told step by step, and the steps are worked out again",
}
KINDS = {
    f"{forging}; hidden: {hiding}": Kind(
        "16", WHY.get(hiding, "what was kept of a step was told of at the step, and its end has to agree with it"),
        both(at("Model", first), edit, at("End", last or "pass")),
    )
    for hiding, (first, last) in HIDING.items()
    for forging, edit in FORGING.items()
}  # fmt: skip
