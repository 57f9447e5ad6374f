"""The rules of what a person reads: which words it may not contain, and how long it may be.

`python -m tests.voice bugzoo/faults/attention README.md` prints what breaks them, one line each.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bugzoo.faults import Fault, catalogue
from bugzoo.glossary import TERMS

ROOT = Path(__file__).parent.parent
SPELLING = {
    r"(optimi|normali|initiali|regulari|generali|synchroni|standardi|serial|memori|penali|randomi|summari|recogni|"
    r"minimi|maximi|tokeni|quanti|factori|utili|categori|organi|reali|visuali|speciali|equali|capitali|summari|"
    r"parametri|locali|finali|emphasi|stabili)s(e|es|ed|er|ers|ing|ation|ations)": "-ize, -ization",
    r"(behaviour|colour|favour|neighbour|labour|honour)\w*": "-or",
    r"(centre|centred|metre|fibre)s?": "center, meter",
    r"(labelled|labelling|modelled|modelling|cancelled|cancelling|travelled|signalled|totalled)": "one l",
    r"(analyse|catalyse|paralyse)[sd]?": "-yze",
    r"(grey|artefacts?|learnt|spelt|burnt|judgement|licence|programme|ageing|towards|whilst|amongst)": "US spelling",
}
PHRASES = {
    r"nobody|somebody|whoever|whosoever|anybody": "say who: the optimizer, the loader, you",
    r"(?-i:(is|are) none)(?! of)": "is not a ...; there is no ...",
    r"left in peace|leave in peace|leaves in peace": "no false alarm",
    r"accus(e|es|ed|ing)|blam(e|es|ed|ing)": "false alarm, reports, suspects",
    r"learn(ed|s|t)? by heart|by heart": "overfits one batch; memorizes",
    r"(lies|lie|lay|lying|rests|rest) flat": "plateaus",
    r"behind the step|behind step\(\)": "after the step",
    r"set free|sets free": "unfreeze",
    r"stands? still": "hangs; does not change",
    r"as it comes|as they come|comes as it": "missing shuffle",
    r"the other half": "validation set; held-out set",
    r"number format|number formats": "dtype",
    r"half precision numbers": "fp16",
    r"taken apart|take apart|takes apart": "inspect",
    r"made again|is heard|are heard": "re-run; recorded",
    r"what care about|care about the mode|awake": "train mode / eval mode",
    r"number by number": "element-wise; by value",
    r"the root of": "sqrt",
    r"texts? of the test|knowledge of the test": "data leakage",
    r"dealt|deals|deal out|dealing": "shards; distributes",
    r"loses? its memory": "optimizer state is lost",
    r"numbers fetched|fetched numbers": "host sync",
}
"""Coined phrases, and the term that an engineer would search for."""
_EDGE = r"(?<![\w/`.\"'_])(?:{})(?![\w/_])"
COINED = {phrase: term.name for term in TERMS for phrase in term.instead_of}
"""What stood for a term of the glossary."""


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(_EDGE.format(pattern), re.IGNORECASE)


RULES = [("", _rule(one), say) for one, say in (SPELLING | PHRASES).items()]
RULES += [(one.lower(), _rule(re.escape(one)), say) for one, say in COINED.items()]
"""(what a text must hold in small letters, before the pattern is tried; the pattern; what to write)."""


def wrong(text: str) -> Iterator[tuple[str, str]]:
    """(what was found, what to write) for each break of a rule in a text; code in backticks and {fields} are not read."""
    text = re.sub(r"\{\w+[^}]*\}", "{}", re.sub(r"`[^`]*`", "`code`", text))
    small = text.lower()
    for holds, pattern, say in RULES:
        if holds in small:
            for match in pattern.finditer(text):
                yield match.group(), say


def sentences(text: str) -> list[str]:
    """The sentences of a text, without those inside code."""
    text = re.sub(r"`[^`]*`", "code", text)
    return [
        sentence.strip() for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9'\"(])|\n\s*\n", text) if sentence.strip()
    ]


def long_ones(text: str, most: int = 25) -> Iterator[str]:
    """Sentences of more than `most` words."""
    yield from (sentence for sentence in sentences(text) if len(sentence.split()) > most)


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of everything in a file that may be read by a person: strings of a module, cells, lines."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
                yield node.lineno, node.value
    elif path.suffix == ".ipynb":
        for cell in json.loads(source)["cells"]:
            text = "".join(cell["source"])
            if not text.startswith("%%program"):  # programs are what the proofs were made with: their texts stay
                yield from enumerate(text.splitlines(), 1)
    else:
        yield from enumerate(source.splitlines(), 1)


def of_fault(fault: Fault) -> Iterator[str]:
    """What breaks a rule in the texts of one fault. Names of its repairs are keys of the ledger, and stay."""
    words = len(fault.title.split())
    if not 2 <= words <= 10:
        yield f"title of {words} words (2 to 10): {fault.title}"
    texts = {"title": fault.title, "report": fault.report, "why": fault.why, "fix": fault.fix}
    texts |= {f"hint {place}": hint for place, hint in enumerate(fault.hints, 1)}
    texts |= {f"not_on {name}": why for name, why in fault.not_on.items()}
    texts |= {f"param {name}": param.doc for name, param in fault.params.items()}
    for other in fault.look_alikes:
        texts |= {f"look-alike {other.other} {name}": getattr(other, name) for name in ("test", "here", "there")}
    for name, text in texts.items():
        yield from (f"{name}: {word!r}; write: {say}" for word, say in wrong(text))
        yield from (f"{name}, {len(sentence.split())} words: {sentence}" for sentence in long_ones(text))


def main() -> None:
    """Print what breaks the rules in the files and folders of the command line."""
    for argument in sys.argv[1:]:
        start = ROOT / argument
        files = (
            [start]
            if start.is_file()
            else sorted(entry for entry in start.rglob("*") if entry.suffix in (".py", ".md", ".ipynb"))
        )
        for file in files:
            name = file.relative_to(ROOT)
            if fault := catalogue().get(name.with_suffix("").as_posix().removeprefix("bugzoo/faults/")):
                problems = [f"{name}: {sentence}" for sentence in of_fault(fault)]
            else:
                texts = prose_of(file)
                problems = [
                    f"{name}:{line}: {word!r}; write: {say}" for line, text in texts for word, say in wrong(text)
                ]
            for entry in problems:
                print(entry)


if __name__ == "__main__":
    main()
