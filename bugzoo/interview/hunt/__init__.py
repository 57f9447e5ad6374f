"""The hunt: several bugs planted in one program, as hiring labs do it, judged by running what the candidate leaves behind.

recipe     which program, faults and seed; the list of proved ones that travels with the package
draw       faults of different kinds for a program, a length and a level
proof      by runs: which bugs can be seen at once, which only behind others, and that each repair can be told
case       the frozen file for a whole panel: text, brief and public bar to read, the answers sealed, one hash over all
desk       the candidate's folder: saves kept, clock, public bar; the standard library alone, as it travels with the folder
words      what somebody wrote in his own words -> the planted bugs that he means
score      a hand-in -> points: repairs lead, by behaviour
packet     the candidate's folder and the interviewer's sheet
report     several candidates side by side, as one HTML file
"""
