"""The order in which a context's documents are read: as retrieved, reversed, or shuffled (each query's shuffle its own)."""

from __future__ import annotations

from ingest.retrieve.base import Ranked
from ingest.retrieve.random import draw

AS_IS = "as_is"
ORDERS = (AS_IS, "reversed", "shuffled")


def in_order(one: Ranked, order: str, k: int, seed: int) -> Ranked:
    """The first k documents in another order, scores with them. A shuffle is drawn as `ingest.retrieve.random` draws."""
    n = min(k, len(one.doc_ids))
    if order == "shuffled":
        places = draw(seed, f"order\0{one.query.query_id}\0{one.query.trial}", n, n)
    else:
        places = list(range(n)) if order == AS_IS else list(range(n))[::-1]
    scores = None if one.scores is None else [one.scores[i] for i in places]
    return Ranked(one.query, [one.doc_ids[i] for i in places], scores)
