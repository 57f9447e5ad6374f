"""The lessons: percent scripts, read by `bugzoo.course`, which makes the notebooks of them."""
