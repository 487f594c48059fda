"""``make bench``: every benchmark, one after the other; ``--quick`` for a short look."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from bench import (
    bench_archive,
    bench_engines,
    bench_memory,
    bench_moves,
    bench_refusals,
    bench_replicas,
    bench_rlcard_match,
)


def main() -> None:
    """Run them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round of each")
    quick = parser.parse_args().quick
    rounds, seconds = (1, 2.0) if quick else (3, 4.0)
    bench_engines.main(rounds, seconds / 2)
    print(flush=True)
    bench_rlcard_match.run(["easy", "normal"] if quick else ["easy", "normal", "hard"], 20 if quick else 100)
    print(flush=True)
    journal = Path(__file__).with_name("bench_journal.py")
    subprocess.run([sys.executable, str(journal), "--rounds", str(rounds + 2)], check=True)
    bench_moves.main(rounds, seconds)
    bench_replicas.main(rounds, seconds * 5 / 8, "100,1000" if quick else "100,1000,10000")
    bench_memory.main()
    bench_archive.main(300 if quick else 10_000)
    print(flush=True)
    bench_refusals.main(5 if quick else 20)


if __name__ == "__main__":
    main()
