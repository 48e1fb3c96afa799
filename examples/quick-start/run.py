#!/usr/bin/env python3
"""Starts the quick start: two backends and edge-standalone with the files of this folder.

    run.py [BIN_DIR DATA_DIR] [--once]

Without BIN_DIR and DATA_DIR the installed edge-standalone runs, in a folder of its own that is gone at the end. Without --once
it prints the README's sample requests and stays until Ctrl-C, with a Prometheus server beside it where one is installed.
With it, the samples are sent, every answer is compared with the README, and the exit code tells whether all were right.
"""
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
READY_SECONDS = 60
PROMETHEUS = "127.0.0.1:9093"
# Of the gateway, the two backends, the resource API, metrics and health.
PORTS = (8080, 9101, 9102, 6443, 9090, 9091)


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


def print_rest(process):
    """What it prints from now on: the proxy, a line for each program."""

    def read():
        for line in process.stdout:
            print(f"run: {line.rstrip()}", flush=True)

    threading.Thread(target=read, daemon=True).start()


def start_prometheus(started, data):
    """For `edgectl metrics`. False: there is none."""
    program = shutil.which("prometheus")
    if program is None:
        return False
    config = Path(data) / "prometheus.yaml"
    config.write_text(
        "global: {scrape_interval: 5s}\n"
        "scrape_configs: [{job_name: edge, static_configs: [{targets: ['127.0.0.1:9090']}]}]\n"
    )
    store = Path(data) / "prometheus"
    command = [program, f"--config.file={config}", f"--storage.tsdb.path={store}", f"--web.listen-address={PROMETHEUS}"]
    with (Path(data) / "prometheus.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    # The last to be stopped: how it ends is nobody's failure.
    started.processes.insert(0, process)
    return True


def tell(binaries, data, config, metrics):
    print("\nrun: the quick start is running. Try, in another terminal:\n")
    for command, _ in samples():
        print(f"  {command}")
    print("\nrun: and see what it did:\n")
    print(f"  export PATH={binaries}:$PATH KUBECONFIG={Path(data) / 'kubeconfig'}")
    if metrics:
        print(f"  export EDGECTL_METRICS_URL=http://{PROMETHEUS}")
    commands = ["status", "top", "logs-access", "trace list", "trace get TRACE-ID"]
    for command in commands + (["metrics dashboard"] if metrics else []):
        print(f"  edgectl {command}")
    print(f"\nrun: edit {config}/routes.yaml and it is live at once. Ctrl-C ends.", flush=True)


def check_ports():
    """Ends at once with the port that another process has; the programs would wait for it."""
    for port in PORTS:
        with socket.socket() as attempt:
            # As the servers do: connections that ended a moment ago are not in the way.
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError as error:
                raise SystemExit(f"run: port {port}, which the quick start needs: {error.strerror}; "
                                 f"`ss -ltnp 'sport = :{port}'` tells which process has it") from None


def places(arguments, scratch):
    """(programs, data, configuration): as told, or those of the installed package, whose files are copied to be edited."""
    if len(arguments) == 2:
        return Path(arguments[0]), arguments[1], HERE
    installed = shutil.which("edge-standalone")
    if arguments or installed is None:
        why = "usage: run.py [BIN_DIR DATA_DIR] [--once]" if arguments else "run: edge-standalone is not installed; script/run builds it"
        raise SystemExit(why)
    config = Path(scratch) / "quick-start"
    shutil.copytree(HERE, config, ignore=shutil.ignore_patterns("*.py"))
    return Path(installed).parent, str(Path(scratch) / "data"), config


def main():
    arguments = [one for one in sys.argv[1:] if one != "--once"]
    with tempfile.TemporaryDirectory(prefix="edge-quick-start-") as scratch:
        binaries, data, config = places(arguments, scratch)
        Path(data).mkdir(parents=True, exist_ok=True)
        check_ports()
        return run(binaries, data, config, len(arguments) != len(sys.argv) - 1)


def run(binaries, data, config, once):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    started = Started()
    right = False
    proxy = None
    try:
        for name, port in (("stable", "9101"), ("next", "9102")):
            started.start([sys.executable, str(HERE / "backend.py"), name, port], "backend ")
        # The standard output is for what becomes live; requests are told of in a file.
        log = str(Path(data) / "access.log")
        command = [str(binaries / "edge-standalone"), "--config", str(config), "--data-dir", data, "--access-log", log]
        proxy = started.start(command, "ready ")
        print_rest(proxy)
        if once:
            right = check_all()
        else:
            tell(binaries, data, config, start_prometheus(started, data))
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
