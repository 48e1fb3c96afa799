#!/usr/bin/env python3
"""A hub and spokes over a wide area network (federation_wan_test.py) whose clocks are moved: half an hour of a partition,
an hour without the hub in which certificates are due, and clocks that are days apart. Needs root.

    federation_clock_test.py BIN_DIR [TEST...]
"""
import json
import os
import re
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
import federation_wan_test  # noqa: E402
from clusters_test import GATEWAY, PATIENCE  # noqa: E402
from federation_test import KINDS, MANY, Site, backend  # noqa: E402
from federation_wan_test import SKIPPED, WAN  # noqa: E402
from shifted_clock import DAY, HOUR, MINUTE, ShiftedClock  # noqa: E402

OverWan = federation_wan_test.FederationOverWanTest
del federation_wan_test.FederationOverWanTest  # not run again here
ROUTE = """---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: shop, namespace: default}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example]
  rules: [{backendRef: {name: shop}}]
"""


class Requests:
    """Requests of one site's listener, one after the other, for as long as it is there."""

    def __init__(self, wan, port):
        self.wan, self.port = wan, port
        self.served, self.failed, self.over = 0, [], False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def one(self):
        return subprocess.run(self.wan.within("spoke", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                                              "host: shop.example", "--max-time", str(PATIENCE),
                                              f"http://127.0.0.1:{self.port}/"),
                              capture_output=True, text=True, check=False).stdout

    def run(self):
        while not self.over:
            status = self.one()
            if status == "200":
                self.served += 1
            else:
                self.failed.append(status)
            time.sleep(0.02)

    def close(self):
        self.over = True
        self.thread.join()


class FederationByTheClockTest(OverWan):
    def setUp(self):
        self.clocks = {}
        super().setUp()

    def clock(self, name):
        if name not in self.clocks:
            self.clocks[name] = ShiftedClock(os.path.join(self.folder, name + ".clock"))
        return self.clocks[name]

    def site(self, name, **options):
        end = "hub" if name == "hub" else "spoke"
        made = Site(self.folder, name, prefix=[*self.wan.within(end), *self.clock(name).words()],
                    host="10.77.0.1" if end == "hub" else "10.77.0.2", **options)
        self.sites.append(made)
        return made

    def pass_by(self, seconds):
        for clock in self.clocks.values():
            clock.pass_by(seconds)

    def serve(self, site):
        """A listener of the spoke, and what it serves. \\returns requests of it, which are under way."""
        port = clusters_test.free_port()
        server = subprocess.Popen(self.wan.within("spoke", sys.executable, "-m", "http.server", str(port), "--bind",
                                                  "127.0.0.1", "--directory", self.folder),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        site.put(GATEWAY + ROUTE + "---\n" + backend("shop", f"127.0.0.1:{port}"))
        site.wait_for(lambda: re.search(r"listener http on \S+:\d+", site.log()), "a listener of the spoke")
        web = int(re.findall(r"listener http on \S+:(\d+)", site.log())[-1])
        requests = Requests(self.wan, web)
        self.addCleanup(requests.close)
        site.wait_for(lambda: requests.served > 0, "an answer of the spoke")
        requests.failed.clear()
        return requests

    def assert_served(self, requests):
        self.assertEqual(requests.failed, [])
        before = requests.served
        self.hub_or_any().wait_for(lambda: requests.served > before, "another answer")

    def hub_or_any(self):
        return next(site for site in self.sites if site.process.poll() is None)

    def addresses(self, site):
        done = site.edgectl("get", "ProxyBackend", "-A", "-o", "json")
        return {item["metadata"]["name"]: item["spec"]["endpoints"][0]["address"] for item in json.loads(done.stdout)["items"]}

    def await_alike(self, sites, expected):
        """Until all have exactly these backends, with equal contents."""
        for site in sites:
            site.wait_for(lambda site=site: site.names("ProxyBackend") == expected, f"all objects and no others at {site.name}",
                          patience=300)
        first = None

        def alike():
            nonlocal first
            first = self.addresses(sites[0])
            return all(self.addresses(site) == first for site in sites[1:])

        sites[0].wait_for(alike, "equal contents", patience=300)
        return first

    def synchronized(self, *names):
        for name in names:
            self.hub.wait_for(lambda name=name: f"{name}: is synchronized" in
                              self.hub.edgectl("federation", "sync", name, check=False).stderr, f"{name} to be synchronized")

    def test_half_an_hour_of_partition(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS}, syncInterval="5m")
        paris = self.spoke("paris", writes={"kinds": KINDS}, syncInterval="5m")
        # Two days ahead until the partition, in which it is set right.
        self.clock("paris").set(2 * DAY)
        requests = self.serve(berlin)
        sites = (self.hub, berlin, paris)
        paris.put("---\n".join(backend(name) for name in ("kept", "by-hub", "by-berlin", "by-paris", "both", "torn")))
        before = {"kept", "by-hub", "by-berlin", "by-paris", "both", "torn", "shop"}
        self.await_alike(sites, before)
        self.wan.set("blackhole")
        for name, spoke in (("berlin", berlin), ("paris", paris)):
            self.hub.await_phase(name, "Disconnected")
            spoke.wait_for(lambda spoke=spoke: not spoke.hub_connected(), "the loss of the hub")
        # Half an hour in six parts, with changes in each.
        made = set()
        for part in range(6):
            self.pass_by(5 * MINUTE)
            if part == 2:
                self.clock("paris").set(15 * MINUTE)
            for site in sites:
                made |= self.many(site, f"{site.name}-{part}", MANY // 18)
        self.assertEqual({clock.seconds for clock in self.clocks.values()}, {30 * MINUTE})
        # By far the latest word of paris, whose clock was set back, was before this.
        self.change(self.hub, "both", "198.51.100.2:80")
        self.change(berlin, "both", "198.51.100.3:80")
        self.change(paris, "both", "198.51.100.4:80")
        self.change(self.hub, "torn", "198.51.100.5:80")
        berlin.edgectl("delete", "ProxyBackend", "torn")
        for site in sites:
            site.edgectl("delete", "ProxyBackend", "by-" + site.name)
        self.assert_served(requests)
        self.wan.set(WAN)
        began = time.monotonic()
        expected = before - {"by-hub", "by-berlin", "by-paris"} | made
        for site in sites:
            site.wait_for(lambda site=site: made <= site.names("ProxyBackend"), "what others made at " + site.name, patience=300)
        print(f"{len(made)} objects after half an hour: {time.monotonic() - began:.1f} s", file=sys.stderr)
        # An object that one changes and another deletes is a conflict, as are two changes: nothing of them is lost.
        conflicts = lambda: {one["name"] for one in json.loads(self.hub.edgectl("federation", "conflicts", "-o", "json").stdout)}
        self.hub.wait_for(lambda: conflicts() == {"both", "torn"}, "both conflicts")
        if self.hub.find("ProxyBackend", "torn") is None:
            expected -= {"torn"}
        contents = self.await_alike(sites, expected)
        self.assertIn(contents["both"], {f"198.51.100.{last}:80" for last in (2, 3, 4)})
        self.synchronized("berlin", "paris")
        # What was deleted does not rise: an hour later, nor by a process that starts again with what it had on disk.
        self.pass_by(HOUR)
        for site in (berlin, paris, self.hub):
            site.kill()
            site.start()
            requests.failed.clear()
        for name in ("berlin", "paris"):
            self.hub.await_phase(name, "Connected")
            self.await_synced(name)
        self.synchronized("berlin", "paris")
        self.assertEqual(self.await_alike(sites, expected), contents)

    def certificates(self, site):
        """Of the connection to the hub, and of traffic between clusters."""
        with open(os.path.join(site.data, "hub.pem"), encoding="utf-8") as file:
            texts = [file.read()]
        with open(os.path.join(site.data, "clusters.json"), encoding="utf-8") as file:
            texts.append(json.load(file)["identity"]["certificate"])
        return [text.split("-----BEGIN CERTIFICATE-----")[1].split("-----END")[0] for text in texts]

    def ends(self, certificate):
        text = f"-----BEGIN CERTIFICATE-----{certificate}-----END CERTIFICATE-----\n"
        shown = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=text, capture_output=True, text=True,
                               check=True).stdout
        ends = time.strptime(shown.strip().split("=")[1], "%b %d %H:%M:%S %Y %Z")
        return time.mktime(ends) - time.timezone - time.time()

    def test_an_hour_without_the_hub_in_which_certificates_are_due(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS})
        requests = self.serve(berlin)
        berlin.wait_for(lambda: os.path.exists(os.path.join(berlin.data, "clusters.json")), "the certificate of traffic")
        self.hub.put(backend("cart") + "---\n" + backend("old"))
        self.await_alike((self.hub, berlin), {"cart", "old", "shop"})
        # Certificates of 30 days are renewed at two thirds of them: not yet, and within the hour.
        first = self.certificates(berlin)
        self.pass_by(20 * DAY - HOUR)
        self.change(self.hub, "cart", "198.51.100.2:80")
        self.await_address([berlin], "cart", "198.51.100.2")
        self.assertEqual(self.certificates(berlin), first)
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        for part in range(4):
            self.pass_by(15 * MINUTE)
            berlin.put(backend(f"own-{part}"))
        self.change(berlin, "cart", "198.51.100.3:80")
        berlin.edgectl("delete", "ProxyBackend", "old")
        self.assert_served(requests)
        berlin.kill()
        berlin.start()
        requests.failed.clear()
        self.assertEqual(berlin.address("cart"), "198.51.100.3")
        self.assertEqual(self.certificates(berlin), first)
        self.hub.start()
        self.hub.await_phase("berlin", "Connected")
        berlin.wait_for(lambda: all(new != old for new, old in zip(self.certificates(berlin), first)), "new certificates",
                        patience=2 * PATIENCE)
        for certificate in self.certificates(berlin):
            self.assertGreater(self.ends(certificate), 49 * DAY)
        expected = {"cart", "shop", "own-0", "own-1", "own-2", "own-3"}
        self.assertEqual(self.await_alike((self.hub, berlin), expected)["cart"], "198.51.100.3:80")
        self.synchronized("berlin")
        self.assertEqual(json.loads(self.hub.edgectl("federation", "conflicts", "-o", "json").stdout), [])
        # They work: by the old ones nobody is let in at this time.
        self.pass_by(11 * DAY)
        berlin.kill()
        berlin.start()
        self.hub.await_phase("berlin", "Connected")
        self.change(self.hub, "cart", "198.51.100.4:80")
        self.await_address([berlin], "cart", "198.51.100.4")

    def test_a_certificate_that_is_over_is_mended_by_one_command(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS})
        requests = self.serve(berlin)
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        self.pass_by(31 * DAY)
        berlin.put(backend("own"))
        self.hub.start()
        berlin.wait_for(lambda: re.search("is over by this machine.s clock; .* edgectl cluster token, at the hub", berlin.log()),
                        "which command mends it")
        self.assert_served(requests)
        self.hub.edgectl("cluster", "token", "berlin", "--out",
                         os.path.join(self.folder, "berlin.join"))
        self.hub.await_phase("berlin", "Connected")
        self.await_alike((self.hub, berlin), {"own", "shop"})
        self.assert_served(requests)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root")
        sys.exit(SKIPPED)
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    names = [name for name in vars(FederationByTheClockTest) if name.startswith("test_")]
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ["FederationByTheClockTest." + name for name in names])], verbosity=2)
