"""Dou Dizhu. The idea: whoever sheds most cards at once is out first."""

RANKS = "3456789TJQKA2BR"


class Longest:
    """Plays the most cards that it may, the weakest of equally many; bombs only to end."""

    def choose(self, view, legal_moves):
        if view["phase"] == "bidding":
            return "bid 1" if "bid 1" in legal_moves else "pass"
        return max(legal_moves, key=lambda move: self.worth(view, move.split()[1:]))

    def worth(self, view, cards):
        bomb = len(cards) == 4 and len({card[0] for card in cards}) == 1
        if bomb and len(cards) < len(view["hand"]):
            return (-1, 0)
        return (len(cards), -sum(RANKS.index(card[0]) for card in cards))
