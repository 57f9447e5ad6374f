"""Settings in one object: `batch_size = 32` as `config = SimpleNamespace(batch_size=32, ...)` and `config.batch_size`."""

from random import Random

from bugzoo.dialects._settings import movable, moved
from bugzoo.dialects._text import Text

KIND = "structure"
_NAMES = ("config", "cfg", "options", "hparams")


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    holder, settings = text.fresh(names), movable(text)
    if holder is None or not settings or "SimpleNamespace" in text.words:
        return None
    lines = "".join(f"    {one.name}={one.said},{one.comment}\n" for one in settings)
    return moved(
        text, settings, holder, f"{holder} = SimpleNamespace(\n{lines})\n", "from types import SimpleNamespace"
    )
