"""The live pages of edgectl on a pseudo-terminal, with a scripted Prometheus: drawn, resized, left in every way.

Usage: dashboard.py EDGECTL. Prints what failed, and ends with 1.
"""

import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.parse

PATIENCE = 30
ENTER = b"\x1b[?1049h"
LEAVE = b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"


class Prometheus(http.server.BaseHTTPRequestHandler):
    """Answers every query with two routes, and every range with a line that rises."""

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        if url.path.endswith("query_range"):
            start, end, step = (float(query[name][0]) for name in ("start", "end", "step"))
            values, at, value = [], start, 0
            while at <= end + step / 2:
                values.append([at, str(value)])
                at, value = at + step, value + 1
            data = {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}
        else:
            names = [("shop/cart", "12.5"), ("shop/\u001b[31mevil", "3")]
            data = {
                "resultType": "vector",
                "result": [
                    {
                        "metric": {"gateway": "shop/web", "route": name, "backend": name, "instance": "a:9090", "hash": "abc"},
                        "value": [0, value],
                    }
                    for name, value in names
                ],
            }
        body = json.dumps({"status": "success", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Screen:
    """edgectl as the child of a terminal of its own."""

    def __init__(self, command, columns=80, rows=24):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        self.child = subprocess.Popen(
            command,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env={**os.environ, "TERM": "xterm"},
            preexec_fn=self._own_terminal,
        )

    def _own_terminal(self):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns, rows, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.child.send_signal(signal.SIGWINCH)

    def read(self, wait):
        ready, _, _ = select.select([self.master], [], [], wait)
        if not ready:
            return False
        try:
            self.seen += os.read(self.master, 65536)
        except OSError:
            return False
        return True

    def wait_for(self, what):
        until = time.monotonic() + PATIENCE
        while not re.search(what, self.seen, re.DOTALL):
            if time.monotonic() > until:
                raise AssertionError(f"{what!r} did not come; there was {self.seen[-2000:]!r}")
            self.read(0.1)

    def forget(self):
        self.seen = b""

    def end(self):
        until = time.monotonic() + PATIENCE
        while self.child.poll() is None:
            if time.monotonic() > until:
                raise AssertionError("it does not end")
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.child.returncode

    def check_restored(self):
        assert self.seen.rstrip().endswith(LEAVE), self.seen[-200:]
        assert SHOW_CURSOR in self.seen[-40:], self.seen[-200:]
        assert termios.tcgetattr(self.slave) == self.before, "the terminal's settings differ"


def width(frame):
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", frame).decode(errors="replace")
    return max(len(line.rstrip("\r")) for line in text.split("\n"))


def wait_for_width(screen, more_than, at_most):
    """Until a whole frame is so wide: one of the size before may still be on its way."""
    until = time.monotonic() + PATIENCE
    while True:
        frames = [frame for frame in screen.seen.split(b"\x1b[H")[1:] if frame.endswith(b"\x1b[J")]
        if frames and more_than < width(frames[-1]) <= at_most:
            return
        assert time.monotonic() < until, [width(frame) for frame in frames]
        screen.read(0.1)


def check_drawing_and_resizing(command):
    screen = Screen(command)
    screen.wait_for(rb"requests/s.*shop/cart")
    assert ENTER in screen.seen
    assert b"\x1b[31m" not in screen.seen, "a name reaches the terminal as it is"
    assert "█".encode() in screen.seen
    wait_for_width(screen, 40, 80)
    screen.forget()
    screen.resize(120, 40)
    wait_for_width(screen, 80, 120)
    screen.forget()
    screen.resize(40, 10)
    wait_for_width(screen, 0, 40)
    os.write(screen.master, b"q")
    assert screen.end() == 0
    screen.check_restored()


def check_signals(command):
    for number in (signal.SIGTERM, signal.SIGHUP):
        screen = Screen(command)
        screen.wait_for(rb"shop/cart")
        screen.child.send_signal(number)
        assert screen.end() == 128 + number, number
        screen.check_restored()
    screen = Screen(command)
    screen.wait_for(rb"shop/cart")
    os.write(screen.master, b"\x03")  # Ctrl-C, by the terminal
    assert screen.end() == 128 + signal.SIGINT
    screen.check_restored()


def check_stopping(command):
    screen = Screen(command)
    screen.wait_for(rb"shop/cart")
    screen.child.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(screen.child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    while screen.read(0.1):
        pass
    screen.check_restored()
    screen.forget()
    screen.child.send_signal(signal.SIGCONT)
    screen.wait_for(rb"shop/cart")
    assert ENTER in screen.seen
    os.write(screen.master, b"q")
    assert screen.end() == 0
    screen.check_restored()


def check_server_that_hangs(edgectl):
    """`q` is heard while an answer is waited for."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        screen = Screen([edgectl, "metrics", "dashboard", "--metrics-url", url])
        screen.wait_for(re.escape(ENTER))
        os.write(screen.master, b"q")
        began = time.monotonic()
        assert screen.end() == 0
        assert time.monotonic() - began < PATIENCE
        screen.check_restored()


def check_plain(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert b"shop/cart" in done.stdout and b"\x1b" not in done.stdout, done.stdout


def main():
    edgectl = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/prefix"
    command = [edgectl, "metrics", "dashboard", "--metrics-url", url, "--interval", "200ms"]
    check_drawing_and_resizing(command)
    check_signals(command)
    check_stopping(command)
    check_server_that_hangs(edgectl)
    check_plain(command)
    print("ok")


if __name__ == "__main__":
    main()
