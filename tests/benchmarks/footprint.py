"""What bugzoo weighs: `import bugzoo` beside `import torch`, a list, the help, the wheel. `python -m tests.benchmarks.footprint`

Times are medians over fresh interpreters; the ratio is to `import torch` in the same interpreter. Bar: 0.1 s over torch.
Commands are in seconds of CPU. The first `bugzoo list faults` starts with an empty cache, the second reads what it wrote.
`bugzoo --help` is compared with the help of an app of two empty commands, which is what typer and rich cost by themselves.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.benchmarks import report

ROOT = Path(__file__).parents[2]
PARTS = ("bugzoo", "notebooks", "exercises", "solutions")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md")
STAGES = """
import time
marks = [time.perf_counter()]
import torch; marks.append(time.perf_counter())
import bugzoo; marks.append(time.perf_counter())
bugzoo.watch; marks.append(time.perf_counter())
print(*(b - a for a, b in zip(marks, marks[1:])))
"""

EMPTY_APP = """
import typer
app = typer.Typer(rich_markup_mode="markdown")
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app()
"""


def imports(repeats: int) -> dict[str, float]:
    """Seconds for `import torch`, then `import bugzoo`, then the first touch of `bugzoo.watch`."""
    rows = []
    for _ in range(repeats + 1):  # the first one fills the disk cache
        process = subprocess.run([sys.executable, "-c", STAGES], capture_output=True, text=True, check=True)
        rows.append([float(word) for word in process.stdout.split()])
    torch, bugzoo, watch = (statistics.median(column) for column in zip(*rows[1:], strict=True))
    return {"import_torch_s": torch, "import_bugzoo_s": bugzoo, "first_watch_s": watch, "ratio": bugzoo / torch}


def cpu(*arguments: str, cache: str) -> float:
    """Seconds of CPU of a Python process, with this folder as bugzoo's cache."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"BUGZOO_CACHE": cache}
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(repeats: int) -> dict[str, float]:
    """Seconds of CPU of `bugzoo list faults`, first and second call, and of `bugzoo --help` beside an empty app's."""
    rows = []
    for _ in range(repeats + 1):  # the first one fills the disk cache
        with tempfile.TemporaryDirectory() as cache:
            calls = (("-m", "bugzoo", "list", "faults"),) * 2 + (
                ("-m", "bugzoo", "--help"),
                ("-c", EMPTY_APP, "--help"),
            )
            rows.append([cpu(*call, cache=cache) for call in calls])
    first, second, help, empty = (statistics.median(column) for column in zip(*rows[1:], strict=True))
    ratios = {"first_to_second": first / second, "help_to_empty": help / empty}
    return {"list_first_s": first, "list_second_s": second, "help_s": help, "empty_help_s": empty, **ratios}


def build_wheel(out: Path) -> Path:
    """The wheel as `pip install .` builds it, made from a copy so that nothing is left in the working tree."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in PARTS:
            ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        for name in FILES:
            shutil.copy(ROOT / name, copy / name)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        process = subprocess.run([*command, "-w", str(out), str(copy)], capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(process.stdout + process.stderr)
    return next(out.glob("*.whl"))


def wheel() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = build_wheel(Path(folder))
        return {"size_kib": file.stat().st_size / 1024, "files": len(zipfile.ZipFile(file).namelist())}


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    numbers = {"import": imports(options.repeats), "commands": commands(options.repeats), "wheel": wheel()}
    times, called = numbers["import"], numbers["commands"]
    print(f"import torch       {times['import_torch_s'] * 1000:8.0f} ms")
    print(f"import bugzoo      {times['import_bugzoo_s'] * 1000:8.1f} ms more ({times['ratio']:.4f} of torch's)")
    print(f"first bugzoo.watch {times['first_watch_s'] * 1000:8.1f} ms more")
    print(
        f"bugzoo list faults {called['list_first_s'] * 1000:8.0f} ms, then {called['list_second_s'] * 1000:.0f} ms",
        end=" ",
    )
    print(f"({called['first_to_second']:.1f} : 1)")
    print(f"bugzoo --help      {called['help_s'] * 1000:8.0f} ms ({called['help_to_empty']:.2f} of an empty app's)")
    print(f"wheel              {numbers['wheel']['size_kib']:8.0f} KiB in {numbers['wheel']['files']} files")
    if options.save:
        report.save("footprint", numbers)


if __name__ == "__main__":
    main()
