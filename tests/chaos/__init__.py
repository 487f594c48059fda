"""Many games on replicas that are killed, frozen and cut off, and what came of them. See ``make chaos``."""
