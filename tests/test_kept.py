"""Results that are kept: what comes back is what went in, and a place that cannot be written costs nothing."""

import math
import os

from bugzoo import kept


def test_what_is_kept_comes_back(tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "not" / "there"))
    name = kept.key("run", 1, "two")
    assert kept.read(name) is None
    kept.write(name, {"a": [1.5, math.inf], "b": None})
    assert kept.read(name) == {"a": [1.5, math.inf], "b": None}
    assert [file.name for file in (tmp_path / "not" / "there").iterdir()] == [f"{name}.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    kept.write("run-1", {"a": 1})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    kept.write("run-1", {"a": 2})
    assert kept.read("run-1") == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["run-1.json"]


def test_a_place_that_is_none_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "file"))
    kept.write("run-1", {"a": 1})
    assert kept.read("run-1") is None


def test_where_it_is_kept_without_being_told(tmp_path, monkeypatch):
    monkeypatch.delenv("BUGZOO_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kept.folder() == tmp_path / "bugzoo"
