#!/usr/bin/env python3
"""Traffic between clusters as processes: a hub and two spokes, each with an agent of its own and real upstreams. Own
endpoints first, spill-over and return, a cluster that is away, the hub killed, everything started again without it, and
who is refused.

    traffic_test.py BIN_DIR [TEST...]
"""
import http.client
import http.server
import json
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clusters_test
from clusters_test import PATIENCE, Cluster, free_port

GROUP = "edgeproxy.io/v1alpha1"


class Upstream:
    """A server that says its name, what came, and takes bodies of any length."""

    def __init__(self, name):
        upstream = self
        self.name, self.healthy, self.hits, self.last = name, True, 0, {}
        # Requests for /hold are answered when it is set.
        self.gate = threading.Event()
        self.gate.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                size = 0
                if self.headers.get("Transfer-Encoding", "") == "chunked":
                    while True:
                        length = int(self.rfile.readline(), 16)
                        self.rfile.read(length)
                        self.rfile.readline()
                        if length == 0:
                            break
                        size += length
                else:
                    size = len(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                if self.path == "/health":
                    text = b"well" if upstream.healthy else b"ill"
                    self.send_response(200 if upstream.healthy else 503)
                elif self.path.startswith("/stream"):
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for _ in range(64):
                        self.wfile.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
                    self.wfile.write(b"0\r\n\r\n")
                    return
                else:
                    upstream.hits += 1
                    if self.path == "/hold":
                        upstream.gate.wait(PATIENCE)
                    upstream.last = {name.lower(): value for name, value in self.headers.items()}
                    text = json.dumps({"name": upstream.name, "body": size, "headers": upstream.last}).encode()
                    self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = answer

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Site(Cluster):
    """A cluster with a listener for clients, and one for other clusters."""

    def __init__(self, folder, name, more=()):
        self.web, self.gate = free_port(), free_port()
        super().__init__(folder, name, more=more)

    def start(self):
        popen = subprocess.Popen

        def without_ephemeral(command, **options):
            return popen([word for word in command if word != "--ephemeral-ports"], **options)

        clusters_test.subprocess.Popen = without_ephemeral
        try:
            super().start()
        finally:
            clusters_test.subprocess.Popen = popen

    def apply(self, text):
        self.edgectl("apply", "-f", "-", text=text)

    def serve(self, upstreams, refs, export=True, failover="", checks=True):
        """Service `shop/api` of these upstreams, exported, and a route to it that names other clusters."""
        slices = "".join(f"""---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: api-{i}, namespace: shop, labels: {{kubernetes.io/service-name: api}}}}
addressType: IPv4
ports: [{{name: http, port: {one.port}, protocol: TCP}}]
endpoints: [{{addresses: [127.0.0.1]}}]
""" for i, one in enumerate(upstreams))
        check = "healthCheck: {interval: 200ms, timeout: 150ms, unhealthyThreshold: 2, httpPath: /health}" if checks else ""
        self.apply(f"""apiVersion: v1
kind: Namespace
metadata: {{name: shop}}
---
apiVersion: v1
kind: Service
metadata: {{name: api, namespace: shop}}
spec: {{ports: [{{name: http, port: 80, targetPort: 8080}}]}}
{slices}---
apiVersion: {GROUP}
kind: ProxyGateway
metadata: {{name: web, namespace: shop}}
spec: {{listeners: [{{name: http, port: {self.web}, protocol: HTTP}}]}}
---
apiVersion: {GROUP}
kind: ProxyGateway
metadata: {{name: clusters, namespace: edge-system}}
spec:
  clusters: {{advertise: ["127.0.0.1:{self.gate}"]}}
  listeners: [{{name: clusters, port: {self.gate}, protocol: HTTPS}}]
---
apiVersion: {GROUP}
kind: ProxyBackend
metadata: {{name: api, namespace: shop}}
spec:
  serviceRef: {{name: api, port: 80}}
  {check}
  {failover}
  clusterRefs: {json.dumps(refs)}
---
apiVersion: {GROUP}
kind: ProxyRoute
metadata: {{name: api, namespace: shop}}
spec:
  parentRefs: [{{name: web}}]
  rules: [{{backendRef: {{name: api}}}}]
""")
        if export:
            self.apply("""apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: api, namespace: shop}
""")

    def request(self, method="GET", path="/", body=None, headers=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.web, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=headers or {"Host": "shop.example"},
                               encode_chunked=hasattr(body, "__next__"))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def names(self, count):
        """How many of so many requests each upstream has answered; failures by status."""
        counts = {}
        for _ in range(count):
            try:
                status, body = self.request()
            except OSError as error:
                status, body = type(error).__name__, b""
            name = json.loads(body)["name"] if status == 200 else str(status)
            counts[name] = counts.get(name, 0) + 1
        return counts

    def await_names(self, wanted, what, count=20):
        seen = {}

        def there():
            seen.clear()
            seen.update(self.names(count))
            return wanted(seen)

        try:
            self.wait_for(there, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\nlast answers: {seen}") from error


class TrafficTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="traffic.")
        self.sites, self.upstreams = [], []
        self.hub = self.site("hub")

    def tearDown(self):
        for site in self.sites:
            site.stop()
        for upstream in self.upstreams:
            upstream.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def site(self, name, **options):
        made = Site(self.folder, name, **options)
        self.sites.append(made)
        return made

    def upstream(self, name):
        made = Upstream(name)
        self.upstreams.append(made)
        return made

    def join(self, name):
        self.hub.wait_for(lambda: self.hub.edgectl("agents", "list", check=False).returncode == 0, "the hub's controller")
        file = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", f"127.0.0.1:{self.hub.port}", "--out", file)
        self.hub.edgectl("patch", "remotecluster", name, "--type", "merge", "-p",
                         json.dumps({"spec": {"exportNamespaces": ["shop"]}}))
        return self.site(name, more=["--hub-join", file])

    def two(self, **options):
        """The hub and `berlin`, both with the service; each names the other."""
        own, far = self.upstream("hub-a"), self.upstream("berlin-a")
        berlin = self.join("berlin")
        berlin.serve([far], [{"cluster": "hub", "name": "api", "port": 80}])
        self.hub.serve([own], [{"cluster": "berlin", "name": "api", "port": 80}], **options)
        self.hub.await_names(lambda seen: seen == {"hub-a": 20}, "the own endpoint")
        return berlin, own, far

    def test_own_endpoints_first_spill_and_return(self):
        berlin, own, far = self.two()
        own.healthy = False
        self.hub.await_names(lambda seen: seen == {"berlin-a": 20}, "the other cluster's endpoint")
        self.assertEqual(far.last["host"], "shop.example")
        self.assertEqual(far.last["x-forwarded-for"], "127.0.0.1, 127.0.0.1", "the client, then the hub's agent")
        self.assertNotIn("x-edge-cluster-service", far.last)
        self.assertEqual(far.last["x-edge-cluster-hops"], "1")
        # Bodies both ways, of known length and not.
        status, body = self.hub.request("POST", "/", body=b"y" * 300_000)
        self.assertEqual((status, json.loads(body)["body"]), (200, 300_000))
        status, body = self.hub.request("POST", "/", body=iter([b"z" * 10_000] * 30),
                                        headers={"Host": "a", "Transfer-Encoding": "chunked"})
        self.assertEqual((status, json.loads(body)["body"]), (200, 300_000))
        status, body = self.hub.request(path="/stream")
        self.assertEqual((status, len(body)), (200, 64 * 0x4000))
        own.healthy = True
        self.hub.await_names(lambda seen: seen == {"hub-a": 20}, "the own endpoint again")
        # The other way, over the same.
        far.healthy = False
        berlin.await_names(lambda seen: seen == {"hub-a": 20}, "the hub's endpoint")

    def test_a_part_spills_within_the_threshold(self):
        own = [self.upstream(f"hub-{letter}") for letter in "abcd"]
        far = self.upstream("berlin-a")
        berlin = self.join("berlin")
        berlin.serve([far], [{"cluster": "hub", "name": "api", "port": 80}])
        self.hub.serve(own, [{"cluster": "berlin", "name": "api", "port": 80}], failover="failover: {healthyPercent: 100}")
        self.hub.await_names(lambda seen: len(seen) == 4 and "berlin-a" not in seen, "all four of its own")
        own[0].healthy = False
        self.hub.await_names(lambda seen: len(seen) == 4 and 5 <= seen.get("berlin-a", 0) <= 20, "a quarter elsewhere", 40)
        del berlin

    def test_a_cluster_that_is_away_and_a_hub_that_is_killed(self):
        berlin, own, far = self.two()
        paris_far = self.upstream("paris-a")
        paris = self.join("paris")
        paris.serve([paris_far], [{"cluster": "berlin", "name": "api", "port": 80}])
        paris_far.healthy = False
        paris.await_names(lambda seen: seen == {"berlin-a": 20}, "berlin's endpoint, of which the hub has told")
        self.hub.kill()
        self.assertEqual(paris.names(20), {"berlin-a": 20}, "the hub is away")
        # Everything anew, without the hub.
        for site in (paris, berlin):
            site.stop()
            site.start()
        paris.await_names(lambda seen: seen == {"berlin-a": 20}, "berlin's endpoint, after restarts without the hub")
        # Nobody is left but the own ones.
        berlin.kill()
        paris_far.healthy = True
        paris.await_names(lambda seen: seen == {"paris-a": 20}, "the own endpoint")
        self.hub.start()
        self.hub.await_names(lambda seen: seen == {"hub-a": 20}, "the hub's own endpoint, without berlin")
        del own, far

    def test_who_is_refused(self):
        berlin, own, far = self.two()
        own.healthy = False
        self.hub.await_names(lambda seen: seen == {"berlin-a": 20}, "the other cluster's endpoint")

        def ask(folder_files, service):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            if folder_files:
                context.load_cert_chain(*folder_files)
            connection = http.client.HTTPSConnection("127.0.0.1", berlin.gate, timeout=PATIENCE, context=context)
            try:
                connection.request("GET", "/", headers={"Host": "shop.example", "x-edge-cluster-service": service})
                return connection.getresponse().status
            except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
                return "refused"
            finally:
                connection.close()

        # A stranger without a certificate, with one of its own, and with one of the hub's authority for another role.
        self.assertEqual(ask(None, "service/shop/api:80"), "refused")
        stranger = os.path.join(self.folder, "stranger.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", stranger + ".key", "-out", stranger, "-days", "2", "-subj", "/CN=hub", "-addext",
                        "subjectAltName=URI:edge://cluster/hub"], check=True, capture_output=True)
        self.assertEqual(ask((stranger, stranger + ".key"), "service/shop/api:80"), "refused")
        administrator = os.path.join(self.hub.data, "authority", "admin.pem")
        if os.path.exists(administrator):
            self.assertEqual(ask((administrator,), "service/shop/api:80"), "refused")
        # The hub itself is let in, for what is exported alone.
        with open(os.path.join(self.hub.data, "clusters.json"), encoding="utf-8") as file:
            identity = json.load(file)["identity"]
        hub = os.path.join(self.folder, "hub.pem")
        with open(hub, "w", encoding="utf-8") as file:
            file.write(identity["certificate"] + identity["key"])
        self.assertEqual(ask((hub,), "service/shop/api:80"), 200)
        self.assertEqual(ask((hub,), "service/shop/api:http"), 200)
        for service in ("service/shop/other:80", "service/shop/api:81", "service/default/kubernetes:443", ""):
            self.assertEqual(ask((hub,), service), 404, service)
        # What is exported no longer is served no longer.
        berlin.edgectl("delete", "serviceexport", "api", "-n", "shop")
        self.hub.await_names(lambda seen: seen == {"503": 20}, "nobody, as nothing is exported")
        # Revoked: the certificate that it has still is refused at the next handshake.
        berlin.apply("apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\n"
                     "metadata: {name: api, namespace: shop}\n")
        self.hub.await_names(lambda seen: seen == {"berlin-a": 20}, "the other cluster's endpoint again")
        del far

    def test_a_revoked_cluster_is_let_in_nowhere(self):
        berlin, own, far = self.two()
        far.healthy = False
        berlin.await_names(lambda seen: seen == {"hub-a": 20}, "the hub's endpoint")
        self.hub.edgectl("cluster", "revoke", "berlin")
        berlin.stop()
        berlin.start()
        berlin.await_names(lambda seen: "hub-a" not in seen and "berlin-a" not in seen, "nobody: its certificate is void")
        del own

    def test_a_service_import_of_gateway_api(self):
        far = self.upstream("berlin-a")
        berlin = self.join("berlin")
        berlin.serve([far], [{"cluster": "hub", "name": "api", "port": 80}])
        self.hub.serve([self.upstream("hub-a")], [{"cluster": "berlin", "name": "api", "port": 80}])
        port = free_port()
        self.hub.apply(f"""apiVersion: v1
kind: Namespace
metadata: {{name: paris}}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {{name: api, namespace: shop}}
spec: {{type: ClusterSetIP, ports: [{{port: 80, protocol: TCP}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: edge}}
spec: {{controllerName: edgeproxy.io/proxy}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: imports, namespace: shop}}
spec: {{gatewayClassName: edge, listeners: [{{name: http, port: {port}, protocol: HTTP}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: imports, namespace: shop}}
spec:
  parentRefs: [{{name: imports}}]
  rules: [{{backendRefs: [{{group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80}}]}}]
""")
        self.hub.web = port
        self.hub.await_names(lambda seen: seen == {"hub-a": 20}, "the own Service of the name")
        self.hub.edgectl("delete", "endpointslice", "api-0", "-n", "shop")
        self.hub.await_names(lambda seen: seen == {"berlin-a": 20}, "that of the other cluster")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        clusters_test.BIN = sys.argv.pop(1)
    unittest.main(verbosity=2)
