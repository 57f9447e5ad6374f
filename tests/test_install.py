"""`make install TORCH_INDEX=URL`, with the real pip, two small indexes on the disk and packages that hold nothing."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.gate import install

PIP = distribution("pip").locate_file(
    "pip"
)  # to look for it as a module makes setuptools warn, once distutils is loaded

ROOT = Path(__file__).parent.parent
OURS = ("Makefile", "tests/__init__.py", "tests/gate/__init__.py", "tests/gate/install.py")
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "bugzoo"
dependencies = ["torch>=2.11", "torchvision>=0.26", "numpy"]
"""
BACKEND = """
import shutil
from pathlib import Path
def build_editable(folder, *settings):
    return Path(shutil.copy(next(Path("built").glob("*.whl")), folder)).name
"""
PYTHON = """#!/bin/sh
test "$*" = "-m venv .venv" || exec {python} "$@"
{python} -m venv --without-pip .venv && ln -s {pip} .venv/lib/python3*/site-packages/
"""
"""Stands for Python. It does not unpack pip into an environment, which takes ten seconds on a busy machine."""


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    """A package without a file."""
    folder.mkdir(parents=True, exist_ok=True)
    information = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(
            f"{information}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nProvides-Extra: test\n{needs}",
        )
        file.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{information}/RECORD", "")
        file.writestr(f"{name}/__init__.py", "")


def index(folder: Path, *wheels: tuple[str, ...]) -> str:
    """The address of a folder in the format of a package index."""
    for name, version, *requires in wheels:
        wheel(folder / name, name, version, *requires)
    for package in folder.iterdir():
        links = "".join(f'<a href="{file.name}">{file.name}</a>' for file in package.glob("*.whl"))
        (package / "index.html").write_text(links)
    return folder.as_uri()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What an install reads of the repository, for a project that needs torch, torchvision and numpy."""
    for name in OURS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "tests/benchmarks/results", tmp_path / "tests/benchmarks/results")
    wheel(tmp_path / "built", "bugzoo", "0.1.0", "torch>=2.11", "torchvision>=0.26", "numpy")
    python = PYTHON.format(python=sys.executable, pip=PIP)
    for name, text in {"pyproject.toml": PROJECT, "backend.py": BACKEND, "setup.py": "", "python": python}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "constraints.txt").write_text("# Made here.\ntorch==2.14.1\ntorchvision==0.29.1\nnumpy==2.4.6\n")
    return tmp_path


def made(checkout: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`make WORDS` with pip's own index in the folder `main`, which is named as a further source as well."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "CI"))}
    main = index(
        checkout / "main",
        ("torch", "2.14.1+cu130", "numpy"), ("torch", "2.15.0+cu130", "numpy"),
        ("torchvision", "0.29.1", "torch"), ("torchvision", "0.30.0", "torch"), ("numpy", "2.4.6"),
    )  # fmt: skip
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": main, "PIP_EXTRA_INDEX_URL": main} | variables
    environment["PIP_FIND_LINKS"] = f"{main}/torch {main}/torchvision"
    return subprocess.run(
        ["make", *words, f"PYTHON={checkout / 'python'}"],
        cwd=checkout, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def versions(checkout: Path) -> dict[str, str]:
    packages = checkout.glob(".venv/lib/python3*/site-packages/*.dist-info")
    installed = dict(file.name.removesuffix(".dist-info").split("-") for file in packages)
    return {name: installed[name] for name in ("torch", "torchvision", "numpy")}


@pytest.mark.slow
def test_only_torch_and_torchvision_come_from_the_named_index(checkout: Path) -> None:
    named = index(
        checkout / "cpu",
        ("torch", "2.14.1+cpu", "numpy"), ("torch", "2.15.0+cpu", "numpy"),
        ("torchvision", "0.29.1+cpu", "torch==2.14.1"), ("torchvision", "0.30.0+cpu", "torch==2.15.0"),
        ("numpy", "2.4.6+cpu"),
    )  # fmt: skip
    process = made(checkout, "install", f"TORCH_INDEX={named}")
    assert process.returncode == 0, process.stdout + process.stderr
    assert versions(checkout) == {"torch": "2.14.1+cpu", "torchvision": "0.29.1+cpu", "numpy": "2.4.6"}
    assert "into the folder .venv, which then holds about" in process.stdout and "GB are free" in process.stdout
    assert "  torch 2.14.1+cpu\n" in process.stdout and "  numpy 2.4.6\n" in process.stdout, "a line for each file"

    again = made(checkout, "install", f"TORCH_INDEX={named}")
    assert "Installing" not in again.stdout and again.returncode == 0
    elsewhere = made(checkout, "install", f"TORCH_INDEX={(checkout / 'main').as_uri()}")
    assert elsewhere.returncode and "make clean" in elsewhere.stdout

    # other tested versions: the same index, which this call does not name; pip is silent in CI
    (checkout / "constraints.txt").write_text("# Made here.\ntorch==2.15.0\ntorchvision==0.30.0\nnumpy==2.4.6\n")
    process = made(checkout, ".venv/.installed-test", CI="true")
    assert process.returncode == 0, process.stdout + process.stderr
    assert versions(checkout) == {"torch": "2.15.0+cpu", "torchvision": "0.30.0+cpu", "numpy": "2.4.6"}
    assert "  torch" not in process.stdout


@pytest.mark.slow
def test_a_wrong_index_is_named_and_leaves_nothing(checkout: Path) -> None:
    process = made(checkout, "install", "TORCH_INDEX=file:///no/such/index")
    assert process.returncode and "TORCH_INDEX=file:///no/such/index gives no torch and torchvision" in process.stdout
    assert "No matching distribution found for torch" in process.stderr, "pip's own reason"
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("  Downloading torch-2.14.1-cp311-cp311-linux_x86_64.whl (554.6 MB)", ("torch", "2.14.1", "554.6 MB")),
        ("Using cached torch-2.14.1+cpu-cp311-cp311-linux_x86_64.whl (1.2 GB)", ("torch", "2.14.1+cpu", "1.2 GB")),
        ("  Downloading torch-2.14.1-cp311-cp311-linux_x86_64.whl.metadata (28 kB)", None),
        ("  Downloading six-1.17.0-py2.py3-none-any.whl (11 kB)", None),
    ],
)
def test_a_file_of_a_megabyte_gets_a_line(line: str, parts: tuple[str, ...] | None) -> None:
    file = install.FILE.match(f"{line}\n")
    assert (file and file.groups()) == parts


def test_the_sizes_are_the_measured_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installer's, the README's and those of the documentation."""
    newest = max((ROOT / "tests/benchmarks/results").glob("installed_*.json"))
    results = json.loads(newest.read_text(encoding="utf-8"))["results"]
    cuda, cpu = f"{results['lab']:.1f} GB", f"about {results['lab_cpu']:.1f} GB"
    monkeypatch.setattr(sys, "platform", "linux")
    assert install.gigabytes(test=False, index="") == cuda
    assert install.gigabytes(test=False, index="x").startswith(cpu)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert install.gigabytes(test=False, index="") == cpu
    for page in ("README.md", "docs/portable.md", "docs/measured.md"):
        assert cuda in text_of(page) and cpu in text_of(page), page
    tests = [f"{results[build] + results['test']:.1f} GB" for build in ("lab", "lab_cpu")]
    assert f"| `make test` | {tests[0]} | about {tests[1]} |" in text_of("docs/portable.md")
