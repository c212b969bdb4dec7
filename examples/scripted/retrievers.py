"""The store's three retrievers: BM25, a stand-in for semantic search, and chance."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from random import Random

from catalog import Product
from vocabulary import SYNONYMS

K1, B = 1.5, 0.75
STOP_WORDS = frozenset(
    ["a", "an", "and", "for", "in", "is", "it", "of", "on", "or", "that", "the", "this", "to", "with"]
)


def tokens(text: str) -> list[str]:
    """Lower-case runs of letters and digits, without stop words."""
    return [t for t in re.findall(r"\w+", text.lower()) if t not in STOP_WORDS]


def whole_text(product: Product) -> str:
    """All of a product's texts."""
    return " ".join(product.texts.values())


def _order(scores: dict[str, float], k: int) -> list[tuple[str, float]]:
    """The k best with a score above 0; ties by doc_id, as a number, ascending."""
    found = [(d, s) for d, s in scores.items() if s > 0]
    return sorted(found, key=lambda item: (-item[1], int(item[0])))[:k]


class Bm25:
    """BM25 (k1 1.5, b 0.75) over whole products, unstemmed."""

    def __init__(self, products: list[Product]) -> None:
        self._counts = {p.doc_id: Counter(tokens(whole_text(p))) for p in products}
        self._lengths = {d: sum(c.values()) for d, c in self._counts.items()}
        self._mean = sum(self._lengths.values()) / len(products)
        seen = Counter(t for c in self._counts.values() for t in c)
        self._idf = {t: math.log(1 + (len(products) - n + 0.5) / (n + 0.5)) for t, n in seen.items()}

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The k best documents with their scores."""
        wanted = [t for t in dict.fromkeys(tokens(query)) if t in self._idf]
        scores: dict[str, float] = {}
        for doc_id, counts in self._counts.items():
            norm = K1 * (1 - B + B * self._lengths[doc_id] / self._mean)
            score = sum(self._idf[t] * counts[t] * (K1 + 1) / (counts[t] + norm) for t in wanted if counts[t])
            scores[doc_id] = round(score, 6)
        return _order(scores, k)


class Semantic:
    """A stand-in for embeddings: cosine of hashed character trigrams, synonyms put in one word first."""

    def __init__(self, products: list[Product]) -> None:
        # What a product is weighs more than what its description says.
        self._vectors = {
            p.doc_id: self._vector(
                f"{p.texts['name']} {p.texts['product_class']} {p.texts['attributes']} {whole_text(p)}"
            )
            for p in products
        }

    @staticmethod
    def _vector(text: str) -> dict[int, float]:
        text = text.lower().replace("''", " in")
        for said, meant in SYNONYMS.items():
            text = re.sub(rf"\b{re.escape(said)}\b", meant, text)
        counts: Counter[int] = Counter()
        for token in tokens(text):
            padded = f" {token} "
            counts.update(zlib.crc32(padded[i : i + 3].encode()) % 4096 for i in range(len(padded) - 2))
        weights = {i: 1 + math.log(n) for i, n in sorted(counts.items())}
        length = math.sqrt(math.fsum(w * w for w in weights.values())) or 1.0
        return {i: w / length for i, w in weights.items()}

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The k best documents with their scores."""
        wanted = self._vector(query)
        scores = {
            d: round(math.fsum(w * vector.get(i, 0.0) for i, w in wanted.items()), 6)
            for d, vector in self._vectors.items()
        }
        return _order(scores, k)


class Chance:
    """Documents drawn at random, seeded by the query, so that another query changes no draw."""

    def __init__(self, products: list[Product], seed: str) -> None:
        self._ids = sorted((p.doc_id for p in products), key=int)
        self._seed = seed

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """k documents, without a meaning in their order."""
        return [(d, 0.0) for d in Random(f"{self._seed} random {query}").sample(self._ids, k)]
