"""Print the versions of this environment as a constraints file: `python -m tests.gate.lock`, which `make update` calls."""

import platform
import sys
from importlib.metadata import distributions

LEFT_OUT = ("bugzoo", "pip", "setuptools", "wheel")
"""Ours, and what builds a wheel: pip chooses that in an environment of its own."""


def lock() -> str:
    names = {package.metadata["Name"].lower(): package.version.split("+")[0] for package in distributions()}
    pins = sorted(f"{name}=={number}" for name, number in names.items() if name not in LEFT_OUT)
    origin = f"Python {sys.version_info.major}.{sys.version_info.minor} on {platform.system()}"
    return "\n".join(
        [f"# The versions in constraints.txt were taken with {origin}.", "# Made by `make update`.", *pins, ""]
    )


if __name__ == "__main__":
    sys.stdout.write(lock())
