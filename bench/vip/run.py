#!/usr/bin/env python3
"""How long an address is away, and what it costs connections, when its holder goes: see docs/benchmarks.md.

  move       planned: `edgectl vip move`; of keepalived an orderly stop
  end        SIGTERM to the process of the holder, which drains
  upgrade    another process takes over from it (--upgrade-socket)
  kill       SIGKILL to the process of the holder
  stop       SIGSTOP
  down       the interface of the holder is set down
  cable      its cable is cut: the other end of the link goes down
  partition  its frames are lost, and the link stays up
  writes     200 addresses on the three nodes: writes that the API takes, at rest too, and when a node is lost

Needs root. Everything runs in network namespaces that are taken away at the end.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import world
import writes

PLANNED = ["move", "end", "upgrade"]
KINDS = [*PLANNED, "kill", "stop", "down", "cable", "partition"]


class Client:
    def __init__(self, net, rate, keeps):
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", world.PREFIX + "client", sys.executable, str(world.HERE / "client.py"), world.VIP,
             str(world.PORT), str(world.TLS_PORT if keeps else 0), str(rate)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        net.processes.append(self.process)

    def say(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(peer, client, kind, repetitions, seconds):
    fault, results = world.Fault(peer), []
    for _ in range(repetitions):
        peer.settle()
        name = peer.net.holder()
        time.sleep(1)  # what the fault before left over
        client.say()
        time.sleep(0.3)
        fault.do(kind, name)
        time.sleep(seconds)
        results.append(json.loads(client.say()))
        fault.undo(kind, name)
    return results


def tell(report, who, kind, results):
    gaps = [1000 * one["gap"] for one in results]
    row = {"peer": who, "fault": kind, "repetitions": len(results), "gap_ms": {
        "median": percentile(gaps, 0.5), "p90": percentile(gaps, 0.9), "p99": percentile(gaps, 0.99),
        "longest": max(gaps)}, "good": sum(one["good"] for one in results),
        "failed": sum(one["failed"] for one in results), "resets": sum(one["resets"] for one in results), "kept": {}}
    for one in results:
        for name, figures in one["kept"].items():
            kept = row["kept"].setdefault(name, {"used": 0, "closed": 0, "failed": 0, "resets": 0, "first": ""})
            for count in ("used", "closed", "failed", "resets"):
                kept[count] += figures[count]
            kept["first"] = kept["first"] or figures["first"]
    report.append(row)
    gap = row["gap_ms"]
    print(f"{who:<11} {kind:<10} gap ms: {gap['median']:7.0f} {gap['p90']:7.0f} {gap['p99']:7.0f} {gap['longest']:7.0f}"
          f"   served {row['good']:>6}, failed {row['failed']:>4}, reset {row['resets']:>4}", flush=True)
    first = next((one["first"] for one in results if one["first"]), "")
    if first:
        print(f"  first: {first}", flush=True)
    for name, kept in row["kept"].items():
        print(f"  kept {name:<10} used {kept['used']:>5}, closed in order {kept['closed']:>3}, failed {kept['failed']:>3}, "
              f"reset {kept['resets']:>3} {kept['first']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", action="append", choices=[*KINDS, "writes"])
    parser.add_argument("--peer", action="append", choices=["edge-agent", "keepalived"])
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--rate", type=float, default=200, help="requests a second")
    options = parser.parse_args()
    options.build = options.build.resolve()
    report = []
    if "writes" in (options.only or ["writes"]) and "edge-agent" in (options.peer or ["edge-agent"]):
        with tempfile.TemporaryDirectory(prefix="edge-vip-") as folder:
            net = world.Net(Path(folder))
            try:
                report.append(writes.measure(net, options.build))
                writes.tell(report[-1])
            finally:
                net.close()
    kinds = [kind for kind in options.only or KINDS if kind != "writes"]
    if kinds:
        print(f"{'':<22} of {options.repetitions}:  median     p90     p99 longest")
    for make in (world.Edge, world.Keepalived):
        if not kinds or (options.peer and make.name not in options.peer):
            continue
        with tempfile.TemporaryDirectory(prefix="edge-vip-") as folder:
            net = world.Net(Path(folder))
            try:
                peer = make(net, options.build)
                client = Client(net, options.rate, make is world.Edge)
                for kind in kinds:
                    if make is world.Keepalived and kind in ("end", "upgrade"):
                        continue
                    seconds = 2.5 if kind in PLANNED and make is world.Edge else 6
                    tell(report, make.name, kind, measure(peer, client, kind, options.repetitions, seconds))
            finally:
                net.close()
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


main()
