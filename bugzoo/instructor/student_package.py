"""What students install: the notebook's side of bugzoo, as a wheel in which nothing of the answers lies.

Left out are the catalogue of faults, the programs without faults, exercises with their repairs, lessons, proofs and all
commands. What is in it runs, watches and examines whatever text a notebook was handed; it cannot tell what is wrong with it.
"""

import base64
import hashlib
import importlib.util
import zipfile
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path

import bugzoo
from bugzoo.files import write_atomic

ROOMS = (
    "cards", "claims", "cli", "dialects", "exercises", "guide", "incidents", "interview", "notebooks", "pages", "practice",
    "proofs", "proving", "solutions",
)  # fmt: skip
"""Left out whole."""
KEPT = {
    "faults": ("__init__.py", "evidence.py", "forms.py", "model.py", "script.py"),
    "lessons": ("__init__.py", "_source.py"),
    "programs": ("__init__.py",),
    "instructor": ("__init__.py", "__main__.py", "cell.py", "folder.py", "public.py"),
}
"""Of these rooms only so much: what other modules import."""
ANSWERS = ("grading/exercises/", "grading/breaking/", "grading/lineup/")
READ = "film_reviews"
"""What some programs read their data from, a package of its own."""
_WHEEL = "Wheel-Version: 1.0\nGenerator: bugzoo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def name() -> str:
    """Of the wheel's file."""
    return f"bugzoo-{distribution('bugzoo').version}+student-py3-none-any.whl"


def files() -> dict[str, bytes]:
    """Path in the wheel -> content, of all that students get."""
    package = Path(bugzoo.__file__).parent
    found = {}
    for file in sorted(package.rglob("*")):
        inside = file.relative_to(package)
        if file.is_file() and "__pycache__" not in inside.parts and READ not in inside.parts and _taken(inside):
            found[f"bugzoo/{inside.as_posix()}"] = file.read_bytes()
    data = importlib.util.find_spec(READ)
    for file in sorted(Path(data.origin).parent.iterdir()) if data and data.origin else ():
        if file.is_file():
            found[f"{READ}/{file.name}"] = file.read_bytes()
    return found


def _taken(inside: Path) -> bool:
    room = inside.parts[0]
    if room == "__main__.py":  # there are no commands
        return False
    if room in KEPT:
        return len(inside.parts) == 2 and inside.name in KEPT[room]
    return room not in ROOMS and not inside.as_posix().startswith(ANSWERS)


def write(folder: Path) -> Path:
    """Write the wheel into `folder`; returns its path. The same bugzoo gives the same bytes. Raises UserError."""
    made = files()
    about = f"bugzoo-{distribution('bugzoo').version}+student.dist-info"
    made[f"{about}/METADATA"] = _metadata().encode()
    made[f"{about}/WHEEL"] = _WHEEL.encode()
    made[f"{about}/RECORD"] = _record(made, f"{about}/RECORD").encode()
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in made.items():
            wheel.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    write_atomic(folder / name(), packed.getvalue(), parents=True)
    return folder / name()


def _metadata() -> str:
    own = distribution("bugzoo")
    needs = [f"Requires-Dist: {one}" for one in own.requires or () if "extra ==" not in one]
    lines = ["Metadata-Version: 2.1", "Name: bugzoo", f"Version: {own.version}+student"]
    return "\n".join([*lines, f"Requires-Python: {own.metadata['Requires-Python']}", *needs]) + "\n"


def _record(made: dict[str, bytes], itself: str) -> str:
    rows = []
    for path, content in made.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(content)}")
    return "\n".join([*rows, f"{itself},,"]) + "\n"
