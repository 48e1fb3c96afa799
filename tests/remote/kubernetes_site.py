"""Clusters of the tests whose API is that of Kubernetes: etcd and kube-apiserver as processes, as script/cluster-bed
builds them, and edge-controllers with the rights of deploy/rbac.
"""
import base64
import ctypes
import hashlib
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
from clusters_test import PATIENCE, free_port  # noqa: E402
from federation_test import Site  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCOUNT = "system:serviceaccount:edge-system:edge-controller"
SKIPPED = 77


def programs():
    """The folder of etcd and kube-apiserver; None: nobody has built them."""
    if "EDGE_BED_PROGRAMS" in os.environ:
        return os.environ["EDGE_BED_PROGRAMS"]
    cache = os.environ.get("EDGE_CLUSTER_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "edge-cluster")
    modules = ROOT / "tests" / "cluster" / "apiserver"
    # As script/cluster-bed names it.
    name = hashlib.sha256(b"".join((modules / file).read_bytes() for file in ("go.mod", "go.sum"))).hexdigest()[:16]
    folder = os.path.join(cache, "plane-" + name)
    return folder if os.path.exists(os.path.join(folder, "kube-apiserver")) else None


def end_with_parent():
    """Whatever becomes of the test, its processes end."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class KubernetesApi:
    """An API server of Kubernetes and its etcd, on loopback. `admin` and `controller` are tokens."""

    def __init__(self, folder):
        self.folder, self.bin = folder, programs()
        self.port, self.etcd_port, self.peer_port = free_port(), free_port(), free_port()
        self.processes = {}
        os.makedirs(folder, mode=0o700)
        self.key, self.certificate = os.path.join(folder, "tls.key"), os.path.join(folder, "tls.crt")
        # In the form of RFC 5915, the only one that the server reads for tokens.
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key], check=True)
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", self.key, "-out", self.certificate, "-days", "2", "-subj",
                        "/CN=api", "-addext", "subjectAltName=IP:127.0.0.1"], check=True)
        self.admin, self.controller = os.urandom(16).hex(), os.urandom(16).hex()
        self.tokens = os.path.join(folder, "tokens.csv")
        with open(self.tokens, "w", encoding="utf-8") as file:
            file.write(f'{self.admin},admin,admin,"system:masters"\n')
            file.write(f'{self.controller},{ACCOUNT},controller,"system:serviceaccounts"\n')
        self.start()

    def spawn(self, name, *arguments):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen([os.path.join(self.bin, name), *arguments], stdout=log, stderr=log,
                                                    preexec_fn=end_with_parent)

    def start(self):
        self.start_etcd()
        self.start_server()

    def start_etcd(self):
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.peer_port}"
        self.spawn("etcd", "--data-dir", os.path.join(self.folder, "etcd"), "--listen-client-urls", client,
                   "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                   "--initial-cluster", "default=" + peer, "--unsafe-no-fsync")

    def start_server(self):
        self.spawn("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.etcd_port}", "--secure-port", str(self.port),
                   "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--tls-cert-file", self.certificate,
                   "--tls-private-key-file", self.key, "--service-cluster-ip-range", "10.96.0.0/16", "--token-auth-file",
                   self.tokens, "--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount",
                   "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", self.key,
                   "--service-account-signing-key-file", self.key, "--endpoint-reconciler-type", "none")
        until = time.monotonic() + 2 * PATIENCE
        while self.ask("/readyz") != "ok":
            if self.processes["kube-apiserver"].poll() is not None or time.monotonic() > until:
                raise AssertionError("the API server does not get ready: " + self.log("kube-apiserver"))
            time.sleep(0.1)
        while self.ask("/api/v1/namespaces/default") is None:
            time.sleep(0.1)

    def log(self, name):
        with open(os.path.join(self.folder, name + ".log"), errors="replace", encoding="utf-8") as file:
            return file.read()[-3000:]

    def ask(self, path, patch=None):
        """None: there is no answer, or a refusal. `patch`: a merge patch."""
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}",
                                         headers={"Authorization": "Bearer " + self.admin})
        if patch is not None:
            request.method, request.data = "PATCH", json.dumps(patch).encode()
            request.add_header("Content-Type", "application/merge-patch+json")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE,
                                        context=ssl.create_default_context(cafile=self.certificate)) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def kubeconfig(self, path, token):
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": self.certificate}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "api",
                  "clusters": [{"name": "api", "cluster": cluster}], "users": [{"name": "user", "user": {"token": token}}],
                  "contexts": [{"name": "api", "context": {"cluster": "api", "user": "user"}}]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.chmod(path, 0o600)

    def forget_history(self):
        """Compacts etcd, and begins the server's watch cache anew: watches from before are answered 410."""
        base = f"http://127.0.0.1:{self.etcd_port}/v3/kv/"

        def call(name, body):
            request = urllib.request.Request(base + name, json.dumps(body).encode())
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        revision = call("range", {"key": base64.b64encode(b"/").decode()})["header"]["revision"]
        call("compaction", {"revision": revision, "physical": True})
        self.end("kube-apiserver", signal.SIGKILL)
        self.start_server()

    def end(self, name, number=signal.SIGTERM):
        process = self.processes[name]
        if process.poll() is None:
            process.send_signal(number)
        process.wait(timeout=PATIENCE)

    def stop(self):
        for name in ("kube-apiserver", "etcd"):
            self.end(name, signal.SIGKILL)


class KubernetesSite(Site):
    """A cluster whose API is that of Kubernetes, and an edge-controller of it. `api`: that of another controller of the
    same cluster. Without `rights` it may not write what is shared."""

    def __init__(self, folder, name, api=None, rights=True, **options):
        self.owns_api = api is None
        self.api = api or KubernetesApi(os.path.join(folder, name + ".api"))
        self.rights = rights
        super().__init__(folder, name, **options)

    def prepare(self):
        self.api.kubeconfig(os.path.join(self.data, "kubeconfig"), self.api.admin)
        self.controller_kubeconfig = os.path.join(self.data, "controller.kubeconfig")
        self.api.kubeconfig(self.controller_kubeconfig, self.api.controller)
        if not self.owns_api:
            return
        for path in ("deploy/crds", "deploy/rbac"):
            self.kubectl("apply", "--server-side", "-f", str(ROOT / path))
        self.kubectl("wait", "--for", "condition=Established", "--timeout", "60s", "crd", "--all")
        if self.rights:
            self.give("federation")

    def give(self, right):
        self.kubectl("apply", "-f", str(ROOT / "deploy/rbac" / right))

    def kubectl(self, *words, text=None, check=True):
        done = subprocess.run(["kubectl", "--kubeconfig", os.path.join(self.data, "kubeconfig"), *words], input=text, text=True,
                              capture_output=True, timeout=2 * PATIENCE, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done

    def start(self):
        if not os.path.exists(os.path.join(self.data, "kubeconfig")):
            self.prepare()
        self.metrics = free_port()
        with open(self.log_path, "ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(
                [os.path.join(clusters_test.BIN, "edge-controller"), "--kubeconfig", self.controller_kubeconfig, "--data-dir",
                 self.data, "--agents-listen", f"127.0.0.1:{self.port}", "--metrics-listen", f"127.0.0.1:{self.metrics}",
                 "--otlp-listen", "off", "--traces-listen", "off", *self.more],
                stdout=log, stderr=log, preexec_fn=end_with_parent)
        self.wait_for(lambda: "agents on port" in self.log(began), self.name + " to be ready")

    def leads(self):
        return any(line.endswith(" 1") for line in self.metric("edge_controller_leader"))

    def stop(self):
        super().stop()
        if self.owns_api:
            self.api.stop()
