"""GB on the disk of what `make lab` and `make test` install, by part. `python -m tests.benchmarks.installed`

It counts the files that pip wrote for each package, in whole blocks of the disk, as `du` does (1 GB is 10^9 bytes). The build for
the CPU was not installed: its number leaves out the packages that only CUDA needs and torch's own libraries for CUDA.
"""

import re
from collections import deque
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.benchmarks import report

FOR_CUDA = re.compile(r"(nvidia|cuda)-.*|triton")
"""Packages that torch asks for in its CUDA build only."""
CUDA_LIBRARY = re.compile(r"lib\w*(cuda|nvshmem|nvrtc)\w*\.so")
"""Files of torch itself that its CPU build lacks."""
PYTORCH = ("torch", "torchvision")
BUNDLED = ("pip", "setuptools")
"""What `python -m venv` puts there."""


def required(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """Names of the installed packages that a package and its extras need, with its own."""
    visited, waiting = set(), deque([(name, extras)])
    while waiting:
        name, extras = waiting.popleft()
        if (name, extras) in visited:
            continue
        visited.add((name, extras))
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return {name for name, _ in visited}


def sizes(package: Distribution) -> tuple[int, int]:
    """Bytes on the disk of all files of a package, and of its libraries for CUDA."""
    total = cuda = 0
    for file in package.files or ():
        path = Path(str(package.locate_file(file)))
        if path.is_file():
            taken = path.stat().st_blocks * 512
            total += taken
            cuda += taken if CUDA_LIBRARY.fullmatch(path.name) else 0
    return total, cuda


def measure() -> dict[str, float]:
    """GB of each part of this environment, and of what the commands install with each build of PyTorch."""
    parts = dict.fromkeys(("pytorch", "cuda", "other", "test"), 0)
    lab = required("bugzoo") | set(BUNDLED)
    test = required("bugzoo", frozenset({"test"}))
    for package in distributions():
        name = canonicalize_name(package.metadata["Name"])
        if name not in lab | test:
            continue
        total, cuda = sizes(package)
        if name in PYTORCH:
            parts["pytorch"] += total - cuda
            parts["cuda"] += cuda
        else:
            parts["cuda" if FOR_CUDA.fullmatch(name) else "other" if name in lab else "test"] += total
    gb = {name: taken / 1e9 for name, taken in parts.items()}
    cpu = gb["pytorch"] + gb["other"]
    return {**gb, "lab": cpu + gb["cuda"], "lab_cpu": cpu}


def main() -> None:
    options = report.parser(__doc__).parse_args()
    gb = measure()
    print(f"torch and torchvision, without CUDA  {gb['pytorch']:4.1f} GB")
    print(f"CUDA's libraries and triton          {gb['cuda']:4.1f} GB")
    print(f"all other packages                   {gb['other']:4.1f} GB")
    print(f"make lab                             {gb['lab']:4.1f} GB")
    print(f"make lab, build for the CPU    about {gb['lab_cpu']:4.1f} GB")
    print(f"make test, in addition               {gb['test']:4.1f} GB")
    if options.save:
        report.save("installed", {name: round(value, 2) for name, value in gb.items()})


if __name__ == "__main__":
    main()
