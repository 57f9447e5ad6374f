"""How often an idiom finds its place, and how often `break` fits, in training scripts of other people.

    python -m tests.benchmarks.idiom_fit [FOLDER] [--missing] [--save]

FOLDER holds `*.py` and, where the places were looked up by hand, `labels.json`: {file: {"places": {IDIOM: [line, ...]}}}. An
idiom counts as found in a script when one of the places that it means (of several: that `break` offers) covers a labelled
line; a script counts when it has a labelled place. Without a folder: tests/corpus, which has no labels.
"""

import json
from pathlib import Path

from bugzoo import faults
from bugzoo.errors import UserError
from bugzoo.faults import idioms
from bugzoo.faults.forms import Idiom
from bugzoo.faults.script import read, statement
from bugzoo.injection import check_syntax, inject
from tests.benchmarks import report
from tests.corpus import ROOT

LABELS = {"OTHER_LOSS": "LOSS_OTHER", "ACTIVATION_LAYER": "ACTIVATION"}
"""Idiom -> the label that it is counted by, where that has another name: activations are labelled whatever their form."""
TOGETHER = {"ACTIVATION": ("ACTIVATION_LAYER",)}
IDIOMS = {name: value for name, value in vars(idioms).items() if isinstance(value, Idiom)}


def covered(source: str, idiom: Idiom, lines: list[int]) -> tuple[bool, bool]:
    """Whether the meant places, and whether any place of the idiom, cover one of the labelled lines."""
    script = read(source)
    matches = idiom.found(script)
    best = idiom.best(script, matches)
    for name in TOGETHER.get(idiom.name, ()):
        more = IDIOMS[name].found(script)
        matches, best = [*matches, *more], [*best, *more]

    def hits(places):
        for place in places:
            span = statement(place.node).range()
            begin = min(place.line, span.start.line + 1)
            if any(begin <= line <= max(place.end_line, place.line) for line in lines):
                return True
        return False

    return hits(best), hits(matches)


def fit(source: str, fault: faults.Fault) -> str:
    """one, several or none."""
    params = {name: param.default for name, param in fault.params.items()}
    try:
        inject(source, [(fault, params)])
    except UserError as error:
        return "several" if "--at LINE" in str(error) else "none"
    return "one"


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--missing", action="store_true", help="name the scripts in which a labelled place is not found"
    )
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.py")) if options.folder else sorted(ROOT.glob("*/*.py"))
    sources = {}
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        try:
            check_syntax(text, file.name)
        except UserError:
            continue  # Python 2
        sources[file.name] = text
    labels = {}
    if options.folder and (options.folder / "labels.json").exists():
        labels = json.loads((options.folder / "labels.json").read_text(encoding="utf-8"))
    numbers: dict[str, dict] = {"scripts": len(sources), "idioms": {}, "break": {}}
    print(f"{len(sources)} scripts")
    if labels:
        print(f"\n{'idiom':18}{'have one':>9}{'meant':>7}{'offered':>9}  share")
        for name, idiom in IDIOMS.items():
            label = LABELS.get(name, name)
            have = [s for s in sources if labels.get(s, {}).get("places", {}).get(label)]
            if not have or name in sum(TOGETHER.values(), ()):
                continue
            coverage = {s: covered(sources[s], idiom, labels[s]["places"][label]) for s in have}
            meant, offered = sum(m for m, _ in coverage.values()), sum(a for _, a in coverage.values())
            numbers["idioms"][name] = {"have one": len(have), "meant": meant, "offered": offered}
            print(f"{name:18}{len(have):9}{meant:7}{offered:9}  {meant / len(have):.0%}")
            for s, (m, a) in coverage.items():
                if options.missing and not m:
                    print(f"    {s} {labels[s]['places'][label]}{' (found, but another is meant)' if a else ''}")
    print(f"\n{'fault':36}{'one':>5}{'several':>9}{'none':>6}")
    for fault_id, fault in faults.catalogue().items():
        got = [fit(source, fault) for source in sources.values()]
        numbers["break"][fault_id] = {kind: got.count(kind) for kind in ("one", "several", "none")}
        print(f"{fault_id:36}{got.count('one'):5}{got.count('several'):9}{got.count('none'):6}")
    if options.save:
        report.save("idiom_fit", numbers)


if __name__ == "__main__":
    main()
