"""`torch.distributions`: what is passed as logits, and samples that carry no gradient."""

from typing import Any

import torch

from bugzoo.contracts.logits import FLOOR, STUCK
from bugzoo.contracts.model import PAGES, Call, Contract, Numbers
from bugzoo.contracts.values import SAID, made_by

_D = "torch.distributions."
_PAGE = PAGES + "distributions.html"
STEPS = 5
"""Steps in a row that each drew one sample: training does, and an evaluation does not."""
_USES = "from torch.distributions import Bernoulli, Categorical, Independent, Normal\n"
_TRAIN = (
    "model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor step in range(16):\n"
    "    optimizer.zero_grad()\n    found = Normal(model(torch.ones(1, 2)), 1.0)\n{}    optimizer.step()\n"
)


def _logits(call: Call) -> Numbers | None:
    maker = made_by(call["logits"])
    return {"made": SAID.get(maker, "")} if maker else None


def _below_zero(call: Call) -> Numbers | None:
    if call["probs"] is None or not isinstance(call["probs"], torch.Tensor):
        return None
    return {"smallest": call.tensor("probs").amin()}


def _trained(distribution: Any) -> bool:
    """Return whether a parameter of the distribution, or of the one in it, has a gradient."""
    inside = [*vars(distribution).values(), *vars(getattr(distribution, "base_dist", distribution)).values()]
    return any(isinstance(value, torch.Tensor) and value.requires_grad for value in inside)


def _samples(call: Call) -> Numbers | None:
    """Count the steps in a row that drew one sample at this line, whose distribution is asked for no probability."""
    distribution, scored = call["self"], call.shared.setdefault("scored", set())
    if call.target.endswith("log_prob"):
        scored.add(call.about(distribution).get("site"))
        return None
    if not torch.is_grad_enabled() or not distribution.has_rsample or not _trained(distribution):
        return None
    call.about(distribution)["site"] = call.site
    before, call.kept["before"] = call.kept.get("before"), (call.count, call.made)
    call.kept["steps"] = call.kept.get("steps", 0) + (before == (call.count - 1, call.made - 1))
    if call.site in scored:
        return None
    return {"steps": float(call.kept["steps"]), "name": type(distribution).__name__}


CONTRACTS = (
    Contract(
        name="distribution_logits",
        on=tuple(f"{_D}{name}.__init__" for name in ("Categorical", "OneHotCategorical", "Bernoulli")),
        demand="`logits` are unnormalized log-probabilities: the distribution applies softmax or sigmoid itself.",
        given="`logits` comes straight from {made}.",
        instead="Pass probabilities as `probs=`, or the output of the last linear layer as `logits=`.",
        page=_PAGE + "#categorical",
        kind="values",
        measure=_logits,
        broken=lambda numbers: bool(numbers["made"]),
        breaks=_USES + "s = torch.randn(4, 3, requires_grad=True)\nCategorical(logits=s.softmax(-1))",
        keeps=(
            _USES + "s = torch.randn(4, 3, requires_grad=True)\nCategorical(logits=s)\nCategorical(s.softmax(-1))\n"
            "Categorical(logits=s.softmax(-1).log())\nBernoulli(logits=2 * s)\nBernoulli(probs=s.sigmoid())"
        ),
        wrong="Scores that are bounded on purpose, so that the policy stays random.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="distribution_probs",
        on=tuple(f"{_D}{name}.__init__" for name in ("Categorical", "OneHotCategorical")),
        demand="The first argument is `probs`: numbers that are not negative. Logits are passed by name.",
        given="`probs` goes down to {smallest:.3g}. Divided by their negative sum, the least likely becomes the likeliest.",
        instead="Write `Categorical(logits=scores)`.",
        page=_PAGE + "#categorical",
        kind="values",
        measure=_below_zero,
        broken=lambda numbers: numbers["smallest"] < 0,
        breaks=_USES + "Categorical(torch.randn(4, 3).log_softmax(-1))",
        keeps=_USES + "Categorical(torch.rand(4, 3))\nCategorical(logits=torch.randn(4, 3).log_softmax(-1))",
        wrong="No case is known.",
        explains=("by itself",),
    ),
    Contract(
        name="sample_without_gradient",
        on=tuple(
            f"{_D}{name}.{method}"
            for name in ("Distribution", "Normal", "Independent", "TransformedDistribution", "MultivariateNormal")
            for method in ("sample", "log_prob")
        ),
        demand="`sample()` passes no gradient on. A loss of the sample itself needs `rsample()`, or `log_prob` of the sample.",
        given="`{name}` has parameters that train, and {steps:.0f} steps in a row drew one sample and no `log_prob`.",
        instead="Use `rsample()`, so that the loss reaches the parameters of the distribution.",
        page=_PAGE + "#pathwise-derivative",
        kind="mode",
        measure=_samples,
        broken=lambda numbers: numbers["steps"] >= STEPS,
        breaks=_USES + _TRAIN.format("    found.sample().square().sum().add(found.loc.sum()).backward()\n"),
        keeps=(
            _USES
            + _TRAIN.format("    found.rsample().square().sum().backward()\n")
            + _TRAIN.format("    (found.log_prob(found.sample()) * 2).sum().backward()\n")
            + _TRAIN.format(
                "    found = Independent(found, 1)\n    action = found.sample()\n    (-found.log_prob(action)).sum().backward()\n"
            )
            + _TRAIN.format("    found.loc.sum().backward()\n    for look in range(3): found.sample()\n")
        ),
        wrong="A probability that the script works out itself, and samples that are only shown.",
        explains=("by itself",),
        pairs=True,
        own=True,
    ),
)
