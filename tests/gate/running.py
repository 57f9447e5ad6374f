"""Start pytest, once a phase, in a process group that a deadline can end."""

import argparse
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import distributions, version
from importlib.util import find_spec
from pathlib import Path

from tests.gate.outcomes import Phase, read
from tests.gate.reports import FILE

ALONE = "serial or browser"
LEFT_OUT = ["-p", "no:nbval"]
"""A plugin that takes 3 s to load; tests that need it start a pytest of their own."""
THREADS = {"OMP_NUM_THREADS": "1"}
"""Two tests at once on two cores: with two threads each they would wait for one another. Sums depend on it as well."""
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Images of containers set it. Each worker and each `bugzoo` that a test starts would compile every module again."""
EMPTY = 5
"""pytest's exit code where no test was selected; a phase may be empty, the gate may not."""


def phases(args: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(name, marker expression, workers) of each run of pytest."""
    if args.unit:
        return [("unit", f"not slow and not ({ALONE})", "2")]
    if args.sampled or args.explore:
        return [("sampled", "sampled and not serial", "2"), ("sampled-alone", "sampled and serial", "1")]
    return [("beside", f"not ({ALONE})", "2"), ("browser", "browser and not serial", "2"), ("alone", "serial", "1")]


def holding(marker: str, given: list[str]) -> list[str]:
    """The test files in which every test of a phase stands: to collect the others takes longer than some of these phases.

    None are named for a phase that runs most files, and where the user has `given` files or folders of his own.
    """
    words = [word for word in ("browser", "serial") if marker.startswith(word)]
    if not words or any(Path(argument.partition("::")[0]).exists() for argument in given):
        return []
    files = Path("tests").rglob("test_*.py")
    return sorted(str(file) for file in files if f"mark.{words[0]}" in file.read_text(encoding="utf-8"))


def options(timeout: float) -> list[str]:
    """pytest's options for a limit on one test: a dump of every thread, then the end of the process that runs it."""
    if not timeout or find_spec("pytest_timeout") is None:
        return LEFT_OUT
    return [
        *LEFT_OUT,
        f"--timeout={timeout:g}",
        "--timeout-method=thread",
    ]  # instruments use the alarm signal themselves


def run(name: str, arguments: list[str], place: Path, deadline: float) -> Phase:
    """One run of pytest, ended after `deadline` seconds. Raises KeyboardInterrupt when the user stops it."""
    lines = place / f"gate-{name}.jsonl"
    lines.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.gate.reports", f"--junitxml={place}/junit-{name}.xml"]
    print(f"\ngate: {name}: pytest {shlex.join(arguments)}", flush=True)
    begun = time.monotonic()
    env = outer(os.environ) | {FILE: str(lines.absolute()), "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": "1"} | THREADS
    process = subprocess.Popen([*command, *arguments], env=env, start_new_session=True)
    late = False
    try:
        code = process.wait(deadline)
    except subprocess.TimeoutExpired:
        late, code = True, _end(process)
    except KeyboardInterrupt:
        _end(process)
        raise
    phase = read(name, lines)
    phase.seconds = time.monotonic() - begun
    if late:
        phase.errors.append(f"{name} was ended after {deadline / 60:.0f} minutes")
    elif code not in (0, 1, EMPTY) and not phase.errors:
        phase.errors.append(f"pytest ended with exit code {code} in the phase {name}")
    elif code == 1 and not phase.failed():
        phase.errors.append(f"pytest failed in the phase {name}, and no test did: see above")
    return phase


def outer(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's environment without what would steer or slow the tests."""
    return {name: value for name, value in environ.items() if not name.startswith("PYTEST_") and name != NO_BYTECODE}


def _end(process: subprocess.Popen[bytes]) -> int:
    """Interrupt the process group, then kill it."""
    for sign, seconds in ((signal.SIGINT, 20), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
            return process.wait(seconds)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            continue
    return process.poll() or -9


def command(test: str) -> str:
    """What to type to see one test alone."""
    python = Path(sys.executable)
    program = python.relative_to(Path.cwd()) if python.is_relative_to(Path.cwd()) else python.name
    return f"{program} -m pytest {shlex.quote(test)}"


def describe(file: Path) -> str:
    """One line about the machine; every installed version goes into `file`."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    chromium = subprocess.run([browser, "--version"], capture_output=True, text=True).stdout.strip() if browser else ""
    names = {package.metadata["Name"]: package.version for package in distributions()}
    about = f"Python {platform.python_version()}, torch {version('torch')}, {chromium or 'no Chromium'}"
    rows = sorted(f"{name}=={number}" for name, number in names.items())
    file.write_text("\n".join([f"# {about}, {os.cpu_count()} cores", *rows]) + "\n", encoding="utf-8")
    return f"{about}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
