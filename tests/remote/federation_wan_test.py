#!/usr/bin/env python3
"""A hub and a spoke in network namespaces, with a wide area network between them (tests/net/wan_relay): 80 ms for a
round trip, 2% of the packets lost, and nothing at all while it is partitioned. Needs root.

    federation_wan_test.py BIN_DIR [TEST...]
"""
import json
import os
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
import federation_test  # noqa: E402
from clusters_test import GATEWAY, PATIENCE, ROUTE  # noqa: E402
from federation_test import KINDS, MANY, Site, backend  # noqa: E402

Federated = federation_test.FederationTest
del federation_test.FederationTest  # not run again here
SKIPPED = 77
WAN = "delay=40ms loss=2%"
# What a peer may cost on the line while nothing changes, in bytes a second, and for how long it is looked at, in seconds.
QUIET_BYTES, QUIET_SECONDS = 2000, 30


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Wan:
    """Two namespaces, and a relay in a third."""

    def __init__(self):
        self.names = {end: f"fedwan{os.getpid()}-{end}" for end in ("hub", "spoke", "wan")}
        self.relay = None
        for name in self.names.values():
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for number, end in ((1, "hub"), (2, "spoke")):
            ip("-n", self.names[end], "link", "add", "wan0", "mtu", "1400", "type", "veth", "peer", "name", end, "netns",
               self.names["wan"])
            ip("-n", self.names[end], "address", "add", f"10.77.0.{number}/24", "dev", "wan0")
            ip("-n", self.names[end], "link", "set", "wan0", "up")
            ip("-n", self.names["wan"], "link", "set", end, "up")
            subprocess.run(self.within(end, self.program(), "--offload-off", "wan0"), check=True)
        self.relay = subprocess.Popen(
            self.within("wan", self.program(), "--offload-off", "hub", "--offload-off", "spoke", "--line", "wan=spoke,hub"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.relay.stdout.readline() == "ready\n"
        self.set(WAN)

    @staticmethod
    def program():
        return os.path.abspath(os.path.join(clusters_test.BIN, "wan_relay"))

    def within(self, end, *words):
        return ["ip", "netns", "exec", self.names[end], *words]

    def set(self, path):
        self.relay.stdin.write(f"set wan both {path}\n")
        self.relay.stdin.flush()
        answer = self.relay.stdout.readline()
        assert answer == "ok\n", answer

    def bytes(self, end):
        """All that has crossed the line at this end, frames of every kind."""
        counters = [f"/sys/class/net/wan0/statistics/{way}_bytes" for way in ("rx", "tx")]
        # Of the namespace: /sys shows that of who has mounted it.
        shown = subprocess.run(["ip", "netns", "exec", self.names[end], "cat", *counters], check=True, capture_output=True,
                               text=True)
        return sum(map(int, shown.stdout.split()))

    def close(self):
        if self.relay is not None:
            self.relay.stdin.close()
            self.relay.wait(timeout=PATIENCE)
            self.relay.stdout.close()
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


class FederationOverWanTest(Federated):
    def setUp(self):
        self.wan = Wan()
        self.addCleanup(self.wan.close)
        super().setUp()

    def site(self, name, **options):
        end = "hub" if name == "hub" else "spoke"
        made = Site(self.folder, name, prefix=self.wan.within(end), host="10.77.0.1" if end == "hub" else "10.77.0.2",
                    **options)
        self.sites.append(made)
        return made

    def spoke(self, name, **grants):
        join = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", f"10.77.0.1:{self.hub.port}", "--out", join)
        self.federate(name, **grants)
        made = self.site(name, more=["--hub-join", join, "--hub-federation", ",".join(KINDS)])
        self.await_synced(name)
        return made

    def many(self, site, prefix, count):
        for first in range(0, count, 250):
            site.put("---\n".join(backend(f"{prefix}-{i}") for i in range(first, min(first + 250, count))))
        return {f"{prefix}-{i}" for i in range(count)}

    def test_a_partition_that_heals(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS}, syncInterval="5m")
        self.hub.put(backend("cart", "198.51.100.1:80"))
        self.await_address([berlin], "cart", "198.51.100.1")
        # Packets vanish: nobody is told that a connection is over.
        self.wan.set("blackhole")
        self.hub.await_phase("berlin", "Disconnected")
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        expected = {"cart"} | self.many(self.hub, "hub", MANY // 2) | self.many(berlin, "berlin", MANY // 2)
        self.change(self.hub, "cart", "198.51.100.2:80")
        self.change(berlin, "cart", "198.51.100.3:80")
        self.wan.set(WAN)
        began = time.monotonic()
        for site in (self.hub, berlin):
            site.wait_for(lambda site=site: expected <= site.names("ProxyBackend"), "all objects at " + site.name, patience=300)
        print(f"{len(expected)} objects after a partition: {time.monotonic() - began:.1f} s", file=sys.stderr)
        self.await_address([self.hub, berlin], "cart", "198.51.100.2")
        self.hub.wait_for(lambda: self.hub.status("berlin").get("federation", {}).get("conflicts") == 1, "the conflict")
        # Nothing was deleted, and both say that they are alike.
        sync = self.hub.edgectl("federation", "sync", "berlin")
        self.assertIn("berlin: is synchronized", sync.stderr)
        self.assertEqual(self.hub.names("ProxyBackend"), expected)
        self.assertEqual(berlin.names("ProxyBackend"), expected)

    def test_a_line_on_which_nothing_changes_is_quiet(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS}, syncInterval="10s")
        expected = self.many(self.hub, "hub", MANY)
        berlin.wait_for(lambda: expected <= berlin.names("ProxyBackend"), "all objects", patience=300)
        sync = self.hub.edgectl("federation", "sync", "berlin")
        self.assertIn("berlin: is synchronized", sync.stderr)
        # Statuses are counted for a while after the last object has come; then heartbeats and digests alone are left.
        def is_quiet():
            before = self.wan.bytes("hub")
            time.sleep(QUIET_SECONDS)
            cost = (self.wan.bytes("hub") - before) / QUIET_SECONDS
            print(f"{len(expected)} objects at rest: {cost:.0f} bytes a second", file=sys.stderr)
            return cost <= QUIET_BYTES
        self.hub.wait_for(is_quiet, f"a line with at most {QUIET_BYTES} bytes a second", patience=3 * QUIET_SECONDS)

    def test_a_hub_that_is_away_keeps_no_spoke_from_working(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS})
        self.hub.put(GATEWAY + "---\n" + ROUTE.split("---\n")[1])
        self.hub.put(backend("cart", "127.0.0.1:9"))
        self.await_address([berlin], "cart", "127.0.0.1")
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        # It takes changes, deletes, and starts again; none of it is lost.
        berlin.put(backend("cart", "198.51.100.5:80") + "---\n" + backend("own"))
        berlin.edgectl("delete", "ProxyRoute", "cart")
        berlin.kill()
        berlin.start()
        self.assertEqual(berlin.address("cart"), "198.51.100.5")
        self.assertIsNone(berlin.find("ProxyRoute", "cart"))
        self.hub.start()
        self.await_address([self.hub], "cart", "198.51.100.5")
        self.await_address([self.hub], "own", "198.51.100.1")
        self.hub.wait_for(lambda: self.hub.find("ProxyRoute", "cart") is None, "the deletion at the hub")
        self.assertEqual(json.loads(self.hub.edgectl("federation", "conflicts", "-o", "json").stdout), [])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(SKIPPED)
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    names = [name for name in vars(FederationOverWanTest) if name.startswith("test_")]
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ["FederationOverWanTest." + name for name in names])], verbosity=2)
