"""Dou Dizhu. The idea: take a level that is there and change one thing, so that the arena can tell it."""

from croupier.bots import make_bot


class Partner:
    """``easy``, but a farmer never beats the other farmer."""

    def __init__(self, seed):
        self.easy = make_bot("doudizhu", "easy", seed)

    def choose(self, view, legal_moves):
        leader = view["to_beat"] and view["to_beat"]["seat"]
        farmers = {0, 1, 2} - {view["landlord"]}
        if leader in farmers and view["to_act"] in farmers and "pass" in legal_moves:
            return "pass"
        return self.easy.choose(view, legal_moves)
