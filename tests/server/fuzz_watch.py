"""What must hold whatever is sent: for each answer, and for the games in progress.

The law of this file: a game in progress goes on by the moves of those who play it, and by no
others; what a stranger is answered holds no secret of a table that has not ended.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import grpc
from google.protobuf.message import Message
from google.rpc import status_pb2

from croupier.v1 import tables_pb2 as pb
from croupier_games.records import parse_record, verify
from croupier_server.errors import REASONS
from croupier_server.fold import Phase, TableState
from croupier_server.journal import Stored
from server.fuzz_calls import SEATED
from server.fuzz_send import Outcome
from server.fuzz_stage import Guest, Served, path_of
from server.refusals import seen_in, status_of

UNWELL = frozenset(
    {"SERVER_FAULT", "JOURNAL_UNAVAILABLE", "OUTCOME_UNKNOWN", "TABLE_UNREADABLE", "DEADLINE_EXCEEDED"}
)
"""Reasons that say that the server is not well: no request may bring them about."""

MOST_BYTES = 4096
"""Of an error's details."""

_STREAMS: dict[str, type[pb.WatchTableResponse | pb.PlayResponse]] = {
    path_of("WatchTable"): pb.WatchTableResponse,
    path_of("Play"): pb.PlayResponse,
}


def check_refusal(status: status_pb2.Status) -> str:
    """A refusal is one of the table's, with its code, small, and tells nothing of the program; its reason."""
    reason = seen_in(status).reason
    assert reason in REASONS
    assert reason not in UNWELL
    assert REASONS[reason].code.value[0] == status.code
    data = status.SerializeToString()
    assert len(data) < MOST_BYTES
    assert b"Traceback" not in data
    assert b"/croupier_" not in data
    return reason


def check_outcome(outcome: Outcome) -> str:
    """Check how a call ended; its reason, or ``OK``."""
    error = outcome.error
    if error is None:
        return "OK"
    assert error.code() not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), error
    return check_refusal(status_of(error))


def refused_in_band(outcome: Outcome) -> Iterator[status_pb2.Status]:
    """The refusals among a stream's answers."""
    for answer in outcome.answers if outcome.call.path in _STREAMS else ():
        response = _STREAMS[outcome.call.path].FromString(answer)
        yield from (u.ended for u in response.updates if u.HasField("ended") and u.ended.code)
        if isinstance(response, pb.PlayResponse):
            yield from (r.refused for r in response.results if r.HasField("refused"))


def hands_in(message: Message) -> Iterator[object]:
    """Every ``hand`` of cards in a message, at any depth."""
    for field, value in message.ListFields():
        if field.name == "hand":
            yield value
        elif field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from hands_in(inner)


class Games:
    """The games in progress: their players go on, and whatever else happens to them is found."""

    def __init__(self, served: Served, labels: Sequence[str]) -> None:
        self._served = served
        self._names = [served.stage.tables[label] for label in labels]
        self._told = {name: TableState(name) for name in self._names}
        self._players = {guest.name: guest for guest in map(served.stage.guests.__getitem__, SEATED)}
        self._made: set[tuple[str, str]] = set()
        self._chance = random.Random(0)
        self.moves = 0
        for name in self._names:
            for stored in self._new(name):
                self._told[name].fold(stored)

    async def play_on(self, moves: int) -> bool:
        """So many moves in each game that has not ended; False when all have."""
        for name in self._names * moves:
            if self._told[name].phase is not Phase.ENDED:
                await self._move(name)
                self.check()
        return any(told.phase is not Phase.ENDED for told in self._told.values())

    async def _move(self, name: str) -> None:
        state = self._told[name]
        assert state.to_act is not None
        legal = state.rules.legal_moves(state.game_state)
        text = state.rules.format_move(legal[self._chance.randrange(len(legal))])
        self.moves += 1
        request_id = f"mv-{self.moves}"
        player = self._holder(state, state.to_act)
        self._made.add((player.name, request_id))
        move = {"table": name, "move": {"text": text}, "request_id": request_id, "expected_seq": state.seq}
        data = self._served.stage.encoded(path_of("MakeMove"), move)
        channel = self._served.stage.channel
        await channel.unary_unary(path_of("MakeMove"))(data, metadata=player.metadata)

    def _holder(self, state: TableState, seat: int) -> Guest:
        return self._players[state.seats[seat].player]

    def _new(self, name: str) -> list[Stored]:
        after = self._told[name].seq
        entries = self._served.journal._streams[name][after:]
        return [Stored(seq, data) for seq, data in enumerate(entries, after + 1)]

    def check(self) -> None:
        """What was stored are moves of those who play and what followed; the server's state is that."""
        for name in self._names:
            told = self._told[name]
            for stored in self._new(name):
                step = told.fold(stored)
                assert step.kind in ("moved", "dealt", "ended"), step.kind
                if step.kind == "moved":
                    assert (step.entry.actor, step.entry.request_id) in self._made
            live = self._served.parts.tables.loaded(name)
            if live is not None:
                assert live.state.seq == told.seq
                assert told.rules.fingerprint(live.state.game_state) == told.rules.fingerprint(
                    told.game_state
                )

    async def finish(self) -> None:
        """Play all games to their end; their records hold."""
        while await self.play_on(1):
            pass
        for name in self._names:
            code = self._told[name].created.join_code
            answer = await self._served.stage.ask("GetRecord", "nobody", {"table": name, "join_code": code})
            verified = verify(parse_record(answer.record_json))
            assert list(verified.scores or ()) == list(self._told[name].ended.scores)

    def secrets(self) -> list[bytes]:
        """What no stranger may be sent now: seeds and codes of games that go on, and players' tokens."""
        going = [told.created for told in self._told.values() if told.phase is not Phase.ENDED]
        codes = [created.join_code.encode() for created in going if created.join_code]
        tokens = [guest.token.encode() for guest in self._players.values()]
        return [created.server_seed for created in going] + codes + tokens

    def check_unseen(self, outcome: Outcome) -> None:
        """A stranger was sent no secret, and of these games no hand."""
        authorization = dict(outcome.call.metadata).get("authorization", "")
        if str(authorization).removeprefix("Bearer ") in {g.token for g in self._players.values()}:
            return
        for answer in outcome.answers:
            assert not any(secret in answer for secret in self.secrets())
            if outcome.call.path in _STREAMS:
                updates = _STREAMS[outcome.call.path].FromString(answer).updates
                assert not any(any(hands_in(u)) for u in updates if u.table in self._names)
