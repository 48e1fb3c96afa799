#!/usr/bin/env python3
"""`client.py ADDRESS PORT TLS_PORT RATE`: requests at a rate, each by a connection of its own; and connections of
HTTP/1.1, HTTP/2, TLS and WebSocket that are kept, where TLS_PORT is none of 0. A line of the standard input begins a
measurement, the next one ends it and is answered by a line of JSON; what is kept is opened anew then.

A connection that is closed between two requests, or by GOAWAY, is no failure (RFC 9112 §9.3.1, RFC 9113 §6.8): the client
goes on with another one. A WebSocket is not closed by a server that drains."""
import asyncio
import json
import ssl
import struct
import sys
import time

ADDRESS, PORT, TLS_PORT, RATE = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
PATIENCE = 5.0


class Figures:
    def __init__(self):
        self.begin()

    def begin(self):
        self.began = self.last = time.monotonic()
        self.gap, self.good, self.failed, self.resets, self.first_fault = 0.0, 0, 0, 0, ""
        self.kept = {}

    def served(self):
        now = time.monotonic()
        self.gap, self.last, self.good = max(self.gap, now - self.last), now, self.good + 1

    def fault(self, error):
        self.failed += 1
        self.resets += isinstance(error, ConnectionResetError)
        self.first_fault = self.first_fault or repr(error)

    def report(self):
        self.gap = max(self.gap, time.monotonic() - self.last)
        return {"good": self.good, "failed": self.failed, "resets": self.resets, "gap": self.gap, "kept": self.kept,
                "first": self.first_fault}


FIGURES = Figures()
ROUND = 0


class Closed(Exception):
    """In order: no request was taken and not answered."""


GET = f"GET / HTTP/1.1\r\nHost: {ADDRESS}\r\n".encode()


async def answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(head.split(b"\r\n")[0].decode())
    if await reader.readexactly(2) != b"ok":
        raise ValueError("body")
    return b"connection: close" in head.lower()


async def request():
    writer = None
    try:
        async with asyncio.timeout(PATIENCE) if hasattr(asyncio, "timeout") else Nothing():
            reader, writer = await asyncio.open_connection(ADDRESS, PORT)
            writer.write(GET + b"Connection: close\r\n\r\n")
            await answer(reader)
        FIGURES.served()
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
        FIGURES.fault(error)
    finally:
        if writer:
            writer.close()


class Nothing:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return False


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Http1:
    def __init__(self, context=None):
        self.context, self.over = context, False

    async def open(self):
        port = TLS_PORT if self.context else PORT
        self.reader, self.writer = await asyncio.open_connection(ADDRESS, port, ssl=self.context)

    async def use(self):
        if self.over:
            raise Closed
        self.writer.write(GET + b"\r\n")
        try:
            self.over = await answer(self.reader)
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise
            raise Closed from error


class Http2(Http1):
    async def open(self):
        await super().open()
        self.stream = 1
        self.writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))

    async def use(self):
        if self.over:
            raise Closed
        authority = ADDRESS.encode()
        self.writer.write(frame(1, 5, self.stream, b"\x82\x86\x84\x41" + bytes([len(authority)]) + authority))
        while True:
            try:
                head = await self.reader.readexactly(9)
            except asyncio.IncompleteReadError as error:
                if error.partial or self.over:
                    raise
                raise Closed from error
            size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
            stream = int.from_bytes(head[5:], "big")
            payload = await self.reader.readexactly(size)
            if kind == 4 and not flags & 1:
                self.writer.write(frame(4, 1, 0))
            if kind == 6 and not flags & 1:
                self.writer.write(frame(6, 1, 0, payload))
            if kind == 7:
                self.over = True
                if int.from_bytes(payload[:4], "big") < self.stream:
                    raise Closed
            if kind == 3:
                raise ValueError("RST_STREAM")
            if kind in (0, 1) and stream == self.stream and flags & 1:
                self.stream += 2
                return


class WebSocket(Http1):
    async def open(self):
        await super().open()
        self.writer.write(GET + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        head = await self.reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            raise ValueError(head.split(b"\r\n")[0].decode())

    async def use(self):
        text = b"\x81\x84\x00\x00\x00\x00ping"
        self.writer.write(text)
        if await self.reader.readexactly(len(text)) != text:
            raise ValueError("echo")


async def keep(name, make):
    """A connection that is used ten times a second. It is opened anew when it fails, which is counted."""
    opened, opened_in = None, ROUND
    while True:
        if opened is not None and opened_in != ROUND:
            opened.writer.close()
            opened = None
        figures = FIGURES.kept.setdefault(name, {"used": 0, "closed": 0, "failed": 0, "resets": 0, "first": ""})
        try:
            async with asyncio.timeout(PATIENCE) if hasattr(asyncio, "timeout") else Nothing():
                if opened is None:
                    connection = make()
                    await connection.open()
                    opened, opened_in = connection, ROUND
                    fresh = True
                await opened.use()
            if not fresh:
                figures["used"] += 1
            fresh = False
        except Closed:
            figures["closed"] += 1
            opened.writer.close()
            opened = None
            continue
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            if opened is not None:
                figures["failed"] += 1
                figures["resets"] += isinstance(error, ConnectionResetError)
                figures["first"] = figures["first"] or repr(error)
                opened.writer.close()
            opened = None
        await asyncio.sleep(0.1)


async def main():
    tasks = set()
    if TLS_PORT:
        context = ssl._create_unverified_context()
        for name, make in {"HTTP/1.1": Http1, "HTTP/2": Http2, "WebSocket": WebSocket,
                           "TLS": lambda: Http1(context)}.items():
            for number in range(3):
                tasks.add(asyncio.create_task(keep(name, make)))
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def commands():
        global ROUND
        while await reader.readline():
            FIGURES.begin()
            print("began", flush=True)
            await reader.readline()
            print(json.dumps(FIGURES.report()), flush=True)
            ROUND += 1

    asking = asyncio.create_task(commands())
    next_at = time.monotonic()
    while not asking.done():
        task = asyncio.create_task(request())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        next_at = max(next_at + 1 / RATE, time.monotonic() - 0.2)
        await asyncio.sleep(max(0, next_at - time.monotonic()))


asyncio.run(main())
