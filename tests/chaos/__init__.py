"""Many games on replicas that are killed, frozen and cut off, and what came of them. See ``make chaos``."""

import os

# Before gRPC is imported: its fork handlers crash children that are forked, now and then, before exec.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
