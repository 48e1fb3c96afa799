#!/usr/bin/env python3
"""A hub and its spokes as processes: how they join, what each says of the other, and what becomes of both when one is
killed, stopped, revoked, suspended, or says too much.

    clusters_test.py BIN_DIR [TEST...]
"""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
from ports import free_port  # noqa: E402

BIN = "build/release/bin"
PATIENCE = 60  # seconds for what is to come
INTERVAL, TIMEOUT = 0.5, 2.0  # the heartbeat of these tests
SLACK = 8.0  # seconds for a status to be written and read on a machine that does much else

GATEWAY = """apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: edge, namespace: default}
spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}
"""
ROUTE = """---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: cart, namespace: default}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example]
  rules: [{matches: [{path: {type: PathPrefix, value: /cart}}], backendRefs: [{name: cart}]}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: cart, namespace: default}
spec: {endpoints: [{address: "127.0.0.1:9"}]}
"""
PLANTED = "cGxhbnRlZA=="
SECRET = f"""---
apiVersion: v1
kind: Secret
metadata: {{name: key, namespace: default}}
data: {{planted: {PLANTED}}}
"""


class Cluster:
    """An edge-standalone: resource API, controller and agent of one cluster."""

    otlp = "off"  # where it receives traces

    def __init__(self, folder, name, port=None, more=(), prefix=(), host="127.0.0.1"):
        """`prefix`: words before each command, such as those that enter a network namespace; `host`: where agents and
        clusters reach it."""
        self.prefix, self.host = list(prefix), host
        self.name, self.data, self.port = name, os.path.join(folder, name), port or free_port()
        self.log_path = os.path.join(folder, name + ".log")
        self.more = list(more)
        os.makedirs(self.data, mode=0o700, exist_ok=True)
        self.process = None
        self.start()

    def start(self):
        self.metrics = free_port()
        command = [*self.prefix, os.path.join(BIN, "edge-standalone"), "--data-dir", self.data, "--api-listen", "127.0.0.1:0",
                   "--agents-listen", f"{self.host}:{self.port}", "--metrics-listen", f"127.0.0.1:{self.metrics}",
                   "--health-listen", "127.0.0.1:0", "--otlp-listen", self.otlp, "--traces-listen",
                   "127.0.0.1:0", "--ephemeral-ports", "--threads", "1"]
        with open(self.log_path, "ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(command + self.more, stdout=log, stderr=log)
        # The API answers before the controller does, and the files of the administrator are the controller's.
        self.wait_for(lambda: "\nready program=" in "\n" + self.log(began), self.name + " to be ready")

    def wait_for(self, condition, what, patience=PATIENCE):
        until = time.monotonic() + patience
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} has ended: {self.log()[-2000:]}")
            if time.monotonic() > until:
                raise AssertionError(f"{what} does not come: {self.log()[-3000:]}")
            time.sleep(0.05)

    def log(self, began=0):
        with open(self.log_path, "rb") as file:
            file.seek(began)
            return file.read().decode(errors="replace")

    def edgectl(self, *words, check=True, text=None):
        environment = dict(os.environ, KUBECONFIG=os.path.join(self.data, "kubeconfig"), HOME=self.data)
        done = subprocess.run([*self.prefix, os.path.join(BIN, "edgectl"), *words], env=environment, input=text, text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"edgectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done

    def status(self, cluster):
        done = self.edgectl("get", "remotecluster", cluster, "-o", "json", check=False)
        return json.loads(done.stdout).get("status", {}) if done.returncode == 0 else {}

    def phase(self, cluster):
        return self.status(cluster).get("phase", "")

    def reason(self, cluster):
        return next((c["reason"] for c in self.status(cluster).get("conditions", []) if c["type"] == "Connected"), "")

    def await_phase(self, cluster, phase, patience=PATIENCE):
        self.wait_for(lambda: self.phase(cluster) == phase, f"phase {phase} of {cluster}, now {self.phase(cluster)}",
                      patience)

    def metric(self, name):
        url = f"http://127.0.0.1:{self.metrics}/metrics"
        if self.prefix:
            text = subprocess.run([*self.prefix, "curl", "-sf", url], capture_output=True, text=True, timeout=PATIENCE,
                                  check=True).stdout
        else:
            with urllib.request.urlopen(url, timeout=PATIENCE) as page:
                text = page.read().decode()
        return [line for line in text.splitlines() if line.startswith(name)]

    def hub_connected(self):
        return any(line.endswith(" 1") for line in self.metric("edge_hub_connected"))

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self.kill()


class ClustersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="clusters.")
        self.clusters = []
        self.hub = self.cluster("hub")

    def tearDown(self):
        for cluster in self.clusters:
            cluster.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cluster(self, name, **options):
        made = Cluster(self.folder, name, **options)
        self.clusters.append(made)
        return made

    def add(self, name, address=None, heartbeat=True):
        join = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", address or f"127.0.0.1:{self.hub.port}", "--out", join)
        if heartbeat:
            patch = {"spec": {"heartbeat": {"interval": f"{int(INTERVAL * 1000)}ms", "timeout": f"{int(TIMEOUT)}s"}}}
            self.hub.edgectl("patch", "remotecluster", name, "--type", "merge", "-p", json.dumps(patch))
        return join

    def connected_spoke(self, name):
        spoke = self.cluster(name, more=["--hub-join", self.add(name)])
        self.hub.await_phase(name, "Connected")
        return spoke

    def test_two_spokes_join_and_are_seen(self):
        join = self.add("berlin")
        self.assertEqual(stat.S_IMODE(os.stat(join).st_mode), 0o600)
        self.hub.await_phase("berlin", "Pending")
        spoke = self.cluster("berlin", more=["--hub-join", join])
        self.connected_spoke("paris")
        self.hub.await_phase("berlin", "Connected")
        spoke.edgectl("apply", "-f", "-", text=GATEWAY)
        self.hub.wait_for(lambda: self.hub.status("berlin").get("agents", {}).get("summary") == "1/1",
                          "the agents of berlin")
        status = self.hub.status("berlin")
        self.assertRegex(status["version"], r"^\d+\.\d+\.\d+")
        self.assertRegex(status["program"], r"^[0-9a-f]{64}$")
        self.assertRegex(status["clusterUID"], r"^[0-9a-f]{32}$")
        self.assertNotEqual(status["clusterUID"], self.hub.status("paris")["clusterUID"])
        self.assertTrue(spoke.hub_connected())
        table = self.hub.edgectl("cluster", "list").stdout
        self.assertRegex(table, r"default\s+berlin\s+Connected\s+\S+\s+1/1")
        self.assertIn("edge_remote_cluster_connected", "\n".join(self.hub.metric("edge_remote_cluster")))
        # Its certificate is another than that of the file, and lasts longer.
        kept = open(os.path.join(spoke.data, "hub.pem"), encoding="utf-8").read()
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(spoke.data, "hub.pem")).st_mode), 0o600)
        self.assertNotIn(kept.split("-----BEGIN CERTIFICATE-----")[1].split("-----END")[0],
                         open(join, encoding="utf-8").read())
        # Who has a copy of the file comes too late.
        thief = self.cluster("thief", more=["--hub-join", join])
        thief.wait_for(lambda: "was replaced by a later one" in thief.log(), "the refusal of a used join file")
        self.assertFalse(thief.hub_connected())
        self.assertEqual(self.hub.phase("berlin"), "Connected")

    def test_a_spoke_that_is_killed_or_stopped_is_seen_within_the_timeout(self):
        spoke = self.connected_spoke("berlin")
        uid = self.hub.status("berlin")["clusterUID"]
        spoke.kill()
        self.hub.await_phase("berlin", "Disconnected", patience=TIMEOUT + SLACK)
        spoke.start()
        self.hub.await_phase("berlin", "Connected")
        self.assertEqual(self.hub.status("berlin")["clusterUID"], uid)
        began = time.monotonic()
        spoke.signal(signal.SIGSTOP)
        self.hub.await_phase("berlin", "Disconnected", patience=TIMEOUT + SLACK)
        self.assertGreater(time.monotonic() - began, TIMEOUT - INTERVAL - 0.2)
        self.assertEqual(self.hub.reason("berlin"), "ConnectionLost")
        spoke.signal(signal.SIGCONT)
        self.hub.await_phase("berlin", "Connected")

    def test_a_hub_that_is_away_keeps_nobody_from_serving(self):
        spoke = self.connected_spoke("berlin")
        self.hub.kill()
        spoke.wait_for(lambda: not spoke.hub_connected(), "the loss of the hub")
        # The spoke takes changes of its own, and starts without its hub.
        spoke.edgectl("apply", "-f", "-", text=GATEWAY)
        spoke.wait_for(lambda: "listener http on" in spoke.log(), "a listener of the spoke")
        spoke.kill()
        spoke.start()
        self.assertFalse(spoke.hub_connected())
        self.hub.start()
        # What it knew of before is not new to it.
        self.assertIn(self.hub.phase("berlin"), ("Disconnected", "Connecting", "Connected"))
        self.hub.await_phase("berlin", "Connected")
        # A hub that hangs is given up.
        self.hub.signal(signal.SIGSTOP)
        spoke.wait_for(lambda: not spoke.hub_connected(), "the loss of the hub that hangs", patience=TIMEOUT + SLACK)
        self.hub.signal(signal.SIGCONT)
        self.hub.await_phase("berlin", "Connected")

    def test_a_hub_reads_its_spoke_as_it_is_now(self):
        spoke = self.connected_spoke("berlin")
        spoke.edgectl("apply", "-f", "-", text=GATEWAY + ROUTE + SECRET)
        self.hub.wait_for(lambda: self.hub.edgectl("get", "gateways", "--cluster", "berlin", check=False).returncode == 0
                          and "edge" in self.hub.edgectl("get", "gateways", "--cluster", "berlin").stdout,
                          "the gateway of berlin")
        # The hub has none of its own.
        self.assertNotIn("edge", self.hub.edgectl("get", "gateways").stdout)
        self.assertIn("shop.example", self.hub.edgectl("get", "routes", "--cluster", "berlin").stdout)
        one = json.loads(self.hub.edgectl("get", "route", "cart", "--cluster", "berlin", "-o", "json").stdout)
        self.assertEqual(one["metadata"]["uid"], json.loads(
            spoke.edgectl("get", "route", "cart", "-o", "json").stdout)["metadata"]["uid"])
        missing = self.hub.edgectl("get", "route", "other", "--cluster", "berlin", check=False)
        self.assertEqual((missing.returncode, "NotFound" in missing.stderr), (1, True), missing.stderr)
        described = self.hub.edgectl("describe", "gateway", "edge", "--cluster", "berlin")
        self.assertIn("Listeners", described.stdout.title())
        self.assertEqual(described.stderr, "")
        # Neither Secrets nor anything else, whatever is asked.
        for words in (["get", "secrets"], ["get", "secret", "key", "-o", "yaml"], ["get", "services"]):
            refused = self.hub.edgectl(*words, "--cluster", "berlin", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertNotIn(PLANTED, refused.stdout + refused.stderr)
        self.assertEqual(self.hub.edgectl("get", "routes", "--cluster", "berlin", "-w", check=False).returncode, 2)
        # The program of its agents.
        spoke.wait_for(lambda: "/cart" in self.hub.edgectl("explain", "http://shop.example:8080/cart", "--cluster", "berlin",
                                                           check=False).stdout, "the program of berlin")
        explained = self.hub.edgectl("explain", "http://shop.example:8080/cart", "--cluster", "berlin")
        self.assertIn("ProxyRoute default/cart", explained.stdout)
        with open(os.path.join(self.folder, "new.yaml"), "w", encoding="utf-8") as file:
            file.write(GATEWAY + ROUTE.replace("/cart", "/basket"))
        changed = self.hub.edgectl("diff", file.name, "--cluster", "berlin", check=False)
        self.assertEqual(changed.returncode, 1, changed.stderr)
        self.assertIn("/basket", changed.stdout)
        # Of one that is away nothing is said as if it were fresh.
        spoke.kill()
        self.hub.await_phase("berlin", "Disconnected")
        for words in (["get", "routes"], ["explain", "http://shop.example:8080/cart"]):
            away = self.hub.edgectl(*words, "--cluster", "berlin", check=False)
            self.assertEqual(away.returncode, 3, away.stderr)
            self.assertEqual(away.stdout, "")
            self.assertRegex(away.stderr, r"cluster `berlin` is away; it was last heard at 20\d\d-")
        nobody = self.hub.edgectl("get", "routes", "--cluster", "rome", check=False)
        self.assertEqual(nobody.returncode, 3)
        self.assertIn("is no hub of a cluster `rome`", nobody.stderr)

    def test_a_spoke_may_forbid_that_it_is_read(self):
        spoke = self.cluster("berlin", more=["--hub-join", self.add("berlin"), "--hub-reads", "none"])
        self.hub.await_phase("berlin", "Connected")
        spoke.edgectl("apply", "-f", "-", text=GATEWAY)
        refused = self.hub.edgectl("get", "gateways", "--cluster", "berlin", check=False)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("does not let its hub read it", refused.stderr)

    def test_a_hub_is_ready_without_its_spokes(self):
        self.add("berlin")
        self.hub.edgectl("apply", "-f", "-", text=GATEWAY)
        self.hub.wait_for(lambda: "listener http on" in self.hub.log(), "a listener of the hub")
        self.hub.await_phase("berlin", "Pending")

    def test_a_revoked_spoke_comes_back_by_a_new_file_alone(self):
        spoke = self.connected_spoke("berlin")
        self.hub.edgectl("cluster", "revoke", "berlin")
        self.hub.await_phase("berlin", "Failed")
        self.assertEqual(self.hub.reason("berlin"), "CertificateRefused")
        spoke.wait_for(lambda: "is revoked" in spoke.log(), "the spoke's word of it")
        self.assertFalse(spoke.hub_connected())
        self.hub.edgectl("cluster", "token", "berlin", "--out", os.path.join(self.folder, "berlin.join"))
        # The file that it was started with is another now.
        self.hub.await_phase("berlin", "Connected")

    def test_a_suspended_spoke_is_kept_out(self):
        self.connected_spoke("berlin")
        self.hub.edgectl("cluster", "suspend", "berlin")
        self.hub.await_phase("berlin", "Disconnected")
        self.assertEqual(self.hub.reason("berlin"), "Suspended")
        self.hub.edgectl("cluster", "resume", "berlin")
        self.hub.await_phase("berlin", "Connected")
        self.hub.edgectl("cluster", "remove", "berlin")
        self.assertNotEqual(self.hub.edgectl("get", "remotecluster", "berlin", check=False).returncode, 0)
        self.hub.wait_for(lambda: self.hub.metric("edge_remote_cluster_connected{") == [], "the end of its metrics")

    def test_an_object_at_the_spoke_connects_it(self):
        self.add("berlin")
        spoke = self.cluster("berlin")
        # What `cluster add` wrote at the hub, less what the hub's API added.
        for plural, name in (("secret", "berlin-client"), ("remotecluster", "berlin")):
            made = json.loads(self.hub.edgectl("get", plural, name, "-o", "json").stdout)
            made["metadata"] = {"name": name, "namespace": "default"}
            made.pop("status", None)
            spoke.edgectl("apply", "-f", "-", text=json.dumps(made))
        self.hub.await_phase("berlin", "Connected")
        # Each object tells of the other side.
        spoke.await_phase("berlin", "Connected")
        self.assertNotEqual(spoke.status("berlin")["clusterUID"], self.hub.status("berlin")["clusterUID"])
        # The Secret is worth nothing any more; what came after it is kept.
        spoke.kill()
        spoke.start()
        self.hub.await_phase("berlin", "Connected")
        spoke.await_phase("berlin", "Connected")
        spoke.edgectl("cluster", "suspend", "berlin")
        self.hub.await_phase("berlin", "Disconnected")
        spoke.await_phase("berlin", "Disconnected")
        spoke.edgectl("cluster", "resume", "berlin")
        self.hub.await_phase("berlin", "Connected")
        spoke.edgectl("delete", "remotecluster", "berlin")
        self.hub.await_phase("berlin", "Disconnected")

    def test_a_join_file_of_another_hub_is_of_no_use(self):
        other = self.cluster("other")
        join = os.path.join(self.folder, "wrong.join")
        other.edgectl("cluster", "add", "berlin", "--hub", f"127.0.0.1:{self.hub.port}", "--out", join)
        self.add("berlin")
        spoke = self.cluster("berlin", more=["--hub-join", join])
        spoke.wait_for(lambda: "no connection to hub 127.0.0.1" in spoke.log(), "the spoke's word of it")
        self.assertFalse(spoke.hub_connected())
        self.hub.await_phase("berlin", "Pending")
        # What is no join file at all is told at the start.
        broken = os.path.join(self.folder, "broken.join")
        with open(broken, "w", encoding="utf-8") as file:
            file.write("token: abc\n")
        done = subprocess.run([os.path.join(BIN, "edge-standalone"), "--data-dir", os.path.join(self.folder, "broken"),
                               "--api-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--health-listen",
                               "127.0.0.1:0", "--otlp-listen", "off", "--hub-join", broken], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is no join file of a cluster", done.stderr)

    def test_a_hub_that_is_unreachable_is_called_again(self):
        self.hub.kill()
        port = self.hub.port
        self.hub.start()
        join = self.add("berlin")
        self.hub.kill()
        spoke = self.cluster("berlin", more=["--hub-join", join])
        spoke.edgectl("apply", "-f", "-", text=GATEWAY)
        spoke.wait_for(lambda: "listener http on" in spoke.log(), "a listener of the spoke")
        self.assertFalse(spoke.hub_connected())
        self.hub.start()
        self.assertEqual(self.hub.port, port)
        self.hub.await_phase("berlin", "Connected")


if __name__ == "__main__":
    BIN = sys.argv[1] if len(sys.argv) > 1 else BIN
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
