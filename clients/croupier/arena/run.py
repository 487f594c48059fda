"""The run of an arena, from its plan to its result.

The law of this file: boards are counted in order, so the result follows from the plan and not
from who played them or who was quicker. A board's records are written before it is saved, and it
is saved before anybody is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, Final, TextIO

from croupier.arena.game import PlayedGame
from croupier.arena.plan import Plan, plan_of
from croupier.arena.result import ArenaResult, Count
from croupier.arena.saved import Saved, saved_in
from croupier.arena.schedule import ArenaError, ArenaFailed, Roles
from croupier.arena.spread import boards_by
from croupier.arena.sprt import Sprt, deal_score
from croupier_games.records import format_record


def run_arena(
    game: str,
    players: Sequence[str],
    deals: int,
    seed: str,
    options: Mapping[str, Any] | None = None,
    *,
    roles: Roles = "auction",
    round_robin: bool = False,
    isolate: float | None = None,
    sprt: tuple[float, float] | None = None,
    workers: int | None = 1,
    dask: str | None = None,
    resume: Path | None = None,
    record: TextIO | Path | None = None,
    with_records: bool = True,
    on_game: Callable[[PlayedGame], object] | None = None,
) -> ArenaResult:
    """Plays ``deals`` boards and adds up what came of them.

    - ``players`` are levels or ``module:Class``.
    - ``isolate``: each bot in its own process, with so many seconds a move.
    - ``sprt``: two Elo differences of the first of two players; the arena stops as soon as it is
      known which of them holds.
    - ``workers``: how many processes play, this one alone by default; None: as many as there are
      cores, where that is quicker. ``dask``: the address of a cluster's scheduler that plays instead.
    - ``resume``: a file that the boards are kept in; those that it holds already are not played
      again.
    - ``record`` gets one line a game. ``on_game`` gets every game once its board is over; its
      record is empty without ``with_records``, and where it was played in an earlier run.

    Raises what ``plan_of`` raises, and ``ArenaError`` for no board to play, a test that cannot be
    or a file to resume from that does not fit, all before the first card; ``ArenaFailed`` for what
    cannot be written or reached, also later.
    """
    _check(deals, workers)
    plan = plan_of(
        game,
        players,
        seed,
        options,
        roles=roles,
        round_robin=round_robin,
        isolate=isolate,
        with_records=with_records or record is not None,
    )
    test = None if sprt is None else _test(sprt, plan.names)
    with ExitStack() as stack:
        saved = None if resume is None else stack.enter_context(saved_in(resume, plan, test))
        before = 0 if saved is None else saved.boards
        if before > deals:
            raise ArenaError(f"{resume} holds {before} boards already, more than {deals}")
        keeper = stack.enter_context(closing(_Keeper(record, saved)))
        played = stack.enter_context(closing(boards_by(workers, dask)(plan, before, deals)))
        boards = chain(() if saved is None else saved.played(), keeper.keeping(played))
        return _counted(plan, boards, test, on_game)


def _counted(
    plan: Plan,
    boards: Iterable[list[PlayedGame]],
    test: Sprt | None,
    on_game: Callable[[PlayedGame], object] | None,
) -> ArenaResult:
    count = Count(plan)
    for games in boards:
        count.add(games)
        if on_game is not None:
            for played in games:
                on_game(played)
        if test is not None and test.add(deal_score(games, *plan.names)) is not None:
            break
    return count.result(test)


def _check(deals: int, workers: int | None) -> None:
    if deals < 1:
        raise ArenaError(f"an arena plays one board or more, not {deals}")
    if workers is not None and workers < 1:
        raise ArenaError(f"an arena takes one worker or more, not {workers}")


def _test(elos: tuple[float, float], names: Sequence[str]) -> Sprt:
    if len(names) != 2:
        raise ArenaError(f"a sequential test is between two players, not {len(names)}")
    return Sprt(*elos)


class _Keeper:
    """Writes what is played: its records into an open file or one to be made, and what is saved."""

    def __init__(self, place: TextIO | Path | None, saved: Saved | None) -> None:
        self._path: Final = place if isinstance(place, Path) else None
        self._file = None if isinstance(place, Path) else place
        self._saved: Final = saved
        self._kept: Final = None if saved is None else saved.record_end
        if self._path is not None and self._kept is not None:
            self._check_kept(self._path, self._kept)

    def keeping(self, boards: Iterable[list[PlayedGame]]) -> Iterator[list[PlayedGame]]:
        """The boards, each once it is kept."""
        first = 0 if self._saved is None else self._saved.boards
        for number, games in enumerate(boards, first):
            end = self._add(games)
            if self._saved is not None:
                self._saved.add(number, games, end)
            yield games

    def _add(self, games: Sequence[PlayedGame]) -> int | None:
        """Writes a board's records; the length of the file at a path then, in bytes."""
        if self._file is None and self._path is None:
            return None
        try:
            file = self._file = self._file or self._opened()
            file.writelines(format_record(played.record) + "\n" for played in games)
            file.flush()
            return None if self._path is None else file.tell()
        except OSError as error:
            raise ArenaFailed(f"{self._path} cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file, if it was made here."""
        if self._path is not None and self._file is not None:
            self._file.close()

    def _opened(self) -> TextIO:
        assert self._path is not None
        if self._kept is None:
            return self._path.open("w", encoding="ascii")
        file = self._path.open("r+", encoding="ascii")
        file.truncate(self._kept)
        file.seek(self._kept)
        return file

    def _check_kept(self, path: Path, kept: int) -> None:
        try:
            length = path.stat().st_size
        except OSError as error:
            raise ArenaError(f"{path} has the records of the boards so far, but {error.strerror}") from error
        if length < kept:
            raise ArenaError(f"{path} has lost records of boards that are not played again")
