"""The zip that Gradescope makes an autograder of: bugzoo itself, the answer key, and two scripts."""

import importlib.util
import io
import json
import re
import zipfile
from importlib.metadata import requires, version
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.instructor.folder import FOLDER
from bugzoo.instructor.lms.autograder import CONFIG

PACKAGES = ("bugzoo", "film_reviews")
KEY = ("key.json", "manifest.json")
_DAY = (2026, 1, 1, 0, 0, 0)

SETUP = """#!/bin/sh
# Gradescope runs this once, as root, when it makes the container
set -eu
ROOT=${AUTOGRADER:-/autograder}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
for VERSION in 3.13 3.12 3.11; do
    if apt-get install -qq -y "python$VERSION" "python$VERSION-venv"; then break; fi
done
"python$VERSION" -m venv "$ROOT/venv"
# PyTorch for a CPU is smaller; set PIP_EXTRA_INDEX_URL above to where yours comes from
"$ROOT/venv/bin/python" -m pip install --quiet --requirement "$ROOT/source/requirements.txt"
chmod -R go-rwx "$ROOT/source"  # the answer key is nobody else's
"""

RUN = """#!/bin/sh
# Gradescope runs this for each submission
ROOT=${AUTOGRADER:-/autograder}
PYTHONPATH="$ROOT/source" exec "${PYTHON:-$ROOT/venv/bin/python}" -m bugzoo.instructor.lms.autograder "$ROOT"
"""


def write(assignment: str, out: Path, trust: bool = False) -> list[str]:
    """Write the zip for a folder of `bugzoo assign` or an exercise; the names in it. Raises UserError.

    `trust`: grade on where the container has no sandbox; a submission could read the answer key there.
    """
    found: dict[str, bytes | str] = {"setup.sh": SETUP, "run_autograder": RUN, "requirements.txt": _requirements()}
    folder, where = Path(assignment), assignment
    if folder.is_dir():
        where = "assignment"
        for name in KEY:
            if (folder / FOLDER / name).is_file():
                found[f"{where}/{FOLDER}/{name}"] = (folder / FOLDER / name).read_bytes()
    found[CONFIG] = json.dumps({"assignment": where, "trust": trust}) + "\n"
    for package in PACKAGES:
        found |= _package(package)
    # the package's own number is asked for where it is not installed
    found[f"bugzoo-{version('bugzoo')}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: bugzoo\nVersion: {version('bugzoo')}\n"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(found.items()):
            member = zipfile.ZipInfo(name, _DAY)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o755 if name in ("setup.sh", "run_autograder") else 0o644) << 16
            archive.writestr(member, content)
    write_atomic(out, data.getvalue())
    return sorted(found)


def _requirements() -> str:
    """What bugzoo needs, without its extras."""
    needed = [one for one in requires("bugzoo") or [] if "extra ==" not in one]
    return "".join(f"{one}\n" for one in needed)


def _package(name: str) -> dict[str, bytes]:
    """Path in the zip -> content of every file of a package. Raises UserError where it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"The package {name} is not installed as a folder, so that it cannot be put into a zip.")
    root = Path(next(iter(spec.submodule_search_locations)))
    files = [file for file in root.rglob("*") if file.is_file() and not re.search(r"__pycache__|\.py[co]$", str(file))]
    return {f"{name}/{file.relative_to(root).as_posix()}": file.read_bytes() for file in files}
