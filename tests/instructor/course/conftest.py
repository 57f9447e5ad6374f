"""The command line is called as the tests of `bugzoo.cli` call it."""

from tests.cli.conftest import bugzoo

__all__ = ["bugzoo"]
