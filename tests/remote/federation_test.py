#!/usr/bin/env python3
"""A hub and its spokes as processes that share resources: what is made, changed and deleted at one comes to the others,
whoever was away, killed, or lost its state; and nobody reads or writes what was not granted.

    federation_test.py BIN_DIR [TEST...]
"""
import asyncio
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
from clusters_test import PATIENCE, Cluster  # noqa: E402

KINDS = ["ProxyRoute", "ProxyBackend"]
MANY = int(os.environ.get("EDGE_FEDERATION_OBJECTS", "300"))
ORIGIN = "edgeproxy.io/origin-cluster"


def backend(name, address="198.51.100.1:80", namespace="default"):
    return (f"apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
            f"spec: {{endpoints: [{{address: '{address}'}}]}}\n")


def route(name, backend_name):
    return (f"apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {{name: {name}, namespace: default}}\n"
            f"spec: {{parentRefs: [{{name: edge}}], hostnames: [{name}.example.com], "
            f"rules: [{{backendRef: {{name: {backend_name}}}}}]}}\n")


class SlowLink:
    """A connection over a WAN: whatever comes to the port goes on to the hub, and back, after a delay each way. `cut`
    ends all connections, and refuses those that come."""

    def __init__(self, port, delay):
        self.to, self.delay, self.is_cut = port, delay, False
        self.loop, self.writers, self.port = asyncio.new_event_loop(), set(), None
        listening = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(listening,), daemon=True)
        self.thread.start()
        listening.wait(PATIENCE)

    def run(self, listening):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.take, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        self.loop.run_forever()

    async def take(self, reader, writer):
        if self.is_cut:
            return writer.close()
        try:
            there_reader, there_writer = await self.open()
        except OSError:
            return writer.close()
        self.writers |= {writer, there_writer}
        await asyncio.gather(self.carry(reader, there_writer), self.carry(there_reader, writer))
        self.writers -= {writer, there_writer}

    async def open(self):
        return await asyncio.open_connection("127.0.0.1", self.to)

    async def carry(self, reader, writer):
        waiting = asyncio.Queue(maxsize=4096)

        async def deliver():
            while (piece := await waiting.get()) is not None:
                await asyncio.sleep(max(0, piece[0] - self.loop.time()))
                writer.write(piece[1])
                await writer.drain()
            writer.close()

        async def take():
            while data := await reader.read(65536):
                await waiting.put((self.loop.time() + self.delay, data))
            await waiting.put(None)

        try:
            await asyncio.gather(deliver(), take())
        except OSError:
            writer.close()

    def cut(self, is_cut):
        def change():
            self.is_cut = is_cut
            for writer in list(self.writers if is_cut else ()):
                writer.transport.abort()
        self.loop.call_soon_threadsafe(change)


class Site(Cluster):
    """A cluster, and the questions of these tests."""

    def find(self, kind, name):
        done = self.edgectl("get", kind, name, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def address(self, name):
        found = self.find("ProxyBackend", name)
        return None if found is None else found["spec"]["endpoints"][0]["address"].split(":")[0]

    def put(self, text):
        self.edgectl("apply", "-f", "-", text=text)

    def federated(self, cluster):
        return next((c for c in self.status(cluster).get("conditions", []) if c["type"] == "Federated"), {})

    def events(self, reason):
        done = self.edgectl("get", "events", "-A", "-o", "json", check=False)
        items = json.loads(done.stdout).get("items", []) if done.returncode == 0 and done.stdout.strip() else []
        return [event for event in items if event.get("reason") == reason]

    def version(self, name):
        """The version of a backend that the federation has here; None: none, or it does not run yet."""
        done = self.edgectl("federation", "vector-clock", "ProxyBackend", name, "-o", "json", check=False)
        return json.loads(done.stdout)["versions"][0]["version"] if done.returncode == 0 else None

    def names(self, kind):
        done = self.edgectl("get", kind, "-A", "-o", "json", check=False)
        return {item["metadata"]["name"] for item in json.loads(done.stdout).get("items", [])} if done.returncode == 0 else set()


class FederationTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="federation.")
        self.sites = []
        self.hub = self.site("hub")

    def tearDown(self):
        for site in self.sites:
            site.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def site(self, name, **options):
        made = Site(self.folder, name, **options)
        self.sites.append(made)
        return made

    def federate(self, name, **more):
        """Of the hub's object: what it grants."""
        federation = {"enabled": True, "kinds": KINDS, "syncInterval": "2s", **more}
        self.hub.edgectl("patch", "remotecluster", name, "--type", "merge", "-p",
                         json.dumps({"spec": {"federation": federation}}))

    def spoke(self, name, kinds=None, port=None, **grants):
        join = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", f"127.0.0.1:{port or self.hub.port}", "--out", join)
        self.federate(name, **grants)
        made = self.site(name, more=["--hub-join", join, "--hub-federation", ",".join(kinds or KINDS)])
        self.await_synced(name)
        return made

    def await_synced(self, name):
        self.hub.wait_for(lambda: self.hub.federated(name).get("status") == "True",
                          f"the federation of {name}: {self.hub.federated(name)}")

    def await_address(self, sites, name, address):
        for site in sites:
            site.wait_for(lambda site=site: site.address(name) == address, f"{name} with {address}, now {site.address(name)}")

    def test_what_is_made_changed_and_deleted_comes_to_all(self):
        berlin, paris = self.spoke("berlin"), self.spoke("paris")
        self.hub.put(backend("cart", "198.51.100.1:80"))
        self.await_address([berlin, paris], "cart", "198.51.100.1")
        self.assertEqual(berlin.find("ProxyBackend", "cart")["metadata"]["labels"][ORIGIN], "hub")
        self.assertNotIn("labels", self.hub.find("ProxyBackend", "cart")["metadata"])
        # Of one spoke by the hub to the other.
        berlin.put(backend("search", "198.51.100.2:80"))
        self.await_address([self.hub, paris], "search", "198.51.100.2")
        self.assertEqual(paris.find("ProxyBackend", "search")["metadata"]["labels"][ORIGIN], "berlin")
        berlin.put(backend("search", "198.51.100.3:80"))
        self.await_address([self.hub, paris], "search", "198.51.100.3")
        versions = [paris.find("ProxyBackend", "search")["metadata"]["resourceVersion"]]
        berlin.edgectl("delete", "ProxyBackend", "search")
        for site in (self.hub, paris):
            site.wait_for(lambda site=site: site.find("ProxyBackend", "search") is None, "the deletion of search")
        self.assertTrue(versions[0])
        # What refers to what does not travel is a diagnostic there, and no outage.
        berlin.put(route("lonely", "nowhere"))
        paris.wait_for(lambda: paris.find("ProxyRoute", "lonely") is not None, "a route without its backend")
        self.assertEqual(paris.address("cart"), "198.51.100.1")
        # Nobody writes in circles.
        before = paris.find("ProxyBackend", "cart")["metadata"]["resourceVersion"]
        self.hub.put(backend("another"))
        self.await_address([berlin, paris], "another", "198.51.100.1")
        self.assertEqual(paris.find("ProxyBackend", "cart")["metadata"]["resourceVersion"], before)

    def test_nothing_is_shared_until_it_is_named(self):
        berlin = self.spoke("berlin", kinds=["ProxyRoute", "ProxyBackend", "Secret"])
        self.hub.put("apiVersion: v1\nkind: Secret\nmetadata: {name: quiet, namespace: default}\nstringData: {a: b}\n")
        self.hub.put(backend("cart"))
        self.hub.put("apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\n"
                     "spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}\n")
        self.await_address([berlin], "cart", "198.51.100.1")
        self.assertIsNone(berlin.find("Secret", "quiet"))
        self.assertIsNone(berlin.find("ProxyGateway", "edge"))
        # Named while all of it runs.
        self.federate("berlin", kinds=KINDS + ["Secret"])
        berlin.wait_for(lambda: berlin.find("Secret", "quiet") is not None, "a Secret that is named")
        # Whoever has it could come as that cluster.
        self.assertIsNotNone(self.hub.find("Secret", "berlin-client"))
        self.assertIsNone(berlin.find("Secret", "berlin-client"))
        self.federate("berlin", enabled=False)
        self.hub.put(backend("later"))
        self.hub.wait_for(lambda: self.hub.find("ProxyBackend", "later") is not None, "a backend of the hub")
        self.federate("berlin", enabled=True)
        self.await_address([berlin], "later", "198.51.100.1")

    def test_a_spoke_writes_and_reads_only_what_was_granted(self):
        berlin = self.spoke("berlin", reads={"kinds": ["ProxyBackend"]})
        paris = self.spoke("paris")
        self.hub.put(backend("cart") + "---\n" + route("cart", "cart"))
        self.await_address([berlin, paris], "cart", "198.51.100.1")
        paris.wait_for(lambda: paris.find("ProxyRoute", "cart") is not None, "the route at paris")
        self.assertIsNone(berlin.find("ProxyRoute", "cart"))
        # Another cluster's object is not its own by writing to it.
        berlin.put(backend("cart", "203.0.113.9:80"))
        berlin.wait_for(lambda: berlin.events("FederationRefused"), "word of the refusal")
        self.hub.wait_for(lambda: self.hub.status("berlin").get("federation", {}).get("refused", 0) > 0,
                          "the count of what was refused")
        self.assertEqual(self.hub.address("cart"), "198.51.100.1")
        self.assertEqual(paris.address("cart"), "198.51.100.1")
        # Granted, it is sent again.
        self.federate("berlin", reads={"kinds": ["ProxyBackend"]}, writes={"kinds": ["ProxyBackend"]})
        self.await_address([self.hub, paris], "cart", "203.0.113.9")

    def change(self, site, name, address):
        """Changes a backend, and waits until the federation of that site has made a version of it: a change counts from
        then on, and one that its controller did not live to see counts from the next start."""
        site.wait_for(lambda: site.version(name) is not None, f"a version of {name} at {site.name}")
        before = site.version(name)
        site.put(backend(name, address))
        site.wait_for(lambda: site.version(name) not in (None, before), f"the version of {name} by {site.name}")

    def diverge(self, policy):
        """A spoke, and an object that it has changed first, and then the hub, without knowing of each other. The spoke
        is not running."""
        berlin = self.spoke("berlin", conflictPolicy=policy, writes={"kinds": KINDS})
        self.hub.put(backend("cart", "198.51.100.1:80"))
        self.await_address([berlin], "cart", "198.51.100.1")
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        self.change(berlin, "cart", "198.51.100.20:80")
        berlin.kill()
        self.hub.start()
        self.change(self.hub, "cart", "198.51.100.30:80")
        return berlin

    def conflict(self, policy, winner, resolved=None):
        berlin = self.diverge(policy)
        berlin.start()
        address = {"berlin": "198.51.100.20", "hub": "198.51.100.30"}[winner]
        self.await_address([self.hub, berlin], "cart", address)
        self.hub.wait_for(lambda: self.hub.status("berlin").get("federation", {}).get("conflicts") == 1,
                          f"the conflict in the status: {self.hub.status('berlin')}")
        self.hub.wait_for(lambda: self.hub.events("FederationConflict"), "an event of the conflict")
        if resolved is None:
            return
        listed = json.loads(self.hub.edgectl("federation", "conflicts", "-o", "json").stdout)
        self.assertEqual(len(listed), 1, listed)
        self.hub.edgectl("federation", "conflicts", "--resolve", "ProxyBackend", "cart", "--keep", resolved)
        self.await_address([self.hub, berlin], "cart", "198.51.100.20")
        self.hub.wait_for(lambda: self.hub.status("berlin").get("federation", {}).get("conflicts") == 0,
                          "the end of the conflict")

    def test_a_conflict_where_the_oldest_wins(self):
        self.conflict("OldestWins", "berlin")

    def test_a_conflict_where_the_newest_wins(self):
        self.conflict("NewestWins", "hub")

    def test_a_conflict_where_the_hub_wins(self):
        self.conflict("HubWins", "hub", resolved="berlin")

    def test_the_state_survives_what_becomes_of_processes_and_files(self):
        berlin, paris = self.spoke("berlin"), self.spoke("paris")
        berlin.put(backend("cart"))
        self.await_address([self.hub, paris], "cart", "198.51.100.1")
        # Killed, changed while others are away.
        self.hub.kill()
        berlin.put(backend("cart", "198.51.100.2:80") + "---\n" + backend("search"))
        berlin.kill()
        self.hub.start()
        berlin.start()
        self.await_address([self.hub, paris], "cart", "198.51.100.2")
        self.await_address([self.hub, paris], "search", "198.51.100.1")
        # The state is lost: nothing is deleted, nothing comes twice, and changes go on.
        paris.kill()
        shutil.rmtree(os.path.join(paris.data, "federation"))
        self.hub.put(backend("meanwhile"))
        paris.start()
        self.await_address([paris], "meanwhile", "198.51.100.1")
        for site in (self.hub, berlin, paris):
            self.assertEqual(site.address("cart"), "198.51.100.2")
            self.assertEqual(site.names("ProxyBackend"), {"cart", "search", "meanwhile"})
        berlin.put(backend("cart", "198.51.100.3:80"))
        self.await_address([self.hub, paris], "cart", "198.51.100.3")
        # The file is cut off at some byte.
        paris.kill()
        state = os.path.join(paris.data, "federation", "state")
        os.truncate(state, os.path.getsize(state) - 7)
        berlin.put(backend("cart", "198.51.100.4:80"))
        paris.start()
        self.await_address([self.hub, paris], "cart", "198.51.100.4")

    def test_an_api_that_is_restored_from_a_backup_is_brought_up_to_date(self):
        berlin = self.spoke("berlin")
        self.hub.put(backend("changed") + "---\n" + backend("deleted"))
        self.await_address([berlin], "deleted", "198.51.100.1")
        berlin.stop()
        backup = os.path.join(self.folder, "backup")
        os.makedirs(backup)
        files = [name for name in os.listdir(berlin.data) if name.startswith("resources.db")]
        self.assertTrue(files)
        for name in files:
            shutil.copy2(os.path.join(berlin.data, name), backup)
        berlin.start()
        self.hub.put(backend("changed", "198.51.100.5:80") + "---\n" + backend("created"))
        self.hub.edgectl("delete", "ProxyBackend", "deleted")
        self.await_address([berlin], "changed", "198.51.100.5")
        self.await_address([berlin], "created", "198.51.100.1")
        berlin.wait_for(lambda: berlin.find("ProxyBackend", "deleted") is None, "a deletion at berlin")
        berlin.stop()
        for name in os.listdir(berlin.data):
            if name.startswith("resources.db"):
                os.remove(os.path.join(berlin.data, name))
        for name in files:
            shutil.copy2(os.path.join(backup, name), berlin.data)
        berlin.start()
        self.await_address([berlin], "changed", "198.51.100.5")
        self.await_address([berlin], "created", "198.51.100.1")
        berlin.wait_for(lambda: berlin.find("ProxyBackend", "deleted") is None, "the deletion at berlin, again")
        self.assertEqual(self.hub.names("ProxyBackend"), {"changed", "created"})
        self.assertEqual(self.hub.address("changed"), "198.51.100.5")

    def test_a_suspended_spoke_keeps_nobody_waiting_and_comes_back(self):
        berlin, paris = self.spoke("berlin"), self.spoke("paris")
        self.hub.put(backend("cart") + "---\n" + backend("search"))
        self.await_address([berlin, paris], "search", "198.51.100.1")
        self.hub.edgectl("cluster", "suspend", "berlin")
        self.hub.await_phase("berlin", "Disconnected")
        self.hub.edgectl("delete", "ProxyBackend", "search")
        paris.wait_for(lambda: paris.find("ProxyBackend", "search") is None, "the deletion at paris")
        berlin.put(backend("own"))
        self.hub.edgectl("cluster", "resume", "berlin")
        self.await_address([self.hub, paris], "own", "198.51.100.1")
        berlin.wait_for(lambda: berlin.find("ProxyBackend", "search") is None, "the deletion at berlin")
        self.assertEqual(self.hub.names("ProxyBackend"), {"cart", "own"})
        # Revoked, it neither gives nor takes.
        self.hub.edgectl("cluster", "revoke", "berlin")
        self.hub.await_phase("berlin", "Failed")
        berlin.put(backend("late"))
        self.hub.put(backend("secretly"))
        self.await_address([paris], "secretly", "198.51.100.1")
        self.assertIsNone(berlin.find("ProxyBackend", "secretly"))
        self.assertIsNone(self.hub.find("ProxyBackend", "late"))

    def test_over_a_slow_link_that_is_cut(self):
        link = SlowLink(self.hub.port, 0.04)
        berlin = self.spoke("berlin", port=link.port, writes={"kinds": KINDS})
        self.hub.put(backend("cart", "198.51.100.1:80"))
        self.await_address([berlin], "cart", "198.51.100.1")
        link.cut(True)
        self.hub.await_phase("berlin", "Disconnected")
        # Both go on, and change the same object and others.
        self.change(self.hub, "cart", "198.51.100.2:80")
        self.hub.put(backend("of-the-hub"))
        berlin.put(backend("of-berlin"))
        self.hub.edgectl("delete", "ProxyBackend", "of-the-hub")
        self.change(berlin, "cart", "198.51.100.3:80")
        link.cut(False)
        self.await_address([self.hub, berlin], "of-berlin", "198.51.100.1")
        self.await_address([self.hub, berlin], "cart", "198.51.100.2")
        self.assertIsNone(berlin.find("ProxyBackend", "of-the-hub"))
        self.hub.wait_for(lambda: self.hub.status("berlin").get("federation", {}).get("conflicts") == 1, "the conflict")
        peers = json.loads(self.hub.edgectl("federation", "peers", "-o", "json").stdout)
        self.assertEqual([peer["name"] for peer in peers], ["berlin"])

    def test_many_objects_after_a_partition(self):
        berlin, paris = self.spoke("berlin", syncInterval="5m"), self.spoke("paris", syncInterval="5m")
        self.hub.kill()
        berlin.wait_for(lambda: not berlin.hub_connected(), "the loss of the hub")
        for first in range(0, MANY, 250):
            berlin.put("---\n".join(backend(f"b-{i}", f"198.51.{i // 250}.{i % 250 + 1}:80")
                                    for i in range(first, min(first + 250, MANY))))
        self.hub.start()
        began = time.monotonic()
        expected = {f"b-{i}" for i in range(MANY)}
        self.hub.wait_for(lambda: expected <= self.hub.names("ProxyBackend"), "all objects at the hub", patience=300)
        at_hub = time.monotonic() - began
        paris.wait_for(lambda: expected <= paris.names("ProxyBackend"), "all objects at paris", patience=300)
        print(f"{MANY} objects: {at_hub:.1f} s to the hub, {time.monotonic() - began:.1f} s to the other spoke")


if __name__ == "__main__":
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
