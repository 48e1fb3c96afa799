"""Ports for servers that a test starts itself, one of which no other process takes meanwhile: below those that the kernel gives to
connections and to whoever binds port 0, and kept from other tests by a lock until this process ends. lasting_port.h does the
same for tests in C++, with the same locks."""
import fcntl
import os
import pathlib
import random
import socket
import tempfile

FIRST, LAST = 10_000, 32_000
_locks = []


def _last():
    try:
        low = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        return LAST
    # Where connections take the range too, a lock keeps other tests away at least.
    return min(LAST, low - 1) if low > FIRST + 1000 else LAST


def _reserve(folder, port):
    """Takes the port's lock; returns whether nobody else has it."""
    try:
        lock = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return False  # another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    _locks.append(lock)
    return True


def _is_free(port):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                return False
    return True


def free_port():
    """A port that nothing is bound to, of TCP and UDP alike; other tests leave it alone until this process ends."""
    folder = pathlib.Path(tempfile.gettempdir()) / "edge-test-ports"
    folder.mkdir(exist_ok=True)
    for _ in range(10_000):
        port = random.randrange(FIRST, _last() + 1)
        if _reserve(folder, port):
            if _is_free(port):
                return port
            os.close(_locks.pop())
    raise SystemExit("FAILED: there is no free port")
