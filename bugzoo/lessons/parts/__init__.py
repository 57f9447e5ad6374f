"""Code that one lesson needs and that its reader does not have to read: a cell calls it by name."""
