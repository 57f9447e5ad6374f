"""Zips that want to do harm: nothing leaves its place, little is read, and whatever is refused is named."""

import io
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import tasks
from bugzoo.instructor.lms import intake, tree, unpack
from bugzoo.instructor.submission import MOST_BYTES
from tests.instructor.lms.downloads import NAME, notebook, zipped


def look(source: Path) -> intake.Handed:
    return intake.collect(source, NAME, tasks.load(NAME).original())


def member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, (2026, 11, 2, 10, 15, 30))
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = mode << 16
    return made


def test_names_that_lead_out(tmp_path: Path) -> None:
    bad = ["../out.ipynb", "/etc/out.ipynb", "a/../../out.ipynb", "..\\out.ipynb", "C:\\out.ipynb"]
    source = zipped(
        tmp_path / "in/all.zip" if (tmp_path / "in").mkdir() is None else tmp_path, {"ada.ipynb": notebook()}
    )
    with zipfile.ZipFile(source, "a") as archive:
        for name in bad:
            archive.writestr(member(name), notebook())
    before = source.read_bytes()
    handed = look(source)
    assert [one.student for one in handed.found] == ["ada"]
    assert len(handed.left) == len(bad) and {one.why for one in handed.left} == {"its name leads out of the zip"}
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "all.zip"] and source.read_bytes() == before


def test_links(tmp_path: Path) -> None:
    source = zipped(tmp_path / "all.zip", {"ada.ipynb": notebook()})
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr(member("eve.ipynb", stat.S_IFLNK | 0o777), "/etc/passwd")
    found = {one.student: one.problem for one in look(source).found}
    assert found["ada"] == "" and "it is a link" in found["eve"]


def test_ten_gigabytes_of_zeros(tmp_path: Path) -> None:
    """As a notebook, as a notebook that lies about its size, and as something that nobody asks for."""
    source = tmp_path / "all.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada.ipynb", notebook())
        for name, size in (("big.ipynb", 10 << 30), ("near.ipynb", MOST_BYTES - 1)):
            with archive.open(member(name), "w", force_zip64=True) as file:
                for _ in range(min(size, 64 << 20) // (1 << 20)):
                    file.write(bytes(1 << 20))
        archive.writestr(member("eve/huge.bin"), bytes(64 << 20))
    found = {one.student: one.problem for one in look(source).found}
    assert found["ada"] == "" and "MiB, more than 20; clear its outputs" in found["big"]
    assert "times as large as in the zip" in found["near"] and "no notebook" in found["eve"]


def test_a_size_that_is_not_true(tmp_path: Path) -> None:
    """The zip says 100 bytes and holds 30 MiB: what is read ends at what was said."""
    source, data = tmp_path / "all.zip", bytearray()
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member("eve.ipynb"), bytes(30 << 20))
    data = bytearray(source.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 100)  # the uncompressed size in the directory
    source.write_bytes(data)
    (one,) = look(source).found
    assert one.problem and not one.sections


def test_many_files_and_much_altogether(tmp_path: Path, monkeypatch) -> None:
    source = zipped(tmp_path / "all.zip", {f"s{one}.ipynb": notebook(str(one)) for one in range(4)})
    monkeypatch.setattr(unpack, "MOST_ALTOGETHER", 2 * len(notebook()) + 1000)
    assert sum("the zip holds more than" in one.problem for one in look(source).found) == 2
    monkeypatch.setattr(unpack, "MOST_FILES", 3)
    with pytest.raises(UserError, match="holds 4 files, more than 3"):
        look(source)
    monkeypatch.setattr(tree, "MOST_FILES", 3)
    for one in range(4):
        (tmp_path / f"{one}.ipynb").write_bytes(b"")
    with pytest.raises(UserError, match="more than 3 files"):
        look(tmp_path)


def test_a_zip_in_a_zip_and_a_locked_one(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("week.ipynb", notebook())
    source = zipped(tmp_path / "all.zip", {"doejane_1_2_work.zip": inner.getvalue(), "ada.ipynb": notebook()})
    data = bytearray(source.read_bytes())
    for mark, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):  # say of the last one that it is encrypted
        data[data.rindex(mark) + at] |= 1
    source.write_bytes(data)
    found = {one.student: one.problem for one in look(source).found}
    assert "there is work.zip" in found["doejane (Canvas 1)"] and "it is encrypted" in found["ada"]


@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: data[:-30], lambda data: b""])
def test_half_a_zip(tmp_path: Path, spoil) -> None:
    source = zipped(tmp_path / "all.zip", {"ada.ipynb": notebook()})
    source.write_bytes(spoil(source.read_bytes()))
    with pytest.raises(UserError, match="no zip that can be read"):
        look(source)


def test_a_member_that_is_spoilt_is_one(tmp_path: Path) -> None:
    source = zipped(tmp_path / "all.zip", {"ada.ipynb": notebook("a"), "ben.ipynb": notebook("b")})
    data = bytearray(source.read_bytes())
    data[200:260] = bytes(60)
    source.write_bytes(data)
    found = {one.student: one.problem for one in look(source).found}
    assert "could not be unpacked" in found["ada"] and found["ben"] == ""


def test_names_in_any_letters(tmp_path: Path) -> None:
    """UTF-8 with and without the flag that says so, and bytes that are none; nobody is lost."""
    source = tmp_path / "all.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("第三周.ipynb", notebook())
        archive.writestr("unflagged-XXXXXX.ipynb", notebook())
        archive.writestr("latin-X.ipynb", notebook())
        archive.writestr("bell\x07=cmd.ipynb", notebook())
    data = source.read_bytes().replace(b"unflagged-XXXXXX", b"unflagged-" + "周周".encode())
    source.write_bytes(data.replace(b"latin-X", b"latin-\xe9"))
    assert {one.student for one in look(source).found} == {"第三周", "unflagged-周周", "latin-Θ", "bell\\x07=cmd"}


def test_when(tmp_path: Path) -> None:
    """The zip's own times; nbgrader's timestamp lies in a file of its own and counts in a folder only."""
    source = tmp_path / "all.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr(member("ada.ipynb"), notebook())
    assert look(source).found[0].timestamp == "2026-11-02 10:15:30"
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("bugzoo-zip-*"))
