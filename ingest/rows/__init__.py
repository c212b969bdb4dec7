"""The rows of a collection or recording, whatever format they came in, into the raw tables."""
