"""A person or a program at a table: the game comes in as plain events, moves go out as texts.

The law of this package: ``sitting`` is the seam. Where the game is played, on a server
(``online``) or in this process (``practice``), and who is told of it, a person (``person``) or a
program (``program``), know nothing of each other.
"""
