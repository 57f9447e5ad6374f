"""What a submission finds of the grader's held-out examples, in the real sandbox and among the real files: nothing."""

import hashlib
import json
import os
import re
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits

from bugzoo import withheld
from bugzoo.grading.isolation import isolate
from bugzoo.running import Job, isolation, run_worker
from bugzoo.running.isolation import empty_folders, visible
from bugzoo.withheld.making import made
from bugzoo.withheld.texts import other_lines, printable, words

LOOK = """
import json, hashlib
from sklearn.datasets import load_diabetes, load_digits
from pydoc_data.topics import topics

def said(value):
    return hashlib.sha256(value if isinstance(value, bytes) else value.tobytes()).hexdigest()

digits, table = load_digits(), load_diabetes(scaled=False)
text = "".join(topics[name] for name in sorted(topics))
text = "".join(character for character in text if character == "\\n" or " " <= character <= "~").encode()
cut = len(text) * 9 // 10
kinds = {
    "images": (digits.images, 1437), "data": (digits.data, 1437), "labels": (digits.target, 1437),
    "patients": (table.data, 354), "values": (table.target, 354), "text": (text, cut),
}
found = {name: (len(all), said(all[:stay]), said(all[stay:])) for name, (all, stay) in kinds.items()}
"""


def asked(source: str, isolated: bool = True, **more) -> dict:
    """The JSON that a script prints last."""
    job = Job(source, watch=False, **more)
    run = run_worker(isolate(job) if isolated else job)
    assert run.outcome == "finished" and not run.trouble, (run.trouble, run.trace.error)
    return json.loads(run.stdout.splitlines()[-1])


def test_what_programs_train_on_stays_and_what_is_held_out_is_something_else(sandboxed):
    inside, outside = (asked(LOOK + "print(json.dumps(found))", isolated) for isolated in (True, False))
    assert inside.keys() == outside.keys() and len(inside) == 6
    for name, (size, training, held) in outside.items():
        assert inside[name][:2] == [size, training], f"{name}: training and validation data changed"
        assert inside[name][2] != held, f"{name}: the held-out part can be read"


LOOKED_UP = """
import torch
from sklearn.datasets import load_digits
digits = load_digits()
known, labels = torch.tensor(digits.data).float(), torch.tensor(digits.target)

class Nearest(torch.nn.Module):
    def forward(self, asked):
        near = torch.cdist(asked.float(), known)
        return torch.stack([near.amin(1), labels[near.argmin(1)].float()], 1)

model = Nearest()
"""


def test_no_held_out_digit_is_looked_up_by_its_pixels(sandboxed):
    digits = load_digits()
    images, labels = digits.data[1437:].astype(np.float32), digits.target[1437:]
    job = Job(LOOKED_UP, predict=(images,))
    nearest = {
        isolated: run_worker(isolate(job) if isolated else job).arrays["predictions"] for isolated in (True, False)
    }
    assert (nearest[False][:, 0] < 0.01).all() and (nearest[False][:, 1] == labels).all(), (
        "outside every digit is there"
    )
    assert (nearest[True][:, 0] > 0.01).all(), "inside none is"
    assert nearest[True][:, 1].tolist() != labels.tolist()


SEARCH = """
import json, os, re, sys
from pydoc_data.topics import topics

def holds(there, text):  # a list of characters, so that it is not in memory itself
    start = "".join(text[:20]).encode()
    place = there.find(start)
    while place >= 0:
        if list(there[place : place + len(text)].decode("latin-1")) == text:
            return True
        place = there.find(start, place + 1)
    return False

def in_memory(texts):
    found = set()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            if ".so" in line:  # a library of machine code
                continue
            first, last = (int(one, 16) for one in line.split()[0].split("-"))
            try:
                memory.seek(first)
                there = memory.read(last - first)
            except (OSError, OverflowError, ValueError):  # not readable
                continue
            found |= {place for place, text in enumerate(texts) if holds(there, text)}
    return [place in found for place in range(len(texts))]

def in_files(texts):
    names = re.compile("topics.*[.]pyc?$|.*[.](rst|txt|html)([.]gz)?$")
    places = [os.path.dirname(os.__file__), sys.base_prefix, "/usr/lib", "/usr/share/doc", "/usr/share/info"]
    found = {os.path.join(base, one) for place in places for base, _, all in os.walk(place) for one in all if names.match(one)}
    read = [open(file, "rb").read() for file in found if os.path.isfile(file)]
    return [sum(holds(one, text) for one in read) for text in texts]

print(json.dumps(list(zip(in_memory(TEXTS), in_files(TEXTS)))))
"""


@pytest.mark.slow
def test_no_held_out_help_text_is_in_memory_or_in_another_file(sandboxed):
    """The compiled file, another Python's texts and a module that the warm process has imported would all hold it."""
    text = printable("".join(topics[name] for name in sorted(topics)))
    plain = "".join(topics[name] for name in sorted(topics) if topics[name].isascii())  # others lie otherwise in memory
    lines = [line for line in re.findall(r"^[^'\"\\\n]{35,70}$", plain, re.MULTILINE) if text.count(line) == 1]
    trained, held = lines[0], lines[-1]
    assert text.index(trained) < len(text) * 8 // 10 and text.index(held) > len(text) * 9 // 10
    (in_memory, in_files), unseen = asked(f"TEXTS = {[list(trained), list(held)]!r}\n{SEARCH}")
    assert in_memory and in_files == 2, "the search finds what is there: topics.py and the compiled one"
    assert unseen == [False, 0]


EMPTY = "import json, os, sys\nprint(json.dumps({place: os.listdir(place) for place in sys.argv[1:]}))"


def test_another_pythons_texts_and_the_systems_manuals_are_empty_folders(sandboxed):
    places = [place for place, other in {**withheld.everywhere(visible()), **empty_folders()}.items() if not other]
    if not places:
        pytest.skip("this machine has one Python and no manuals")
    assert all(os.listdir(place) for place in places)
    assert asked(EMPTY, argv=tuple(places)) == {place: [] for place in places}
    bare = run_worker(Job(EMPTY, isolated=True, withheld={}, watch=False, argv=tuple(empty_folders())))
    assert json.loads(bare.stdout) == {place: [] for place in empty_folders()}, (
        "the sandbox's own, whatever a grader withholds"
    )


def test_nothing_is_run_where_a_file_cannot_be_replaced(sandboxed, tmp_path):
    real = str(Path(np.__file__).parent / "version.py")
    run = run_worker(Job("print('it ran')", isolated=True, withheld={real: str(tmp_path / "missing")}))
    assert "The sandbox cannot be set up here" in run.trouble and "it ran" not in run.stdout


def test_records_below_a_place_that_is_shown_are_hidden(tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "shown" / "data"))
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(isolation, "visible", lambda: [tmp_path / "shown"])
    for folder in ("shown/data", "cache"):
        (tmp_path / folder).mkdir(parents=True)
    hidden = empty_folders()
    assert hidden[str(tmp_path / "shown" / "data")] == "" and str(tmp_path / "cache") not in hidden


@pytest.mark.parametrize(
    "layout", ["lib/python3.12/site-packages", "lib/python3/dist-packages", "pkgs/one/lib/python3.9/site-packages"]
)
def test_copies_of_another_installation_are_found(layout, tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "cache"))
    import sklearn.datasets

    real = Path(sklearn.datasets.__file__).parent / "data" / "digits.csv.gz"
    copy = tmp_path / "prefix" / layout / "sklearn" / "datasets" / "data" / "digits.csv.gz"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(real.read_bytes())
    other = Path(withheld.everywhere([tmp_path / "prefix"])[str(copy)])
    assert other.read_bytes() != real.read_bytes() and other.stat().st_mode & 0o777 == 0o644


def test_a_cache_that_takes_nothing_is_replaced_by_a_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "real").write_text("real")
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "file" / "cache"))
    calls: list[Path] = []

    def write(target: Path) -> None:
        calls.append(target)
        target.write_text("other")

    first, second = (made(tmp_path / "real", write) for _ in range(2))
    assert first == second and len(calls) == 1, "made once"
    assert Path(first).read_text() == "other" and not first.startswith(str(tmp_path))
    (tmp_path / "real").write_text("a newer version")
    assert made(tmp_path / "real", write) != first and len(calls) == 2


def test_the_files_are_the_same_each_time(tmp_path, monkeypatch):
    hashes = []
    for name in "ab":
        monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / name))
        others = filter(None, withheld.everywhere(visible()).values())
        files = [file for other in others for file in (sorted(Path(other).rglob("*.py*")) or [Path(other)])]
        hashes.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert hashes[0] == hashes[1] and len(hashes[0]) >= 5


def test_a_patient_keeps_the_value_of_the_row_that_it_was_made_of():
    files = withheld.everywhere(visible())
    rows, values = (
        np.loadtxt(next(other for other in files.values() if other.endswith(name)))
        for name in ("diabetes_data_raw.csv.gz", "diabetes_target.csv.gz")
    )
    table = load_diabetes(scaled=False)
    for row, value in zip(rows[354:], values[354:], strict=True):
        younger = row - np.eye(10)[0]
        assert value in table.target[:354][(table.data[:354] == younger).all(1)]


def test_a_line_that_begins_the_next_one_stays_and_the_others_keep_their_place():
    text = (
        "the if statement is\nthe if statement is used for\nthe while statement loops\nan else clause may follow here"
    )
    lines = sorted(words(line) for line in text.splitlines())
    for held in lines:
        new = [words(line) for line in other_lines({"x": text}, lines, [held])["x"].splitlines()]
        assert len(set(new)) == 4
        there = lines.index(held)
        assert [line for line in sorted(new) if line != sorted(new)[there]] == [line for line in lines if line != held]
        assert (sorted(new)[there] == held) == (held == words("the if statement is"))
