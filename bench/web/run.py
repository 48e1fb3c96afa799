#!/usr/bin/env python3
"""The dashboard's server (`edgectl web`) in front of an edge-standalone with many routes.

    run.py --build DIR [--routes N] [--rounds N] [--viewers N] [--json FILE]

Told are: resident memory of the server at rest, after its lists were asked for, and after an explanation (its own, and of the compiler's
process); the time of a list of all routes and of an explanation; the CPU time of a check of a draft; the time from a change of an agent to the event at a viewer; and the CPU
time of edge-standalone, which is controller and agent, with and without viewers, in pairs of equal time. In the page itself, by Chromium
with the processor throttled four times (bench/web/page.mjs, where Node, playwright-core and Chromium are there): the time until the page can
be used, and until a key in the search of all routes is shown.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from bed import Bed, cpu_seconds, memory

ROOT = Path(__file__).resolve().parents[2]
PAIR_SECONDS = 10
REST_SECONDS = 6


class Viewer:
    """One who looks: reads the stream of events, and remembers when which came."""

    def __init__(self, url):
        self.seen = []
        self.arrived = threading.Condition()
        self.reply = urllib.request.urlopen(url + "/api/events", timeout=60)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        name = ""
        try:
            for raw in self.reply:
                line = raw.decode()
                if line.startswith("event: "):
                    name = line[7:].strip()
                elif line.startswith("data: "):
                    with self.arrived:
                        self.seen.append((time.monotonic(), name, line[6:]))
                        self.arrived.notify_all()
        except (OSError, ValueError, AttributeError):
            # It was closed.
            return

    def wait(self, good, since):
        with self.arrived:
            end = time.monotonic() + 60
            while True:
                for at, name, data in self.seen:
                    if at >= since and good(name, data):
                        return at
                if not self.arrived.wait(end - time.monotonic()):
                    raise SystemExit("web: no such event")

    def close(self):
        self.reply.close()


def resident(bed):
    return round(memory(bed.web.pid)["VmRSS"] / 1024, 1)


def of_compiler(bed):
    listed = subprocess.run(["ps", "-o", "rss=", "--ppid", str(bed.web.pid)], capture_output=True, text=True).stdout.split()
    return round(sum(int(one) for one in listed) / 1024, 1)


def timed(work):
    began = time.monotonic()
    work()
    return 1000 * (time.monotonic() - began)


def live_milliseconds(bed, rounds):
    """From the moment that an endpoint fails, or is well again, to the event; the agent's check of it is part of that."""
    viewer = Viewer(bed.url)
    times = []
    end = time.monotonic() + 60
    while not bed.shows(1):
        if time.monotonic() > end:
            raise SystemExit("web: the endpoint is not well")
    for number in range(rounds):
        began = time.monotonic()
        bed.change(number)
        seen = began
        while True:
            # As the page does: an event that an agent has something new to say, then what it says.
            seen = viewer.wait(lambda name, _: name == "agents", seen) + 1e-6
            if bed.shows(number):
                break
        times.append(1000 * (time.monotonic() - began))
    viewer.close()
    return times


def cpu_pairs(bed, viewers, rounds):
    pairs = []
    for _ in range(rounds):
        row = {}
        for with_viewers in (False, True):
            looking = [Viewer(bed.url) for _ in range(viewers if with_viewers else 0)]
            time.sleep(1)
            before = cpu_seconds(bed.proxy.pid)
            served = bed.load(PAIR_SECONDS)
            row[with_viewers] = (cpu_seconds(bed.proxy.pid) - before) / max(served, 1)
            for one in looking:
                one.close()
        pairs.append(row[True] / row[False])
    return pairs


def cpu_of_viewers(bed, viewers):
    """Part of a processor that edge-standalone takes for viewers, without traffic: exact where the pairs above are not."""
    parts = []
    for count in (0, viewers):
        looking = [Viewer(bed.url) for _ in range(count)]
        time.sleep(REST_SECONDS)
        before = cpu_seconds(bed.proxy.pid)
        time.sleep(2 * PAIR_SECONDS)
        parts.append((cpu_seconds(bed.proxy.pid) - before) / (2 * PAIR_SECONDS))
        for one in looking:
            one.close()
    return parts


def compilers(bed):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(bed.web.pid)], capture_output=True, text=True).stdout.split()
    return sum(cpu_seconds(int(pid)) for pid in listed)


def check_milliseconds(bed, rounds):
    """Processor time of the compiler's process for the diagnostics of a draft, as somebody types."""
    name = "proxyroutes/default/route-17"
    draft = bed.ask(f"/api/edit/{name}")
    times = []
    for number in range(rounds + 2):
        before = compilers(bed)
        bed.ask("/api/check", {"plural": "proxyroutes", "namespace": "default", "name": "route-17", "yaml": draft["yaml"].replace("/service-17", f"/x{number}-17")})
        times.append(1000 * (compilers(bed) - before))
    # The first has the live configuration compiled, too.
    return times[2:]


def in_the_page(bed):
    missing = not (ROOT / "tests/web/node_modules/playwright-core").exists() or shutil.which("node") is None
    if missing or not Path("/usr/bin/chromium").exists():
        print("web: Chromium, Node or playwright-core is missing: nothing is measured in the page", flush=True)
        return {}
    done = subprocess.run(["node", str(ROOT / "bench/web/page.mjs"), "/usr/bin/chromium", bed.url], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--routes", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--viewers", type=int, default=20)
    parser.add_argument("--json")
    given = parser.parse_args()
    bed = Bed(given.build, given.routes)
    found = {}
    try:
        bed.serve()
        bed.wait_synced()
        time.sleep(REST_SECONDS)
        found["memory at rest, MiB"] = resident(bed)
        lists = [timed(lambda: bed.ask("/api/objects/proxyroutes")) for _ in range(given.rounds)]
        found["list of all routes, ms"] = round(statistics.median(lists), 1)
        found["memory after lists, MiB"] = resident(bed)
        question = {"request": f"GET http://h1.example:{bed.port}/service-1/api"}
        found["first explanation, ms"] = round(timed(lambda: bed.ask("/api/explain", question)), 1)
        found["explanation, ms"] = round(statistics.median(timed(lambda: bed.ask("/api/explain", question)) for _ in range(given.rounds)), 1)
        found["memory after an explanation, MiB"] = resident(bed)
        found["memory of the compiler, MiB"] = of_compiler(bed)
        time.sleep(REST_SECONDS)
        found["memory at rest again, MiB"] = resident(bed)
        found["a check of a draft, CPU ms"] = round(statistics.median(check_milliseconds(bed, given.rounds)), 1)
        live = live_milliseconds(bed, 2 * given.rounds)
        found["an agent's change at a viewer, ms"] = round(statistics.median(live), 1)
        found["the same, at most, ms"] = round(max(live), 1)
        found["processors at rest, none and with viewers"] = [round(part, 4) for part in cpu_of_viewers(bed, given.viewers)]
        pairs = cpu_pairs(bed, given.viewers, given.rounds)
        found[f"CPU time a request, {given.viewers} viewers to none"] = round(statistics.median(pairs), 3)
        found["the same, pairs"] = [round(one, 3) for one in pairs]
        # Connections that read nothing.
        slow = [urllib.request.urlopen(bed.url + "/api/events", timeout=60) for _ in range(200)]
        time.sleep(REST_SECONDS)
        found["memory with 200 viewers that read nothing, MiB"] = resident(bed)
        found["list of all routes beside them, ms"] = round(statistics.median(timed(lambda: bed.ask("/api/objects/proxyroutes")) for _ in range(given.rounds)), 1)
        for one in slow:
            one.close()
        found |= in_the_page(bed)
    finally:
        bed.close()
    for what, value in found.items():
        print(f"{what:52}{value}", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
