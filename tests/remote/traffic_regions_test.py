#!/usr/bin/env python3
"""Where requests go between clusters, and what is seen of it, as processes: own zone, own region, others; by load; without
the hub; bytes of TCP; a cluster that is revoked while connections are open; traces, metrics, access log.

    traffic_regions_test.py BIN_DIR [TEST...]
"""
import concurrent.futures
import json
import os
import re
import socket
import socketserver
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clusters_test
import traffic_test
from clusters_test import PATIENCE, free_port
from traffic_test import GROUP

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
API = {"name": "api", "port": 80}
GROUP_OF_API = r"shop +api +Closed"
traffic_test.Site.otlp = "127.0.0.1:0"


class Lines:
    """A server of bytes: each line back with its name."""

    def __init__(self, name):
        served = self
        self.open = 0

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                served.open += 1
                try:
                    for line in self.rfile:
                        self.wfile.write(name.encode() + b":" + line)
                    self.wfile.write(b"end\n")
                except OSError:
                    pass
                finally:
                    served.open -= 1

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class RegionsTest(traffic_test.TrafficTest):
    """The set-up of traffic_test.py; its tests are run there."""

    def zones(self, site, upstreams):
        """Puts each of the Service's endpoints into a zone."""
        for i, (upstream, zone) in enumerate(upstreams):
            site.apply(f"""apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: api-{i}, namespace: shop, labels: {{kubernetes.io/service-name: api}}}}
addressType: IPv4
ports: [{{name: http, port: {upstream.port}, protocol: TCP}}]
endpoints: [{{addresses: [127.0.0.1], zone: {zone}, hints: {{forZones: [{{name: {zone}}}]}}}}]
""")

    def controller(self):
        """Waits for the hub's controller: who adds a cluster asks it."""
        self.hub.wait_for(lambda: self.hub.edgectl("agents", "list", check=False).returncode == 0, "the hub's controller")

    def join_in(self, name, region, more=()):
        self.controller()
        file = os.path.join(self.folder, name + ".join")
        self.hub.edgectl("cluster", "add", name, "--hub", f"127.0.0.1:{self.hub.port}", "--out", file)
        self.hub.edgectl("patch", "remotecluster", name, "--type", "merge", "-p",
                         json.dumps({"spec": {"exportNamespaces": ["shop"], "region": region}}))
        return self.site(name, more=["--hub-join", file, *more])

    def metric(self, site, text):
        """The value of the first sample that begins so; None: there is none."""
        lines = site.metric(text)
        return float(lines[0].rsplit(" ", 1)[1]) if lines else None

    def test_zone_then_region_then_others_and_back_with_and_without_the_hub(self):
        # One of four that is lost leaves enough of the own ones.
        near, far = self.upstream("paris-near"), [self.upstream("paris-far") for _ in range(3)]
        same, other = self.upstream("berlin"), self.upstream("oslo")
        # The clusters of both are of one priority: which of them comes first is for the region to say.
        paris = self.join_in("paris", "eu", more=["--label", f"{ZONE}=z1", "--label", f"{REGION}=eu"])
        berlin, oslo = self.join_in("berlin", "eu"), self.join_in("oslo", "us")
        for site, upstream in ((berlin, same), (oslo, other)):
            site.serve([upstream], [{"cluster": "paris", **API}])
        paris.serve([near, *far], [{"cluster": "berlin", **API}, {"cluster": "oslo", **API}])
        self.zones(paris, [(near, "z1"), *((one, "z2") for one in far)])
        order = [("paris-near", [near]), ("paris-far", far), ("berlin", [same]), ("oslo", [other])]

        def down_and_up():
            for i, (name, upstreams) in enumerate(order[:-1]):
                paris.await_names(lambda seen, name=name: seen == {name: 20}, f"{name} takes all")
                for one in upstreams:
                    one.healthy = False
                following = order[i + 1][0]
                paris.await_names(lambda seen, name=following: seen == {name: 20}, f"{following} after {name}")
            for i in reversed(range(len(order) - 1)):
                name, upstreams = order[i]
                for one in upstreams:
                    one.healthy = True
                paris.await_names(lambda seen, name=name: seen == {name: 20}, f"{name} again")
                # It does not swing back: of a hundred more none goes elsewhere.
                self.assertEqual(paris.names(100), {name: 100})

        down_and_up()
        self.hub.kill()
        down_and_up()
        for site in (paris, berlin, oslo):
            site.stop()
            site.start()
        down_and_up()

    def test_half_of_the_endpoints_share_with_the_other_cluster_and_load_spills(self):
        own = [self.upstream(f"hub-{letter}") for letter in "ab"]
        far = self.upstream("berlin-a")
        berlin = self.join_in("berlin", "eu")
        berlin.serve([far], [{"cluster": "hub", **API}])
        self.hub.serve(own, [{"cluster": "berlin", **API}], failover="failover: {maxRequestsPerEndpoint: 4}")
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own")
        # One of two is 71% of what is needed: 29 of a hundred go elsewhere.
        own[0].healthy = False
        self.hub.wait_for(lambda: 0.25 < (self.metric(self.hub, 'edge_cluster_share{backend="shop/api",cluster="berlin"}')
                                          or 0) < 0.33, "a share of 29%")
        seen = self.hub.names(200)
        self.assertEqual(set(seen), {"hub-b", "berlin-a"})
        self.assertTrue(40 <= seen["berlin-a"] <= 76, seen)
        own[0].healthy = True
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own again")
        # Load: each own endpoint has as many requests under way as it may, until requests go elsewhere.
        for one in own:
            one.gate.clear()
        before = far.hits
        with concurrent.futures.ThreadPoolExecutor(48) as pool:
            held = []
            def spilled():
                if len(held) < 40:
                    held.append(pool.submit(self.hub.request, "GET", "/hold"))
                return far.hits > before
            self.hub.wait_for(spilled, "requests over the bound of load go elsewhere")
            for one in own:
                one.gate.set()
            for answer in held:
                self.assertEqual(answer.result()[0], 200)
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own, with the load gone")

    def test_what_is_seen(self):
        own, far = self.upstream("hub-a"), self.upstream("berlin-a")
        logs = {name: os.path.join(self.folder, name + ".access") for name in ("hub", "berlin")}
        self.hub.stop()
        self.hub.more += ["--access-log", logs["hub"]]
        self.hub.start()
        self.controller()
        file = os.path.join(self.folder, "berlin.join")
        self.hub.edgectl("cluster", "add", "berlin", "--hub", f"127.0.0.1:{self.hub.port}", "--out", file)
        self.hub.edgectl("patch", "remotecluster", "berlin", "--type", "merge", "-p",
                         json.dumps({"spec": {"exportNamespaces": ["shop"], "region": "eu"}}))
        berlin = self.site("berlin", more=["--hub-join", file, "--hub-reads", "traces", "--access-log", logs["berlin"]])
        berlin.serve([far], [{"cluster": "hub", **API}])
        self.hub.serve([own], [{"cluster": "berlin", **API, "priority": 3}])
        for site, gateway, space in ((self.hub, "web", "shop"), (berlin, "clusters", "edge-system")):
            site.edgectl("patch", "gateway", gateway, "-n", space, "--type", "merge", "-p", json.dumps(
                {"spec": {"tracing": {"enabled": True}, "accessLog": {"enabled": True}}}))
        own.healthy = False
        self.hub.await_names(lambda seen: seen == {"berlin-a": 20}, "the other cluster")

        # Metrics: what it has been sent, and its share.
        sent = 'edge_cluster_tries_total{backend="shop/api",cluster="berlin",outcome="success"}'
        self.hub.wait_for(lambda: (self.metric(self.hub, sent) or 0) >= 20, "tries are counted by cluster")
        self.assertEqual(self.metric(self.hub, 'edge_cluster_share{backend="shop/api",cluster="berlin"}'), 1)
        self.assertEqual(self.metric(self.hub, 'edge_cluster_share{backend="shop/api"}'), 0)

        # One trace, of which each cluster has its spans.
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        def traced():
            self.hub.request(headers={"Host": "shop.example", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
            done = self.hub.edgectl("trace", "get", trace, "--cluster", "berlin", "-o", "json", check=False)
            self.shown = done.stdout + done.stderr
            return done.returncode == 0 and "edge-system/clusters" in done.stdout and "shop/web" in done.stdout
        try:
            self.hub.wait_for(traced, "a trace with spans of both clusters")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.shown}") from error
        self.assertRegex(self.shown, r'"edge\.cluster"')
        self.assertEqual(far.last["traceparent"].split("-")[1], trace)

        # The access log says where the endpoint is.
        def logged():
            lines = [json.loads(line) for line in open(logs["hub"], encoding="utf-8") if line.startswith("{")]
            return any(line.get("cluster") == "berlin" and line["cluster_priority"] == 3 and
                       line["cluster_region"] == "eu" and line["trace_id"] == trace for line in lines)
        self.hub.wait_for(logged, "a line with the cluster")
        own.healthy = True
        self.hub.await_names(lambda seen: seen == {"hub-a": 20}, "its own")
        last = [json.loads(line) for line in open(logs["hub"], encoding="utf-8") if line.startswith("{")][-1]
        self.assertNotIn("cluster", last)

        shown = self.hub.edgectl("explain", f"http://shop.example:{self.hub.web}/").stdout
        self.assertIn("priority 3: cluster berlin (service/shop/api:80)", shown)
        described = self.hub.edgectl("describe", "backend", "api", "-n", "shop").stdout
        self.assertRegex(described, r"berlin")

        # Where the endpoints of an agent are.
        gate = rf"127\.0\.0\.1:{berlin.gate}"
        table = self.hub.edgectl("agent", "backends", "standalone").stdout
        self.assertRegex(table.splitlines()[0], r"ENDPOINT +CLUSTER +STATE")
        self.assertRegex(table, rf"\n{GROUP_OF_API} .*{gate} +berlin +reserve")
        self.assertRegex(table, rf"\n{GROUP_OF_API} .*127\.0\.0\.1:{own.port} +healthy")
        wide = self.hub.edgectl("agent", "backends", "standalone", "-o", "wide").stdout
        self.assertRegex(wide.splitlines()[0], r"ENDPOINT +ZONE +CLUSTER +PRIORITY +REGION +STATE")
        self.assertRegex(wide, rf"{gate} +berlin +3 +eu +reserve")
        told = json.loads(self.hub.edgectl("agent", "backends", "standalone", "-o", "json").stdout)
        endpoints = next(one["endpoints"] for one in told["backends"] if (one["namespace"], one["name"]) == ("shop", "api"))
        where = [{key: one.get(key) for key in ("cluster", "priority", "region")} for one in endpoints]
        self.assertIn({"cluster": "berlin", "priority": 3, "region": "eu"}, where)
        self.assertIn({"cluster": None, "priority": None, "region": None}, where)
        # As reported to the controller, too.
        described = lambda: self.hub.edgectl("agents", "describe", "standalone").stdout
        try:
            self.hub.wait_for(lambda: re.search(rf"{gate} +berlin +reserve", described()), "the agent's report")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{described()}\n{table}") from error

    def tcp(self, port):
        connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        try:
            connection.sendall(b"hello\n")
            with connection.makefile("rb") as file:
                return connection, file.readline()
        except OSError:
            connection.close()
            raise

    def answers(self, port, line):
        """Whether a line comes back so, over a connection of its own."""
        try:
            connection, answer = self.tcp(port)
            connection.close()
            return answer == line
        except OSError:
            return False

    def bytes_to(self, site, cluster):
        """A TCP listener of a site, for the service of bytes in another cluster; returns its port."""
        port = free_port()
        site.apply(f"""apiVersion: v1
kind: Namespace
metadata: {{name: shop}}
---
apiVersion: {GROUP}
kind: ProxyGateway
metadata: {{name: bytes, namespace: shop}}
spec: {{listeners: [{{name: raw, port: {port}, protocol: TCP}}]}}
---
apiVersion: {GROUP}
kind: ProxyBackend
metadata: {{name: api, namespace: shop}}
spec: {{clusterRefs: [{{cluster: {cluster}, name: api, port: 80}}]}}
---
apiVersion: {GROUP}
kind: ProxyRoute
metadata: {{name: raw, namespace: shop}}
spec: {{parentRefs: [{{name: bytes}}], rules: [{{backendRef: {{name: api}}}}]}}
""")
        site.wait_for(lambda: self.answers(port, cluster.encode() + b":hello\n"), f"bytes from {cluster}")
        return port

    def bytes_between(self):
        """The hub's TCP listener, and berlin's service of bytes; returns berlin, its server, the port at the hub."""
        server = Lines("berlin")
        self.upstreams.append(server)
        berlin = self.join_in("berlin", "eu")
        berlin.serve([server], [{"cluster": "hub", **API}], checks=False)
        return berlin, server, self.bytes_to(self.hub, "berlin")

    def test_bytes_of_tcp_and_a_cluster_that_is_revoked_or_suspended_while_they_flow(self):
        berlin, server, port = self.bytes_between()
        for word, back in (("suspend", "resume"), ("revoke", None)):
            connection, line = self.tcp(port)
            self.assertEqual(line, b"berlin:hello\n")
            self.hub.edgectl("cluster", word, "berlin")
            # Both sides: the client's connection ends, and so does that to the endpoint.
            connection.settimeout(PATIENCE)
            try:
                self.assertEqual(connection.recv(100), b"")
            except ConnectionResetError:
                pass
            connection.close()
            self.hub.wait_for(lambda: server.open == 0, "the endpoint has no connection any more")
            if back is None:
                continue
            self.hub.edgectl("cluster", back, "berlin")

            def again():
                try:
                    one, answer = self.tcp(port)
                    one.close()
                    return answer == b"berlin:hello\n"
                except OSError:
                    return False

            self.hub.wait_for(again, f"bytes again after {back}")
        del berlin

    def test_the_example_of_two_clusters(self):
        own, far, bytes_ = self.upstream("hub"), self.upstream("berlin"), Lines("db")
        self.upstreams.append(bytes_)
        berlin = self.join_in("berlin", "eu")
        web, sql = free_port(), free_port()
        ports = {"15443": berlin.gate, "8080": web, "5432, protocol: TCP": f"{sql}, protocol: TCP",
                 "9100": own.port, "9101": far.port, "9102": bytes_.port}
        for site in (self.hub, berlin):
            with open(f"examples/two-clusters/{site.name}.yaml", encoding="utf-8") as file:
                text = file.read()
            for written, here in ports.items():
                text = text.replace(written, str(here))
            space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n"
            site.apply(space + text)
        self.hub.web = web
        self.hub.await_names(lambda seen: seen == {"hub": 20}, "its own endpoint")
        own.healthy = False
        self.hub.await_names(lambda seen: seen == {"berlin": 20}, "berlin's")

        self.hub.wait_for(lambda: self.answers(sql, b"db:hello\n"), "bytes of the database")

    def test_bytes_of_tcp_without_the_hub(self):
        # The spoke calls the hub's service no more, and berlin's own clients go on: what the hub told is kept.
        server = Lines("paris")
        self.upstreams.append(server)
        paris, berlin = self.join_in("paris", "eu"), self.join_in("berlin", "eu")
        paris.serve([server], [{"cluster": "hub", **API}], checks=False)
        port = self.bytes_to(berlin, "paris")
        connection, line = self.tcp(port)
        self.assertEqual(line, b"paris:hello\n")
        self.hub.kill()
        connection.sendall(b"still\n")
        self.assertEqual(connection.makefile("rb").readline(), b"paris:still\n")
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.makefile("rb").read(), b"end\n", "its other direction goes on to its end")
        connection.close()
        for site in (paris, berlin):
            site.stop()
            site.start()
        berlin.wait_for(lambda: self.answers(port, b"paris:hello\n"), "bytes from paris, after restarts without the hub")


# Those of the set-up's own are run by traffic_test.py.
for inherited in [name for name in dir(traffic_test.TrafficTest) if name.startswith("test_")]:
    setattr(RegionsTest, inherited, None)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        clusters_test.BIN = sys.argv.pop(1)
    unittest.main(verbosity=2)
