"""Bots for Dou Dizhu: ``easy`` by a few rules, ``normal`` by better ones, ``hard`` and ``expert`` by search.

The law of this package: arrows point one way. ``levels`` reads a view (``knowledge``) and writes
a move; ``bidding`` and ``search`` think, in worlds that fit what was seen (``worlds``, ``clues``),
by playing them out (``playout``, ``policy``) or, near the end, solving them (``solver``); all of
them know hands by their counts (``hands``, ``plans``). Nothing here sees more than a view.
"""
