"""Speed of the citation gate on one core: answers a second, by how much is wrong with them.

python benchmarks/gate.py [--answers N]
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from typing import Any

from ingest.gate import check_citations

MOST, SHOWN = 3, 5
SPOILT = ("outside", "repeated", "malformed", "too many", "number")


def answers(n: int, share_wrong: float, seed: int) -> list[tuple[list[Any], list[str]]]:
    """Lists of citations with their contexts of five, so many of them with something wrong."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        context = [str(draw.randrange(1_000_000)) for _ in range(SHOWN)]
        cited: list[Any] = draw.sample(context, draw.randint(0, MOST))
        if draw.random() < share_wrong:
            what = draw.choice(SPOILT)
            cited += {
                "outside": ["999999999"], "repeated": context[:1] * 2, "malformed": [None], "number": [7],
                "too many": [one for one in context if one not in cited],
            }[what]  # fmt: skip
        found.append((cited, context))
    return found


def main() -> None:
    """Print a line for each mix: the best of five rounds, and how many were accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=200_000)
    n = parser.parse_args().answers
    for share, text in ((0.0, False), (0.05, False), (1.0, False), (0.05, True)):
        given = answers(n, share, 1)
        said = "I recommend " + ", ".join(f"item {i} (ID {i})" for i in range(3)) if text else None
        best, accepted = float("inf"), 0
        for _ in range(5):
            gc.collect()
            started = time.perf_counter()
            accepted = sum(check_citations(c, ids, MOST, answer=said).is_accepted for c, ids in given)
            best = min(best, time.perf_counter() - started)
        held = ", the text held against the list" if text else ""
        print(
            f"{share:4.0%} spoilt{held}: {n / best:,.0f} answers a second ({accepted:,} of {n:,} accepted, one core)"
        )


if __name__ == "__main__":
    main()
