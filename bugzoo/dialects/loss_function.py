"""A function for the way forward: `loss = compute_loss(inputs, targets)` before `loss.backward()`."""

from random import Random

from bugzoo.dialects._extract import extracted
from bugzoo.dialects._places import batch_loop, names_of, step_of
from bugzoo.dialects._text import Text

KIND = "structure"
HIDES = True
_NAMES = ("compute_loss", "forward_pass", "loss_of", "batch_loss_of")


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    loop, names = batch_loop(text), list(_NAMES)
    draw.shuffle(names)
    if loop is None:
        return None
    head, _ = step_of(loop)
    cleared = max((place for place, one in enumerate(head) if "zero_grad" in text.of(one)), default=-1)
    head = head[cleared + 1 :]
    return extracted(text, head, names, names_of(loop.target), least=1) if len(head) > 1 else None
