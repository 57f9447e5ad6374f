"""Install bugzoo and PyTorch into this environment: `python -m tests.gate.install`, which `make lab` and `make test` call.

It first says what comes and how much, and then shows a line for each large file; in CI pip is silent. The versions are those of
constraints.txt. Where they do not hold (another system, another Python) it goes on without them, but never in CI.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "constraints.txt"
KEPT = Path(sys.prefix) / ".torch"
"""A constraints file: a comment with the index of torch and torchvision, and their versions. No later call exchanges them."""
CI = bool(os.environ.get("CI"))
FILE = re.compile(
    r"\s*(?:Downloading|Using cached|Processing) (?:\S*/)?([^-/\s]+)-([^-\s]+)-\S+\.whl(?: \((\S+ [MG]B)\)| \(from .*)?$"
)
"""What pip says of a wheel: name, version, and its size, if it is not in kB."""


def pip(*arguments: str, **options) -> bool:
    """Run `pip install`, show a line for each file of a megabyte or more, and return whether pip succeeded."""
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *(["--quiet"] if CI else [])]
    with subprocess.Popen([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, **options) as process:
        for line in process.stdout or ():
            if file := FILE.match(line):
                print("  " + " ".join(filter(None, file.groups())), flush=True)
            elif line.startswith("Installing collected packages"):
                print(f"  unpacking {line.count(',') + 1} packages; large ones take a minute or two", flush=True)
    return process.returncode == 0


def gigabytes(test: bool, index: str) -> str:
    """What this environment then takes on the disk: `python -m tests.benchmarks.installed` measured it."""
    measured = max((ROOT / "tests" / "benchmarks" / "results").glob("installed_*.json")).read_text(encoding="utf-8")
    results = json.loads(measured)["results"]
    more = results["test"] if test else 0
    if sys.platform.startswith("linux") and not index:
        return f"{results['lab'] + more:.1f} GB"
    return f"about {results['lab_cpu'] + more:.1f} GB" + (" with PyTorch's build for the CPU" if index else "")


def kept_index() -> str:
    """The index of the torch that is installed here; empty if it is pip's own."""
    first = KEPT.read_text(encoding="utf-8").partition("\n")[0] if KEPT.is_file() else ""
    return first.removeprefix("# ")


def install_torch(index: str) -> bool:
    """Take torch and torchvision from this index and nothing else: what they need comes from pip's own index afterwards."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [line for line in project["dependencies"] if re.match(r"torch(vision)?\b", line)]
    options = ["--no-deps", "--index-url", index, *bounds]
    # further sources in pip's configuration would serve another build: the same index and an empty folder replace them
    alone = os.environ | {"PIP_EXTRA_INDEX_URL": index, "PIP_FIND_LINKS": sys.prefix}
    tested = pip(*options, "-c", str(LOCK), env=alone, stderr=None if CI else subprocess.DEVNULL)
    if not tested and (CI or not pip(*options, env=alone)):
        return False
    listed = [sys.executable, "-m", "pip", "list", "--disable-pip-version-check", "--format", "freeze"]
    lines = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.splitlines()
    pins = [line for line in lines if re.match(r"torch(vision)?==", line)]
    KEPT.write_text("\n".join([f"# {index}", *pins, ""]), encoding="utf-8")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gate.install", description=__doc__.split("\n\n")[0])
    parser.add_argument("--test", action="store_true", help="with what the tests need")
    parser.add_argument("--torch-index", default="", metavar="URL", help="take torch and torchvision from this index")
    args = parser.parse_args()
    index = args.torch_index or kept_index()
    if index != kept_index() and importlib.util.find_spec("torch"):
        print("PyTorch is in .venv already, from another index. Type `make clean` first: two builds do not mix.")
        return 1
    free = shutil.disk_usage(sys.prefix).free / 1e9
    print(f"Installing bugzoo and PyTorch into the folder .venv, which then holds {gigabytes(args.test, index)}.")
    print(f"{free:.0f} GB are free on its disk. The first time takes a few minutes.", flush=True)
    if index and not install_torch(index):
        print(f"TORCH_INDEX={index} gives no torch and torchvision for this Python: see pip's message above.")
        print("Nothing was installed. docs/portable.md says where to find the address.")
        return 1
    bugzoo = ["-e", ".[test]" if args.test else ".", *(["-c", str(KEPT)] if index else [])]
    if pip(*bugzoo, "-c", str(LOCK)):
        return 0
    if CI:
        return 1
    print(LOCK.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "))
    print("They do not hold here; going on with what pyproject.toml allows.", flush=True)
    return 0 if pip(*bugzoo) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on.")
