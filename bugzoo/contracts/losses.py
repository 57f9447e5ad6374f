"""Losses: which values inputs and targets may have. The modules of `torch.nn` call the same functions."""

from bugzoo.contracts.model import PAGES, Call, Contract, Measure, Numbers
from bugzoo.contracts.values import largest, off_from_one, smallest

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
NEGATIVE, FLOOR, STUCK = "negative loss", "loss falls little", "nothing learned"


def _kl_input(call: Call) -> Numbers:
    return {"largest": largest(call.tensor("input"))}


def _kl_target(call: Call) -> Numbers | None:
    return None if call["log_target"] else {"smallest": smallest(call.tensor("target"))}


def _unit(name: str = "target") -> Measure:
    def measure(call: Call) -> Numbers:
        target = call.tensor(name)
        return {"smallest": smallest(target), "largest": largest(target)}

    return measure


def _out_of_unit(numbers: Numbers) -> bool:
    return numbers["smallest"] < 0 or numbers["largest"] > 1


def _nll(call: Call) -> Numbers:
    return {"largest": largest(call.tensor("input"))}


def _class_shares(call: Call) -> Numbers | None:
    target, scores = call.tensor("target"), call.tensor("input")
    if not target.is_floating_point() or target.shape != scores.shape:
        return None
    dim = 1 if scores.ndim > 1 else 0
    return {"off": off_from_one(target, dim), "smallest": smallest(target)}


def _blank(call: Call) -> Numbers:
    """Labels that are read: all of a flat tensor of targets, or the first `target_lengths` of each row."""
    targets, lengths = call.tensor("targets"), call["target_lengths"]
    blanks = targets == call["blank"]
    if targets.ndim == 2:
        columns = targets.new_tensor(range(targets.shape[1]))
        sizes = targets.new_tensor(lengths) if isinstance(lengths, list | tuple) else lengths.to(targets.device)
        blanks = blanks & (columns[None, :] < sizes.reshape(-1, 1))
    return {"blanks": blanks.sum(), "blank": float(call["blank"]), "labels": float(targets.numel())}


def _plus_minus(call: Call) -> Numbers:
    target = call.tensor("target")
    return {"others": ((target != 1) & (target != -1)).sum(), "smallest": smallest(target), "largest": largest(target)}


def _others(numbers: Numbers) -> bool:
    return numbers["others"] > 0


CONTRACTS = (
    Contract(
        name="kl_div_input",
        argument=(0, "input"),
        on=(_F + "kl_div",),
        demand="`kl_div` takes log-probabilities as its input: no value is above 0.",
        given="`input` has values up to {largest:.3g}.",
        instead="Pass `F.log_softmax(scores, dim=-1)`, not probabilities or scores.",
        page=_GENERATED + "functional.kl_div.html",
        kind="values",
        measure=_kl_input,
        broken=lambda numbers: numbers["largest"] > 1e-3,
        breaks="F.kl_div(torch.randn(4, 3).softmax(-1), torch.randn(4, 3).softmax(-1), reduction='batchmean')",
        keeps="F.kl_div(torch.randn(4, 3).log_softmax(-1), torch.randn(4, 3).softmax(-1), reduction='batchmean')",
        wrong="A log-density may be above 0, and `kl_div` is sometimes given one.",
        explains=(NEGATIVE, STUCK),
    ),
    Contract(
        name="kl_div_target",
        argument=(1, "target"),
        on=(_F + "kl_div",),
        demand="Unless `log_target=True`, `kl_div` takes probabilities as its target: no value is below 0.",
        given="`target` has values down to {smallest:.3g}.",
        instead="Pass `log_target=True` with log-probabilities, or `target.exp()`.",
        page=_GENERATED + "functional.kl_div.html",
        kind="values",
        measure=_kl_target,
        broken=lambda numbers: numbers["smallest"] < -1e-6,
        breaks="F.kl_div(torch.randn(4, 3).log_softmax(-1), torch.randn(4, 3).log_softmax(-1), reduction='batchmean')",
        keeps=(
            "F.kl_div(torch.randn(4, 3).log_softmax(-1), torch.randn(4, 3).log_softmax(-1), reduction='sum', "
            "log_target=True)"
        ),
        wrong="No case is known.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    Contract(
        name="bce_target",
        argument=(1, "target"),
        on=(_F + "binary_cross_entropy_with_logits",),
        demand="The targets of binary cross-entropy lie between 0 and 1.",
        given="`target` has values from {smallest:.3g} to {largest:.3g}.",
        instead="Scale the targets to 0..1, such as a mask of 0 and 255 by `mask / 255`.",
        page=_GENERATED + "BCEWithLogitsLoss.html",
        kind="values",
        measure=_unit(),
        broken=_out_of_unit,
        breaks="nn.BCEWithLogitsLoss()(torch.randn(4), torch.tensor([0.0, 255.0, 0.0, 255.0]))",
        keeps="nn.BCEWithLogitsLoss()(torch.randn(4), torch.tensor([0.0, 1.0, 0.3, 1.0]))",
        wrong="No case is known.",
        explains=(NEGATIVE, STUCK),
    ),
    Contract(
        name="nll_input",
        argument=(0, "input"),
        on=(_F + "nll_loss",),
        demand="`nll_loss` takes log-probabilities as its input: no value is above 0.",
        given="`input` has values up to {largest:.3g}.",
        instead="Pass `F.log_softmax(scores, dim=1)`, or use `F.cross_entropy` with the scores.",
        page=_GENERATED + "NLLLoss.html",
        kind="values",
        measure=_nll,
        broken=lambda numbers: numbers["largest"] > 1e-3,
        breaks="F.nll_loss(torch.randn(4, 3).softmax(1), torch.tensor([0, 1, 2, 0]))",
        keeps="nn.NLLLoss()(torch.randn(4, 3).log_softmax(1), torch.tensor([0, 1, 2, 0]))",
        wrong="`-p` instead of `-log p` is a loss of its own: it maximizes the expected accuracy.",
        explains=(NEGATIVE, STUCK),
    ),
    Contract(
        name="class_probabilities",
        argument=(1, "target"),
        on=(_F + "cross_entropy",),
        demand=(
            "Targets of `cross_entropy` that have the shape of the scores are probabilities of the classes, "
            "which sum to 1."
        ),
        given=(
            "A row of `target` sums to a number that is off from 1 by {off:.3g}, and its smallest value is "
            "{smallest:.3g}."
        ),
        instead=(
            "Pass class numbers of dtype long, or rows that sum to 1. Several labels at once need "
            "`nn.BCEWithLogitsLoss`."
        ),
        page=_GENERATED + "CrossEntropyLoss.html",
        kind="values",
        measure=_class_shares,
        broken=lambda numbers: numbers["off"] > 1e-2 or numbers["smallest"] < -1e-6,
        breaks="F.cross_entropy(torch.randn(4, 3), torch.tensor([[1.0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]]))",
        keeps="F.cross_entropy(torch.randn(4, 3), torch.full((4, 3), 1 / 3))",
        wrong="Rows that are weighted on purpose, such as rows of zeros to leave samples out.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    Contract(
        name="ctc_blank",
        argument=(1, "targets"),
        on=(_F + "ctc_loss",),
        demand="No label of `ctc_loss` is the blank, which is class 0 unless `blank=` says otherwise.",
        given="{blanks:.0f} of {labels:.0f} labels are {blank:.0f}, which is the blank.",
        instead="Number the labels from 1, or pass the class of the blank, such as `nn.CTCLoss(blank=classes - 1)`.",
        page=_GENERATED + "CTCLoss.html",
        kind="values",
        measure=_blank,
        broken=lambda numbers: numbers["blanks"] > 0,
        breaks=(
            "scores = torch.randn(20, 2, 5).log_softmax(-1)\n"
            "nn.CTCLoss()(scores, torch.tensor([0, 1, 2, 3]), torch.tensor([20, 20]), torch.tensor([2, 2]))"
        ),
        keeps=(
            "scores = torch.randn(20, 2, 5).log_softmax(-1)\n"
            "labels = torch.tensor([[1, 2, 0], [3, 4, 4]])  # padded with 0\n"
            "nn.CTCLoss()(scores, labels, torch.tensor([20, 20]), torch.tensor([2, 3]))"
        ),
        wrong="No case is known.",
        explains=(NEGATIVE, FLOOR, STUCK),
    ),
    *(
        Contract(
            name=f"{name}_target",
            on=(_F + name,),
            demand=f"The targets of `{name}` are 1 and -1.",
            given="{others:.0f} targets are neither; they go from {smallest:.3g} to {largest:.3g}.",
            instead="Turn labels 0 and 1 into -1 and 1: `2 * target - 1`.",
            page=f"{_GENERATED}functional.{name}.html",
            kind="convention",
            measure=_plus_minus,
            broken=_others,
            breaks=f"F.{name}({before}target=torch.tensor([0.0, 1.0, 0.0, 1.0]))",
            keeps=f"F.{name}({before}target=torch.tensor([-1.0, 1.0, -1.0, 1.0]))",
            wrong="No case is known.",
            explains=("by itself",),  # such a target adds no loss, or a constant
        )
        for name, before in (
            ("cosine_embedding_loss", "torch.randn(4, 3), torch.randn(4, 3), "),
            ("margin_ranking_loss", "torch.randn(4), torch.randn(4), "),
            ("hinge_embedding_loss", "torch.randn(4), "),
            ("soft_margin_loss", "torch.randn(4), "),
        )
    ),
)
