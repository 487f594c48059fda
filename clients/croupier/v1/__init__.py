"""The messages and stubs of the public API, generated from ``protos/croupier/v1``."""
