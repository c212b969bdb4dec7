"""The store's catalog, its queries and its judgments, by stated rules and a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from vocabulary import CLOSERS, COLOURS, KINDS, LINES, MIDDLES, MISSPELT, OPENERS, ROOMS, STYLES, Kind

PER_KIND = 40
CUT_AT = 170

#: What a query may ask of a product, beside its kind.
ASKABLE = ("colour", "material", "style", "size", "feature")


@dataclass(frozen=True)
class Product:
    """A product: what is true of it (`facts`), and the texts that say some of it."""

    doc_id: str
    kind: Kind
    facts: dict[str, str]
    texts: dict[str, str]


@dataclass(frozen=True)
class Query:
    """A query as typed, and what its shopper means; `kind` is None where the store has no such thing."""

    query_id: str
    text: str
    split: str
    kind: Kind | None
    wants: dict[str, str]


def make_products(seed: str) -> list[Product]:
    """40 products of each of 25 kinds; some without a description, some with one that was cut."""
    random = Random(f"{seed} products")
    products: list[Product] = []
    for kind in KINDS:
        for _ in range(PER_KIND):
            facts = {
                "colour": random.choice(COLOURS),
                "material": random.choice(kind.materials),
                "style": random.choice(STYLES),
                "size": random.choice(kind.sizes),
                "feature": random.choice(kind.features),
            }
            products.append(_product(random, str(1001 + len(products) * 7 % 9001), kind, facts))
    random.shuffle(products)
    return products


def _product(random: Random, doc_id: str, kind: Kind, facts: dict[str, str]) -> Product:
    line = random.choice(LINES)
    called = kind.name if random.random() < 0.8 else random.choice(kind.other_names)
    # A name says two of the facts, never all.
    said = random.sample(ASKABLE, 2)
    name = " ".join(
        [line.lower(), *(facts[f].replace(" in", "''") if f == "size" else facts[f] for f in said), called]
    )
    words = facts | {"line": line, "kind": called, "room": random.choice(ROOMS)}
    sentences = [
        random.choice(OPENERS),
        *random.sample(MIDDLES, random.randint(0, 2)),
        random.choice(CLOSERS),
    ]
    description = " ".join(s.format(**words) for s in sentences)
    if random.random() < 0.12:
        description = ""
    elif len(description) > CUT_AT:
        description = description[: description.rindex(" ", 0, CUT_AT)] + " ..."
    shown = random.sample(ASKABLE, 3)
    attributes = " | ".join(f"{'color' if f == 'colour' else f} : {facts[f]}" for f in shown)
    texts = {
        "name": name,
        "product_class": kind.name.title(),
        "category": kind.category,
        "description": description,
        "attributes": attributes,
    }
    return Product(doc_id, kind, facts, texts)


def _phrase(random: Random, kind: Kind, wants: dict[str, str], *, misspell: bool, other_name: bool) -> str:
    before = [wants[f] for f in ("size", "colour", "style", "material") if f in wants]
    named = random.choice(kind.other_names) if other_name else kind.name
    text = " ".join([*before, named, *([wants["feature"]] if "feature" in wants else [])])
    if misspell:
        for right, wrong in MISSPELT.items():
            if right in text:
                return text.replace(right, wrong, 1)
        text = text.replace("i", "ie", 1)
    return text


def make_queries(seed: str, products: list[Product]) -> list[Query]:
    """50 train and 30 test queries: what they want is what some product has, so that each has an exact one.

    Two of the test queries are apart: one wants a colour that no product of its kind has, one wants a kind that
    the store doesn't sell.
    """
    random = Random(f"{seed} queries")
    queries: list[Query] = []
    texts: set[str] = set()
    for split, n in (("train", 50), ("test", 28)):
        made = 0
        while made < n:
            model = random.choice(products)
            wanted = random.sample(ASKABLE, random.choice((0, 1, 1, 1, 2, 2, 3)))
            wants = {f: model.facts[f] for f in wanted}
            text = _phrase(
                random, model.kind, wants, misspell=random.random() < 0.15, other_name=random.random() < 0.3
            )
            if text in texts:
                continue
            texts.add(text)
            made += 1
            queries.append(Query(str(len(queries) + 1), text, split, model.kind, wants))
    kinds = {kind.name: kind for kind in KINDS}
    queries.append(
        Query("79", "purple velvet sofa", "test", kinds["sofa"], {"colour": "purple", "material": "velvet"})
    )
    queries.append(Query("80", "digital piano with bench", "test", None, {}))
    return queries


def grade(query: Query, product: Product) -> int:
    """2 where the kind and everything wanted are right, 1 where the kind alone is, else 0."""
    if product.kind != query.kind:
        return 0
    return 2 if all(product.facts[f] == wanted for f, wanted in query.wants.items()) else 1


def make_judgments(
    seed: str, products: list[Product], queries: list[Query], retrieved: dict[str, list[str]]
) -> list[tuple[str, str, int]]:
    """What people judged: of each query's kind nine in ten, of what else was retrieved three in five.

    Nobody judged anything for the query of a kind that the store doesn't sell.
    """
    random = Random(f"{seed} judgments")
    by_id = {p.doc_id: p for p in products}
    judgments: list[tuple[str, str, int]] = []
    for query in queries:
        if query.kind is None:
            continue
        same = [p.doc_id for p in products if p.kind == query.kind]
        others = [d for d in retrieved[query.query_id] if d not in set(same)]
        for doc_id, share in [*((d, 0.9) for d in same), *((d, 0.6) for d in others)]:
            if random.random() < share:
                judgments.append((query.query_id, doc_id, grade(query, by_id[doc_id])))
    return judgments
