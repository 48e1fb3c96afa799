#!/usr/bin/env python3
"""The 99th percentile of one route while passwords are guessed on another, beside that at rest: see docs/benchmarks.md.

Pairs of rounds, at rest and under the flood, in alternating order; each gives one ratio, and the result is their
median. The guesses are checked by bcrypt of cost 12, some 200 ms each, on as many connections as one client may have
checks waiting.
"""
import argparse
import importlib.util
import json
import re
import shutil
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

GOAL = 2.0  # of the 99th percentile under the flood to that at rest
GUESSERS = 16
SECONDS_OF_START = 1  # of a flood, until its checks wait in line

# htpasswd -nbB -C 12 alice secret
CONFIG = """---
apiVersion: v1
kind: Secret
metadata: {name: users}
stringData: {htpasswd: 'alice:$2y$12$yPv97XJLyv67BCT5lkIQQO0XsJ0PfXNWY9q4p9VCQuBgE3OKN3POW'}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyPolicy
metadata: {name: login}
spec:
  type: BasicAuth
  targetRef: {kind: ProxyRoute, name: route-shut}
  basicAuth: {secretRef: {name: users}}
"""

# Each guess is another one, so that none is known already.
GUESSES = """
local guess = 0
request = function()
  guess = guess + 1
  local text = ""
  for i = 1, 8 do text = text .. string.char(math.random(97, 122)) end
  return wrk.format("GET", "/shut", {["Authorization"] = "Basic YWxpY2U6" .. text})
end
init = function() math.randomseed(os.time()) end
"""


class Flood:
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

    def start_all(self):
        self.port, backend = http_bench.free_port(), http_bench.free_port()
        http_bench.wait_for(backend, self.start(self.bin / "http_backend", backend, 100))
        text = http_bench.EDGE.format(port=self.port, backend=backend, protocol="protocol: HTTP")
        for name in ("open", "shut"):
            text += http_bench.EDGE_ROUTE.format(number=name, path=f"/{name}", type="Exact")
        (self.folder / "config.yaml").write_text(text + CONFIG)
        (self.folder / "guesses.lua").write_text(GUESSES)
        made = {name: self.folder / name for name in ("p.edgeprog", "endpoints.json", "secrets.json")}
        subprocess.run([self.bin / "edgectl", "compile", "-f", self.folder / "config.yaml", "-o", made["p.edgeprog"],
                        "--endpoints-out", made["endpoints.json"], "--secrets-out", made["secrets.json"]],
                       check=True, stdout=subprocess.DEVNULL)
        self.agent = self.start(
            self.bin / "edge-agent", "--program", made["p.edgeprog"], "--endpoints", made["endpoints.json"],
            "--secrets", made["secrets.json"], "--allow-unsigned", "--metrics-listen", "127.0.0.1:0",
            "--health-listen", "127.0.0.1:0")
        http_bench.wait_for(self.port, self.agent)

    def settle(self):
        """Until the checks that a flood has left behind are done."""
        before = -1
        while (now := http_bench.cpu_nanoseconds(self.agent.pid)) > before + 50_000_000:
            before = now
            time.sleep(0.5)

    def wrk(self, seconds, connections, *rest):
        return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *rest]

    def p99(self, seconds):
        """In milliseconds, of the route that needs no password. A failed request ends the benchmark."""
        command = self.wrk(seconds, 1, "--latency", f"http://127.0.0.1:{self.port}/open")
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(f"flood: failed requests\n{output}")
        number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", output).groups()
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    def p99_in_flood(self, seconds):
        guesses = subprocess.Popen(
            self.wrk(seconds + 2 * SECONDS_OF_START, GUESSERS, "--timeout", "30s", "-s", self.folder / "guesses.lua",
                     f"http://127.0.0.1:{self.port}/shut"), stdout=subprocess.PIPE, text=True)
        time.sleep(SECONDS_OF_START)
        percentile = self.p99(seconds)
        output = guesses.communicate()[0]
        answered = re.search(r"(\d+) requests in", output)
        # All of them are refused, or the flood was none.
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
        if answered is None or refused is None or answered[1] != refused[1]:
            sys.exit(f"flood: not every guess was refused\n{output}")
        self.settle()
        return percentile, int(answered[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build directory")
    parser.add_argument("--seconds", type=int, default=5, help="of a round")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--json", type=Path, help="add the results to what stands there")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("flood: wrk is missing; run script/bootstrap")
    pairs = []
    with tempfile.TemporaryDirectory(prefix="edge-flood-") as folder:
        flood = Flood(arguments.build.resolve(), Path(folder))
        try:
            flood.start_all()
            flood.p99(1)
            for number in range(arguments.pairs):
                figures = {}
                for one in ("rest", "flood") if number % 2 == 0 else ("flood", "rest"):
                    if one == "rest":
                        figures["rest_ms"] = flood.p99(arguments.seconds)
                    else:
                        figures["flood_ms"], figures["guesses"] = flood.p99_in_flood(arguments.seconds)
                figures["ratio"] = round(figures["flood_ms"] / figures["rest_ms"], 2)
                pairs.append(figures)
                print(f"  pair {number + 1}: p99 at rest {figures['rest_ms']:.3f} ms, under {figures['guesses']} "
                      f"guesses {figures['flood_ms']:.3f} ms: {figures['ratio']:.2f}", flush=True)
        finally:
            flood.stop()
    ratio = statistics.median(pair["ratio"] for pair in pairs)
    reached = ratio <= GOAL
    print(f"p99 of another route under wrong passwords, to that at rest: {ratio:.2f} (median of {len(pairs)}) "
          f"{'<=' if reached else '> '} {GOAL:.2f}")
    if arguments.json:
        known = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
        known["flood"] = {"pairs": pairs, "ratio": ratio, "goal": GOAL, "reached": reached}
        arguments.json.write_text(json.dumps(known, indent=2) + "\n")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
