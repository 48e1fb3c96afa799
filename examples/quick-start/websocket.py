#!/usr/bin/env python3
"""A WebSocket (RFC 6455) for trying things out: a server that sends back each text, and a client that sends one.

    websocket.py serve PORT
    websocket.py say http://HOST:PORT/PATH TEXT
"""
import base64
import hashlib
import os
import socket
import socketserver
import sys
from urllib.parse import urlsplit

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept_value(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def read_head(stream):
    """First line and fields of a message, the fields' names in lower case."""
    first = stream.readline(8192).decode().strip()
    fields = {}
    while line := stream.readline(8192).decode().strip():
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    return first, fields


def read_frame(stream):
    """Opcode and payload of a frame of less than 64 KiB."""
    head = stream.read(2)
    if len(head) < 2:
        return None, b""
    size = head[1] & 0x7F
    if size == 126:
        size = int.from_bytes(stream.read(2), "big")
    mask = stream.read(4) if head[1] & 0x80 else bytes(4)
    return head[0] & 0x0F, bytes(byte ^ mask[i % 4] for i, byte in enumerate(stream.read(size)))


def frame(opcode, payload, mask=b""):
    size = len(payload)
    length = bytes([size]) if size < 126 else bytes([126]) + size.to_bytes(2, "big")
    if mask:
        length = bytes([length[0] | 0x80]) + length[1:] + mask
        payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return bytes([0x80 | opcode]) + length + payload


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        _, fields = read_head(self.rfile)
        accept = accept_value(fields.get("sec-websocket-key", ""))
        self.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        while True:
            opcode, payload = read_frame(self.rfile)
            if opcode is None:
                return
            self.wfile.write(frame(opcode, payload))
            if opcode == 8:  # close
                return


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def say(url, text):
    parts = urlsplit(url)
    # Names below localhost lead to this machine, as browsers and curl have it.
    host = "127.0.0.1" if parts.hostname.endswith("localhost") else parts.hostname
    key = base64.b64encode(os.urandom(16)).decode()
    with socket.create_connection((host, parts.port or 80), timeout=10) as connection:
        connection.sendall((f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: Upgrade\r\n"
                            f"Upgrade: websocket\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        stream = connection.makefile("rb")
        status, fields = read_head(stream)
        if " 101 " not in status or fields.get("sec-websocket-accept") != accept_value(key):
            raise SystemExit(f"no WebSocket: {status}")
        connection.sendall(frame(1, text.encode(), os.urandom(4)))
        print(read_frame(stream)[1].decode())
        connection.sendall(frame(8, b"", os.urandom(4)))


def main():
    if sys.argv[1] == "say":
        say(sys.argv[2], sys.argv[3])
        return
    server = Server(("127.0.0.1", int(sys.argv[2])), Echo)
    print(f"websocket on 127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
