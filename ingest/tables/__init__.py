"""From typed rows to raw tables: lists flattened, words computed. What every format has in common."""
