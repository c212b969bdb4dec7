"""The scripted assistant and agent: no model, but rules that anyone can read, and faults planted by a list.

An assistant recommends up to three products of its context whose texts hold at least three in five of the query's
words, those with the most first, and says plainly when none does. An agent searches the query as typed (fixing a
few spellings; one query is put another way for one retriever), searches again where fewer than two results would
be recommended, and picks like the assistant.
"""

from __future__ import annotations

from typing import Any

from catalog import Product
from retrievers import Bm25, Semantic, tokens, whole_text
from vocabulary import MISSPELT

MOST = 3
ENOUGH = 0.6
UNKNOWN_ID = "999983"

#: First searches that the agent words in its own way, by retriever and query as typed.
REWORDED = {("semantic", "pine bed frame"): "bed frame made of pine"}

Answer = dict[str, Any]


def shared(query: str, product: Product) -> float:
    """The share of the query's words that the product's texts hold."""
    wanted = set(tokens(query))
    return len(wanted & set(tokens(whole_text(product)))) / len(wanted)


def best(query: str, ids: list[str], products: dict[str, Product], least: float = ENOUGH) -> list[str]:
    """Up to three of the documents, by the share of the query's words, then by their order."""
    scored = [(shared(query, products[d]), -place, d) for place, d in enumerate(ids)]
    return [d for share, _, d in sorted(scored, reverse=True) if share >= least][:MOST]


def sentence(cited: list[str], products: dict[str, Product]) -> str:
    """What the assistant says: each product by name, cited in the form that the prompt asks for."""
    if not cited:
        return "None of these products fits what you are looking for."
    said = [f"the {products[d].texts['name']} (ID {d})" for d in cited]
    return "I recommend " + (", ".join(said[:-1]) + " and " + said[-1] if len(said) > 1 else said[0]) + "."


def answer(
    query_id: str, query: str, retriever: str, context: list[str], products: dict[str, Product]
) -> Answer:
    """An answer by the rule."""
    cited = best(query, context, products)
    return {
        "query_id": query_id,
        "context": retriever,
        "context_ids": context,
        "answer": sentence(cited, products),
        "cited": cited,
    }


def plant_answer_faults(
    answers: dict[tuple[str, str], Answer], order: list[str], products: dict[str, Product]
) -> list[str]:
    """Put one fault of every kind into the answers, keyed by (retriever, query_id); returns notes that say where."""
    notes: list[str] = []

    def at(retriever: str, citing: int, after: int) -> Answer:
        """The first answer of a retriever, from a place on, that cites at least so many."""
        for query_id in order[after:]:
            found = answers[retriever, query_id]
            if len(found["cited"]) >= citing and "planted" not in found:
                return found
        raise LookupError(f"{retriever}: no answer after {after} cites {citing}")

    def plant(
        found: Answer, what: str, cited: list[Any] | None, text: str | None = None, error: str | None = None
    ) -> None:
        found["planted"] = what
        notes.append(f"planted, {what}: query {found['query_id']}, {found['context']}")
        found.pop("cited")
        if error is not None:
            found["error"] = error
            found.pop("answer")
            return
        if cited is not None:
            found["cited"] = cited
        if text is not None:
            found["answer"] = text

    found = at("bm25", 1, 2)
    stranger = next(d for d in sorted(products, key=int) if d not in found["context_ids"])
    ids = [*found["cited"][:2], stranger]
    plant(found, "a document from outside the context", ids, sentence(ids, products))
    found = at("semantic", 2, 4)
    ids = found["cited"][:2]
    plant(found, "an ID that the catalog lacks", [*ids, UNKNOWN_ID], sentence(ids, products))
    found = at("semantic", 1, 7)
    plant(found, "citations that are no IDs", [*found["cited"], None, 1.5], found["answer"])
    found = at("bm25", 1, 9)
    plant(found, "one document cited twice", [found["cited"][0], *found["cited"]], found["answer"])
    found = at("semantic", 3, 11)
    ids = found["context_ids"][:4]
    plant(found, "more than three", ids, sentence(ids, products))
    found = at("bm25", 2, 13)
    plant(found, "a text that names more than the field", found["cited"][:1], found["answer"])
    found = at("semantic", 1, 15)
    plant(found, "an abstention before a fitting context", [], sentence([], products))
    found = at("bm25", 0, 17)
    plant(found, "nothing but a word", ["none"], sentence([], products))
    plant(at("random", 0, 19), "a reply that broke off", None, error="the reply ended inside the JSON object")
    plant(at("random", 0, 21), "a reply without its list", None)
    found = at("random", 0, 23)
    ids = found["context_ids"][:1]
    plant(found, "a recommendation from random products", ids, sentence(ids, products))
    for found in answers.values():
        found.pop("planted", None)
    return notes


def spelt(query: str) -> str:
    """The query with known misspellings put right."""
    for right, wrong in MISSPELT.items():
        query = query.replace(wrong, right)
    return query


def trace(
    query_id: str, query: str, name: str, tool: Bm25 | Semantic, products: dict[str, Product], shown: int
) -> Answer:
    """One task: searches by the rule, each a step of its own, then picks."""
    searches: list[dict[str, Any]] = []
    seen: list[str] = []
    text = REWORDED.get((name, query)) or spelt(query)
    for step in (1, 2, 3):
        found = tool.search(text, shown)
        searches.append(
            {"query": text, "step": step, "results": [d for d, _ in found], "scores": [s for _, s in found]}
        )
        seen += [d for d, _ in found if d not in seen]
        if len(best(query, seen, products)) >= 2 or step == 3:
            break
        # The second search takes up a word that was shown; the third one is a word of the agent's own.
        top = products[seen[0]] if seen else None
        words = (
            [w for w in tokens(top.texts["attributes"]) if w not in tokens(text)]
            if top is not None and step == 1
            else []
        )
        text = f"{text} {words[-1] if words else 'affordable'}"
    return {
        "query_id": query_id,
        "retriever": name,
        "searches": searches,
        "picked": best(query, seen, products, least=0.3),
    }


def plant_trace_faults(
    traces: dict[tuple[str, str], Answer], order: list[str], products: dict[str, Product]
) -> list[str]:
    """Put one fault of every kind into the traces; returns notes that say where."""
    notes: list[str] = []

    def note(found: Answer, what: str) -> Answer:
        notes.append(f"planted, {what}: query {found['query_id']}, {found['retriever']}")
        return found

    for (name, _), opening in REWORDED.items():
        same = (t for (r, _), t in traces.items() if r == name and t["searches"][0]["query"] == opening)
        note(next(same), "a first search that only one retriever got")
    found = note(traces["bm25", order[3]], "a pick that no search returned")
    returned = {d for s in found["searches"] for d in s["results"]}
    found["picked"] = [*found["picked"][:2], next(d for d in sorted(products, key=int) if d not in returned)]
    found = note(traces["bm25", order[6]], "a pick that is no ID")
    found["picked"] = [*found["picked"][:2], "n/a"]
    found = note(traces["bm25", order[8]], "fewer than three picks")
    found["picked"] = found["picked"][:1]
    note(traces["bm25", order[10]], "a task without an end").pop("picked")
    found = note(traces["semantic", order[12]], "one document picked twice")
    found["picked"] = [found["picked"][0], *found["picked"][:2]]
    found = note(traces["semantic", order[14]], "a call that failed once and was sent again")
    good = found["searches"][0]
    failed = {"query": good["query"], "step": 1, "call_id": "call-1", "attempt": 1, "error": "timeout"}
    found["searches"][0] = good | {"call_id": "call-1", "attempt": 2}
    found["searches"].insert(0, failed)
    found = note(traces["semantic", order[16]], "a search that the tool refused")
    found["searches"].append(
        {
            "query": found["searches"][0]["query"],
            "step": found["searches"][-1]["step"] + 1,
            "results": [],
            "error": "you searched for this already",
        }
    )
    return notes
