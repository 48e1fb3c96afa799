#!/usr/bin/env python3
"""The tail of each way to balance with one endpoint of ten that is slow: see docs/benchmarks.md.

One agent serves four routes, each to the same ten endpoints by another policy, over real sockets. Rounds of each policy
in turn; of each the median of its 99th percentiles, beside that of RoundRobin.
"""
import argparse
import asyncio
import importlib.util
import json
import multiprocessing
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("http_bench", ROOT / "bench/http/run.py")
http_bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(http_bench)

GOAL = 5.0  # of RoundRobin's 99th percentile to that of P2C and EWMA
POLICIES = ("RoundRobin", "LeastConn", "P2C", "EWMA")
WITH_GOAL = ("P2C", "EWMA")
FAST = 9
SLOW_SECONDS = 0.25
CONNECTIONS = 8

GATEWAY = """
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: bench}}
spec:
  listeners: [{{name: http, port: {port}, protocol: HTTP}}]
---
apiVersion: v1
kind: Service
metadata: {{name: origin}}
spec: {{ports: [{{name: http, port: 80}}]}}
"""
ENDPOINT = """---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: origin-{number}, labels: {{kubernetes.io/service-name: origin}}}}
addressType: IPv4
ports: [{{name: http, port: {port}}}]
endpoints: [{{addresses: ["127.0.0.1"], conditions: {{ready: true}}}}]
"""
ROUTE = """---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: {name}}}
spec:
  serviceRef: {{name: origin, port: 80}}
  lbPolicy: {policy}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: {name}}}
spec:
  parentRefs: [{{name: bench}}]
  rules: [{{matches: [{{path: {{type: Exact, value: /{name}}}}}], backendRefs: [{{name: {name}}}]}}]
"""


async def answer(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(SLOW_SECONDS)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def serve_slowly(port):
    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        await server.serve_forever()
    asyncio.run(run())


async def ask(port, path, until, times):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nHost: bench.example\r\n\r\n".encode()
    while (begun := time.monotonic()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
        if not head.startswith(b"HTTP/1.1 200 "):
            sys.exit(f"balance: a request failed\n{head.decode()}")
        times.append(time.monotonic() - begun)
    writer.close()


async def load(port, path, seconds):
    """How long each request took. Not by wrk, whose percentiles count the requests that it did not send meanwhile: of
    eight connections one that waits is an eighth of all then, whichever endpoint the others had."""
    times = []
    until = time.monotonic() + seconds
    await asyncio.gather(*(ask(port, path, until, times) for _ in range(CONNECTIONS)))
    return times


class Bench:
    def __init__(self, build, folder):
        self.bin, self.folder = build / "bin", folder
        self.processes = []

    def start(self, *command):
        log = open(self.folder / "processes.log", "ab")
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait(40)

    def start_all(self, slow):
        self.port = http_bench.free_port()
        text = GATEWAY.format(port=self.port) + ENDPOINT.format(number=0, port=slow)
        for number in range(1, FAST + 1):
            port = http_bench.free_port()
            http_bench.wait_for(port, self.start(self.bin / "http_backend", port, 100))
            text += ENDPOINT.format(number=number, port=port)
        for policy in POLICIES:
            text += ROUTE.format(name=policy.lower(), policy=policy)
        (self.folder / "config.yaml").write_text(text)
        program, endpoints = self.folder / "p.edgeprog", self.folder / "endpoints.json"
        subprocess.run([self.bin / "edgectl", "compile", "-f", self.folder / "config.yaml", "-o", program,
                        "--endpoints-out", endpoints], check=True, stdout=subprocess.DEVNULL)
        http_bench.wait_for(self.port, self.start(
            self.bin / "edge-agent", "--program", program, "--endpoints", endpoints, "--allow-unsigned",
            "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"))

    def p99(self, policy, seconds):
        """In milliseconds, over the requests that were answered. A failed one ends the benchmark."""
        times = sorted(asyncio.run(load(self.port, f"/{policy.lower()}", seconds)))
        return times[len(times) * 99 // 100] * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build directory")
    parser.add_argument("--seconds", type=int, default=3, help="of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results there as well")
    arguments = parser.parse_args()
    slow_port = http_bench.free_port()
    slow = multiprocessing.Process(target=serve_slowly, args=(slow_port,), daemon=True)
    slow.start()
    found = {policy: [] for policy in POLICIES}
    with tempfile.TemporaryDirectory(prefix="edge-balance-") as folder:
        bench = Bench(arguments.build.resolve(), Path(folder))
        try:
            bench.start_all(slow_port)
            for policy in POLICIES:
                bench.p99(policy, 1)
            for number in range(arguments.rounds):
                for policy in POLICIES:
                    found[policy].append(bench.p99(policy, arguments.seconds))
                print(f"  round {number + 1}: " + ", ".join(f"{policy} {found[policy][-1]:.2f} ms" for policy in POLICIES),
                      flush=True)
        finally:
            bench.stop()
            slow.terminate()
    medians = {policy: statistics.median(found[policy]) for policy in POLICIES}
    results, reached = {}, True
    for policy in POLICIES:
        ratio = medians["RoundRobin"] / medians[policy]
        results[policy] = {"p99_ms": medians[policy], "round_robin_to_it": round(ratio, 2)}
        mark = ""
        if policy in WITH_GOAL:
            reached = reached and ratio >= GOAL
            mark = f"  {'>=' if ratio >= GOAL else '< '} {GOAL:.0f}"
        print(f"{policy:12} p99 {medians[policy]:8.2f} ms, RoundRobin's is {ratio:6.1f} times that{mark}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"bench": "balance", "policies": results, "reached": reached}, indent=2) + "\n")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
