"""The three games as pure rules: no clock, no randomness, no I/O.

``GAMES`` maps a game's name to its rules; see ``croupier_games.game.Game`` for the contract.
"""
