"""A front end that is not there: widgets record what they would send."""

from collections.abc import Iterator

import pytest
import torch

from bugzoo.lab import stop_all


@pytest.fixture(autouse=True)
def one_thread(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path / "data"))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    stop_all()  # a test that fails in the middle leaves no paused run that the next one would wait for
    torch.set_num_threads(before)


@pytest.fixture
def front_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[list]:
    """Widgets on; the list fills with (time, message) of every comm message."""
    import time

    from ipywidgets.widgets.tests.utils import DummyComm, setup_test_comm, teardown_test_comm

    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    sent: list = []
    setup_test_comm()

    def send(self, data=None, *_, **__) -> None:
        sent.append((time.monotonic(), data))

    monkeypatch.setattr(DummyComm, "send", send)
    yield sent
    teardown_test_comm()
