"""Incidents: long cases as they come in at night, made from real runs, and handed out as a folder.

repository   git, told nothing by anybody's settings
messages     what the commits of a made history say, and the notes and settings that change beside the program
history      program, fault, seed -> the texts of 12 to 40 commits
trial        by runs: good before the fault, bad from it on, and which numbers need several seeds
bisecting    "it used to train": the folder of a history
model        what a declared incident says of itself
declared     the declared incidents, a file each
stage        runs of a declared incident, and what of them is written into its folder
library      the incidents that there are, and making their folders
sealed       the answers, packed into one file beside the folder
judge        whether an answer is right
leaks        what a folder must not say
proofs       for who works on bugzoo: made twice, the same answers
"""
