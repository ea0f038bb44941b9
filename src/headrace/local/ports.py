"""Ports on the loopback address: free, busy, chosen."""

import socket

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of the loopback address now."""
    with socket.socket() as probe:
        # As servers do: what only lingers after a close is not busy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose(*preferred: int | None, besides: tuple[int, ...] = ()) -> int:
    """Return the first free one of the preferred ports, else one that the system gives."""
    for port in preferred:
        if port is not None and port not in besides and is_free(port):
            return port
    while True:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port = int(probe.getsockname()[1])
        if port not in besides:
            return port


def answers(port: int) -> bool:
    """Tell whether somebody accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0
