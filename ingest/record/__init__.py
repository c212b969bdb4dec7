"""Recording what a model does: answers from contexts, and agents' searches and picks, through a server that speaks Ollama's API.

`server` asks, `collection` reads what the warehouse holds, `prompts` makes what is sent, `journal` keeps what came back, `answers` and `traces` are
the two kinds, `tool` is the search behind an agent, `cli` the commands.
"""
