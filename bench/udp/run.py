#!/usr/bin/env python3
"""CPU time a datagram of our proxy and of nginx's stream module, in pairs: see docs/benchmarks.md.

The proxy has one core; load and backend have another. A round asks both proxies in turn, the order alternates; the result is the
median of the rounds' ratios. A datagram is one of a client's that was answered: two pass the proxy.
"""
import argparse
import json
import os
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Workload(NamedTuple):
    name: str
    size: int  # bytes of a datagram
    flows: int
    window: int  # datagrams of a flow that are under way at once
    fresh: bool = False  # each datagram is a flow of its own


WORKLOADS = [
    Workload("100-bytes-64-flows", 100, 64, 1),
    Workload("100-bytes-64-flows-of-8", 100, 64, 8),
    Workload("1200-bytes-8-flows-of-32", 1200, 8, 32),
    Workload("a-flow-each", 100, 64, 1, fresh=True),
]

NGINX = """
{module}
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log crit;
worker_rlimit_nofile 65536;
events {{ worker_connections 32768; }}
stream {{
  upstream backend {{ server 127.0.0.1:{backend}; }}
  server {{ listen 127.0.0.1:{port} udp reuseport; proxy_pass backend; proxy_timeout 10s; {responses} }}
}}
"""

EDGE = """
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: bench}}
spec:
  limits: {{maxConnectionsPerSource: 0}}
  listeners: [{{name: udp, port: {port}, protocol: UDP}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: bench}}
spec:
  parentRefs: [{{name: bench}}]
  rules: [{{limits: {{idleTimeout: 10s}}, backendRefs: [{{name: origin}}]}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: origin}}
spec:
  protocol: UDP
  endpoints: [{{address: "127.0.0.1:{backend}"}}]
"""


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_nanoseconds(pid):
    total = 0
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    for one in [str(pid), *children]:
        for schedstat in Path(f"/proc/{one}/task").glob("*/schedstat"):
            total += int(schedstat.read_text().split()[0])
    return total


def echo(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        server.bind(("127.0.0.1", port))
        while True:
            server.sendto(*server.recvfrom(65536))


def client(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setblocking(False)
    one.connect(("127.0.0.1", port))
    return one


def load(port, work, seconds):
    """Datagrams that were answered."""
    data = b"x" * work.size
    poller = select.epoll()
    sockets = {}

    def add():
        one = client(port)
        sockets[one.fileno()] = one
        poller.register(one, select.EPOLLIN)
        for _ in range(work.window):
            one.send(data)

    for _ in range(work.flows):
        add()
    answered = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        events = poller.poll(0.2)
        if not events:  # some were lost: ask again
            for one in sockets.values():
                one.send(data)
        for fd, _ in events:
            one = sockets[fd]
            try:
                while True:
                    one.recv(65536)
                    answered += 1
                    if work.fresh:
                        poller.unregister(fd)
                        sockets.pop(fd).close()
                        add()
                        break
                    one.send(data)
            except BlockingIOError:
                pass
            except ConnectionRefusedError:
                sys.exit(f"udp bench: nobody listens on port {port}")
    for one in sockets.values():
        one.close()
    return answered


def wait_for(port):
    work = Workload("", 10, 1, 1)
    for _ in range(100):
        one = client(port)
        try:
            one.send(b"ready?")
            if select.select([one], [], [], 0.1)[0]:
                one.recv(100)
                return
        except ConnectionRefusedError:
            time.sleep(0.1)
        finally:
            one.close()
    sys.exit(f"udp bench: port {port} does not answer {work.name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("udp bench: needs two cores")
    module = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
    with_nginx = shutil.which("nginx") is not None and module.exists()
    if not with_nginx:
        print("udp bench: nginx and libnginx-mod-stream are not installed: our own figures alone", file=sys.stderr)
    os.sched_setaffinity(0, {cores[1]})
    processes = []
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def start(*command):
            log = open(folder / "processes.log", "ab")
            processes.append(subprocess.Popen(["taskset", "-c", str(cores[0]), *map(str, command)], stdout=log, stderr=log))
            return processes[-1].pid

        backend, edge, nginx, short = free_port(), free_port(), free_port(), free_port()
        child = os.fork()
        if child == 0:
            echo(backend)
        try:
            (folder / "config.yaml").write_text(EDGE.format(port=edge, backend=backend))
            binaries = arguments.build / "bin"
            subprocess.run([binaries / "edgectl", "compile", "-f", folder / "config.yaml", "-o", folder / "p.edgeprog",
                            "--endpoints-out", folder / "endpoints.json"], check=True, stdout=subprocess.DEVNULL)
            pids = {"edge": (start(binaries / "edge-agent", "--program", folder / "p.edgeprog", "--endpoints",
                                   folder / "endpoints.json", "--allow-unsigned", "--threads", 1, "--metrics-listen",
                                   "127.0.0.1:0", "--health-listen", "127.0.0.1:0"), edge, edge)}
            wait_for(edge)
            if with_nginx:
                text = NGINX.format(module=f"load_module {module};", folder=folder, backend=backend, port=nginx, responses="")
                # A session of nginx that is asked once ends with its answer.
                server = text[text.index("  server {"):].rsplit("}", 1)[0]
                text = text.replace("stream {", "stream {\n" + server.replace(str(nginx), str(short)).replace(
                    "proxy_timeout", "proxy_responses 1; proxy_timeout"), 1)
                (folder / "nginx.conf").write_text(text)
                pids["nginx"] = (start("nginx", "-c", folder / "nginx.conf", "-p", folder), nginx, short)
                wait_for(nginx)
            for work in WORKLOADS:
                rounds = {proxy: [] for proxy in pids}
                for number in range(arguments.rounds):
                    for proxy in sorted(pids, reverse=number % 2 == 1):
                        pid, port, once = pids[proxy]
                        before = cpu_nanoseconds(pid)
                        count = load(once if work.fresh else port, work, arguments.seconds)
                        rounds[proxy].append((cpu_nanoseconds(pid) - before) / 1000 / max(count, 1))
                line = {proxy: round(statistics.median(values), 2) for proxy, values in rounds.items()}
                if with_nginx:
                    ratios = [a / b for a, b in zip(rounds["edge"], rounds["nginx"])]
                    line["ratio"] = round(statistics.median(ratios), 2)
                    line["least"], line["most"] = round(min(ratios), 2), round(max(ratios), 2)
                results[work.name] = line
                print(f"{work.name:28}", "  ".join(f"{key} {value}" for key, value in line.items()), flush=True)
        finally:
            for process in processes:
                process.terminate()
            os.kill(child, 15)
            for process in processes:
                process.wait()
            os.waitpid(child, 0)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


main()
