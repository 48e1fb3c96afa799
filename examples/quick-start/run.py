#!/usr/bin/env python3
"""Starts the quick start: two backends and edge-standalone with the files of this folder.

    run.py BIN_DIR DATA_DIR [--once]

Without --once it prints the README's sample requests and stays until Ctrl-C. With it, the samples are sent, every
answer is compared with the README, and the exit code tells whether all were right.
"""
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
READY_SECONDS = 60


def samples():
    """The README's `$ curl …` lines of its quick start, each with the answer printed below it."""
    text = README.read_text()
    block = text.split("<!-- samples: begin -->")[1].split("<!-- samples: end -->")[0]
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line and not line.startswith("```"):
            found[-1][1].append(line)
    return [(command, "\n".join(answer)) for command, answer in found]


class Started:
    """The processes of the quick start. All that were started are stopped again."""

    def __init__(self):
        self.processes = []

    def start(self, command, ready):
        """Runs `command` until it has printed a line that begins with `ready`."""
        # A session of its own: Ctrl-C reaches this script alone, which then ends the others in order.
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.processes.append(process)
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        deadline = time.monotonic() + READY_SECONDS
        while selector.select(max(0, deadline - time.monotonic())):
            line = process.stdout.readline()
            if not line:
                break
            print(f"run: {line.rstrip()}", flush=True)
            if line.startswith(ready):
                return process
        raise SystemExit(f"run: {Path(command[0]).name} did not get ready")

    def stop(self):
        """In the reverse order: the proxy drains while its backends still answer."""
        codes = []
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                codes.append(process.wait(timeout=40))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append(process.wait())
        return codes


def send(command):
    # The samples speak to this machine: a proxy of the environment has no part in it.
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30, env=environment)
    return done.stdout.replace("\r", "").rstrip("\n")


def check_all():
    wrong = 0
    all_samples = samples()
    for command, expected in all_samples:
        answer = send(command)
        print(f"\n$ {command}\n{answer}", flush=True)
        if answer != expected:
            wrong += 1
            print(f"run: WRONG, the README says:\n{expected}", flush=True)
    print(f"\nrun: {len(all_samples) - wrong} of {len(all_samples)} answers were right", flush=True)
    return wrong == 0 and len(all_samples) > 0


def main():
    binaries, data, once = Path(sys.argv[1]), sys.argv[2], "--once" in sys.argv[3:]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    started = Started()
    right = False
    proxy = None
    try:
        for name, port in (("stable", "9101"), ("next", "9102")):
            started.start([sys.executable, str(HERE / "backend.py"), name, port], "backend ")
        proxy = started.start([str(binaries / "edge-standalone"), "--config", str(HERE), "--data-dir", data], "ready ")
        if once:
            right = check_all()
        else:
            print("\nrun: the quick start is running. Try:\n")
            for command, _ in samples():
                print(f"  {command}")
            print(f"\nrun: edit {HERE}/routes.yaml and it is live at once. Ctrl-C ends.", flush=True)
            proxy.wait()
    except KeyboardInterrupt:
        right = True
    finally:
        codes = started.stop()
    if proxy is None or codes[0] != 0:
        print("run: edge-standalone did not end well", file=sys.stderr)
        return 1
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
