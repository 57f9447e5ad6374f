"""The same loss in other forms: as a function with keywords, as a module, as a module's subclass."""

import ast
import inspect
from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import nn

MODULES = {
    "kl_div": "KLDivLoss", "cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss", "binary_cross_entropy": "BCELoss",
    "binary_cross_entropy_with_logits": "BCEWithLogitsLoss", "mse_loss": "MSELoss", "l1_loss": "L1Loss",
    "smooth_l1_loss": "SmoothL1Loss", "huber_loss": "HuberLoss", "poisson_nll_loss": "PoissonNLLLoss",
    "gaussian_nll_loss": "GaussianNLLLoss", "ctc_loss": "CTCLoss", "cosine_embedding_loss": "CosineEmbeddingLoss",
    "margin_ranking_loss": "MarginRankingLoss", "hinge_embedding_loss": "HingeEmbeddingLoss",
    "soft_margin_loss": "SoftMarginLoss", "triplet_margin_loss": "TripletMarginLoss", "multi_margin_loss": "MultiMarginLoss",
    "multilabel_margin_loss": "MultiLabelMarginLoss", "multilabel_soft_margin_loss": "MultiLabelSoftMarginLoss",
}  # fmt: skip
"""Function of torch.nn.functional -> module of torch.nn."""
FORMS = ("function", "keywords", "module", "subclass")
_FUNCTIONS = {module: name for name, module in MODULES.items()}


def in_form(text: str, form: str) -> str:
    """Return lines of Python with each loss in this form; unchanged where there is no loss."""
    return ast.unparse(_Rewrite(form).visit(ast.parse(text)))


def has_loss(text: str) -> bool:
    return any(isinstance(node, ast.Call) and _split(node) for node in ast.walk(ast.parse(text)))


def _names(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def _bound(call: ast.Call, names: list[str]) -> dict[str, ast.expr]:
    return dict(zip(names, call.args, strict=False)) | {
        keyword.arg: keyword.value for keyword in call.keywords if keyword.arg
    }


def _split(call: ast.Call) -> tuple[str, dict[str, ast.expr], dict[str, ast.expr]] | None:
    """Return (function, inputs, options) of `F.loss(...)` or `nn.Loss(...)(...)`, None for another call."""
    whole = ast.unparse(call.func)
    if whole.removeprefix("F.") in MODULES and whole.startswith("F."):
        name = whole.removeprefix("F.")
        arguments = _bound(call, _names(getattr(F, name)))
        settings = _names(getattr(nn, MODULES[name]).__init__)
        options = {key: value for key, value in arguments.items() if key in settings}
        return name, {key: value for key, value in arguments.items() if key not in options}, options
    if isinstance(call.func, ast.Call) and ast.unparse(call.func.func).removeprefix("nn.") in _FUNCTIONS:
        module = ast.unparse(call.func.func).removeprefix("nn.")
        settings = _names(getattr(nn, module).__init__)
        inputs = [key for key in _names(getattr(F, _FUNCTIONS[module])) if key not in settings]
        return _FUNCTIONS[module], _bound(call, inputs), _bound(call.func, settings)
    return None


class _Rewrite(ast.NodeTransformer):
    def __init__(self, form: str) -> None:
        self.form = form

    def visit_Call(self, node: ast.Call) -> ast.AST:
        parts = _split(node)
        self.generic_visit(node)
        if parts is None:
            return node
        name, inputs, options = parts
        placed = [*inputs.values()]
        named = [ast.keyword(arg=key, value=value) for key, value in options.items()]
        if self.form == "function":
            return ast.Call(_parsed(f"F.{name}"), placed, named)
        if self.form == "keywords":
            keywords = [ast.keyword(arg=key, value=value) for key, value in inputs.items()]
            return ast.Call(_parsed(f"F.{name}"), [], keywords + named)
        module = f"nn.{MODULES[name]}"
        layer = module if self.form == "module" else f"type('Mine', ({module},), {{}})"
        return ast.Call(ast.Call(_parsed(layer), [], named), placed, [])


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
