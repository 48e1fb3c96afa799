#!/usr/bin/env python3
"""What time does to a running proxy: see docs/benchmarks.md.

  swap     a program a second under load, the latency of requests beside that of the same time without swaps
  memory   minutes of mixed traffic, the resident memory from minute to minute
  idle     what 10,000 connections cost that rest
"""
import argparse
import importlib.util
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("http_bench", ROOT / "bench/http/run.py")
http_bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(http_bench)

ROUTES = 1000
FLAT = 1.10  # of memory after the first third of the time
SAME = 1.25  # of the 99th percentile with swaps to that without


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1))


def configuration(port, backend, marker):
    text = http_bench.EDGE.format(port=port, backend=backend, protocol="protocol: HTTP")
    for number in range(ROUTES):
        text += http_bench.EDGE_ROUTE.format(number=number, path=f"/service-{number}/items", type="Exact")
    return text + http_bench.EDGE_ROUTE.format(number="marker", path=f"/marker-{marker}", type="Exact")


class Soak:
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
        self.processes.clear()

    def compile(self, backend, marker):
        (self.folder / "config.yaml").write_text(configuration(self.port, backend, marker))
        program = self.folder / f"{marker}.edgeprog"
        subprocess.run([self.bin / "edgectl", "compile", "-f", self.folder / "config.yaml", "-o", program,
                        "--endpoints-out", self.folder / "endpoints.json"], check=True, stdout=subprocess.DEVNULL)
        return program

    def start_all(self, size):
        self.port, backend = http_bench.free_port(), http_bench.free_port()
        http_bench.wait_for(backend, self.start(self.bin / "http_backend", backend, size))
        self.programs = [self.compile(backend, marker) for marker in range(2)]
        shutil.copy(self.programs[0], self.folder / "running.edgeprog")
        self.agent = self.start(self.bin / "edge-agent", "--program", self.folder / "running.edgeprog", "--endpoints",
                                self.folder / "endpoints.json", "--allow-unsigned", "--metrics-listen", "127.0.0.1:0",
                                "--health-listen", "127.0.0.1:0")
        http_bench.wait_for(self.port, self.agent)

    def swap(self, number):
        shutil.copy(self.programs[number % 2], self.folder / "next.edgeprog")
        os.replace(self.folder / "next.edgeprog", self.folder / "running.edgeprog")

    def load(self, seconds, connections, close=False):
        """Requests a second and the 99th percentile in milliseconds. A failed request ends the benchmark."""
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
        if close:
            command += ["-H", "Connection: close"]
        command.append(f"http://127.0.0.1:{self.port}/service-{ROUTES // 2}/items")
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(f"soak: failed requests\n{output}")
        number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", output).groups()
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
        return rate, float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def measure_swap(soak, seconds):
    soak.start_all(100)
    soak.load(2, 64)
    rounds = []
    for number in range(4):
        swaps = 0
        with_swaps = number % 2 == 1
        done = threading.Event()

        def swap_each_second():
            nonlocal swaps
            while not done.wait(1):
                swaps += 1
                soak.swap(swaps)
        thread = threading.Thread(target=swap_each_second)
        if with_swaps:
            thread.start()
        rate, percentile = soak.load(seconds, 64)
        done.set()
        if with_swaps:
            thread.join()
        rounds.append({"swaps": swaps, "requests_a_second": rate, "p99_ms": percentile})
        print(f"  swap round {number + 1}: {swaps} swaps, {rate:.0f} requests/s, p99 {percentile:.2f} ms", flush=True)
    soak.stop()
    still = min(one["p99_ms"] for one in rounds if one["swaps"] == 0)
    moving = min(one["p99_ms"] for one in rounds if one["swaps"] > 0)
    return {"rounds": rounds, "p99_ratio": round(moving / still, 3), "reached": moving <= SAME * still}


def measure_memory(soak, minutes):
    soak.start_all(20 * 1024)
    samples = []
    swaps = 0
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        soak.load(5, 64)
        soak.load(3, 16, close=True)
        swaps += 1
        soak.swap(swaps)
        soak.load(2, 512)
        samples.append(resident_kib(soak.agent.pid))
        print(f"  memory: {samples[-1]} KiB after {swaps} rounds", flush=True)
    soak.stop()
    settled = max(samples[:max(1, len(samples) // 3)])
    return {"kib": samples, "growth": round(samples[-1] / settled, 3), "reached": samples[-1] <= FLAT * settled}


def measure_idle(soak, connections):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    connections = min(connections, hard - 200)
    soak.start_all(100)
    soak.load(1, 64)
    before = resident_kib(soak.agent.pid)
    held = []
    for _ in range(connections):
        one = socket.create_connection(("127.0.0.1", soak.port))
        one.sendall(f"GET /service-1/items HTTP/1.1\r\nHost: idle.example\r\n\r\n".encode())
        held.append(one)
        if not one.recv(65536).startswith(b"HTTP/1.1 200"):
            sys.exit("soak: an idle connection was not served")
    after = resident_kib(soak.agent.pid)
    for one in held:
        one.close()
    soak.stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    each = (after - before) / connections
    print(f"  idle: {connections} connections, {after - before} KiB, {each:.2f} KiB each", flush=True)
    return {"connections": connections, "kib_each": round(each, 3), "reached": each <= 1.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build directory")
    parser.add_argument("--seconds", type=int, default=10, help="of a round with or without swaps")
    parser.add_argument("--minutes", type=float, default=10, help="of mixed traffic")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--only", action="append", choices=("swap", "memory", "idle"))
    parser.add_argument("--json", type=Path, help="write the results there as well")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("soak: wrk is missing; run script/bootstrap")
    results = {}
    with tempfile.TemporaryDirectory(prefix="edge-soak-") as folder:
        soak = Soak(arguments.build, Path(folder))
        try:
            for name, measure, size in (("swap", measure_swap, arguments.seconds),
                                        ("idle", measure_idle, arguments.connections),
                                        ("memory", measure_memory, arguments.minutes)):
                if arguments.only and name not in arguments.only:
                    continue
                results[name] = measure(soak, size)
        finally:
            soak.stop()
    for name, result in results.items():
        print(f"{name}: {'reached' if result['reached'] else 'NOT reached'} "
              f"{ {key: value for key, value in result.items() if key not in ('rounds', 'kib', 'reached')} }")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0 if all(result["reached"] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
