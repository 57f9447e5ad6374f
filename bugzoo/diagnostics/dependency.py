"""Which inputs does each output depend on: later tokens, padding, the text itself?

Some inputs are changed, and the outputs are compared. `future_leak`: the target is the next token, and later tokens change
earlier outputs, so that the model sees the answer. `padding_leak`: a sample's output depends on the amount of padding in its
batch. `text_heard`: do the outputs change at all if every token before the padding is replaced? All are relative: the change
where none should be, over the usual change. Sequences, padding and the shift are detected in the tensors. A classifier or a
bidirectional encoder may read all positions, so the future is not checked there.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch

from bugzoo.diagnostics._attention import AttentionRows
from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics._sequences import Call, changed, lengths, shifted, two_ahead
from bugzoo.diagnostics._tools import batches, model_of, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import ANY, FLAG, OWN, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run

COST = 1
VIEW = "influence"
TITLE = "Inputs that an output depends on"
_SCRIPT = """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
tokens = torch.randint(20, (128, 13))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.body = nn.GRU(16, 16, batch_first=True, bidirectional=False)
        self.head = nn.LazyLinear(20)

    def forward(self, x):
        return self.head(self.body(self.embedding(x))[0])


model = Reader()
model(tokens[:2])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(128).split(32):
        x, y = tokens[rows, :-1], tokens[rows, 1:]
        loss = F.cross_entropy(model(x).reshape(-1, 20), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KNOWN_PROBLEMS = (
    "A false positive for recurrent or attention models on series that end in real zeros, such as silence, which look like "
    "padding. "
    "It misses leaks from later tokens where the targets are not the inputs shifted by one, or where the loss is written by "
    "hand."
)
HEALTHY = Example(_SCRIPT)
SICK = Example(_SCRIPT.replace("bidirectional=False", "bidirectional=True"))
FARTHEST = 8
"""Positions ahead that are checked one by one."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Relative changes, 0 without a leak. `attention`: products and kernels; `file` and `line`: those of the first."""

    future_leak: float | None = optional("change of earlier outputs when later tokens change", (0, 0.001))
    future_leak_beyond_next: float | None = optional(
        "change of outputs when tokens beyond the next one change", (0, 0.001)
    )
    future_reach: float | None = optional("farthest position ahead that moves an output; 9: beyond", (0, 0))
    padding_leak: float | None = optional("change of outputs when their padding is removed", (0, 0.001))
    text_heard: float | None = optional("change of outputs when the text before the padding changes", (0.001, ANY))
    attention_partial_rows: float = number("share of attention rows that do not sum to 1", (0, 0.05))
    masked_leak: float = number("change of outputs when masked positions change", (0, 0), hidden=OWN)
    softmax_over_queries: float = number(hidden=FLAG)
    attention_deficit: float
    attention: float
    nan_output: float
    recurrent: float
    copies_input: float | None = None
    two_ahead: float | None = None
    file: str | None = None
    line: int | None = None


attends = ~below("attention", 1)
partial = above("attention_partial_rows", 0.05)
ahead = above("future_leak", 1e-3)
padded = above("padding_leak", 1e-3) & ~(ahead & partial)
recurrent_padding = above("padding_leak", 0.05) & ~below("recurrent", 1)
attended_padding = above("padding_leak", 0.02) & attends

unnormalised_rows = Alarm(
    ~below("softmax_over_queries", 1) & above("attention_partial_rows"),
    "The weights of the attention were recorded. In {attention_partial_rows:.0%} of the rows they do not sum to 1.",
    "They should sum to 1 in every row.",
)
over_queries = Alarm(
    ~below("softmax_over_queries", 1),
    "The weights of the attention were recorded. Those of one query over all keys do not sum to 1.",
    "They should sum to 1 for every query.",
)
unread_text = Alarm(
    attends & below("text_heard", 1e-5) & below("recurrent", 1),
    "Tokens before the padding were replaced. The outputs changed by {text_heard:.2g} of their size.",
    "They should change by more than {limits[text_heard]:.5f}.",
)
"""A smaller change of the outputs, over their size, is rounding."""
nan_output = Alarm(
    ~below("nan_output", 1) & attends,
    "A batch of finite numbers was passed to the model. It returned NaN at least 1 time.",
    "Its outputs should be finite.",
)
visible_future = Alarm(
    ahead & ~above("copies_input"),
    "Later tokens were replaced. Earlier outputs changed by {future_leak:.2g} of the usual change.",
    "They should not change; up to {limits[future_leak]:.3f} passes.",
)
visible_padding = Alarm(
    (recurrent_padding | attended_padding | partial) & padded,
    "The padding of an example was removed. Its output changed by {padding_leak:.2g} of the samples' spread.",
    "It should not change; up to {limits[padding_leak]:.3f} passes.",
)
"""The last of its limits is the lowest, which passes in every model."""
wrong_shift = Alarm(
    above("two_ahead") | above("copies_input") & ~ahead,
    "The target at each position was compared with the tokens. It is not the token 1 position ahead.",
    "Each target should be the next token.",
)
ALARMS = (unnormalised_rows, over_queries, unread_text, nan_output, visible_future, visible_padding, wrong_shift)


def _output(model: Any, arguments: Call, place: int, x: torch.Tensor) -> torch.Tensor:
    return call(model, *arguments.arguments({place: x}))


def future(model: Any, arguments: Call, place: int, out: torch.Tensor, time: int) -> dict[str, float]:
    """Change of earlier outputs when later inputs change; `beyond_next` leaves the next position as it is."""
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
            after = _output(model, arguments, place, changed(x, time, cut + skip)).reshape(out.shape)
            change = (after - out).abs()
            usual = float(change.narrow(time, cut + skip, size - cut - skip).mean())
            ratio = float(change.narrow(time, 0, cut).mean()) / usual if usual > 0 else 0.0
            leak, beyond = (max(leak, ratio), beyond) if not skip else (leak, max(beyond, ratio))
            reach = max(reach, skip + 1) if ratio > 1e-4 else reach
    return {"future_leak": leak, "future_leak_beyond_next": beyond, "future_reach": float(reach)}


def _padding_leak(model: Any, arguments: Call, place: int, out: torch.Tensor) -> float | None:
    """Change of a sample's output when its padding is removed, over the spread between samples."""
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
    """Change of the outputs when every token before the padding is replaced, over the outputs' size."""
    x = arguments.leaves[place]
    valid = lengths(x)
    if valid is None or out.shape[0] != x.shape[0]:
        return None
    body = torch.arange(x.shape[1], device=x.device) < valid[:, None].to(x.device)
    text = x[body]
    new = x.clone()
    new[body] = text[torch.randperm(len(text), device=x.device)]
    change = (_output(model, arguments, place, new) - out).abs().mean()
    return float(change / (out.abs().mean() + 1e-12))


def _finite(model: torch.nn.Module, batch: Any) -> bool:
    """Are the model's state and the batch free of NaN and infinity?"""
    everything = [*model.parameters(), *tensors((batch.args, batch.kwargs))]
    return all(bool(torch.isfinite(t).all()) for t in everything if t.is_floating_point())


def measure(run: Run) -> Numbers:
    """Relative leaks, 0 without a leak; None where they make no sense. Raises NotApplicable without a batch."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    main = arguments.main()
    if main is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    with quiet(model_of(run, batch)) as model, AttentionRows() as attention:
        out = call(model, batch.args, batch.kwargs)
    file, line = attention.where or (None, None)
    numbers = Numbers(
        attention_partial_rows=attention.partial_share,
        masked_leak=0.0,
        softmax_over_queries=float(attention.wrong_axis > 0 and attention.wrong_axis == attention.products),
        attention_deficit=attention.deficit,
        attention=float(attention.products + attention.fused),
        nan_output=float(bool(torch.isnan(out).any()) and _finite(model, batch)),
        recurrent=float(any(isinstance(m, torch.nn.RNNBase) for m in model.modules())),
        file=file,
        line=line,
    )
    with quiet(model_of(run, batch)) as model:
        if numbers.nan_output:
            return numbers
        if out.isnan().any():
            raise NotApplicable("the model's outputs are NaN, in eval mode, too, so no change can be measured")
        if not torch.equal(out, call(model, batch.args, batch.kwargs)):
            raise NotApplicable("the model gives different outputs for the same batch, even in eval mode")
        for place, leaf in enumerate(arguments.leaves):
            shift = shifted(leaf, batch.targets) if isinstance(leaf, torch.Tensor) else None
            if shift is not None:
                leaks = future(model, arguments, place, out, shift[0])
                numbers = replace(numbers, **leaks, copies_input=float(shift[1]))
                break
        numbers.two_ahead = float(two_ahead(arguments.leaves[main], batch.targets))
        numbers.padding_leak = _padding_leak(model, arguments, main, out)
        numbers.text_heard = _text_heard(model, arguments, main, out)
    numbers.masked_leak = max(numbers.future_leak or 0.0, numbers.padding_leak or 0.0)
    return numbers


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on leaks from later tokens or padding, on a wrong shift, and on attention that ignores its text."""
    future, padding = numbers.future_leak or 0.0, numbers.padding_leak or 0.0
    reach = FARTHEST if numbers.future_reach is None else numbers.future_reach
    heard = 1.0 if numbers.text_heard is None else numbers.text_heard
    place = numbers.file, numbers.line
    suspects = []
    rows = f"; {share(numbers.attention_partial_rows)} of attention rows sum to less than 1"
    if ahead(numbers):
        text = f"changing later tokens changes earlier outputs, by {future:.2g} of the usual change (0 is right)"
        if numbers.copies_input:
            pass  # an encoder that reconstructs its input may look everywhere
        elif partial(numbers):
            suspects.append(Suspect("attention/mask_after_softmax", 0.9, text + rows))
        elif reach <= min(max(1, numbers.attention), FARTHEST - 1):
            text += f"; only the next {reach:.0f} positions do, one per attention layer"
            suspects.append(Suspect("attention/causal_off_by_one", 0.9, text, *place))
        else:
            score = 0.5 if over_queries(numbers) else 0.95
            text += ": the target is visible to the model"
            suspects.append(Suspect("attention/causal_mask_missing", score, text, *place))
    elif numbers.copies_input and numbers.future_leak is not None:
        text = "the target at each position is the input at that position: the model only has to copy it"
        suspects.append(Suspect("loss/next_token_not_shifted", 0.8, text))
    if numbers.two_ahead:
        text = "the target at each position is the token two ahead: it was shifted twice"
        suspects.append(Suspect("loss/labels_off_by_one", 0.85, text))
    if padded(numbers):
        text = f"removing a sample's padding changes its output by {padding:.2g} of the samples' spread (0 is right)"
        if partial(numbers):
            suspects.append(Suspect("attention/mask_after_softmax", 0.9, text + rows))
        elif recurrent_padding(numbers):
            suspects.append(Suspect("recurrent/padding_read_as_text", 0.75, text))
        elif attended_padding(numbers):
            suspects.append(Suspect("attention/mask_inverted", 0.4, text + ": attention reads the padding"))
    if unread_text(numbers):
        text = f"replacing tokens before the padding changes the outputs by {heard:.2g} of their size: attention"
        suspects.insert(0, Suspect("attention/mask_inverted", 0.9, f"{text} ignores the text", *place))
    if nan_output(numbers):
        text = "in eval mode the model outputs NaN for finite inputs: an attention row has every position masked"
        suspects.append(Suspect("numerics/all_masked_row", 0.6, text, *place))
        suspects.append(Suspect("attention/mask_inverted", 0.5, text, *place))
    if over_queries(numbers):
        text = "attention weights sum to 1 over the queries, not over the keys"
        suspects.insert(0, Suspect("attention/softmax_over_queries", 0.9, text, *place))
    message = suspects[0].reason if suspects else "each output depends only on inputs that it may read"
    return Verdict("dependency", bool(suspects), message, numbers.labeled(), tuple(suspects))
