"""The card-table server: tables on a journal, seen by each seat, streamed over gRPC."""
