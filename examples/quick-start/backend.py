#!/usr/bin/env python3
"""A backend for trying things out: answers every request with one line that says who got what, with the fields that the
proxy of an example adds.

    backend.py NAME PORT
"""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


ADDED = ("x-added-by", "x-auth-user", "x-user", "x-roles")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        line = f"{self.server.name} got {self.command} {self.path}"
        added = [f"{name}: {self.headers[name]}" for name in ADDED if name in self.headers]
        if added:
            line += " with " + ", ".join(added)
        body = (line + "\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = answer

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or int(sys.argv[2]) > 65535:
        raise SystemExit("usage: backend.py NAME PORT")
    try:
        server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
    except OSError as error:
        raise SystemExit(f"backend.py: port {sys.argv[2]} of 127.0.0.1: {error.strerror}") from None
    server.name = sys.argv[1]
    print(f"backend {server.name} on 127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
