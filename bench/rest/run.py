#!/usr/bin/env python3
"""edge-standalone at rest, and on its way there: the quick start, and 1,000 routes with a pattern each.

    run.py --build DIR [--before DIR] [--rounds N] [--patterns] [--json FILE]

Every round starts each build once, in alternating order; port 8080, the quick start's, has to be free. Told are medians: time from the
start to `ready`, resident memory and threads ten seconds after it, and with --patterns the first start and an edit of 1,000 routes, with a
host each and with one for all. With --before, the medians of the rounds' ratios too.
"""
import argparse
import json
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REST_SECONDS = 10
PATIENCE = 120

HEAD = """apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: gw}
spec: {listeners: [{name: http, port: 18080, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: be}
spec: {serviceRef: {name: be, port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: be}
spec: {ports: [{name: http, port: 80}]}
"""


def patterns(edited, one_host):
    """Routes whose path is a pattern, with a host each or one for all; one of them has changed with each edit."""
    routes = [HEAD]
    for number in range(1000):
        item = f"item-{number}" + (f"x{edited}" if number == 500 else "")
        host = "all.example" if one_host else f"h{number}.example"
        routes.append(
            f"---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {{name: r{number}}}\nspec:\n"
            f"  parentRefs: [{{name: gw}}]\n  hostnames: [{host}]\n  rules:\n"
            f"  - matches: [{{path: {{type: RegularExpression, value: '^/{item}/[0-9]+/[a-z]+$'}}}}]\n"
            "    backendRef: {name: be}\n"
        )
    return "".join(routes)


class Running:
    def __init__(self, build, config, data):
        self.output = open(data + ".out", "w+")
        command = [str(Path(build) / "bin" / "edge-standalone"), "--config", config, "--data-dir", data]
        for flag in ("metrics-listen", "health-listen", "api-listen", "otlp-listen", "traces-listen"):
            command += [f"--{flag}", "127.0.0.1:0"]
            self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.DEVNULL)

    def wait_for(self, word, count=1):
        """Seconds since the start when the word stands there as often."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if self.count(word) >= count:
                return time.monotonic() - self.began
            time.sleep(0.002)
        raise SystemExit(f"rest: no `{word}`")

    def count(self, word):
        return Path(self.output.name).read_text().count(word)

    def status(self, name):
        return int(re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(), re.M)[1])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


def measure(build, with_patterns):
    work = tempfile.mkdtemp(prefix="edge-rest-")
    found = {}
    try:
        running = Running(build, str(ROOT / "examples" / "quick-start"), work + "/data")
        found["start to ready, ms"] = 1000 * running.wait_for("ready program=")
        time.sleep(REST_SECONDS)
        found["resident, MiB"] = running.status("VmRSS") / 1024
        found["threads"] = running.status("Threads")
        running.end()
        for layout in ("a host each", "one host") if with_patterns else ():
            one_host = layout == "one host"
            file = Path(work) / layout / "routes.yaml"
            file.parent.mkdir()
            file.write_text(patterns(0, one_host))
            running = Running(build, str(file.parent), f"{work}/data of {layout}")
            found[f"1,000 patterns, {layout}: first start, ms"] = 1000 * running.wait_for("ready program=")
            # A program with the databases of the patterns may follow.
            time.sleep(REST_SECONDS)
            edits = []
            for edit in range(1, 6):
                count = running.count("programmed program=")
                began = time.monotonic()
                file.write_text(patterns(edit, one_host))
                edits.append(1000 * (running.began + running.wait_for("programmed program=", count + 1) - began))
                time.sleep(REST_SECONDS / 2)
            found[f"1,000 patterns, {layout}: an edit, ms"] = statistics.median(edits)
            running.end()
    finally:
        shutil.rmtree(work)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patterns", action="store_true")
    parser.add_argument("--json")
    given = parser.parse_args()
    builds = {"now": given.build} | ({"before": given.before} if given.before else {})
    rounds = []
    for number in range(given.rounds):
        order = list(builds) if number % 2 == 0 else list(reversed(builds))
        rounds.append({name: measure(builds[name], given.patterns) for name in order})
    results = {}
    for what in rounds[0]["now"]:
        row = {name: round(statistics.median(one[name][what] for one in rounds), 1) for name in builds}
        if given.before:
            ratios = [one["now"][what] / one["before"][what] for one in rounds]
            row["ratio"] = round(statistics.median(ratios), 3)
            row["least"], row["most"] = round(min(ratios), 3), round(max(ratios), 3)
        results[what] = row
        print(f"{what:46}" + "   ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
