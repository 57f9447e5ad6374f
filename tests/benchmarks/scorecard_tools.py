"""How the scorecard asks each of the other tools about one script; a reading is a list of findings, None: it could not look.

All that need a run share one: the script runs once under bugzoo's watch, with torch-audit's `autopatch` on the first model
that trains and its optimiser (every step audited). Afterwards losslint gets a log such as a trainer writes (step, loss,
learning rate, and the script's own list of validation losses where it keeps one), and neural-net-checklist the model with
the weights that it began with, and the first batch. torch-preflight gets the text.
"""

import contextlib
import copy
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Finding = tuple[str, bool]
"""A rule's name, and whether the tool itself calls it a mere note."""
SECONDS = 60.0  # of a script's run, as `checkup` grants it
PATIENCE = 60.0  # for the tools after that
BATCH_SECONDS = 5.0
"""For neural-net-checklist to learn one batch; its own limit is 65536 steps, which is minutes on a processor."""


def tidy(found: list[tuple[int, str, bool]]) -> list[Finding]:
    """(severity, rule, note): each rule once, the gravest first, else in the tool's own order."""
    findings: dict[str, Finding] = {}
    for _, rule, note in sorted(found, key=lambda one: -one[0]):
        findings.setdefault(rule, (rule, note))
    return list(findings.values())


def preflight(source: str) -> list[Finding] | None:
    from torch_preflight import check_source

    try:
        findings, _ = check_source("train.py", source)
    except Exception:
        return None
    return tidy([(finding.severity.rank, finding.code, finding.severity.value == "note") for finding in findings])


@contextlib.contextmanager
def audited(kept: dict[str, Any]) -> Iterator[None]:
    """torch-audit on the first model that is called with gradients and has an optimiser, from that call on."""
    import torch
    from torch_audit import autopatch

    optimizers: list[torch.optim.Optimizer] = []
    begun = torch.optim.Optimizer.__init__

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        begun(self, *args, **kwargs)
        optimizers.append(self)

    def called(module: torch.nn.Module, _: Any) -> None:
        if "auditor" in kept or not optimizers or not torch.is_grad_enabled() or not module.training:
            return
        parameters = {id(parameter) for parameter in module.parameters()}
        for optimizer in reversed(optimizers):
            if any(id(parameter) in parameters for group in optimizer.param_groups for parameter in group["params"]):
                kept["model"] = module
                kept["began"] = {name: value.detach().clone() for name, value in module.state_dict().items()}
                kept["auditor"] = autopatch(module, optimizer=optimizer, every_n_steps=1)
                return

    torch.optim.Optimizer.__init__ = begin  # type: ignore[method-assign]
    hook = torch.nn.modules.module.register_module_forward_pre_hook(called)
    try:
        yield
    finally:
        hook.remove()
        torch.optim.Optimizer.__init__ = begun  # type: ignore[method-assign]


def audit(kept: dict[str, Any]) -> list[Finding] | None:
    from torch_audit.core import Severity

    if "auditor" not in kept:
        return None
    kept["auditor"].unpatch()
    kept["model"].__dict__.pop("forward", None)
    findings = kept["auditor"].finish().findings
    ranks = {Severity.INFO: 0, Severity.WARN: 1, Severity.ERROR: 2, Severity.FATAL: 3}
    return tidy([(ranks[f.severity], f.rule_id, f.severity == Severity.INFO) for f in findings if f.rule_id != "TA000"])


def loss_lint(run: Any) -> list[Finding] | None:
    from losslint.checks import run_all_checks
    from losslint.parsing import load_run
    from losslint.report import SEVERITY_RANK

    losses = [float(loss) for loss in run.trace.loss]
    broke = run.outcome == "non_finite" or run.trace.first_non_finite() is not None
    rows: list[dict[str, Any]] = [
        {"step": step, "loss": loss, "learning_rate": float(rate)}
        for step, loss, rate in zip(run.trace.step.tolist(), losses, run.trace.learning_rate, strict=True)
        if broke or not math.isnan(loss)
    ]
    if not rows:
        return None
    held_out = validation(run.namespace)
    for place, loss in enumerate(held_out):
        rows[(place + 1) * len(rows) // len(held_out) - 1]["eval_loss"] = loss
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        findings = run_all_checks(load_run(path))
    ranks = SEVERITY_RANK
    return tidy([(ranks[finding.severity], finding.check, finding.severity == "info") for finding in findings])


def validation(namespace: dict[str, Any]) -> list[float]:
    """The script's own list of validation losses, [] where it keeps none at the top."""
    for name, value in namespace.items():
        if "loss" in name.lower() and any(part in name.lower() for part in ("val", "eval", "test")):
            if isinstance(value, list) and value and all(isinstance(number, float) for number in value):
                return value
    return []


def checklist(run: Any, kept: dict[str, Any]) -> list[Finding] | None:
    """Each of its checks that fits the model, by itself, so that the first one that fails hides no other."""
    from neural_net_checklist import torch_diagnostics as checks

    try:
        batch = next(b for b in run.trace.live.batches if b.module is kept["model"])
        (inputs,) = batch.args
        assert hasattr(inputs, "shape"), "its checks cut a tensor into examples"

        def fresh() -> Any:
            model = copy.deepcopy(kept["model"])
            model.load_state_dict(kept["began"])
            return model

        outputs, targets = fresh()(inputs), batch.targets
        if targets is not None and targets.numel() == outputs.shape[:-1].numel() and not targets.is_floating_point():
            targets = targets.reshape(outputs.shape[:-1])
    except Exception:  # a model of several inputs, or one whose batches were not kept, cannot be given to its checks
        return None
    findings, ran = [], 0
    for name, check in applicable(checks, fresh, inputs, outputs, targets):
        try:
            check()
        except AssertionError as error:
            if str(error).startswith("Dummy batch only has"):
                continue
            findings.append((1, name, False))
        except Exception:
            continue
        ran += 1
    return tidy(findings) if ran else None


def applicable(
    checks: Any, fresh: Callable[[], Any], inputs: Any, outputs: Any, targets: Any
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, call): those for cross-entropy where the targets are classes, the causal ones where they are tokens.

    Where the targets are not known, those that need none.
    """
    import torch
    import torch.nn.functional as F

    pair, classes = (inputs, inputs if targets is None else targets), outputs.shape[-1]
    yield "forward_batch_independence", lambda: checks.assert_forward_batch_independence(fresh, pair)
    yield "non_zero_gradients", lambda: checks.assert_non_zero_gradients(fresh(), pair)
    yield "backward_batch_independence", lambda: checks.assert_backward_batch_independence(fresh, pair)
    if targets is None:
        return
    is_classes = not targets.is_floating_point() and targets.shape == outputs.shape[:-1] and outputs.ndim in (2, 3)
    tokens = is_classes and outputs.ndim == 3

    def loss(given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        if is_classes:
            return F.cross_entropy(given.reshape(-1, classes), wanted.reshape(-1))
        wanted = wanted.reshape(given.shape).to(given.dtype)
        binary = bool(((wanted == 0) | (wanted == 1)).all())
        return F.binary_cross_entropy_with_logits(given, wanted) if binary else F.mse_loss(given, wanted)

    at_init = "balanced_classification_cross_entropy"
    if is_classes:
        begins, calibrated = f"{at_init}_loss_at_init", f"{at_init}_init_calibrated"
        yield begins, lambda: getattr(checks, f"assert_{begins}")(fresh(), pair, loss_fn=loss, num_classes=classes)
        yield calibrated, lambda: getattr(checks, f"assert_{calibrated}")(fresh(), pair, num_classes=classes)
    if tokens:
        tables = {name: module for name, module in fresh().named_modules() if isinstance(module, torch.nn.Embedding)}
        names = [name for name, module in tables.items() if module.num_embeddings == classes]
        soft = checks.replace_input_embedding_layer(fresh, names[0]) if names else fresh
        hot = (F.one_hot(inputs, classes).float(), targets) if names and not inputs.is_floating_point() else pair
        yield "forward_causal_property", lambda: checks.assert_forward_causal_property(soft, hot)
        yield "backward_causal_property", lambda: checks.assert_backward_causal_property(soft, hot)
    yield (
        "input_independent_baseline_worse",
        lambda: checks.assert_input_independent_baseline_worse(fresh, pair, loss_fn=loss),
    )
    yield "overfit_to_batch", lambda: overfits(checks, fresh(), pair, loss, 1e-1 if tokens else 1e-4)


def overfits(checks: Any, model: Any, pair: Any, loss: Any, threshold: float) -> None:
    """Its own check, cut off where the loss has halved, which counts as on its way to zero, or by time."""
    losses: list[float] = []

    def train(*args: Any, **kwargs: Any) -> Iterator[Any]:
        end = time.process_time() + BATCH_SECONDS
        for value in checks.train_batch(*args, **kwargs):
            losses.append(value[0])
            yield value
            if time.process_time() > end or value[0] < 0.5 * losses[0]:
                return

    try:
        checks.assert_overfit_to_batch(model, pair, train_batch_fn=train, loss_fn=loss, threshold=threshold)
    except AssertionError:
        if not losses or not min(losses) < 0.5 * losses[0]:
            raise


def _in_child(path: Path, ranks: int, answer: Any) -> None:
    from bugzoo.running import run_here
    from bugzoo.watching.outcome import StopRun

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(path.parent)
    if ranks > 1:  # one rank of one, so that a script for several can begin
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    began, state = time.perf_counter(), {}

    def watched(_: Any) -> None:
        if time.perf_counter() - began > SECONDS:
            raise StopRun

    with audited(state):
        run = run_here(path.read_text(encoding="utf-8"), file=str(path), on_step=watched)
    for tool, ask in (
        ("torch-audit", lambda: audit(state)),
        ("losslint", lambda: loss_lint(run)),
        ("neural-net-checklist", lambda: checklist(run, state)),
    ):
        try:
            answer.send((tool, ask()))
        except Exception:
            answer.send((tool, None))
    answer.close()
    os._exit(0)


def readings(path: Path, ranks: int = 1) -> dict[str, list[Finding] | None]:
    """{tool: its reading of the script at `path`}; the script runs in a process of its own."""
    by_tool: dict[str, list[Finding] | None] = {"torch-preflight": preflight(path.read_text(encoding="utf-8"))}
    by_tool |= dict.fromkeys(("torch-audit", "losslint", "neural-net-checklist"))
    context = get_context("fork")  # torch is imported once, here, and nothing is computed with it
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(path, ranks, send))
    child.start()
    send.close()
    end = time.perf_counter() + SECONDS + PATIENCE
    with contextlib.suppress(EOFError):
        while receive.poll(max(0.0, end - time.perf_counter())):
            tool, reading = receive.recv()
            by_tool[tool] = reading
    child.kill()
    child.join()
    return by_tool


def ready() -> None:
    """Import what the children need, once. Raises ImportError where the extra `scorecard` is not installed."""
    import losslint.checks
    import neural_net_checklist.torch_diagnostics
    import torch_audit
    import torch_preflight
    import torchvision

    import bugzoo.watching

    assert sys.modules, (losslint, neural_net_checklist, torch_audit, torch_preflight, torchvision, bugzoo)
