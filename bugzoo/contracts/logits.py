"""What a loss applies itself: scores that went through a softmax or an exponential before it."""

from bugzoo.contracts.model import PAGES, Call, Contract, Measure, Numbers
from bugzoo.contracts.values import SAID, made_by

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
FLOOR, STUCK = "loss falls little", "nothing learned"


def _made(name: str, of: tuple[str, ...]) -> Measure:
    def measure(call: Call) -> Numbers | None:
        if name == "input" and "log_input" in call.arguments and not call["log_input"]:
            return None
        maker = made_by(call[name])
        if not maker:
            return None
        return {"made": SAID[maker] if maker in of else ""}

    return measure


def _dim(call: Call) -> Numbers | None:
    """The dimension of a log-softmax against that of the classes."""
    scores = call["log_probs"] if "log_probs" in call.arguments else call["input"]
    node = getattr(scores, "grad_fn", None)
    if node is None or node.name() != "LogSoftmaxBackward0":
        return None
    dims = scores.ndim
    classes = dims - 1 if "log_probs" in call.arguments else min(1, dims - 1)
    dim = (node._saved_dim + dims) % 2**64 if node._saved_dim >= 2**63 else node._saved_dim
    return {"found": float(dim), "classes": float(classes)}


_ALSO = {"cross_entropy_logits": ("loss/double_softmax",), "bce_logits": ("loss/sigmoid_into_bce_with_logits",)}
CONTRACTS = (
    *(
        Contract(
            name=name,
            on=(_F + call,),
            demand=f"`{call}` takes {what}: it applies the {own} itself.",
            given="`" + argument + "` comes straight from {made}.",
            instead=instead,
            page=_GENERATED + page,
            kind="values",
            measure=_made(argument, of),
            broken=lambda numbers: bool(numbers["made"]),
            breaks=breaks,
            keeps=keeps,
            wrong=wrong,
            explains=(FLOOR, STUCK),
            causes=_ALSO.get(name, ()),
        )
        for name, call, what, own, argument, of, instead, page, breaks, keeps, wrong in (
            (
                "cross_entropy_logits",
                "cross_entropy",
                "unnormalized logits",
                "softmax",
                "input",
                ("Softmax", "Sigmoid"),
                "Pass the output of the last linear layer. A log-softmax before it does no harm.",
                "CrossEntropyLoss.html",
                (
                    "s = torch.randn(4, 3, requires_grad=True)\n"
                    "nn.CrossEntropyLoss()(nn.Softmax(dim=1)(s), torch.tensor([0, 1, 2, 0]))"
                ),
                "s = torch.randn(4, 3, requires_grad=True)\n"
                "nn.CrossEntropyLoss()(s.softmax(1) / 0.1, torch.tensor([0, 1, 2, 0]))\n"
                "F.cross_entropy(s.log_softmax(1), torch.tensor([0, 1, 2, 0]))",
                "Outputs that are bounded on purpose, as a kind of regularization.",
            ),
            (
                "bce_logits",
                "binary_cross_entropy_with_logits",
                "logits",
                "sigmoid",
                "input",
                ("Sigmoid", "Softmax"),
                "Pass the output of the last linear layer, or use `nn.BCELoss` after the sigmoid.",
                "BCEWithLogitsLoss.html",
                "s = torch.randn(4, 1, requires_grad=True)\nnn.BCEWithLogitsLoss()(s.sigmoid().squeeze(1), torch.ones(4))",
                (
                    "s = torch.randn(4, 1, requires_grad=True)\n"
                    "nn.BCEWithLogitsLoss()((s * s.sigmoid()).squeeze(1), torch.ones(4))"
                ),
                "Outputs that are bounded on purpose, as a kind of regularization.",
            ),
            (
                "multilabel_soft_margin_logits",
                "multilabel_soft_margin_loss",
                "logits",
                "sigmoid",
                "input",
                ("Sigmoid",),
                "Pass the output of the last linear layer.",
                "MultiLabelSoftMarginLoss.html",
                "s = torch.randn(4, 3, requires_grad=True)\nF.multilabel_soft_margin_loss(s.sigmoid(), torch.ones(4, 3))",
                "s = torch.randn(4, 3, requires_grad=True)\nF.multilabel_soft_margin_loss(s * 2, torch.ones(4, 3))",
                "Outputs that are bounded on purpose, as a kind of regularization.",
            ),
            (
                "gumbel_softmax_logits",
                "gumbel_softmax",
                "unnormalized log-probabilities",
                "softmax",
                "logits",
                ("Softmax",),
                "Pass the scores, or the logarithm of the probabilities.",
                "functional.gumbel_softmax.html",
                "s = torch.randn(4, 3, requires_grad=True)\nF.gumbel_softmax(s.softmax(-1), hard=True)",
                "s = torch.randn(4, 3, requires_grad=True)\nF.gumbel_softmax(s.softmax(-1).log(), hard=True)",
                "Scores that are bounded on purpose, so that samples stay random.",
            ),
            (
                "poisson_nll_input",
                "poisson_nll_loss",
                "the logarithm of the rate, unless `log_input=False`",
                "exponential",
                "input",
                ("Exp", "Softplus"),
                "Pass `log_input=False` with a rate, or drop the activation that makes it positive.",
                "PoissonNLLLoss.html",
                "s = torch.randn(4, requires_grad=True)\nnn.PoissonNLLLoss()(F.softplus(s), torch.tensor([0.0, 2, 1, 3]))",
                (
                    "s = torch.randn(4, requires_grad=True)\n"
                    "nn.PoissonNLLLoss(log_input=False)(F.softplus(s), torch.tensor([0.0, 2, 1, 3]))"
                ),
                "A logarithm of the rate that is kept above 0 on purpose.",
            ),
        )
    ),
    Contract(
        name="log_softmax_dim",
        on=(_F + "nll_loss", _F + "ctc_loss"),
        demand="The log-softmax before `nll_loss` runs over the classes, dimension 1; before `ctc_loss` over the last one.",
        given="It runs over dimension {found:.0f}, and the classes are dimension {classes:.0f}.",
        instead="Pass the dimension of the classes: `F.log_softmax(scores, dim=1)` for scores of shape (batch, classes).",
        page=_GENERATED + "NLLLoss.html",
        kind="shape",
        measure=_dim,
        broken=lambda numbers: numbers["found"] != numbers["classes"],
        breaks=(
            "s = torch.randn(4, 3, requires_grad=True)\n"
            "nn.NLLLoss()(nn.LogSoftmax(dim=0)(s), torch.tensor([0, 1, 2, 0]))"
        ),
        keeps=(
            "s = torch.randn(2, 5, 3, requires_grad=True)\n"
            "F.nll_loss(s.log_softmax(-1).transpose(1, 2), torch.zeros(2, 5).long())\n"
            "F.nll_loss(s[0].log_softmax(-1), torch.zeros(5).long())\n"
            "F.ctc_loss(s.log_softmax(-1), torch.tensor([[1], [2], [1], [1], [2]]), [2] * 5, [1] * 5)"
        ),
        wrong="No case is known.",
        explains=("by itself",),
        causes=("loss/wrong_softmax_dim",),
    ),
)
