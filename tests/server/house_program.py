"""Stands in for the house's bots: reports what it was given to PORT, then does as MODE says.

Arguments: PORT MODE, then those of a house process. ``die``: ends at once; ``stay``: until its
input ends; ``deaf``: until it is killed. The connection ends with the process.
"""

import json
import signal
import socket
import sys


def main() -> None:
    port, mode, *arguments = sys.argv[1:]
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    token = sys.stdin.readline().rstrip("\n")
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.sendall(json.dumps({"arguments": arguments, "token": token}).encode() + b"\n")
        if mode == "stay":
            sys.stdin.read()
        if mode == "deaf":
            connection.recv(1)


if __name__ == "__main__":
    main()
