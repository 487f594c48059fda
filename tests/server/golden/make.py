"""Writes the golden histories: whole journal streams of one small game of each kind.

A golden history shows that what one release has written every later one still reads. So a file
is written once, by the code of its day, and never again: a new form of entries, or a new kind,
gets new files beside the old ones. This script refuses to write over a file. A history that no
longer replays means that tables of running servers no longer replay: mend the code, not the file.

A file's first line says what must come out; each other line is a text, one entry in base64. Run it from
the root as ``python tests/server/golden/make.py``; the files' number is the form of the entries.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from croupier.v1 import tables_pb2 as pb  # noqa: E402 (the path above comes first)
from croupier_games import dealing  # noqa: E402
from croupier_server.fold import ENTRY_VERSION, Phase, state_digest  # noqa: E402
from server.room import BOT, Room, guest  # noqa: E402

NONCE = bytes(range(20))


async def hidden_unders(room: Room) -> str:
    """A nonce promised and shown, one promised and withheld, a house bot, a clock that runs out."""
    options = {"hidden_unders": {"rounds": 2, "turn_limit": 20, "auto_done": True}}
    name = await room.create(players=3, options=options, move_seconds=20, title="Tea", private=True)
    code = (await room.state(name)).created.join_code
    await room.service.invite_bot(pb.InviteBotRequest(name=name, seat=2), guest(0))
    for seat in (0, 1):
        promise = dealing.nonce_commitment(name, seat, NONCE)
        await room.join(name, guest(seat), seat=seat, join_code=code, nonce_commitment=promise)
    await room.join(name, BOT, seat=2)
    await room.join(name, guest(0), nonce=NONCE)
    await room.pass_time(10)
    return await played(room, name)


async def doudizhu(room: Room) -> str:
    """A player who stood up and came back, an invitation, a deal that all passed (DDZ-4)."""
    name = await room.create("doudizhu", options={"doudizhu": {"deals": 2}})
    await room.join(name, guest(1), seat=2)
    await room.service.leave_table(pb.LeaveTableRequest(name=name), guest(1))
    await room.service.invite_bot(pb.InviteBotRequest(name=name, player=guest(2).player), guest(0))
    for number in range(3):
        await room.join(name, guest(number), request_id=f"join {number}")
    for _ in range(3):
        await room.some_move(name)
    return await played(room, name)


async def basic_rummy(room: Room) -> str:
    """Several hands, with the moves of the players remembered by their ids."""
    name = await room.deal("basic_rummy", 3, options={"basic_rummy": {"points": 100, "turn_limit": 30}})
    state = await room.state(name)
    while state.to_act is not None:
        moves = [state.rules.format_move(move) for move in state.rules.legal_moves(state.game_state)]
        wanted = [text for text in moves if text.startswith(("meld", "layoff"))] or moves
        who = guest(state.to_act)
        await room.move(name, who, wanted[state.seq % len(wanted)], request_id=f"move {state.seq}")
    return name


async def abandoned(room: Room) -> str:
    """A game that nobody went on with."""
    name = await room.deal("basic_rummy", 4)
    await room.play_out(name, random.Random(4), moves=5)
    await room.pass_time(10**6)
    return name


async def played(room: Room, name: str) -> str:
    """Random moves to the end; at a table with a clock every fifth comes too late."""
    chance, number = random.Random(name), 0
    while (await room.state(name)).phase is not Phase.ENDED:
        number += 1
        room.now_s += 1
        if number % 5 == 0 and (await room.state(name)).created.move_seconds:
            await room.pass_time(20)
        else:
            await room.some_move(name, chance, request_id=f"move {number}")
    return name


async def history(play: Callable[[Room], Awaitable[str]]) -> list[str]:
    """The lines of a file."""
    room = Room()
    await room.open()
    name = await play(room)
    state = await room.state(name)
    assert state.ended is not None
    record = (await room.service.get_record(pb.GetRecordRequest(table=name), guest(0))).record_json
    head = {
        "table": name,
        "result": state.ended.result,
        "scores": list(state.ended.scores),
        "digest": state_digest(state.rules, state.game_state).hex(),
        "requests": sorted([actor, key, made.seq] for (actor, key), made in state.requests.items()),
        "record": json.loads(record),
    }
    entries = [base64.b64encode(stored.data).decode() for stored in await room.stored(name)]
    await room.close()
    return [json.dumps(line, separators=(",", ":")) for line in (head, *entries)]


async def main() -> None:
    """Write the files that are not there."""
    for play in (hidden_unders, doudizhu, basic_rummy, abandoned):
        file = HERE / f"{ENTRY_VERSION}-{play.__name__}.jsonl"
        if not file.exists():
            file.write_text("\n".join(await history(play)) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
