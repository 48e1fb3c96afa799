#!/usr/bin/env python3
"""Objects that come after a partition: a hub and two spokes as processes on this machine. One spoke makes them while the hub
is away; measured is from the hub's being back until the APIs of the hub and of the other spoke have all of them, and
the CPU time of each process for it.

    run.py --build DIR [--objects N]
"""
import argparse
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/remote"))
import clusters_test  # noqa: E402
from federation_test import FederationTest, backend  # noqa: E402

LOOK = 0.1  # seconds between two looks at the figures


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figure(site, name):
    return sum(float(line.split()[-1]) for line in site.metric(name))


def has_all(site, objects):
    return figure(site, "edge_federation_objects{") == objects and figure(site, "edge_federation_unapplied") == 0


class Convergence(FederationTest):
    def measure(self, objects):
        berlin, paris = (self.spoke(name, syncInterval="5m") for name in ("berlin", "paris"))
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        for first in range(0, objects, 250):
            berlin.put("---\n".join(backend(f"b-{i}", f"198.51.{i // 250}.{i % 250 + 1}:80")
                                    for i in range(first, min(first + 250, objects))))
        berlin.wait_for(lambda: figure(berlin, "edge_federation_objects{") == objects, "the spoke's versions", 300)
        self.hub.start()
        sites = {"hub": self.hub, "the other spoke": paris, "the first spoke": berlin}
        before = {name: cpu_seconds(site.process) for name, site in sites.items()}
        began = time.monotonic()
        first, at = None, {}
        while len(at) < 2:
            now = time.monotonic() - began
            if first is None and figure(self.hub, "edge_federation_objects{") > 0:
                first = now
            for name in ("hub", "the other spoke"):
                if name not in at and has_all(sites[name], objects):
                    at[name] = now
            if now > 300:
                raise AssertionError("they do not converge within 300 s")
            time.sleep(LOOK)
        for site in (self.hub, paris):
            self.assertEqual(len(site.names("ProxyBackend")), objects)
        print(f"{objects} objects; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"first object at the hub after {first:.1f} s; all after {at['hub']:.1f} s, "
              f"at the other spoke after {at['the other spoke']:.1f} s")
        for name, site in sites.items():
            spent = cpu_seconds(site.process) - before[name]
            print(f"{name}: {spent:.2f} s CPU time, {1000 * spent / objects:.2f} ms an object")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--objects", type=int, default=5000)
    arguments = parser.parse_args()
    clusters_test.BIN = os.path.join(arguments.build, "bin")
    run = Convergence()
    run.setUp()
    try:
        run.measure(arguments.objects)
    finally:
        run.tearDown()


if __name__ == "__main__":
    main()
