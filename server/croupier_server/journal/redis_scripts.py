"""The scripts of a journal in Redis; ``redis_names`` has the keys, ``redis_forms`` the bytes.

The law of this file: an append is one script, and one script is one step: it checks all that
can fail, then writes, then tells.

What spans streams (deadlines, pages, the rows of a subject) is found by asking all 256 slots in
one script, 0.2 to 2 ms of Redis's time: there is no second index that could disagree. In a cluster
each node is asked for the shards that it has.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

from croupier_server.journal.redis_wire import Part, ScriptForgotten, Wire

_SHARDS_OF_A_NAME: Final = """
-- All shards of a name, or of 'NAME 0110…' those that have a 1.
local function shards(name_and_which)
  local name, which = string.match(name_and_which, '^(%S+) ?(%d*)$')
  local n = -1
  return function()
    repeat n = n + 1 until n > 255 or which == '' or string.byte(which, n + 1) == 49
    if n < 256 then return string.format('%s:{s%03d}:', name, n) end
  end
end
-- What a command answers. Of a shard that is not here, or on its way, nothing: it is noted instead.
local elsewhere, noted = {}, {}
local function ask(shard, ...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if not string.find(answer.err, 'non local key', 1, true) then error(answer) end
  if not noted[shard] then
    noted[shard] = true
    elsewhere[#elsewhere + 1] = tonumber(string.match(shard, '(%d+)}:$'))
  end
  return {}
end
-- The limit-th lowest number; nil when there are fewer.
local function cut(numbers, limit)
  table.sort(numbers)
  return numbers[limit]
end
"""

# Of the stream whose keys begin with ``shard``: where its row is found.
_PLACES_OF_A_ROW: Final = """
local function concerns(subject) return shard .. 'of:' .. subject end
local function indexes(r)
  local found = {shard .. 'in:all', shard .. 'in:game/' .. r[3], shard .. 'in:state/' .. r[4]}
  if r[5] > 0 then found[4] = shard .. 'in:free' end
  return found
end
local function member(r) return table.concat({stream, r[3], r[4]}, '\\0') end
"""

_APPEND: Final = (
    """#!lua
-- KEYS: the list of entries. ARGV: shard, stream, last number, deadline ('' keeps, '-' clears, '-TIME':
-- the stream is over and may be retired then, TIME or TIME@NUMBER of the entry that set it), channel of
-- rows, row ('' keeps), entries, none to write the index anew. Answers the last number when it is
-- another, else the head of the row that was replaced, or ''.
local shard, stream, deadline, row = ARGV[1], ARGV[2], ARGV[4], ARGV[6]
local last = redis.call('LLEN', KEYS[1])
if string.format('%d', last) ~= ARGV[3] then return last end
"""
    + _PLACES_OF_A_ROW
    + """
-- A key of another type fails here, before anything is written.
local rows, bound = shard .. 'rows', shard .. 'bound'
local before, new, old = '', nil, nil
if deadline ~= '' then
  redis.call('HEXISTS', bound, stream)
  redis.call('ZCARD', shard .. 'deadlines')
  redis.call('ZCARD', shard .. 'finished')
end
if row ~= '' then
  before = string.match(redis.call('HGET', rows, stream) or '', '^[^\\n]*')
  new = cjson.decode(string.match(row, '^[^\\n]*'))
  if before ~= '' then old = cjson.decode(before) end
  for _, r in ipairs({new, old}) do
    for _, subject in ipairs(r[8]) do redis.call('SCARD', concerns(subject)) end
    for _, index in ipairs(indexes(r)) do redis.call('ZCARD', index) end
  end
end

-- Redis 7 may keep a step that a crash has cut off in its file, and replay it with the next one. So
-- whatever is behind the last entry is taken off first; the mark makes sure that this is replayed too.
if #ARGV > 6 then
  redis.call('RPUSH', KEYS[1], '')
  if last == 0 then redis.call('DEL', KEYS[1]) else redis.call('LTRIM', KEYS[1], 0, last - 1) end
end
for first = 7, #ARGV, 1000 do
  redis.call('RPUSH', KEYS[1], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if string.sub(deadline, 1, 1) == '-' then
  redis.call('ZREM', shard .. 'deadlines', stream)
  redis.call('HDEL', bound, stream)
  local at = string.sub(deadline, 2)
  if at ~= '' and #ARGV > 6 then redis.call('ZADD', shard .. 'finished', at, stream)
  elseif at ~= '' then redis.call('ZADD', shard .. 'finished', 'NX', at, stream) end -- it may be put off
elseif deadline ~= '' then
  local at, set_by = string.match(deadline, '^(%d+)@?(%d*)$')
  redis.call('ZADD', shard .. 'deadlines', at, stream)
  redis.call('HSET', bound, stream, set_by == '' and redis.call('LLEN', KEYS[1]) or set_by)
end
if new then
  if old then
    for _, subject in ipairs(old[8]) do redis.call('SREM', concerns(subject), stream) end
    if old[6] then for _, index in ipairs(indexes(old)) do redis.call('ZREM', index, member(old)) end end
  end
  for _, subject in ipairs(new[8]) do redis.call('SADD', concerns(subject), stream) end
  local age = string.format('%.0f', new[7])
  if new[6] then for _, index in ipairs(indexes(new)) do redis.call('ZADD', index, age, member(new)) end end
  redis.call('HSET', rows, stream, row)
  redis.call('SPUBLISH', ARGV[5], before .. '\\n' .. row)
end

if #ARGV < 7 then return before end
local news = {ARGV[3]}
for n = 7, #ARGV do news[#news + 1] = ' ' .. #ARGV[n] end
news[#news + 1] = '\\n'
for n = 7, #ARGV do news[#news + 1] = ARGV[n] end
redis.call('SPUBLISH', KEYS[1], table.concat(news))
return before
"""
)

_PUT_OFF: Final = """#!lua flags=allow-oom
-- KEYS: the streams that are over. ARGV: stream, its time, another time. Answers 1 when the stream
-- had that time still and has the other now.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
"""

_RETIRE: Final = (
    """#!lua flags=allow-oom
-- KEYS: the list of entries. ARGV: shard, stream, last number. Answers 0, or the last number when
-- there is another, and nothing was freed.
local shard, stream = ARGV[1], ARGV[2]
local last = redis.call('LLEN', KEYS[1])
if last > 0 and string.format('%d', last) ~= ARGV[3] then return last end
"""
    + _PLACES_OF_A_ROW
    + """
-- What fails, or is on its way to another node, fails here, before anything is written.
local head = string.match(redis.call('HGET', shard .. 'rows', stream) or '', '^[^\\n]*')
local row = head ~= '' and cjson.decode(head)
redis.call('HEXISTS', shard .. 'bound', stream)
for _, key in ipairs({'deadlines', 'finished'}) do redis.call('ZCARD', shard .. key) end
if row then
  for _, subject in ipairs(row[8]) do redis.call('SCARD', concerns(subject)) end
  for _, index in ipairs(indexes(row)) do redis.call('ZCARD', index) end

  for _, subject in ipairs(row[8]) do redis.call('SREM', concerns(subject), stream) end
  for _, index in ipairs(indexes(row)) do redis.call('ZREM', index, member(row)) end
end
redis.call('HDEL', shard .. 'rows', stream)
redis.call('HDEL', shard .. 'bound', stream)
redis.call('ZREM', shard .. 'deadlines', stream)
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', shard .. 'finished', stream) -- last: what a crash cuts short is found and done again
return 0
"""
)

_CLOCK: Final = """#!lua flags=allow-oom
-- KEYS: the latest time given. ARGV: what it would be by now, by the asker's steady clock. Answers
-- the time, and keeps it. A clock that was set back is not believed until it has caught up.
local time = redis.call('TIME')
local now, kept = time[1] * 1000 + math.floor(time[2] / 1000), tonumber(redis.call('GET', KEYS[1]) or '0')
if now < kept - 1000 then now = math.max(now, tonumber(ARGV[1])) end
if now <= kept then return kept end
redis.call('SET', KEYS[1], string.format('%.0f', now))
return now
"""

_DUE: Final = (
    """#!lua flags=no-writes,allow-cross-slot-keys
-- ARGV: name, time, limit, 'deadlines' or 'finished'. Answers the shards that are elsewhere, and
-- stream, number (of a deadline, else 0), time of the earliest; of those at the last moment all, in
-- no order.
"""
    + _SHARDS_OF_A_NAME
    + """
local limit = tonumber(ARGV[3])
local walks, found, latest, few = {}, {}, nil, 1
for shard in shards(ARGV[1]) do walks[#walks + 1] = {shard = shard, at = 0} end
-- Few of each slot at first; further only where earlier ones may lie than those that were found.
while #walks > 0 do
  local going_on, times = {}, {}
  for _, walk in ipairs(walks) do
    if not latest or walk.time <= latest then
      local key = walk.shard .. ARGV[4]
      local come = ask(walk.shard, 'ZRANGEBYSCORE', key, '-inf', ARGV[2], 'WITHSCORES', 'LIMIT', walk.at, few)
      for i = 1, #come, 2 do
        walk.time = tonumber(come[i + 1])
        found[#found + 1] = {walk.shard, come[i], walk.time}
      end
      walk.at = walk.at + few
      if #come == 2 * few then going_on[#going_on + 1] = walk end
    end
  end
  for n, one in ipairs(found) do times[n] = one[3] end
  latest = cut(times, limit)
  walks, few = going_on, few * 4
end
local answer = {}
for _, one in ipairs(found) do
  if not latest or one[3] <= latest then
    local bound = ARGV[4] == 'finished' and '0' or ask(one[1], 'HGET', one[1] .. 'bound', one[2])
    if type(bound) == 'string' then answer[#answer + 1] = {one[2], bound, one[3]} end
  end
end
return {elsewhere, answer}
"""
)

_PAGE: Final = (
    """#!lua flags=no-writes,allow-cross-slot-keys
-- ARGV: name, limit, moment to go on from ('' from the newest), game ('' any), '1' with free seats,
-- states. Answers the shards that are elsewhere, and rows: the newest, and all of the moment to go on
-- from and of the last moment, in no order.
"""
    + _SHARDS_OF_A_NAME
    + """
local limit, from, game = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local indexes, states = {}, nil
for i = 6, #ARGV do
  states = states or {}
  states[ARGV[i]] = true
  indexes[#indexes + 1] = 'in:state/' .. ARGV[i]
end
if ARGV[5] == '1' then indexes = {'in:free'}
elseif not states then indexes = {game == '' and 'in:all' or 'in:game/' .. game} end

local walks, answer, found = {}, {}, {}
for shard in shards(ARGV[1]) do
  for _, index in ipairs(indexes) do walks[#walks + 1] = {shard = shard, key = shard .. index, at = 0} end
end
-- Few of each index at first; further only where newer rows may lie than those that were found.
local few, oldest = 1, nil
while #walks > 0 do
  local going_on = {}
  for _, walk in ipairs(walks) do
    if not oldest or walk.age >= oldest then
      local most = ARGV[3] == '' and '+inf' or ARGV[3]
      local shard, key = walk.shard, walk.key
      local some = ask(shard, 'ZREVRANGEBYSCORE', key, most, '-inf', 'WITHSCORES', 'LIMIT', walk.at, few)
      for i = 1, #some, 2 do
        local stream, its_game, state = string.match(some[i], '^(.*)%z(.*)%z(.*)$')
        walk.age = tonumber(some[i + 1])
        if (game == '' or its_game == game) and (not states or states[state]) then
          found[#found + 1] = {-walk.age, walk.shard, stream}
        end
      end
      walk.at = walk.at + few
      if #some == 2 * few then going_on[#going_on + 1] = walk end
    end
  end
  local ages = {}
  for _, row in ipairs(found) do if -row[1] ~= from then ages[#ages + 1] = row[1] end end
  oldest = cut(ages, limit)
  oldest = oldest and -oldest
  walks, few = going_on, few * 4
end
for _, row in ipairs(found) do
  if not oldest or -row[1] >= oldest then
    local stored = ask(row[2], 'HGET', row[2] .. 'rows', row[3])
    if type(stored) == 'string' then answer[#answer + 1] = stored end
  end
end
return {elsewhere, answer}
"""
)

_ROWS_OF: Final = (
    """#!lua flags=no-writes,allow-cross-slot-keys
-- ARGV: name, subject. Answers the shards that are elsewhere, and its rows, in no order.
"""
    + _SHARDS_OF_A_NAME
    + """
local answer = {}
for shard in shards(ARGV[1]) do
  for _, stream in ipairs(ask(shard, 'SMEMBERS', shard .. 'of:' .. ARGV[2])) do
    local stored = ask(shard, 'HGET', shard .. 'rows', stream)
    if type(stored) == 'string' then answer[#answer + 1] = stored end
  end
end
return {elsewhere, answer}
"""
)


@dataclass(frozen=True, slots=True)
class Script:
    """A script by its source, and the hash that Redis knows it by."""

    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest())


APPEND: Final = Script(_APPEND)
CLOCK: Final = Script(_CLOCK)
DUE: Final = Script(_DUE)
PAGE: Final = Script(_PAGE)
PUT_OFF: Final = Script(_PUT_OFF)
RETIRE: Final = Script(_RETIRE)
ROWS_OF: Final = Script(_ROWS_OF)


async def run(wire: Wire, script: Script, *rest: Part) -> Any:
    """What a script answers. Raises ``JournalUnavailable``."""
    try:
        return await wire.call("EVALSHA", script.sha, *rest)
    except ScriptForgotten:
        return await wire.call("EVAL", script.source, *rest)
