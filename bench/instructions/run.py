#!/usr/bin/env python3
"""User instructions a request of our proxy, by callgrind: see docs/benchmarks.md.

An agent serves a fixed number of requests under callgrind, twice; the difference of the two counts, by the difference of
the requests, is what a request costs without start, connections and end. It depends neither on the machine's load nor on
its speed, but on its instruction set: compare figures of one machine.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "http"))
import run  # noqa: E402

CONNECTIONS = 8
FEW, MANY = 1_000, 4_000
PATIENCE = 120  # seconds for an agent to end: valgrind writes its output then

FILTERS = """, filters: [
  {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Team, value: edge}], remove: [X-Debug]}},
  {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /v2}}},
  {type: ResponseHeaderModifier, responseHeaderModifier: {add: [{name: X-Served, value: edge}]}}]"""
# Wide enough that no request is refused.
LIMIT = """---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyPolicy
metadata: {name: limit}
spec:
  type: RateLimit
  targetRef: {kind: ProxyGateway, name: bench}
  rateLimit: {requestsPerSecond: 1000000}
"""
CACHE = "  cache: {enabled: true, defaultTTL: 1h}\n"


class Case(NamedTuple):
    name: str
    tls: bool = False
    http2: bool = False
    gateway: str = ""  # lines of YAML for the gateway's spec
    rule: str = ""  # of YAML for the route's rule
    more: str = ""  # further documents


CASES = [
    Case("h1"),
    Case("h1-tls", tls=True),
    Case("h2-tls", tls=True, http2=True),
    Case("filters", rule=FILTERS),
    Case("cache-hit", gateway=CACHE),
    Case("rate-limit", more=LIMIT),
]


class Counted(run.Bench):
    """Starts agents under callgrind."""

    def start(self, *command):
        if Path(command[0]).name != "edge-agent":
            return super().start(*command)
        self.counts = self.folder / "callgrind.out"
        self.counts.unlink(missing_ok=True)
        # Valgrind 3.19 gives up on the debug information that lld 19 writes, and none is asked for here.
        agent = self.folder / "edge-agent"
        subprocess.run(["objcopy", "--strip-debug", command[0], agent], check=True)
        return super().start("valgrind", "--tool=callgrind", f"--callgrind-out-file={self.counts}", agent, *command[1:])

    def end(self, agent):
        """Ends an agent. \\returns its instructions."""
        agent.send_signal(signal.SIGTERM)
        agent.wait(PATIENCE)
        found = re.search(r"^(?:summary|totals): (\d+)", self.counts.read_text(), re.MULTILINE)
        if not found:
            sys.exit(f"instructions bench: no count in {self.counts}")
        return int(found[1])

    def count(self, case, backend, requests):
        port = run.free_port()
        folder = self.folder / case.name
        folder.mkdir(exist_ok=True)
        agent = self.start_edge(folder, port, backend, [], case.tls, gateway=case.gateway, rule=case.rule,
                                more=case.more)
        run.wait_for(port, agent)
        scheme = "https" if case.tls else "http"
        command = ["taskset", "-c", str(self.core), "h2load", "-t1", f"-c{CONNECTIONS}", f"-n{requests}",
                   *(["-m8"] if case.http2 else ["--h1"]), f"{scheme}://127.0.0.1:{port}/"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if f" {requests} succeeded, 0 failed, 0 errored" not in output or f"{requests} 2xx" not in output:
            sys.exit(f"instructions bench: failed requests of {case.name}\n{output}")
        return self.end(agent)

    def instructions(self, case):
        backend = run.free_port()
        run.wait_for(backend, super().start(self.binaries / "http_backend", backend, 100))
        slope = (self.count(case, backend, MANY) - self.count(case, backend, FEW)) / (MANY - FEW)
        self.stop_all()
        return round(slope)


def measure(build, cases, folder):
    bench = Counted(build.resolve() / "bin", folder, max(os.sched_getaffinity(0)))
    try:
        return {case.name: bench.instructions(case) for case in cases}
    finally:
        bench.stop_all()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=run.ROOT / "build/release", help="build directory")
    parser.add_argument("--before", type=Path, help="a second build directory to compare with")
    parser.add_argument("--only", action="append", help="a case's name; repeatable")
    parser.add_argument("--json", type=Path, help="write the results there as well")
    arguments = parser.parse_args()
    for tool in ("valgrind", "objcopy", "h2load", "taskset", "openssl"):
        if shutil.which(tool) is None:
            sys.exit(f"instructions bench: {tool} is missing; run script/bootstrap")
    cases = [case for case in CASES if not arguments.only or case.name in arguments.only]
    if not cases:
        sys.exit("instructions bench: cases are " + ", ".join(case.name for case in CASES))
    with tempfile.TemporaryDirectory(prefix="edge-instructions-") as folder:
        run.make_certificate(Path(folder))
        before = measure(arguments.before, cases, Path(folder)) if arguments.before else {}
        after = measure(arguments.build, cases, Path(folder))
    print("user instructions a request")
    for name, figure in after.items():
        change = f"  before {before[name]:7,}  ratio {figure / before[name]:.3f}" if before else ""
        print(f"  {name:10} {figure:7,}{change}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"bench": "instructions", "before": before, "instructions": after},
                                             indent=2) + "\n")


if __name__ == "__main__":
    main()
