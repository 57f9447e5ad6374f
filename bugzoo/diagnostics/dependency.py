"""Which inputs does each output depend on? Change some, see which outputs move.

`batch_leak`: other samples of the batch reach an output in eval mode (an axis was mixed up). `future_leak`: where the
target is the input one position later, later positions reach earlier outputs: the answer is visible. `padding_leak`: a
sample's output depends on how much padding its neighbours gave it. `text_heard`: do the outputs move at all when every token
before the padding is another one? All are relative: movement where nothing should
move, over usual movement. Sequences, padding and shift are found in the tensors; a classifier or a bidirectional
encoder may look at all positions and is not asked about the future.
"""

from typing import Any

import torch

from bugzoo.diagnostics._attention import AttentionRows
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._sequences import Call, lengths, shifted, two_ahead
from bugzoo.diagnostics._tools import batches, model_of, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "batch_leak": ("share of outputs that move with another sample of the batch", "0"),
    "future_leak": ("share of outputs that move with a later token", "0"),
    "padding_leak": ("share of outputs that move with what stands at padding", "0"),
    "text_heard": ("movement of the outputs when the text before the padding is another one", "not 0"),
    "masked_leak": ("share of outputs that move with what the mask leaves out", "0"),
    "attention_partial_rows": ("share of attention rows that do not sum to 1", "0"),
}
HEALTHY = example()
SICK = example(("nn.ReLU()", "nn.Softmax(dim=0)"))
FARTHEST = 8
"""Positions ahead that are asked one by one."""
DEAF = 1e-5
"""Movement of outputs, over their size, that is rounding."""


def _changed(x: torch.Tensor, axis: int, start: int) -> torch.Tensor:
    """`x` with everything from `start` on along `axis` replaced by plausible other values of the same kind."""
    new = x.clone()
    part = new.narrow(axis, start, x.shape[axis] - start)
    if x.is_floating_point():
        part.add_(torch.randn_like(part) * (x.float().std().to(x.dtype) + 1e-3))
    else:
        values = x.reshape(-1)[torch.randint(x.numel(), part.shape, device=x.device)]
        part.copy_(torch.where(values == part, x.reshape(-1)[0].expand_as(values), values))
    return new


def _moved(before: torch.Tensor, after: torch.Tensor, axis: int, start: int) -> tuple[float, float]:
    """Mean movement of outputs before `start` along `axis`, and from it on."""
    change = (after - before).abs()
    return float(change.narrow(axis, 0, start).mean()), float(
        change.narrow(axis, start, change.shape[axis] - start).mean()
    )


def _ask(model: Any, arguments: Call, place: int, x: torch.Tensor) -> torch.Tensor:
    return call(model, *arguments.arguments({place: x}))


def _batch_leak(model: Any, arguments: Call, place: int, out: torch.Tensor) -> tuple[float | None, int]:
    """(relative leak between samples, batch axis); None when input and output share no axis."""
    x, found = arguments.leaves[place], []
    for axis in (0, 1):
        if axis >= min(x.ndim, out.ndim) or x.shape[axis] != out.shape[axis] or x.shape[axis] < 2:
            continue
        if axis == 1 and out.ndim < 3:
            continue
        start = x.shape[axis] // 2
        still, usual = _moved(out, _ask(model, arguments, place, _changed(x, axis, start)), axis, start)
        found.append((still / usual if usual > 0 else 0.0, axis))
        if found[-1][0] < 1e-5:
            return found[-1]
    return min(found, default=(None, 0))


def _future(model: Any, arguments: Call, place: int, out: torch.Tensor, time: int) -> dict[str, float]:
    """Movement of earlier outputs when later inputs change; `beyond_next` leaves the very next position alone."""
    x = arguments.leaves[place]
    if out.shape[0] == x.shape[0] * x.shape[1]:
        out = out.reshape(*x.shape[:2], -1)
    if out.ndim < 3 or out.shape[:2] != x.shape[:2]:
        return {}
    leak = beyond = 0.0
    reach, size = 0, x.shape[time]
    for cut in sorted({max(1, size // 4), size // 2, 3 * size // 4}):
        for skip in range(FARTHEST + 1):
            if cut + skip >= size or skip > reach:
                break
            after = _ask(model, arguments, place, _changed(x, time, cut + skip)).reshape(out.shape)
            change = (after - out).abs()
            usual = float(change.narrow(time, cut + skip, size - cut - skip).mean())
            ratio = float(change.narrow(time, 0, cut).mean()) / usual if usual > 0 else 0.0
            leak, beyond = (max(leak, ratio), beyond) if not skip else (leak, max(beyond, ratio))
            reach = max(reach, skip + 1) if ratio > 1e-4 else reach
    return {"future_leak": leak, "future_leak_beyond_next": beyond, "future_reach": float(reach)}


def _padding_leak(model: Any, arguments: Call, place: int, out: torch.Tensor) -> float | None:
    """Movement of a sample's output when its padding is cut off, over the spread between samples."""
    x, axis = arguments.leaves[place], 0
    if x.ndim == 2 and out.shape[0] == x.shape[1] != x.shape[0]:  # (time, batch)
        x, axis = x.t(), 1
    valid = lengths(x)
    if valid is None or out.shape[0] != x.shape[0]:
        return None
    batch, time = x.shape[:2]
    spread = float(out.std(0).mean()) + 1e-12
    padded = [i for i in range(batch) if 1 < valid[i] < time][:8]
    worst = []
    for index in padded:
        keep = int(valid[index])
        try:
            long = call(model, *arguments.alone(index, batch, time, time, axis))
            short = call(model, *arguments.alone(index, batch, time, keep, axis))
        except Exception:  # a model of fixed length
            return None
        if long.ndim >= 3 and long.shape[1] == time:
            long, short = long[:, :keep], short[:, :keep]
        if long.shape != short.shape:
            return None
        worst.append(float((long - short).abs().mean()) / spread)
    return sum(worst) / len(worst) if worst else None


def _text_heard(model: Any, arguments: Call, place: int, out: torch.Tensor) -> float | None:
    """Movement of the outputs when every token before the padding is another one, over the outputs' size."""
    x = arguments.leaves[place]
    valid = lengths(x)
    if valid is None or out.shape[0] != x.shape[0]:
        return None
    body = torch.arange(x.shape[1], device=x.device) < valid[:, None].to(x.device)
    known = x[body]
    new = x.clone()
    new[body] = known[torch.randperm(len(known), device=x.device)]
    change = (_ask(model, arguments, place, new) - out).abs().mean()
    return float(change / (out.abs().mean() + 1e-12))


def _finite(model: torch.nn.Module, batch: Any) -> bool:
    """Are the model's state and the batch free of NaN and infinity?"""
    held = [*model.parameters(), *tensors((batch.args, batch.kwargs))]
    return all(bool(torch.isfinite(t).all()) for t in held if t.is_floating_point())


def _one_graph(run: Run, batch: Any, out: torch.Tensor) -> bool:
    """Are the rows no samples but parts of one whole? The same rows come at every step, or the loss reads some only."""
    if batch.targets is not None and batch.targets.ndim == 1 and out.ndim == 2 and len(batch.targets) < len(out):
        return True
    first = batches(run)[0]
    pairs = list(zip(tensors(first.args), tensors(batch.args), strict=False))
    return first.step != batch.step and bool(pairs) and all(a.shape == b.shape and torch.equal(a, b) for a, b in pairs)


def measure(run: Run) -> dict[str, Any]:
    """Leaks, relative, 0 is none; absent where the question makes no sense. Raises NotApplicable without a batch."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    if main is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    with quiet(model_of(run, batch)) as model, AttentionRows() as attention:
        out = call(model, batch.args, batch.kwargs)
    numbers: dict[str, Any] = {
        "attention_partial_rows": attention.partial_share,
        "attention_deficit": attention.deficit,
        "softmax_over_queries": float(attention.wrong_axis > 0 and attention.wrong_axis == attention.products),
        "attention": float(attention.products + attention.fused),
        "nan_output": float(bool(torch.isnan(out).any()) and _finite(model, batch)),
        **attention.where,
        "recurrent": float(any(isinstance(m, torch.nn.RNNBase) for m in model.modules())),
        "axes": float(arguments.leaves[main].ndim),
        "other_inputs": float(sum(isinstance(x, torch.Tensor) and x.ndim >= 2 for x in arguments.leaves) - 1),
    }
    with quiet(model_of(run, batch)) as model:
        if numbers["nan_output"]:
            return numbers | {"masked_leak": 0.0}
        if out.isnan().any():
            raise NotApplicable("the model answers NaN, in eval mode, too: there is nothing that could move")
        if not torch.equal(out, call(model, batch.args, batch.kwargs)):
            raise NotApplicable("the model answers differently when it is asked twice, even in eval mode")
        leak = None if _one_graph(run, batch, out) else _batch_leak(model, arguments, main, out)[0]
        if leak is not None:
            numbers["batch_leak"] = leak
        for place, leaf in enumerate(arguments.leaves):
            shift = shifted(leaf, batch.targets) if isinstance(leaf, torch.Tensor) else None
            if shift is not None:
                numbers |= _future(model, arguments, place, out, shift[0]) | {"copies_input": float(shift[1])}
                break
        numbers["two_ahead"] = float(two_ahead(arguments.leaves[main], batch.targets))
        padding = _padding_leak(model, arguments, main, out)
        if padding is not None:
            numbers["padding_leak"] = padding
        heard = _text_heard(model, arguments, main, out)
        if heard is not None:
            numbers["text_heard"] = heard
    numbers["masked_leak"] = max(numbers.get("future_leak", 0.0), numbers.get("padding_leak", 0.0))
    return numbers


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on leaks from the future (> 0.1 %), from padding (> 0.1 %; RNN: 5 %), across samples."""
    shown = pick(
        numbers, "batch_leak", "future_leak", "padding_leak", "masked_leak", "text_heard", "attention_partial_rows"
    )
    future, padding = numbers.get("future_leak", 0.0), numbers.get("padding_leak", 0.0)
    place = {"file": numbers.get("file"), "line": numbers.get("line")}
    partial, suspects = numbers["attention_partial_rows"] > 0.05, []
    rows = f"; {share(numbers['attention_partial_rows'])} of the attention rows add up to less than one"
    if future > 1e-3:
        text = f"changing later positions moves earlier outputs ({future:.2g} of the usual movement; 0 is right)"
        if numbers.get("copies_input"):
            pass  # an encoder that reconstructs its input may look everywhere
        elif partial:
            suspects.append(Suspect("attention/mask_after_softmax", 0.9, text + rows))
        elif numbers.get("future_reach", FARTHEST) <= min(max(1, numbers["attention"]), FARTHEST - 1):
            reach = f", and only the next {numbers['future_reach']:.0f} can: one per attention layer"
            suspects.append(Suspect("attention/causal_off_by_one", 0.9, text + reach, **place))
        else:
            score = 0.5 if numbers["softmax_over_queries"] else 0.95
            text += ": the answer is visible"
            suspects.append(Suspect("attention/causal_mask_missing", score, text, **place))
    elif numbers.get("copies_input") and "future_leak" in numbers:
        text = "the target at each position is the input at that position: copying it is all there is to learn"
        suspects.append(Suspect("loss/next_token_not_shifted", 0.8, text))
    if numbers.get("two_ahead"):
        text = "the target at each position is the token after the next one: it was shifted twice"
        suspects.append(Suspect("loss/labels_off_by_one", 0.85, text))
    if padding > 1e-3 and not (future > 1e-3 and partial):
        text = f"cutting off a sample's padding moves its output by {padding:.2g} of the samples' spread (0 is right)"
        if partial:
            suspects.append(Suspect("attention/mask_after_softmax", 0.9, text + rows))
        elif numbers["recurrent"] and padding > 0.05:
            suspects.append(Suspect("recurrent/padding_read_as_text", 0.75, text))
        elif numbers["attention"] and padding > 0.02:
            suspects.append(Suspect("attention/mask_inverted", 0.4, text + ": attention sees the padding"))
    batch = numbers.get("batch_leak", 0.0)
    if batch > 0.01 and numbers["other_inputs"] == 0 and not numbers.get("future_leak"):
        text = f"other samples of the batch move an output ({batch:.2g} of the usual movement; 0 is right)"
        cause, score = "shape/view_instead_of_permute", 0.6
        if numbers["recurrent"]:
            cause, score = "recurrent/batch_first_mismatch", 0.7
        elif numbers.get("axes", 3) < 3:  # a table has no axes to mix up: something was reduced over the samples
            cause, score = "loss/wrong_axis_reduction", 0.4
        suspects.append(Suspect(cause, score, text))
    if numbers["attention"] and numbers.get("text_heard", 1.0) < DEAF and not numbers["recurrent"]:
        text = f"other tokens before the padding move the outputs by {numbers['text_heard']:.2g} of their size: attention passes"
        suspects.insert(0, Suspect("attention/mask_inverted", 0.9, f"{text} over the text", **place))
    if numbers.get("nan_output") and numbers["attention"]:
        text = "in eval mode the model answers NaN to finite inputs: an attention row has every position masked"
        suspects.append(Suspect("numerics/all_masked_row", 0.6, text, **place))
        suspects.append(Suspect("attention/mask_inverted", 0.5, text, **place))
    if numbers["softmax_over_queries"]:
        text = "attention weights add up to one along the queries, not along the keys"
        suspects.insert(0, Suspect("attention/softmax_over_queries", 0.9, text, **place))
    message = suspects[0].evidence if suspects else "each output depends on what it may depend on"
    return Verdict("dependency", bool(suspects), message, shown, tuple(suspects))
