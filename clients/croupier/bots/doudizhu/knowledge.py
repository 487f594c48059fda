"""What a seat knows of the play, read off its view.

The law of this file: the view alone. Seats become roles (see ``policy``): 0 is the landlord, 1
the farmer after and 2 the farmer before the landlord.
"""

from __future__ import annotations

from typing import Final

from croupier.bots.bot import Plain
from croupier.bots.doudizhu.hands import DECK, counts_of


class Knowledge:
    """One position in the play, as the seat to act sees it; cards are counts."""

    def __init__(self, view: Plain) -> None:
        landlord: int = view["landlord"]
        self.role: Final[int] = (view["to_act"] - landlord) % 3
        self.hand: Final = counts_of(view["hand"])
        self.held: Final[list[int]] = [view["hand_counts"][(landlord + role) % 3] for role in range(3)]
        """Cards in each role's hand."""
        self.plays: Final = [
            ((play["seat"] - landlord) % 3, counts_of(play["cards"])) for play in view["plays"]
        ]
        """Every turn so far: the role and what it played, 0 for a pass."""
        self.unseen: Final = DECK - self.hand - sum(play for _, play in self.plays)
        """The cards of the two other hands together."""
        to_beat = view["to_beat"]
        self.table: Final = counts_of(to_beat["cards"]) if to_beat else 0
        """What has to be beaten, 0 for a lead."""
        self.owner: Final[int] = (to_beat["seat"] - landlord) % 3 if to_beat else self.role
        """The role whose play that is."""
        laid = {card for play in view["plays"] for card in play["cards"]}
        self.shown: Final = counts_of(card for card in view["bottom"] if card not in laid)
        """What the landlord still holds of the bottom cards."""
