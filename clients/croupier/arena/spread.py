"""Who plays the boards: this process, worker processes, or the workers of a Dask cluster.

The law of this file: boards come back in order, and never more of them wait than a window holds,
so neither a slow board nor a slow reader lets memory grow.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from typing import Any, Final

from croupier.arena.board import Crew, play_board
from croupier.arena.game import PlayedGame
from croupier.arena.interrupts import held_back
from croupier.arena.plan import Plan
from croupier.arena.schedule import ArenaFailed

Boards = Generator[list[PlayedGame], None, None]

_TASK_SECONDS: Final = 0.5
"""What a task should take: long beside sending it, short beside a person's patience."""
_LARGEST_TASK: Final = 500
_TASKS_A_WORKER: Final = 4
"""Tasks in the window for each worker."""
_ALONE_SECONDS: Final = 0.3
_WORKER_DIED: Final = (
    "a worker process died, most likely of a bot; --isolate keeps each bot in its own process"
)
_CLUSTER_SECONDS: Final = 10
_WORTH_WORKERS_SECONDS: Final = 2.0
"""Starting workers is worth it where this much is left to do after ``_ALONE_SECONDS`` of it."""


def boards_here(plan: Plan, start: int, stop: int) -> Boards:
    """Plays boards ``start`` to ``stop - 1`` in this process; what bots print goes to stderr."""
    crew = Crew(plan)
    try:
        for number in range(start, stop):
            with redirect_stdout(sys.stderr):
                games = play_board(crew, number)
            yield games
    finally:
        crew.close()


def boards_of_workers(plan: Plan, start: int, stop: int, workers: int) -> Boards:
    """Plays them in ``workers`` processes.

    Raises ``ArenaFailed`` when one dies, which only a bot in it can bring about.
    """
    with _processes(workers) as pool:
        try:
            yield from _spread(plan, start, stop, pool, workers)
        except BrokenExecutor as error:
            raise ArenaFailed(_WORKER_DIED) from error


def boards_of_all_cores(plan: Plan, start: int, stop: int) -> Boards:
    """Plays them in as many workers as there are cores to use, or here while it is not worth it."""
    cores, began, number = _cores(), time.monotonic(), start
    here = boards_here(plan, start, stop)
    try:
        while number < stop:
            spent = time.monotonic() - began
            left = spent / max(1, number - start) * (stop - number)
            if cores > 1 and spent > _ALONE_SECONDS and number > start and left > _WORTH_WORKERS_SECONDS:
                break
            yield next(here)
            number += 1
    finally:
        here.close()
    if number < stop:
        yield from boards_of_workers(plan, number, stop, cores)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def boards_of_cluster(plan: Plan, start: int, stop: int, address: str) -> Boards:
    """Plays them on the Dask cluster whose scheduler has that address. Raises ``ArenaFailed``."""
    try:
        import distributed
    except ImportError as error:
        raise ArenaFailed("a Dask cluster needs more packages: pip install 'croupier[dask]'") from error
    try:
        connect: Any = distributed.Client
        client = connect(address, timeout=_CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArenaFailed(f"there is no Dask scheduler at {address}: {error}") from error
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise ArenaFailed(f"the Dask cluster at {address} has no workers")
        pool = client.get_executor(pure=False)
        try:
            yield from _spread(plan, start, stop, pool, workers)
        except distributed.KilledWorker as error:
            raise ArenaFailed(_WORKER_DIED) from error
        finally:
            pool.shutdown(wait=False)  # cancels what is left when the answer is there


@dataclass(slots=True)
class _Task:
    start: int
    stop: int
    future: Any


def _spread(plan: Plan, start: int, stop: int, pool: Executor, workers: int) -> Boards:
    window: deque[_Task] = deque()
    size, number = 1, start
    while window or number < stop:
        while number < stop and len(window) < workers * _TASKS_A_WORKER:
            end = min(stop, number + size)
            with held_back():
                future = pool.submit(_play_boards, plan, number, end)
            window.append(_Task(number, end, future))
            number = end
        task = window.popleft()
        boards, seconds = task.future.result()
        size = _size(seconds / (task.stop - task.start), -(-(stop - number) // workers))
        yield from boards


def _size(seconds_a_board: float, share: int) -> int:
    """Boards for a task: half a second's work, and so few at the end that all workers have some."""
    return max(1, min(int(_TASK_SECONDS / max(seconds_a_board, 1e-6)), -(-share // 2), _LARGEST_TASK))


_kept: Final = threading.local()
"""A worker's crew: bots' processes outlive a task. Dask's workers may be threads, each with its own."""


def _play_boards(plan: Plan, start: int, stop: int) -> tuple[list[list[PlayedGame]], float]:
    """A task: the boards and the seconds that they took."""
    began = time.monotonic()
    crew: Crew | None = getattr(_kept, "crew", None)
    if crew is None or crew.plan != plan:
        if crew is not None:
            crew.close()
        crew = _kept.crew = Crew(plan)
        atexit.register(crew.close)
    boards = [play_board(crew, number) for number in range(start, stop)]
    return boards, time.monotonic() - began


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    others = {*active_children()}
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin_worker)
    done = False
    try:
        yield pool
        done = True
    finally:
        if not done:
            # Whoever leaves early, by an interrupt or with the answer, does not wait for a thought.
            # The pool takes it for an accident and fails what is left to do, which nobody reads.
            for process in {*active_children()} - others:
                process.terminate()
        pool.shutdown()


def _begin_worker() -> None:
    """Stdout is the parent's to write to; and a worker ends with its parent, even with one that is killed."""
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


Play = Callable[[Plan, int, int], Boards]


def boards_by(workers: int | None, dask: str | None) -> Play:
    """Who plays: ``workers`` processes (1: this one; None: what all cores make worth it), or a cluster."""
    if dask is not None:
        return lambda plan, start, stop: boards_of_cluster(plan, start, stop, dask)
    if workers is None:
        return boards_of_all_cores
    if workers == 1:
        return boards_here
    return lambda plan, start, stop: boards_of_workers(plan, start, stop, workers)
