#!/usr/bin/env python3
"""Sends requests to an address at a fixed rate, each on a connection of its own, and counts those that fail.

    load.py ADDRESS PORT RATE       until SIGTERM; then one line of JSON
    load.py --backend PORT          a server that answers 200, until SIGTERM
"""
import asyncio
import json
import signal
import sys
import time

TIMEOUT = 10
REQUEST = b"GET / HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"


class Load:
    def __init__(self, address, port, rate):
        self.address, self.port, self.rate = address, port, rate
        self.sent, self.failures, self.longest = 0, {}, 0.0

    async def one(self):
        began = time.monotonic()
        try:
            reason = await asyncio.wait_for(self.exchange(), TIMEOUT)
        except asyncio.TimeoutError:
            reason = "timeout"
        except OSError as error:
            reason = type(error).__name__
        self.longest = max(self.longest, time.monotonic() - began)
        if reason:
            self.failures[reason] = self.failures.get(reason, 0) + 1

    async def exchange(self):
        reader, writer = await asyncio.open_connection(self.address, self.port)
        try:
            writer.write(REQUEST)
            head = await reader.read(-1)
        finally:
            writer.close()
        if not head.startswith(b"HTTP/1.1 200 "):
            return head.split(b"\r\n")[0].decode(errors="replace") or "no answer"
        return "" if head.endswith(b"ok") else "cut short"

    async def run(self, stop):
        tasks = set()
        began = time.monotonic()
        while not stop.is_set():
            # What a busy machine held up is made up for.
            due = int((time.monotonic() - began) * self.rate)
            for _ in range(due - self.sent):
                task = asyncio.ensure_future(self.one())
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            self.sent = max(self.sent, due)
            try:
                await asyncio.wait_for(stop.wait(), 0.01)
            except asyncio.TimeoutError:
                pass
        seconds = time.monotonic() - began
        await asyncio.gather(*tasks)
        print(json.dumps({"requests": self.sent, "perSecond": round(self.sent / seconds), "failed": sum(self.failures.values()),
                          "failures": self.failures, "longestMs": round(1000 * self.longest)}))


async def answer(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.CancelledError, asyncio.IncompleteReadError, OSError):
        pass
    writer.close()


async def main():
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if sys.argv[1] == "--backend":
        server = await asyncio.start_server(answer, "0.0.0.0", int(sys.argv[2]), backlog=4096)
        await stop.wait()
        server.close()
        return
    await Load(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])).run(stop)


asyncio.run(main())
