#!/usr/bin/env bash
# Make the recordings of this folder again, with an Ollama server that has the model: ollama pull smollm2:135m
#
#     bash examples/store/record.sh FOLDER      (from the project's root, with pip install -e '.[record]')
#
# OLLAMA_HOST says where the server is. Started again after a stop, it goes on where it was.
set -euo pipefail
cd "$(dirname "$0")/../.."
store=examples/store
out=${1:?name a folder for the recordings}
mkdir -p "$out"
export ASSAY_WAREHOUSE="$out/store.duckdb"
python=${PYTHON:-python}
note="What replied: ${SERVED:-an Ollama server}. Made by examples/store/record.sh; with Ollama and smollm2:135m it can be made again, in other words where the model's file or the server differs."

"$python" -m ingest load "$store/collection"
for retriever in bm25 semantic random; do
    [ -e "$out/store-$retriever/manifest.json" ] ||
        "$python" -m ingest retrieve "$retriever" --split test --name "store-$retriever" --out "$out/store-$retriever" \
            $([ "$retriever" != semantic ] || echo --cache "$out/embeddings")
done
"$python" -m ingest load "$out"/store-bm25 "$out"/store-semantic "$out"/store-random

model=(--model smollm2:135m --split test --show name --num-ctx 4096 --num-predict 200 --note "$note")
"$python" -m ingest record answers "${model[@]}" \
    --contexts store-bm25 store-semantic store-random \
    --prompt "$store/prompts/answers.toml" --schema "$store/prompts/answers.schema.json" \
    --name store-answers --out "$out/store-answers"
"$python" -m ingest record traces "${model[@]}" \
    --retriever bm25 --retriever "semantic --cache $out/embeddings" --answers-recording store-answers \
    --prompt "$store/prompts/agent.toml" --schema "$store/prompts/picks.schema.json" \
    --name store-agent --out "$out/store-agent"
