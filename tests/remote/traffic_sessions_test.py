#!/usr/bin/env python3
"""Clients that stay with an endpoint while a backend has those of other clusters, as processes: sessions by a cookie, and
endpoints by the hash of the client's address. Stable, away, and back.

    traffic_sessions_test.py BIN_DIR [TEST...]
"""
import http.client
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clusters_test
import traffic_test
from clusters_test import PATIENCE
from traffic_test import GROUP

Traffic = traffic_test.TrafficTest
API = {"name": "api", "port": 80}
CLIENTS = [f"127.0.0.{last}" for last in range(2, 42)]


class Client:
    """One that keeps its cookie, as browsers do."""

    def __init__(self, site, address="127.0.0.1"):
        self.site, self.address, self.cookie = site, address, None

    def name(self):
        """Of the endpoint that answers, or the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.site.web, timeout=PATIENCE,
                                                source_address=(self.address, 0))
        try:
            headers = {"Host": "shop.example"}
            if self.cookie:
                headers["Cookie"] = self.cookie
            connection.request("GET", "/", headers=headers)
            answer = connection.getresponse()
            if cookie := answer.getheader("Set-Cookie"):
                self.cookie = cookie.split(";")[0]
            body = answer.read()
            return json.loads(body)["name"] if answer.status == 200 else str(answer.status)
        except (OSError, http.client.HTTPException) as error:
            # Of a cluster that goes while it answers.
            return type(error).__name__
        finally:
            connection.close()

    def names(self, count=20):
        return {self.name() for _ in range(count)}


class SessionsTest(Traffic):
    def three(self, refs, **options):
        """The hub with two endpoints of its own, berlin and paris with one each."""
        self.own = [self.upstream(f"hub-{letter}") for letter in "ab"]
        self.far = {name: self.upstream(name) for name in ("berlin", "paris")}
        self.others = {name: self.join(name) for name in self.far}
        for name, site in self.others.items():
            site.serve([self.far[name]], [{"cluster": "hub", **API}])
        self.hub.serve(self.own, refs, **options)

    def healthy(self, upstreams, is_healthy):
        for one in upstreams:
            one.healthy = is_healthy

    def test_a_session_goes_on_in_the_cluster_where_it_began(self):
        self.three([{"cluster": "berlin", **API}, {"cluster": "paris", **API, "priority": 2}])
        self.hub.apply(f"""apiVersion: {GROUP}
kind: ProxyRoute
metadata: {{name: api, namespace: shop}}
spec:
  parentRefs: [{{name: web}}]
  rules: [{{backendRef: {{name: api}}, sessionPersistence: {{sessionName: cart}}}}]
""")
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own endpoints")
        at_home = Client(self.hub)
        self.hub.wait_for(lambda: at_home.name() and at_home.cookie, "a cookie")
        home = at_home.names()
        self.assertEqual(len(home), 1)
        # Begun while nobody else could serve it.
        self.healthy(self.own, False)
        self.hub.await_names(lambda seen: seen == {"berlin": 20}, "berlin's endpoint")
        abroad = Client(self.hub)
        self.assertEqual(abroad.names(), {"berlin"})
        # Whose endpoint is gone goes elsewhere, too.
        self.assertEqual(at_home.names(), {"berlin"})
        self.healthy(self.own, True)
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own endpoints, for new clients")
        self.assertEqual(abroad.names(), {"berlin"}, "it goes on there")
        # After a restart, and without the hub of the clusters having anything to say: the cookie is all there is.
        kept = abroad.cookie
        self.hub.stop()
        self.hub.start()
        self.hub.await_names(lambda seen: set(seen) == {"hub-a", "hub-b"}, "its own endpoints after a restart")
        self.hub.wait_for(lambda: abroad.names() == {"berlin"} or setattr(abroad, "cookie", kept), "berlin after a restart")
        # Its cluster goes: it is served elsewhere, and stays there.
        self.others["berlin"].kill()
        self.hub.wait_for(lambda: abroad.names() <= {"hub-a", "hub-b"}, "an own endpoint in place of berlin's")
        moved = abroad.names()
        self.assertEqual(len(moved), 1)
        self.others["berlin"].start()
        again = Client(self.hub)

        def is_back():
            again.cookie = kept
            return again.names() == {"berlin"}

        # Who still has the value of before comes back, and who has moved does not.
        self.hub.wait_for(is_back, "berlin, once it is there again")
        self.assertEqual(abroad.names(), moved)
        # A session of a cluster that is revoked leads nowhere else than a new one.
        self.hub.edgectl("cluster", "revoke", "berlin")
        self.hub.wait_for(lambda: again.names() <= {"hub-a", "hub-b"}, "an own endpoint in place of one that is revoked")

    def test_clients_by_ring_hash_are_where_they_were(self):
        self.by_hash("RingHash")

    def test_clients_by_maglev_are_where_they_were(self):
        self.by_hash("Maglev")

    def by_hash(self, policy):
        self.three([{"cluster": "berlin", **API}, {"cluster": "paris", **API}], failover=f"lbPolicy: {policy}")
        clients = [Client(self.hub, address) for address in CLIENTS]

        def where():
            """Of each client; None: of one it is not always the same."""
            seen = [client.names(3) for client in clients]
            return [next(iter(names)) for names in seen] if all(len(names) == 1 for names in seen) else None

        def await_where(wanted, what):
            found = None

            def comes():
                # Health changes between one client and the next: it counts once it is the same twice.
                nonlocal found
                before, found = found, where()
                return found is not None and found == before and wanted(set(found))

            self.hub.wait_for(comes, what)
            return found

        def await_places(places, what):
            self.hub.wait_for(lambda: where() == places, what)

        home = await_where(lambda seen: seen == {"hub-a", "hub-b"}, "its own, each client with one")
        # One of two is gone: 71% stay at the other, and each of those who go stays where it went.
        self.own[0].healthy = False
        part = await_where(lambda seen: "hub-b" in seen and seen & {"berlin", "paris"} and "hub-a" not in seen,
                           "a part elsewhere, each client with one")
        self.assertEqual(where(), part)
        self.healthy(self.own, False)
        away = await_where(lambda seen: seen == {"berlin", "paris"}, "all elsewhere, each client with one")
        # One of those clusters has none: its clients move, the others stay.
        self.far["berlin"].healthy = False
        await_where(lambda seen: seen == {"paris"}, "paris alone")
        self.far["berlin"].healthy = True
        await_places(away, "both again, each client where it was")
        self.own[1].healthy = True
        await_places(part, "a part elsewhere again, the same")
        self.healthy(self.own, True)
        await_places(home, "its own again, each client where it was")


# Those of the set-up's own are run by traffic_test.py.
for inherited in [name for name in dir(Traffic) if name.startswith("test_")]:
    setattr(SessionsTest, inherited, None)
del Traffic

if __name__ == "__main__":
    if len(sys.argv) > 1:
        clusters_test.BIN = sys.argv.pop(1)
    unittest.main(verbosity=2)
