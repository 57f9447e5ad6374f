"""`proofs/texts.json`: which ledger entries are known to be about the current texts, without building a text.

One row per fault: a hash of the sources of its texts (its file and those of its look-alikes, the programs, the editing
code), and a hash of its ledger entry. Both date from when every key was compared, so they need no new comparison.
Building the texts of the whole catalogue takes a minute; comparing the rows takes a second.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.faults.model import Fault
from bugzoo.files import read_json, write_atomic
from bugzoo.fingerprint import code_of
from bugzoo.proving import code, ledger

SHARED = frozenset(f"bugzoo.{room}" for room in ("faults.model", "faults.verbs", "faults.evidence", "syntax", "errors"))
"""Modules that every fault's file imports."""
MAKING = (
    *sorted(SHARED),
    "bugzoo.scenario",
    "bugzoo.injection",
    "bugzoo.faults",
    "bugzoo.proving.cells:keys_of",
    "bugzoo.proving.look_alikes:key_of",
    "bugzoo.proving.look_alikes:pairs",
    "bugzoo.proving.tried:lacks",
    "bugzoo.grading.trials:of_case",
)
"""Entry points of the code that builds texts, and keys from them."""
MEASURING = frozenset(f"bugzoo.{room}" for room in ("running", "watching", "rerun", "diagnostics", "plots", "lab"))


def stands(fault: Fault) -> bool:
    """Return whether a fault's ledger entry is about the current texts; False also means unknown."""
    return ledger.ours(fault.id) and rows().get(fault.id) == row(fault)


def row(fault: Fault) -> str:
    """Return a fault's current row, whether it is stored or not."""
    faults = catalogue.catalogue()
    files = [_file_of(name) for name in (fault.id, *(like.other for like in fault.look_alikes)) if name in faults]
    return code.keyed((files, _common()), (_said(fault.id),))


def rows() -> dict[str, str]:
    """Return fault -> its row, as committed; empty without a ledger."""
    return read_json(_file())


def write(found: dict[str, str], known: set[str]) -> None:
    """Add rows and delete those of faults that are no longer `known`."""
    old = rows()
    new = {name: digest for name, digest in sorted((old | found).items()) if name in known}
    if ledger.home() is not None and new != old:
        write_atomic(_file(), json.dumps(new, indent=1) + "\n", parents=True)


def _file() -> Path:
    return (ledger.home() or Path("nowhere")) / "texts.json"


@cache
def _file_of(fault_id: str) -> str:
    """Return the hash of a fault's file; its imports from this package are in `MAKING`."""
    module = "bugzoo.faults." + fault_id.replace("/", ".")
    return code_of(module, without=SHARED | MEASURING)


@cache
def _common() -> str:
    texts = [(name, programs.load(name).source, programs.load(name).facts) for name in programs.names()]
    return code.short(code_of(*MAKING, without=MEASURING | code.SAID), texts)


def _said(fault_id: str) -> str:
    """Return the entry without the code halves of its keys, plus what waits for a proof."""
    file = (ledger.home() or Path("nowhere")) / "faults" / f"{fault_id}.json"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    text = re.sub(r'"([0-9a-f]{16})-[0-9a-f]{16}"', r'"\1"', text)
    waits = sorted(line for line in ledger.waiting() if line.startswith(f"{fault_id} "))
    return hashlib.sha256("\n".join([text, *waits]).encode()).hexdigest()
