#!/usr/bin/env python3
"""`upstream.py ADDRESS PORT`: answers each request with `ok`, and echoes what comes after an Upgrade."""
import asyncio
import sys


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if b"upgrade: websocket" in head:
                writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
                while data := await reader.read(4096):
                    writer.write(data)
                return
            close = b"connection: close" in head
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + (b"Connection: close\r\n" if close else b"") +
                         b"\r\nok")
            await writer.drain()
            if close:
                return
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]), backlog=1024)
    await server.serve_forever()


asyncio.run(main())
