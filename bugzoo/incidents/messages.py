"""What the commits of a made history say, and the notes that change beside the program.

None of it is true of one fault and untrue of another: a message tells what its dialect does, and the commit with the fault says
what its dialect does as well. A dialect that has no line here gets one of `ANY`.
"""

from random import Random

MESSAGES = {
    "batch_names": ("Shorter names for the batch", "Call the batch what the rest of the team calls it"),
    "data_names": ("Better names for the data", "Rename what the loaders are made from"),
    "loop_names": ("Rename the counters of the loop", "Names in the loop as in our other scripts"),
    "model_names": ("Rename parts of the model", "Clearer names in the model"),
    "setting_names": ("Settings: shorter names", "Rename the settings"),
    "counting": ("Write counters out", "One way to count"),
    "dictionaries": ("dict() instead of braces", "Dictionaries: one style"),
    "explicit_defaults": ("Say the defaults", "Write down what the defaults are"),
    "folded_steps": ("Fewer lines in the model", "Fold lines that belong together"),
    "functional": ("Fewer functions of F", "Use torch's own functions where there are any"),
    "imports": ("Tidy the imports", "Imports: one style"),
    "matrix_products": ("Write matrix products out", "torch.matmul for readers"),
    "modes": ("Say the mode with an argument", "One call for both modes"),
    "number_spelling": ("Spell numbers alike", "Numbers: one notation"),
    "optimizer_import": ("Import the optimiser by its name", "Shorter path for the optimiser"),
    "returned_names": ("Name results before they are returned", "Easier to break at a return"),
    "super_named": ("The base class by its name", "Explicit base class"),
    "tuples_apart": ("One assignment in a line", "Split assignments"),
    "type_hints": ("Type hints for the model", "Hints on forward"),
    "unfolded_calls": ("Unfold nested calls", "One call in a line, to set breakpoints"),
    "unpacked_batches": ("Unpack the batch in the loop", "Take batches apart inside the loop"),
    "argparse_settings": ("Settings from the command line", "Read settings with argparse"),
    "criterion": ("A loss object", "Make the criterion once"),
    "data_function": ("Move the data into a function", "A function for loading"),
    "evaluation_function": ("Move the evaluation into a function", "A function for evaluating"),
    "model_builder": ("A function that builds the model", "Build model and optimiser in one place"),
    "settings_class": ("A class for the settings", "Settings in a dataclass"),
    "settings_object": ("One object for the settings", "Collect the settings"),
    "comments_above": ("Comments above their lines", "Move comments"),
    "definition_order": ("Reorder definitions", "Order of the classes"),
    "exploded_calls": ("Break long calls", "One argument in a line"),
    "keyword_order": ("Sort keyword arguments", "Order of the arguments"),
    "method_order": ("Reorder the methods", "Methods in reading order"),
    "quotes": ("Quotes: one style", "Single quotes"),
    "settings_order": ("Sort the settings", "Settings in order"),
}
ANY = ("Read through the script", "Small clean-up", "Tidy the training script", "Style, as agreed in the review")

NOTES = (
    ("README.md", "Needs Python with torch and scikit-learn.", "README: what it needs"),
    ("README.md", "Start it with `python train.py`; it prints its metrics at the end.", "README: how to start it"),
    (".gitignore", "__pycache__/", "Ignore caches"),
    ("NOTES.md", "- asked for the larger machine on Thursdays", "Notes of the meeting"),
    ("requirements.txt", "torch", "List what we need"),
    (".gitignore", "*.pt", "Ignore weights"),
    ("NOTES.md", "- the nightly run takes another seed each time, so that we see the spread", "Notes: the nights"),
    ("README.md", "Questions go to Mira.", "README: whom to ask"),
    ("requirements.txt", "scikit-learn", "Requirements: the data"),
    ("NOTES.md", "- reviewers: read the diff, then run it once", "Notes: how we review"),
    ("run.sh", "#!/bin/sh\nexec python train.py", "A script to start it with"),
    (".gitignore", ".venv/", "Ignore the environment"),
    ("NOTES.md", "- no new dependencies before the release", "Notes: freeze"),
    ("README.md", "The settings stand at the top of the script.", "README: settings"),
    ("NOTES.md", "- demo on the 14th, with the model of the night before", "Notes: demo"),
    ("README.md", "Results of the nights are kept outside the repository.", "README: results"),
    ("NOTES.md", "- Ravi looks after the machines this week", "Notes: who is on call"),
    (".gitignore", "*.log", "Ignore logs"),
    ("NOTES.md", "- names in the script follow the team's list from now on", "Notes: names"),
    ("README.md", "Formatting is done by hand, line length 120.", "README: style"),
    ("NOTES.md", "- rename first, then change: two commits", "Notes: one thing at a time"),
    ("requirements.txt", "numpy", "Requirements: numpy"),
    ("NOTES.md", "- retro: too many clean-ups in one week", "Notes of the retro"),
    ("README.md", "Licensed for use inside the team.", "README: licence"),
)
"""File, what is added to its end, message."""

CONFIG = ("Train a little longer", "A few more updates, to be safe")
SLIP = ("Drop an import that nothing uses", "Remove a leftover import")
MENDED = ("It was used after all", "Put the import back")
START = ("First version", "README.md", "# Training script\n\nOne script, one model.\n")


def of_dialect(name: str, draw: Random) -> str:
    return draw.choice(MESSAGES.get(name, ANY))
