#!/usr/bin/env python3
"""Within a cluster of the bed: a hub, or a spoke, that edgectl installs, with controllers and a volume that they share. Its pods
are killed, one and all of them, while both sides change what they share. Called by script/check-cluster.

    run.py InstalledHubTest | InstalledSpokeTest
"""
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "remote"))
import clusters_test  # noqa: E402
import federation_test  # noqa: E402
from federation_test import KINDS, backend  # noqa: E402

del federation_test.FederationTest  # not run again here
SPACE, ADMIN_PORT = "edge-system", 9092
# Of the machine that the API server runs on, which pods reach.
MACHINE = "10.244.0.1"
PODS = ("-n", SPACE, "get", "pods", "-l", "app.kubernetes.io/component=controller", "--field-selector", "status.phase=Running")
CLAIM = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: main-state, namespace: edge-system}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
"""


def kubectl(*words, text=None, check=True):
    done = subprocess.run(["kubectl", *words], input=text, text=True, capture_output=True, timeout=180, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


class Hub(federation_test.Site):
    """The installation in the bed. A connection for its Service goes to one of its pods, in turn, and a command to the one
    that leads."""

    def __init__(self, folder):
        self.name, self.data, self.prefix = "hub", os.path.join(folder, "hub"), []
        os.makedirs(self.data)
        self.port = Balancer(self).port

    def addresses(self):
        items = json.loads(kubectl(*PODS, "-o", "json"))["items"]
        return {item["status"]["podIP"]: item["metadata"]["name"] for item in items
                if "deletionTimestamp" not in item["metadata"] and item["status"].get("podIP")}

    def leader(self):
        """Name and address of the pod that leads."""
        for address, name in self.addresses().items():
            try:
                with urllib.request.urlopen(f"http://{address}:{ADMIN_PORT}/metrics", timeout=5) as page:
                    if "\nedge_controller_leader 1\n" in page.read().decode():
                        return name, address
            except OSError:
                continue
        return None

    def wait_for(self, condition, what, patience=180):
        class Running:
            poll = staticmethod(lambda: None)
        self.process = Running
        super().wait_for(condition, what, patience)

    def log(self, began=0):
        return kubectl("-n", SPACE, "get", "pods,leases,edgeclusters,remoteclusters", "-o", "wide", check=False)

    def edgectl(self, *words, check=True, text=None):
        credentials = []
        if words[0] in ("cluster", "federation"):
            self.wait_for(self.leader, "a controller that leads")
            credentials = ["--controller", self.leader()[1] + ":9090", "--credentials", os.path.join(self.data, "admin.pem")]
            if words[0] == "cluster" and words[1] not in ("add", "token", "revoke", "remove"):
                credentials = []
        done = subprocess.run([os.path.join(clusters_test.BIN, "edgectl"), *words, *credentials], input=text, text=True,
                              capture_output=True, timeout=60, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"edgectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done


class Balancer(federation_test.SlowLink):
    def __init__(self, hub):
        self.hub, self.turn = hub, 0
        super().__init__(9090, 0)

    async def open(self):
        addresses = sorted(self.hub.addresses())
        if not addresses:
            raise OSError("no pod")
        self.turn += 1
        return await asyncio.open_connection(addresses[self.turn % len(addresses)], self.to)


def install(*fields):
    """With fields of the EdgeCluster."""
    edgectl = os.path.join(clusters_test.BIN, "edgectl")
    subprocess.run([edgectl, "install", "--image-registry", "registry.example.com/edge", "--federation", "--skip-checks",
                    *(word for field in fields for word in ("--set", field))], check=True, stdout=subprocess.DEVNULL)
    kubectl("apply", "-f", "-", text=CLAIM)


def of_main(path):
    return kubectl("-n", SPACE, "get", "edgecluster", "main", "-o", f"jsonpath={{{path}}}")


class InstalledSpokeTest(unittest.TestCase):
    def test_a_pod_that_begins_anew_comes_back_to_the_hub(self):
        folder = tempfile.mkdtemp()
        hub = federation_test.Site(folder, "center", host=MACHINE)
        self.addCleanup(hub.stop)
        join = os.path.join(folder, "berlin.join")
        hub.edgectl("cluster", "add", "berlin", "--hub", f"{MACHINE}:{hub.port}", "--out", join)
        hub.edgectl("patch", "remotecluster", "berlin", "--type", "merge", "-p", json.dumps(
            {"spec": {"federation": {"enabled": True, "kinds": KINDS, "syncInterval": "2s"}}}))
        install()
        spoke = Hub(folder)
        spoke.wait_for(lambda: of_main(".status.phase") == "Running", "the installation")
        kubectl("-n", SPACE, "create", "secret", "generic", "hub-join", "--from-file=join=" + join)
        controller = {"hub": {"joinSecretRef": {"name": "hub-join"}, "federation": {"kinds": KINDS}}}
        refused = subprocess.run(["kubectl", "-n", SPACE, "patch", "edgecluster", "main", "--type", "merge", "-p",
                                  json.dumps({"spec": {"controller": controller}})], capture_output=True, text=True, check=False)
        self.assertIn("hub needs stateClaim", refused.stderr)
        controller["stateClaim"] = "main-state"
        kubectl("-n", SPACE, "patch", "edgecluster", "main", "--type", "merge", "-p",
                json.dumps({"spec": {"controller": controller}}))
        hub.wait_for(lambda: hub.phase("berlin") == "Connected", "the spoke", 180)
        self.assertEqual(kubectl("-n", SPACE, "get", "deployment", "main-controller", "-o", "jsonpath={.spec.strategy}"),
                         '{"type":"Recreate"}')
        for number in (1, 2):
            hub.put(backend("cart", f"198.51.100.{number}:80"))
            spoke.wait_for(lambda: spoke.address("cart") == f"198.51.100.{number}", "a backend of the hub")
            kubectl("-n", SPACE, "delete", "pod", *spoke.addresses().values(), "--grace-period=0", "--force")
            spoke.put(backend(f"own-{number}"))
            hub.wait_for(lambda: hub.address(f"own-{number}") == "198.51.100.1", "a backend of the spoke", 180)
        self.assertEqual(hub.names("ProxyBackend"), {"cart", "own-1", "own-2"})
        self.assertEqual(json.loads(hub.edgectl("federation", "conflicts", "-o", "json").stdout), [])


class InstalledHubTest(unittest.TestCase):
    def test_pods_go_and_nothing_that_is_shared_does(self):
        folder = tempfile.mkdtemp()
        install("controller.replicas=2", "controller.stateClaim=main-state")
        hub = Hub(folder)
        hub.wait_for(lambda: of_main(".status.phase") == "Running", "the installation")
        encoded = kubectl("-n", SPACE, "get", "secret", "main-admin", "-o", 'go-template={{index .data "admin.pem" | base64decode}}')
        with open(os.path.join(hub.data, "admin.pem"), "w", encoding="utf-8") as file:
            file.write(encoded)
        os.chmod(file.name, 0o600)
        join = os.path.join(folder, "berlin.join")
        hub.edgectl("cluster", "add", "berlin", "--hub", f"127.0.0.1:{hub.port}", "--out", join)
        kinds = [*KINDS, "Secret"]
        hub.edgectl("patch", "remotecluster", "berlin", "--type", "merge", "-p", json.dumps(
            {"spec": {"federation": {"enabled": True, "kinds": kinds, "syncInterval": "2s"}}}))
        berlin = federation_test.Site(folder, "berlin", more=["--hub-join", join, "--hub-federation", ",".join(kinds)])
        self.addCleanup(berlin.stop)
        berlin.put(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {SPACE}}}\n")

        def await_address(site, name, address):
            site.wait_for(lambda: site.address(name) == address, f"{name} with {address} at {site.name}")

        hub.put("---\n".join(backend(name) for name in ("cart", "search", "calm")))
        hub.put("apiVersion: v1\nkind: Secret\nmetadata: {name: quiet, namespace: default}\nstringData: {a: b}\n")
        berlin.put(backend("own"))
        await_address(berlin, "calm", "198.51.100.1")
        await_address(hub, "own", "198.51.100.1")
        berlin.wait_for(lambda: berlin.find("Secret", "quiet") is not None, "a Secret that is shared")
        calm = [site.find("ProxyBackend", "calm")["metadata"]["resourceVersion"] for site in (hub, berlin)]
        for number, victims in enumerate(("leader", "all"), 2):
            pods = [hub.leader()[0]] if victims == "leader" else list(hub.addresses().values())
            kubectl("-n", SPACE, "delete", "pod", *pods, "--grace-period=0", "--force")
            hub.put(backend("cart", f"198.51.100.{number}:80") + "---\n" + backend(f"new-{number}"))
            hub.edgectl("delete", "ProxyBackend", "search" if victims == "leader" else "new-2")
            berlin.put(backend("own", f"198.51.100.{number}:80"))
            await_address(berlin, "cart", f"198.51.100.{number}")
            await_address(berlin, f"new-{number}", "198.51.100.1")
            await_address(hub, "own", f"198.51.100.{number}")
            berlin.wait_for(lambda: berlin.find("ProxyBackend", "search") is None, "the deletion of search")
            print(f"federation: {victims}: killed, and nothing was lost")
        berlin.wait_for(lambda: berlin.find("ProxyBackend", "new-2") is None, "the deletion of new-2")
        self.assertEqual(hub.names("ProxyBackend"), {"cart", "calm", "own", "new-3"})
        self.assertEqual(berlin.names("ProxyBackend"), {"cart", "calm", "own", "new-3"})
        self.assertEqual([site.find("ProxyBackend", "calm")["metadata"]["resourceVersion"] for site in (hub, berlin)], calm)
        for site in (hub, berlin):
            self.assertEqual(json.loads(site.edgectl("federation", "conflicts", "-o", "json").stdout), [])
        # Nor does what the hub lives by get to the spoke.
        self.assertNotEqual(kubectl("-n", SPACE, "get", "secret", "main-identity", "-o", "name"), "")
        self.assertEqual(berlin.names("Secret") - {"quiet"}, set())


if __name__ == "__main__":
    clusters_test.BIN = os.environ["EDGE_BED_PROGRAMS"]
    unittest.main(verbosity=2)
