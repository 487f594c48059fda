"""What a refusal says to people in other languages than English.

The law of this file: English is the refusal's own message, with its particulars; a translation
has one sentence for every reason of ``errors.REASONS`` and no particulars. Another language is
one more entry in ``TRANSLATIONS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from croupier_server.languages import FALLBACK, best

_GERMAN: Final[Mapping[str, str]] = {
    "MALFORMED_REQUEST": "Die Anfrage ist nicht lesbar.",
    "MISSING_FIELD": "In der Anfrage fehlt eine nötige Angabe.",
    "INVALID_FIELD": "Eine Angabe der Anfrage hat einen unmöglichen Wert.",
    "UNKNOWN_GAME": "Dieses Spiel gibt es hier nicht.",
    "WRONG_GAME": "Die Angaben gehören zu einem anderen Spiel als dem des Tisches.",
    "INVALID_OPTIONS": "Diese Einstellungen lassen die Regeln nicht zu.",
    "MALFORMED_MOVE": "Das ist kein Zug dieses Spiels.",
    "NONCE_INVALID": "Die Zufallszahl ist nicht die zugesagte oder hat eine falsche Länge.",
    "REQUEST_ID_REUSED": "Diese Kennung gehört schon zu einer anderen Anfrage.",
    "INVALID_PAGE_TOKEN": "Diese Seite der Liste gibt es nicht (mehr); bitte von vorn beginnen.",
    "TOKEN_MISSING": "Bitte zuerst anmelden.",
    "TOKEN_INVALID": "Die Anmeldung ist ungültig; bitte neu anmelden.",
    "TOKEN_EXPIRED": "Die Anmeldung ist abgelaufen; bitte neu anmelden.",
    "NOT_YOUR_SEAT": "Auf diesem Platz sitzt jemand anderes.",
    "NOT_SEATED": "Du sitzt nicht an diesem Tisch.",
    "WRONG_JOIN_CODE": "Der Tisch ist privat, und der Zugangscode fehlt oder ist falsch.",
    "HOUSE_ONLY": "Dieser Platz ist für einen Bot des Hauses freigehalten.",
    "NOT_INVITED": "Dieser Platz ist für jemand anderen freigehalten.",
    "NOT_ALLOWED": "Das dürfen nur, wer am Tisch sitzt oder ihn eröffnet hat.",
    "TABLE_NOT_FOUND": "Diesen Tisch gibt es nicht.",
    "SERVICE_NOT_FOUND": "Diesen Dienst gibt es hier nicht.",
    "METHOD_NOT_FOUND": "Das kann dieser Server nicht.",
    "TABLE_FULL": "An diesem Tisch ist kein Platz mehr frei.",
    "SEAT_TAKEN": "Dieser Platz ist besetzt.",
    "ALREADY_SEATED": "Du sitzt schon an diesem Tisch.",
    "GAME_STARTED": "Das Spiel hat schon begonnen.",
    "GAME_NOT_STARTED": "Das Spiel hat noch nicht begonnen, oder es wird gerade gegeben.",
    "GAME_OVER": "Das Spiel ist zu Ende.",
    "NOT_YOUR_TURN": "Du bist nicht an der Reihe.",
    "ILLEGAL_MOVE": "Dieser Zug ist jetzt nicht erlaubt.",
    "STALE_SEQ": "Das Spiel ist inzwischen weitergegangen.",
    "TABLE_NOT_ENDED": "Das Spiel ist noch nicht zu Ende.",
    "TOO_MANY_TABLES": "Du hast zu viele offene Tische.",
    "TOO_MANY_STREAMS": "Es sind zu viele Verbindungen offen.",
    "TOO_MANY_CALLS": "Der Server hat gerade zu viel zu tun; bitte gleich noch einmal.",
    "TOO_MANY_MOVES": "Es warten zu viele Züge auf Antwort.",
    "TOO_MANY_SUBSCRIPTIONS": "Diese Verbindung verfolgt schon zu viele Tische.",
    "MESSAGE_TOO_LARGE": "Die Nachricht ist zu groß.",
    "DEADLINE_EXCEEDED": "Das hat zu lange gedauert; bitte noch einmal versuchen.",
    "SERVER_BUSY": "Der Server hat gerade zu viel zu tun; bitte gleich noch einmal.",
    "JOURNAL_UNAVAILABLE": "Der Server kann gerade nichts speichern; bitte gleich noch einmal.",
    "OUTCOME_UNKNOWN": "Es ist ungewiss, ob das gelungen ist; bitte noch einmal versuchen.",
    "SERVER_DRAINING": "Dieser Server wird beendet; bitte neu verbinden.",
    "TABLE_UNREADABLE": "Dieser Tisch ist gerade nicht lesbar; bitte später noch einmal.",
    "SERVER_FAULT": "Im Server ist ein Fehler aufgetreten.",
}

TRANSLATIONS: Final[Mapping[str, Mapping[str, str]]] = {"de": _GERMAN}
"""By language, one sentence a reason."""

_AVAILABLE: Final = frozenset({FALLBACK, *TRANSLATIONS})


def translated(reason: str, language: str) -> tuple[str, str] | None:
    """The language answered in and the sentence; None where English is the answer."""
    chosen = best((language,), _AVAILABLE)
    return None if chosen == FALLBACK else (chosen, TRANSLATIONS[chosen][reason])


def spoken(wanted: tuple[str, ...]) -> str:
    """The language of refusals for a caller who wants these, most wanted first."""
    return best(wanted, _AVAILABLE)
