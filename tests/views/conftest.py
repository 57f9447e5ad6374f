"""Readings of all views on a healthy and on a broken run, measured once for all tests."""

from collections.abc import Callable
from functools import cache

import pytest

from bugzoo import views
from bugzoo.grading.looks import measured
from bugzoo.running import Reading
from bugzoo.scenario import Scenario

Seen = Callable[[str, str], dict[str, Reading]]
"""(program, fault or "") -> {view: reading}."""


@pytest.fixture(scope="session")
def seen() -> Seen:
    @cache
    def of(program: str, fault: str = "") -> dict[str, Reading]:
        scenario = Scenario(program, (fault,) if fault else (), size="tiny")
        return measured([name for name in views.names() if not views.reruns(name)], scenario.source, scenario.ranks)

    return of
