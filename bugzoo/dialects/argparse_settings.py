"""Settings read with argparse: `batch_size = 32` as `--batch-size` with a default, and `args.batch_size`."""

from random import Random

from bugzoo.dialects._settings import Setting, movable, moved
from bugzoo.dialects._text import Text

KIND = "structure"
_NAMES = (("parser", "args"), ("options_parser", "opt_args"), ("cli", "flags"), ("arguments", "given"))


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    chosen = next((pair for pair in names if not text.words.intersection(pair)), None)
    settings = movable(text)
    if chosen is None or not settings or text.bound("argparse"):
        return None
    parser, holder = chosen
    lines = "".join(f"{parser}.add_argument({_argument(one)}){one.comment}\n" for one in settings)
    # an empty list: who runs the program has arguments of his own
    block = f"{parser} = argparse.ArgumentParser()\n{lines}{holder} = {parser}.parse_args([])\n"
    imported = "" if text.imported("argparse", "argparse") else "import argparse"
    return moved(text, settings, holder, block, imported)


def _argument(one: Setting) -> str:
    return f'"--{one.name.replace("_", "-")}", type={type(one.value).__name__}, default={one.said}'
