"""A function for one step of the training: `loss = train_step(inputs, targets)`."""

from random import Random

from bugzoo.dialects._extract import extracted
from bugzoo.dialects._places import batch_loop, names_of, step_of
from bugzoo.dialects._text import Text

KIND = "structure"
HIDES = True
_NAMES = ("train_step", "training_step", "one_step", "learn_from")


def rewrite(source: str, draw: Random) -> str | None:
    text = Text(source)
    loop, names = batch_loop(text), list(_NAMES)
    draw.shuffle(names)
    if loop is None:
        return None
    head, tail = step_of(loop)
    return extracted(text, [*head, *tail], names, names_of(loop.target), least=1) if tail else None
