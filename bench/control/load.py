#!/usr/bin/env python3
"""`load.py PORT RATE HOST...`: GET / for each host in turn, RATE a second on one connection, until SIGTERM. Prints how many
were sent and what was answered otherwise than by 200."""
import json
import signal
import socket
import sys
import time


def read_answer(connection, pending):
    while b"\r\n\r\n" not in pending:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError("closed before an answer")
        pending += more
    head, rest = pending.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    while len(rest) < length:
        more = connection.recv(65536)
        if not more:
            raise ConnectionError("closed within an answer")
        rest += more
    return int(head.split(b" ", 2)[1]), rest[length:]


def main():
    port, rate, hosts = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    ending = []
    signal.signal(signal.SIGTERM, lambda *_: ending.append(True))
    sent, failed = 0, []
    connection, pending = None, b""
    due = time.monotonic()
    while not ending:
        host = hosts[sent % len(hosts)]
        sent += 1
        try:
            if connection is None:
                connection, pending = socket.create_connection(("127.0.0.1", port), timeout=30), b""
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            status, pending = read_answer(connection, pending)
            if status != 200:
                failed.append(f"{host}: {status}")
        except OSError as fault:
            failed.append(f"{host}: {fault}")
            connection = None
        due += 1 / rate
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    print(json.dumps({"sent": sent, "failed": failed[:1000]}))


if __name__ == "__main__":
    main()
