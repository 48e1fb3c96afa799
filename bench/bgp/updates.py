#!/usr/bin/env python3
"""`updates.py INTERFACE`: of each BGP UPDATE (RFC 4271 §4.3) that comes by, its time (that of CLOCK_MONOTONIC, in seconds) and what it
says of routes to single addresses of IPv4: a line `TIME + ADDRESS` or `TIME - ADDRESS` each. Reads frames, as root."""
import socket
import struct
import sys
import time

BGP_PORT = 179
MARKER = b"\xff" * 16
UPDATE = 2


def payload_of(frame):
    """What TCP carries for or from the port of BGP; empty: something else."""
    if len(frame) < 34 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return b""
    at = 14 + (frame[14] & 15) * 4
    end = 14 + struct.unpack("!H", frame[16:18])[0]
    ports = struct.unpack("!HH", frame[at:at + 4])
    return frame[at + (frame[at + 12] >> 4) * 4:end] if BGP_PORT in ports else b""


def addresses_in(routes):
    while routes:
        bits, size = routes[0], (routes[0] + 7) // 8
        if bits == 32:
            yield socket.inet_ntoa(routes[1:5])
        routes = routes[1 + size:]


def said_in(payload):
    """(sign, address) of each UPDATE in it that begins and ends in it."""
    while payload.startswith(MARKER) and len(payload) >= 19:
        size, kind = struct.unpack("!HB", payload[16:19])
        message, payload = payload[19:size], payload[max(size, 19):]
        if kind != UPDATE:
            continue
        gone = struct.unpack("!H", message[:2])[0]
        attributes = struct.unpack("!H", message[2 + gone:4 + gone])[0]
        for address in addresses_in(message[2:2 + gone]):
            yield "-", address
        for address in addresses_in(message[4 + gone + attributes:]):
            yield "+", address


def main():
    frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    frames.bind((sys.argv[1], 0))
    print("reads", flush=True)
    while True:
        frame = frames.recv(65536)
        at = time.monotonic()
        for sign, address in said_in(payload_of(frame)):
            print(f"{at} {sign} {address}", flush=True)


main()
