"""`python -m bugzoo`: the same as the command `bugzoo`."""

from bugzoo.cli import main

if __name__ == "__main__":
    main()
