"""Basic Rummy. The idea: keep what has company, and throw the dearest card that has none."""

RANKS = "A23456789TJQK"


class Melder:
    """Melds and lays off at once; draws the discard when it has company in the hand."""

    def choose(self, view, legal_moves):
        if "draw stock" in legal_moves:
            wanted = self.company(view, view["discard_pile"][-1]) > 1 if view["discard_pile"] else False
            return legal_moves[-1] if wanted else "draw stock"
        laid = [move for move in legal_moves if not move.startswith("discard")]
        if laid:
            return max(laid, key=len)
        return min(legal_moves, key=lambda move: self.keep(view, move.split()[1]))

    def keep(self, view, card):
        return (self.company(view, card), -RANKS.index(card[0]))

    def company(self, view, card):
        """How many cards of the hand are of its rank, or of its suit and at most two ranks away."""
        rank = RANKS.index(card[0])
        near = [other for other in view["hand"] if other[1] == card[1] and other != card]
        same = [other for other in view["hand"] if other[0] == card[0] and other != card]
        return len(same) + sum(abs(RANKS.index(other[0]) - rank) <= 2 for other in near)
