from tests.watching.conftest import one_thread  # noqa: F401  sums depend on the number of threads
