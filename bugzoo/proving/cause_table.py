"""`causes.json`: the words of causes, gathered from the files of faults for what may not read those (`diagnostics.causes`)."""

import importlib
import json
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from bugzoo import diagnostics, faults
from bugzoo.diagnostics.causes import TABLE


def rows(package: ModuleType) -> dict[str, dict[str, Any]]:
    """Return `family/` or fault's id -> the words that stand in its file, of one package; a file without any has no row."""
    of_faults = {name: fault.cause for name, fault in faults.walk(package).items()}
    families = sorted({name.split("/")[0] for name in of_faults})
    modules = {f"{name}/": importlib.import_module(f"{package.__name__}.{name}") for name in families}
    every = {name: getattr(module, "CAUSE", faults.Cause()) for name, module in modules.items()} | of_faults
    filled = {name: {key: value for key, value in asdict(row).items() if value} for name, row in sorted(every.items())}
    return {name: row for name, row in filled.items() if row}


def texts() -> dict[str, str]:
    """Return file -> the text that it should have: bugzoo's own table, and that of each installed fault pack with words."""
    packs = [pack.load() for pack in entry_points(group="bugzoo.faults")]
    tables = {_beside(diagnostics): rows(faults)} | {_beside(pack): rows(pack) for pack in packs}
    return {str(file): _text(table) for file, table in tables.items() if table or file.exists()}


def _beside(package: ModuleType) -> Path:
    return Path(str(package.__file__)).with_name(TABLE)


def _text(table: dict[str, dict[str, Any]]) -> str:
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in table.items()) + "\n}\n"
