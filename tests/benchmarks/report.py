"""What the benchmarks share: `--save`, and a dated result file that says where its numbers were taken."""

import argparse
import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def parser(doc: str | None) -> argparse.ArgumentParser:
    """An argument parser that explains itself with the module's docstring and knows `--save`."""
    arguments = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--save", action="store_true", help="keep the numbers, dated, under tests/benchmarks/results"
    )
    return arguments


def environment(device: str = "cpu") -> dict[str, Any]:
    """Where the numbers were taken: versions, cores, threads, load, device."""
    import torch

    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 2),
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
    }


def save(name: str, numbers: dict[str, Any], device: str = "cpu") -> Path:
    """Write `<name>_<device>_<date>.json`; the same day's earlier file is replaced."""
    today = datetime.date.today().isoformat()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}_{device}_{today}.json"
    content = {"what": name, "date": today, "environment": environment(device), "results": numbers}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {path.relative_to(RESULTS.parents[2])}")
    return path
