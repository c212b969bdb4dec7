"""Statistics on finished marts: tests, intervals and what a comparison could have detected."""
