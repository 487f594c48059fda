"""Hidden Unders. The idea: a 2 or a 10 goes on anything, so it is kept until nothing else does."""

RANKS = "3456789JQKA2T"


class Saver:
    """Plays its lowest rank, as many of it as it has; the best four cards wait as Overs."""

    def choose(self, view, legal_moves):
        if view["phase"] == "overs":
            return max(legal_moves, key=self.ranks)
        plays = [move for move in legal_moves if move.startswith("play")]
        if not plays:
            return legal_moves[0]
        return min(plays, key=lambda move: (min(self.ranks(move)), -len(move)))

    def ranks(self, move):
        return sorted(RANKS.index(card[0]) for card in move.split()[1:])
