"""A pack of somebody else's faults comes in through the same loader, under its own prefix."""

import sys
from pathlib import Path

import pytest

import bugzoo.faults as faults

PACK = Path(__file__).parents[1] / "sample_pack"


class Entry:
    """An installed entry point, without installing one into the environment of the tests."""

    name = "sample"

    def load(self):
        import sample_faults

        return sample_faults


@pytest.fixture
def pack(monkeypatch):
    monkeypatch.syspath_prepend(str(PACK))
    yield Entry()
    for name in [n for n in sys.modules if n.startswith("sample_faults")]:
        del sys.modules[name]


def test_pack_is_walked_and_prefixed(pack, monkeypatch):
    monkeypatch.setattr(faults, "entry_points", lambda group: [pack] if group == "bugzoo.faults" else [])
    catalogue = faults.catalogue.__wrapped__()
    assert {i for i in catalogue if i.startswith("sample:")} == {
        "sample:loop/gradients_wiped",
        "sample:loss/sign_flipped",
        "sample:optimizer/lr_too_low",
    }
    assert catalogue["sample:loss/sign_flipped"].report


def test_two_packs_of_one_name_clash(pack, monkeypatch):
    monkeypatch.setattr(faults, "entry_points", lambda group: [pack, pack])
    with pytest.raises(ValueError, match="two fault packs are named 'sample'"):
        faults.catalogue.__wrapped__()


def test_a_file_without_a_fault_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "bad_pack/loop").mkdir(parents=True)
    (tmp_path / "bad_pack/__init__.py").touch()
    (tmp_path / "bad_pack/loop/__init__.py").touch()
    (tmp_path / "bad_pack/loop/empty.py").write_text('"""Nothing."""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    import bad_pack

    with pytest.raises(ValueError, match=r"bad_pack.loop.empty holds no FAULT"):
        faults.walk(bad_pack)
