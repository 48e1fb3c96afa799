#!/usr/bin/python3
"""A regex worker that refuses every set of patterns but the one that it is tried with at its start."""
import os
import struct


def read(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            raise SystemExit
        data += more
    return data


def write(frame):
    data = struct.pack("<I", len(frame)) + frame
    while data:
        data = data[os.write(0, data):]


TRIED = struct.pack("<II", 1, 1) + b"a"
while True:
    asked = read(struct.unpack("<I", read(4))[0])
    write(b"d" if asked == TRIED else b"p" + struct.pack("<I", 0) + b"refused")
