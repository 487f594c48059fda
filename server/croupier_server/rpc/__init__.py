"""The services as clients see them, and how they are mounted on gRPC."""
