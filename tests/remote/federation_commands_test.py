#!/usr/bin/env python3
"""edgectl federation against a hub and a spoke as processes: what it shows is what is so, and a conflict ends as was
said.

    federation_commands_test.py BIN_DIR [TEST...]
"""
import json
import os
import pwd
import sys
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
import federation_test  # noqa: E402
from clusters_test import GATEWAY, ROUTE  # noqa: E402
from federation_test import KINDS, backend  # noqa: E402

Federated = federation_test.FederationTest
del federation_test.FederationTest  # not run again here


class FederationCommandsTest(Federated):
    def federation(self, site, *words):
        return json.loads(site.edgectl("federation", *words, "-o", "json").stdout)

    def test_nothing_is_shared(self):
        done = self.hub.edgectl("federation", "status", check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^edgectl federation status: error: .*federation")

    def test_peers_objects_and_clocks_are_shown(self):
        berlin = self.spoke("berlin")
        self.hub.put(backend("cart"))
        self.await_address([berlin], "cart", "198.51.100.1")
        self.hub.wait_for(lambda: self.federation(self.hub, "peers")[0]["lagVersions"] == 0, "the acknowledgement")
        status = self.federation(self.hub, "status")
        self.assertEqual(status["cluster"], berlin_hub(berlin))
        self.assertEqual({kind["kind"]: kind["objects"] for kind in status["byKind"]}.get("ProxyBackend"), 1)
        self.assertEqual((status["peers"], status["connected"], status["conflicts"]), (1, 1, 0))
        self.assertGreater(status["stateBytes"], 0)
        [peer] = self.federation(self.hub, "peers")
        self.assertEqual((peer["name"], peer["connected"]), ("berlin", True))
        self.assertGreater(peer["sentVersions"], 0)
        self.assertGreater(peer["sentBytes"], 0)
        self.assertRegex(self.hub.edgectl("federation", "peers").stdout, r"berlin +(Synchronized|Behind)")
        clock = self.federation(self.hub, "vector-clock", "backend", "cart")
        self.assertEqual(len(clock["versions"]), 1)
        self.assertEqual([entry["cluster"] for entry in clock["clock"]], [status["cluster"]])
        self.assertEqual(clock["peers"][0]["known"], [clock["versions"][0]["version"]])
        # The other side says the same of the object.
        there = self.federation(berlin, "vector-clock", "backend", "cart")
        self.assertEqual(there["versions"][0]["version"], clock["versions"][0]["version"])
        self.assertEqual(there["versions"][0]["digest"], clock["versions"][0]["digest"])
        sync = self.hub.edgectl("federation", "sync", "berlin")
        self.assertIn("berlin: is synchronized", sync.stderr)
        self.assertEqual(self.hub.edgectl("federation", "sync", "rome", check=False).returncode, 1)
        lines = "\n".join(self.hub.metric("edge_federation_"))
        self.assertRegex(lines, r'edge_federation_objects\{kind="ProxyBackend"\} 1')
        self.assertRegex(lines, r'edge_federation_peer_connected\{peer="berlin"\} 1')
        self.assertRegex(lines, r'edge_federation_comparisons_total\{peer="berlin"\} [1-9]')
        # Of one that is away: what it lacks, and that nothing is to come of waiting.
        berlin.kill()
        self.hub.wait_for(lambda: not self.federation(self.hub, "peers")[0]["connected"], "the loss of berlin")
        self.hub.put(backend("later"))
        self.hub.wait_for(lambda: self.federation(self.hub, "peers")[0]["lagVersions"] > 0, "the lag of berlin")
        away = self.hub.edgectl("federation", "sync", check=False)
        self.assertEqual(away.returncode, 1)
        self.assertIn("berlin: is away", away.stderr)
        preview = self.federation(self.hub, "sync", "--dry-run")["items"]
        self.assertIn(("berlin", "later", "Created"), [(item["at"], item["name"], item["change"]) for item in preview])

    def test_a_conflict_is_listed_and_resolved_by_hand(self):
        berlin = self.diverge("NewestWins")
        berlin.start()
        self.await_address([self.hub, berlin], "cart", "198.51.100.30")
        self.hub.wait_for(lambda: len(self.federation(self.hub, "conflicts")) == 1, "the conflict")
        shown = self.hub.edgectl("federation", "conflicts", "backend", "cart").stdout
        self.assertIn("spec.endpoints[0].address: 198.51.100.30:80 -> 198.51.100.20:80", shown)
        self.assertIn("edge_federation_conflicts", "\n".join(self.hub.metric("edge_federation_conflicts{")))
        [conflict] = self.federation(self.hub, "conflicts", "backend", "cart")
        self.assertEqual(conflict["losers"][0]["author"], "berlin")
        # What is no version changes nothing.
        wrong = self.hub.edgectl("federation", "conflicts", "--resolve", "backend", "cart", "--keep", "rome", check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(self.hub.address("cart"), "198.51.100.30")
        self.hub.edgectl("federation", "conflicts", "--resolve", "backend", "cart", "--keep", "berlin")
        self.await_address([self.hub, berlin], "cart", "198.51.100.20")
        for site in (self.hub, berlin):
            site.wait_for(lambda site=site: self.federation(site, "conflicts") == [], "the end of the conflict")
        again = self.hub.edgectl("federation", "conflicts", "--resolve", "backend", "cart", "--keep", "berlin", check=False)
        self.assertEqual(again.returncode, 1)
        # Who it was is in the log and in an event of the object.
        who = pwd.getpwuid(os.getuid()).pw_name + r" \(administrator \S+ at 127\.0\.0\.1:\d+\)"
        self.assertRegex(self.hub.log(), r"a conflict is resolved.*" + who)
        self.hub.wait_for(lambda: self.hub.events("FederationResolved"), "an event of the resolution")
        [event] = self.hub.events("FederationResolved")
        self.assertRegex(event.get("note") or event.get("message"), who + " has resolved the conflict: the version of berlin")

    def test_a_dry_run_says_what_changes_for_requests(self):
        kinds = KINDS + ["ProxyGateway"]
        berlin = self.spoke("berlin", kinds=kinds)
        self.federate("berlin", kinds=kinds)
        berlin.put(GATEWAY)
        berlin.wait_for(lambda: berlin.find("ProxyGateway", "edge") is not None, "a gateway of berlin")
        self.hub.wait_for(lambda: "edge" in self.hub.names("ProxyGateway"), "the gateway at the hub")
        # What comes to a namespace that is missing here is not written yet.
        namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
        waits = (GATEWAY + ROUTE).replace("namespace: default", "namespace: shop")
        self.hub.put(namespace)
        self.hub.put(waits)

        def upcoming():
            items = self.federation(berlin, "sync", "--dry-run")["items"]
            return {(item["at"], item["kind"], item["namespace"], item["name"], item["change"]) for item in items}

        berlin.wait_for(lambda: upcoming() == {("", "ProxyGateway", "shop", "edge", "Created"),
                                               ("", "ProxyRoute", "shop", "cart", "Created"),
                                               ("", "ProxyBackend", "shop", "cart", "Created")}, "what is to come")
        text = berlin.edgectl("federation", "sync", "--dry-run").stdout
        self.assertIn("Requests here:", text)
        self.assertRegex(text.split("Requests here:")[1], r"shop\.example.*/cart|/cart.*shop\.example")
        routing = self.federation(berlin, "sync", "--dry-run")["routing"]
        self.assertIn("shop.example", json.dumps(routing))
        self.assertIsNone(berlin.find("ProxyRoute", "cart"))
        berlin.put(namespace)
        berlin.wait_for(lambda: upcoming() == set(), "that nothing is to come")
        self.assertIn("cart", berlin.names("ProxyRoute"))
        after = berlin.edgectl("federation", "sync", "--dry-run")
        self.assertIn("nothing would change", after.stderr)
        self.assertNotIn("routing", self.federation(berlin, "sync", "--dry-run"))


def berlin_hub(spoke):
    """UID of the hub, as the spoke's peers name it."""
    done = spoke.edgectl("federation", "peers", "-o", "json")
    return json.loads(done.stdout)[0]["cluster"]


if __name__ == "__main__":
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    names = [name for name in vars(FederationCommandsTest) if name.startswith("test_")]
    chosen = sys.argv[2:] or ["FederationCommandsTest." + name for name in names]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
