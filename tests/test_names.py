"""`RENAMED`: an old name of an instrument is refused with the new one, and a record that has it is read as the new one."""

import pytest

from bugzoo import diagnostics, record
from bugzoo.errors import RENAMED, UserError
from bugzoo.faults.evidence import parse
from bugzoo.lab import DiagnosisForm

each_name = pytest.mark.parametrize(("old", "new"), RENAMED.items())


def test_the_new_names_are_instruments_and_the_old_ones_are_not():
    there = set(diagnostics.names())
    assert {*RENAMED.values()} <= there and not {*RENAMED} & there


@each_name
def test_an_instrument_is_no_longer_found_by_its_old_name(old, new):
    with pytest.raises(UserError, match=f"no instrument named '{old}' any more: it is called '{new}' now"):
        diagnostics.instrument(old)


@each_name
def test_a_claim_with_an_old_name_is_refused(old, new):
    with pytest.raises(ValueError, match=f"the instrument {old} is called {new} now"):
        parse(f"{old}.number > 0.5")
    assert parse(f"{new}.number > 0.5").instrument == new


@each_name
def test_a_diagnosis_with_an_old_name_is_not_handed_in(old, new):
    form = DiagnosisForm(causes=["a mask"])
    with pytest.raises(UserError, match=f"no instrument named '{old}' any more: it is called '{new}' now"):
        form.hand_in(cause="a mask", evidence=["loss_curve", old])
    assert not form.handed_in and not form.diagnosis.evidence
    assert form.hand_in(cause="a mask", evidence=["loss_curve", new]).evidence == ["loss_curve", new]


@each_name
def test_a_record_with_an_old_name_is_read_as_the_new_one(old, new, tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    for name in (old, "loss_curve", new):
        assert record.note("X-1", "looked", {"instrument": name})
    assert record.looked("X-1") == [new, "loss_curve"]
