"""One headless browser for all tests of a session: a second one beside it cannot be started (Playwright says so)."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def _missing(why: str) -> None:
    if os.environ.get("CI", "").lower() == "true" or os.environ.get("BUGZOO_NEED_BROWSER"):
        pytest.fail(f"{why}; in CI a browser test must not be skipped")
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless browser."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        _missing("no chromium on the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright for Python is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
