"""What a notebook that somebody looks at needs early; whether somebody looks is `bugzoo.frontend`'s to say."""

from bugzoo.frontend import headless, kernel

__all__ = ["headless", "kernel", "warm_up"]


def warm_up() -> None:
    """In a kernel with a front end: import in the background what the first run needs (about 2 s)."""
    if kernel() is None or headless():
        return
    import importlib
    import threading

    def load() -> None:
        for name in (
            "bugzoo.lab.view_widgets",
            "sklearn.datasets",
            "torch._dynamo",
            "bugzoo.plots.comparison",
        ):
            importlib.import_module(name)

    threading.Thread(target=load, name="bugzoo-warm-up", daemon=True).start()
