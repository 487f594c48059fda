"""The form of journal entries, generated from ``entry.proto``."""
