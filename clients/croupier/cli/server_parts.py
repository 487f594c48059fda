"""The parts of the server that ``croupier serve`` runs, in one import.

The law of this file: it is the only one here that imports ``croupier_server``, so it is imported
only by ``serve`` and only when a server is asked for.
"""

from croupier_server.logs import configure
from croupier_server.main import run
from croupier_server.rpc.server import CannotListen, Tls, split_address
from croupier_server.settings import InvalidSetting, Settings

__all__ = ["CannotListen", "InvalidSetting", "Settings", "Tls", "configure", "run", "split_address"]
