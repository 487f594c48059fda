"""Benchmarks: each prints ratios to a peer or a bare ceiling measured in the same run."""
