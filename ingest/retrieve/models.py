"""Embedding models: Ollama's, and wordllama's packaged static vectors, which need no server and no network."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ingest.errors import CannotRun
from ingest.files import digest_of
from ingest.retrieve.base import library

#: Texts that are embedded in one call.
BATCH = 64

WORDLLAMA, WORDLLAMA_DIMENSIONS = "l2_supercat", 256


class Model(Protocol):
    """A model that turns texts into vectors."""

    name: str
    #: What pins it: the digest of its weights.
    digest: str
    licence: str | None
    library: str

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """The texts' vectors, shape (texts, dimensions). Raises CannotRun."""
        ...


@dataclass
class Wordllama:
    """wordllama's vectors as its package holds them: the mean of the words' vectors, 256 dimensions."""

    name: str
    digest: str
    licence: str | None
    library: str
    _loaded: Any

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """The texts' vectors, shape (texts, 256)."""
        return np.asarray(self._loaded.embed(texts, batch_size=BATCH), dtype=np.float32)


def wordllama() -> Wordllama:
    """The packaged model; nothing is downloaded. Raises CannotRun where the package lacks it."""
    level, handlers = logging.getLogger().level, list(logging.getLogger().handlers)
    module = library("wordllama")
    # The package sets up logging for all as it is imported.
    logging.getLogger().setLevel(level)
    for handler in set(logging.getLogger().handlers) - set(handlers):
        logging.getLogger().removeHandler(handler)
    folder = Path(str(module.__file__)).parent
    weights = folder / "weights" / f"{WORDLLAMA}_{WORDLLAMA_DIMENSIONS}.safetensors"
    words = folder / "tokenizers" / f"{WORDLLAMA}_tokenizer_config.json"
    try:
        loaded = module.WordLlama.load(
            WORDLLAMA, cache_dir=folder, dim=WORDLLAMA_DIMENSIONS, disable_download=True
        )
        digest = hashlib.sha256(f"{digest_of(weights)} {digest_of(words)}".encode()).hexdigest()
    except OSError as error:
        raise CannotRun(
            f"wordllama's packaged vectors can't be read ({error}). Install the package again, or name an Ollama model with --model."
        ) from None
    name = f"wordllama {WORDLLAMA} {WORDLLAMA_DIMENSIONS}"
    return Wordllama(name, f"sha256:{digest}", None, "wordllama", loaded)


@dataclass
class Ollama:
    """A model that an Ollama server runs. A text longer than the model's window is cut by the server."""

    name: str
    digest: str
    licence: str | None
    library: str
    _client: Any
    _host: str

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """The texts' vectors, shape (texts, dimensions)."""
        reply = _asked(lambda: self._client.embed(model=self.name, input=texts), self.name, self._host)
        found = reply.embeddings
        sizes = {len(one) for one in found}
        if len(found) != len(texts) or len(sizes) != 1:
            raise CannotRun(
                f"the Ollama server at {self._host} gave {len(found)} vectors of {len(sizes)} sizes for {len(texts)} texts. "
                "Ask it again, or another model."
            )
        return np.asarray(found, dtype=np.float32)


def ollama(name: str, host: str | None) -> Ollama:
    """A model by its name; the server is `host`, else ``OLLAMA_HOST``, else the usual one. Raises CannotRun."""
    module = library("ollama")
    client = module.Client(host=host)
    where = str(client._client.base_url)
    known = _asked(client.list, name, where).models
    wanted = name if ":" in name else f"{name}:latest"
    [*fitting] = [one for one in known if one.model in (name, wanted)]
    if not fitting:
        has = ", ".join(sorted(str(one.model) for one in known)[:10]) or "none"
        raise CannotRun(
            f"the Ollama server at {where} has no model {name!r} (it has {has}). Run: ollama pull {name}"
        )
    digest = str(fitting[0].digest or "").removeprefix("sha256:")
    licence = getattr(_asked(lambda: client.show(name), name, where), "license", None)
    first = next((line.strip() for line in str(licence or "").splitlines() if line.strip()), None)
    return Ollama(str(fitting[0].model), f"sha256:{digest}", first, "ollama", client, where)


def _asked(call: Any, name: str, host: str) -> Any:
    """A call's reply; what goes wrong with it is one sentence."""
    module = library("ollama")
    httpx = library("httpx")
    try:
        return call()
    except module.ResponseError as error:
        raise CannotRun(
            f"the Ollama server at {host} refused {name!r}: {' '.join(str(error.error).split())[:200]}. Put that right, or name another model."
        ) from None
    except (TypeError, ValueError) as error:
        raise CannotRun(
            f"what answers at {host} gives no reply of Ollama's ({' '.join(str(error).split())[:100]}). Is it an Ollama server? Say where it is with --host."
        ) from None
    except (ConnectionError, httpx.HTTPError) as error:
        said = " ".join(str(error).split()).split(". ")[0][:100] or type(error).__name__
        raise CannotRun(
            f"no Ollama server answers at {host} ({said}). Start it (ollama serve), or say where it is with --host or OLLAMA_HOST."
        ) from None
