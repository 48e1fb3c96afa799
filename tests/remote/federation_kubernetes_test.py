#!/usr/bin/env python3
"""Federation of clusters whose API is a Kubernetes API server: what federation_test.py and federation_commands_test.py
assert of the embedded API, and what only such a server does. Skipped where nobody has built one (script/cluster-bed --build).

    federation_kubernetes_test.py BIN_DIR [TEST...]
"""
import json
import os
import shutil
import signal
import sys
import threading
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
import federation_commands_test  # noqa: E402
import federation_test  # noqa: E402
import kubernetes_site  # noqa: E402
from federation_test import KINDS, backend  # noqa: E402
from kubernetes_site import KubernetesSite  # noqa: E402

Federated, Commands = federation_commands_test.Federated, federation_commands_test.FederationCommandsTest
del federation_commands_test.FederationCommandsTest  # not run again here


BACKENDS = "/apis/edgeproxy.io/v1alpha1/namespaces/default/proxybackends/"
POLICY = """apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-guests}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - {apiGroups: [edgeproxy.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [proxybackends]}
  validations:
    - {expression: "!object.metadata.name.startsWith('guest')", message: "guests are not let in"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-guests}
spec: {policyName: no-guests, validationActions: [Deny]}
"""


class Balancer(federation_test.SlowLink):
    """What a Service is: a connection goes to one of several controllers, in turn."""

    def __init__(self, ports):
        self.ports = list(ports)
        super().__init__(self.ports[0], 0)

    async def open(self):
        self.ports.append(self.ports.pop(0))
        self.to = self.ports[0]
        return await super().open()


class OnKubernetes:
    def site(self, name, **options):
        made = KubernetesSite(self.folder, name, **options)
        self.sites.append(made)
        return made


class KubernetesCommandsTest(OnKubernetes, Commands):
    """Of these, only what is not of FederationTest is run."""


class KubernetesFederationTest(OnKubernetes, Federated):
    def embedded(self, name, **options):
        made = federation_test.Site(self.folder, name, **options)
        self.sites.append(made)
        return made

    def spoke_of(self, hub_port, name, make, kinds=None, **grants):
        join = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", f"127.0.0.1:{hub_port}", "--out", join)
        self.federate(name, **grants)
        return make(name, more=["--hub-join", join, "--hub-federation", ",".join(kinds or KINDS)])

    def second(self, first, name):
        """Another controller of the same cluster, which stands by."""
        identity = os.path.join(self.folder, first.name + ".identity")
        os.makedirs(identity, exist_ok=True)
        for file in ("signing.key", "agents/ca.pem", "agents/join"):
            shutil.copy(os.path.join(first.data, file), identity)
        first.wait_for(first.leads, "the first controller to lead")
        made = self.site(name, api=first.api, more=[*first.more, "--identity-dir", identity])
        self.assertFalse(made.leads())
        return made

    def shared(self, name):
        return ["--leader-elect", "--shared-dir", os.path.join(self.folder, name + ".shared")]

    def await_gone(self, sites, name):
        for site in sites:
            site.wait_for(lambda site=site: site.find("ProxyBackend", name) is None, f"the deletion of {name} at {site.name}")

    def calm(self, sites):
        """What a write of the object that nobody changes would change. Its resourceVersion goes with each status, too."""
        found = [site.find("ProxyBackend", "calm")["metadata"] for site in sites]
        return [(one["uid"], one["generation"], one.get("labels"), one.get("annotations")) for one in found]

    # What needs other means than on the embedded API.

    def test_an_api_that_is_restored_from_a_backup_is_brought_up_to_date(self):
        berlin = self.spoke("berlin")
        self.hub.put(backend("changed") + "---\n" + backend("deleted"))
        self.await_address([berlin], "deleted", "198.51.100.1")
        data, backup = os.path.join(berlin.api.folder, "etcd"), os.path.join(self.folder, "backup")

        def away():
            berlin.kill()
            berlin.api.stop()

        away()
        shutil.copytree(data, backup)
        berlin.api.start()
        berlin.start()
        self.hub.put(backend("changed", "198.51.100.5:80") + "---\n" + backend("created"))
        self.hub.edgectl("delete", "ProxyBackend", "deleted")
        self.await_address([berlin], "changed", "198.51.100.5")
        self.await_address([berlin], "created", "198.51.100.1")
        self.await_gone([berlin], "deleted")
        away()
        shutil.rmtree(data)
        shutil.copytree(backup, data)
        berlin.api.start()
        berlin.start()
        self.await_address([berlin], "changed", "198.51.100.5")
        self.await_address([berlin], "created", "198.51.100.1")
        self.await_gone([berlin], "deleted")
        self.assertEqual(self.hub.names("ProxyBackend"), {"changed", "created"})
        self.assertEqual(self.hub.address("changed"), "198.51.100.5")

    def test_nothing_is_shared_until_it_is_named(self):
        # To write Secrets is a right apart.
        self.hub.give("acme")
        made = self.site
        self.site = lambda name, **options: (site := made(name, **options), site.give("acme"))[0]
        super().test_nothing_is_shared_until_it_is_named()

    # What such a server does, and the embedded API does not.

    def test_a_right_that_is_missing_is_told_and_nothing_is_lost(self):
        made = self.site
        self.site = lambda name, **options: made(name, rights=False, **options)
        berlin = self.spoke_of(self.hub.port, "berlin", self.site)
        self.hub.put(backend("cart"))
        # At the spoke, which is read through its hub as well: the object leads to it, and its status is the hub's.
        berlin.wait_for(lambda: "a federated object cannot be written here" in berlin.log(), "the spoke's word of it")
        self.assertIn("cannot create resource", berlin.log())
        self.assertIn("proxybackends", berlin.log())
        status = json.loads(berlin.edgectl("federation", "status", "-o", "json").stdout)
        self.assertIn("cannot create resource", json.dumps(status))
        berlin.give("federation")
        self.await_address([berlin], "cart", "198.51.100.1")
        # Taken away again: what comes meanwhile waits, and no deletion is forgotten.
        berlin.kubectl("delete", "-f", str(kubernetes_site.ROOT / "deploy/rbac/federation"))
        self.hub.put(backend("late"))
        self.hub.edgectl("delete", "ProxyBackend", "cart")
        berlin.wait_for(lambda: "cannot delete resource" in berlin.log(), "the spoke's word of the deletion")
        self.assertEqual(berlin.address("cart"), "198.51.100.1")
        berlin.give("federation")
        self.await_gone([berlin], "cart")
        self.await_address([berlin], "late", "198.51.100.1")
        self.assertEqual(self.hub.names("ProxyBackend"), {"late"})

    def test_what_admission_refuses_is_told_and_holds_up_nothing(self):
        berlin = self.spoke("berlin")
        berlin.kubectl("apply", "-f", "-", text=POLICY)
        berlin.wait_for(lambda: "guests are not let in" in berlin.kubectl(
            "create", "--dry-run=server", "-f", "-", text=backend("guest"), check=False).stderr, "the policy to be in force")
        self.hub.put(backend("guest") + "---\n" + backend("member"))
        self.await_address([berlin], "member", "198.51.100.1")
        berlin.wait_for(lambda: "guests are not let in" in berlin.log(), "the spoke's word of the refusal")
        self.assertIsNone(berlin.find("ProxyBackend", "guest"))
        self.assertEqual(self.hub.address("guest"), "198.51.100.1")
        berlin.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "no-guests")
        self.await_address([berlin], "guest", "198.51.100.1")

    def test_a_watch_that_has_expired_and_a_server_that_was_away(self):
        berlin = self.spoke("berlin")
        berlin.put(backend("changed") + "---\n" + backend("deleted") + "---\n" + backend("calm"))
        self.await_address([self.hub], "deleted", "198.51.100.1")
        self.await_address([self.hub], "calm", "198.51.100.1")
        calm = self.calm([self.hub, berlin])
        # What happens while nobody watches is not in the server's memory any more, nor in etcd's history.
        berlin.signal(signal.SIGSTOP)
        berlin.put(backend("changed", "198.51.100.9:80") + "---\n" + backend("created"))
        berlin.edgectl("delete", "ProxyBackend", "deleted")
        berlin.api.forget_history()
        berlin.signal(signal.SIGCONT)
        self.await_address([self.hub], "changed", "198.51.100.9")
        self.await_address([self.hub], "created", "198.51.100.1")
        self.await_gone([self.hub], "deleted")
        # The server is away while the hub goes on.
        berlin.api.end("kube-apiserver", signal.SIGKILL)
        self.hub.put(backend("late") + "---\n" + backend("calm2"))
        self.hub.edgectl("delete", "ProxyBackend", "created")
        self.hub.wait_for(lambda: self.hub.version("late") is not None, "a version of late")
        berlin.api.start_server()
        self.await_address([berlin], "late", "198.51.100.1")
        berlin.wait_for(lambda: berlin.find("ProxyBackend", "calm2") is not None, "calm2")
        # Deletions of what the spoke made are the hub's to make.
        self.await_gone([self.hub, berlin], "created")
        self.assertEqual(self.calm([self.hub, berlin]), calm)
        self.assertEqual(self.hub.names("ProxyBackend"), berlin.names("ProxyBackend"))

    def test_others_write_the_same_objects_all_the_time(self):
        berlin = self.spoke("berlin")
        self.hub.put(backend("cart"))
        self.await_address([berlin], "cart", "198.51.100.1")
        ends = threading.Event()
        written = [0]

        def write():
            """Each write makes the resourceVersion another, that federation's own write names."""
            while not ends.is_set():
                condition = {"type": "Other", "status": "True", "reason": "R", "message": str(written[0]),
                             "lastTransitionTime": "2026-01-01T00:00:00Z"}
                if berlin.api.ask(BACKENDS + "cart/status", {"status": {"conditions": [condition]}}) is not None:
                    written[0] += 1

        writers = [threading.Thread(target=write) for _ in range(4)]
        for writer in writers:
            writer.start()
        try:
            for number in range(2, 22):
                self.hub.put(backend("cart", f"198.51.100.{number}:80"))
            self.await_address([berlin], "cart", "198.51.100.21")
        finally:
            ends.set()
            for writer in writers:
                writer.join()
        self.assertGreater(written[0], 20)
        self.assertEqual(self.hub.address("cart"), "198.51.100.21")
        for site in (self.hub, berlin):
            self.assertEqual(json.loads(site.edgectl("federation", "conflicts", "-o", "json").stdout), [])
        # Statuses do not travel.
        self.assertNotIn('"Other"', json.dumps(self.hub.find("ProxyBackend", "cart").get("status", {})))

    def test_a_field_that_a_server_prunes_stays_with_the_others(self):
        berlin = self.spoke("berlin", writes={"kinds": KINDS})
        definition = json.loads(berlin.kubectl("get", "crd", "proxybackends.edgeproxy.io", "-o", "json").stdout)
        for version in definition["spec"]["versions"]:
            del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["trailers"]
            version["schema"]["openAPIV3Schema"]["properties"]["spec"].pop("x-kubernetes-validations", None)
        berlin.kubectl("replace", "-f", "-", text=json.dumps(definition))
        newer = backend("cart").replace("spec: {", "spec: {trailers: [X-Late], ")
        berlin.wait_for(lambda: "unknown field" in berlin.kubectl(
            "create", "--dry-run=server", "--validate=strict", "-f", "-", text=newer, check=False).stderr,
            "the older definition to be in force")
        self.hub.put(newer)
        self.await_address([berlin], "cart", "198.51.100.1")
        self.assertNotIn("trailers", berlin.find("ProxyBackend", "cart")["spec"])
        berlin.kubectl("patch", "proxybackend", "cart", "--type", "merge", "-p",
                       json.dumps({"spec": {"endpoints": [{"address": "198.51.100.7:80"}]}}))
        self.await_address([self.hub], "cart", "198.51.100.7")
        self.assertEqual(self.hub.find("ProxyBackend", "cart")["spec"]["trailers"], ["X-Late"])

    # Two controllers, of which one leads.

    def test_a_hub_whose_leader_is_killed_loses_nothing_and_does_nothing_twice(self):
        self.hub.stop()
        self.hub = first = self.site("first", more=self.shared("hub"))
        second = self.second(first, "second")
        link = Balancer([first.port, second.port])
        berlin = self.spoke_of(link.port, "berlin", self.embedded)
        self.await_synced("berlin")
        first.put("---\n".join(backend(name) for name in ("cart", "search", "calm", "twice")))
        berlin.put(backend("own"))
        self.await_address([berlin], "twice", "198.51.100.1")
        self.await_address([first], "own", "198.51.100.1")
        self.assertNotEqual(second.edgectl("federation", "status", check=False).returncode, 0)
        calm = self.calm([first, berlin])
        first.kill()
        # Nobody leads: what happens now is nobody's to see.
        second.put(backend("cart", "198.51.100.2:80") + "---\n" + backend("new"))
        second.edgectl("delete", "ProxyBackend", "search")
        berlin.put(backend("own", "198.51.100.3:80"))
        self.hub = second
        second.wait_for(second.leads, "the second controller to lead")
        self.await_synced("berlin")
        self.await_address([berlin], "cart", "198.51.100.2")
        self.await_address([berlin], "new", "198.51.100.1")
        self.await_gone([berlin, second], "search")
        self.await_address([second], "own", "198.51.100.3")
        for site in (second, berlin):
            self.assertEqual(json.loads(site.edgectl("federation", "conflicts", "-o", "json").stdout), [])
        self.assertEqual(self.calm([second, berlin]), calm)
        # The one that led before comes back, and stands by; then it is its turn again.
        first.start()
        second.stop()
        self.hub = first
        first.wait_for(first.leads, "the first controller to lead again")
        first.edgectl("delete", "ProxyBackend", "twice")
        self.await_gone([berlin], "twice")
        self.await_synced("berlin")
        self.assertEqual(self.calm([first, berlin]), calm)
        self.assertEqual(first.names("ProxyBackend"), {"cart", "calm", "new", "own"})
        self.assertEqual(berlin.names("ProxyBackend"), {"cart", "calm", "new", "own"})

    def test_a_spoke_whose_leader_is_killed_comes_back_by_what_it_shares(self):
        self.hub.stop()
        self.hub = self.embedded("center")
        join = os.path.join(self.folder, "berlin.join")
        self.hub.edgectl("cluster", "add", "berlin", "--hub", f"127.0.0.1:{self.hub.port}", "--out", join)
        self.federate("berlin")
        more = ["--hub-join", join, "--hub-federation", ",".join(KINDS), *self.shared("berlin")]
        first = self.site("berlin-1", more=more)
        self.await_synced("berlin")
        second = self.second(first, "berlin-2")
        first.put(backend("cart") + "---\n" + backend("search") + "---\n" + backend("calm"))
        self.await_address([self.hub], "calm", "198.51.100.1")
        self.await_address([self.hub], "search", "198.51.100.1")
        calm = self.calm([self.hub, first])
        first.kill()
        second.put(backend("cart", "198.51.100.2:80"))
        second.edgectl("delete", "ProxyBackend", "search")
        second.wait_for(second.leads, "the second controller to lead")
        self.hub.await_phase("berlin", "Connected")
        self.await_address([self.hub], "cart", "198.51.100.2")
        self.await_gone([self.hub], "search")
        self.assertEqual(self.calm([self.hub, second]), calm)
        self.assertEqual(json.loads(self.hub.edgectl("federation", "conflicts", "-o", "json").stdout), [])

    def test_a_cluster_is_revoked_by_whichever_controller_is_asked(self):
        self.hub.stop()
        self.hub = first = self.site("first", more=["--leader-elect"])
        second = self.second(first, "second")
        link = Balancer([first.port, second.port])
        berlin = self.spoke_of(link.port, "berlin", self.embedded)
        first.await_phase("berlin", "Connected")
        # Agents too, by an object that each of them makes or changes.
        for site, agent in ((first, "edge-1"), (second, "edge-2")):
            site.edgectl("agents", "revoke", agent)
        told = first.kubectl("-n", "edge-system", "get", "configmap", "edge-revoked-agents", "-o", "jsonpath={.data.revoked}").stdout
        self.assertEqual([line.split()[0] for line in told.splitlines()], ["edge-1", "edge-2"])
        # A join file that was used is of no use, whoever asks: the status has it.
        self.assertRegex(first.status("berlin")["certificateKey"], "^[0-9a-f]{64}$")
        second.edgectl("cluster", "revoke", "berlin")
        first.await_phase("berlin", "Failed")
        self.assertEqual(first.reason("berlin"), "CertificateRefused")
        # Nor does it come back by one that was not there then, with nothing kept.
        first.kill()
        second.kill()
        shutil.rmtree(os.path.join(second.data, "agents"))
        second.start()
        self.hub = second
        second.wait_for(second.leads, "the second controller to lead")
        second.await_phase("berlin", "Failed")
        self.assertFalse(berlin.hub_connected())
        # The file that it was started with is another now.
        second.edgectl("cluster", "token", "berlin", "--out", os.path.join(self.folder, "berlin.join"))
        second.await_phase("berlin", "Connected")


if __name__ == "__main__":
    if kubernetes_site.programs() is None or shutil.which("kubectl") is None or shutil.which("openssl") is None:
        print("federation_kubernetes_test: skipped: no API server (script/cluster-bed --build), kubectl or openssl")
        sys.exit(kubernetes_site.SKIPPED)
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    chosen = sys.argv[2:] or [f"{case.__name__}.{name}" for case, names in
                              ((KubernetesCommandsTest, vars(Commands)), (KubernetesFederationTest, dir(KubernetesFederationTest)))
                              for name in names if name.startswith("test_")]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
