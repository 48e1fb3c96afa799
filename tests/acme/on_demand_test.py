#!/usr/bin/env python3
"""Certificates on demand, with a scripted CA (scripted_ca.py): edge-standalone, an ask-URL, and clients that verify.
`on_demand_test.py BIN_DIR [CASE...]`"""
import hashlib
import http.server
import pathlib
import socket
import ssl
import sys
import threading

from authorities import free_port, shown, wait_for
from world import World, shifted


class Asked(http.server.BaseHTTPRequestHandler):
    """An ask-URL: says yes to names that begin with `yes`, nothing to those that begin with `slow`, until it is let."""
    log, slow = [], threading.Event()

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.log.append(self.path)
        name = self.path.rsplit("domain=", 1)[-1]
        if name.startswith("slow"):
            self.slow.wait(60)
        self.send_response(200 if name.startswith("yes") else 403)
        self.send_header("Content-Length", "0")
        self.end_headers()


def refused(world, host):
    """Whether a handshake for the host is refused by the alert."""
    try:
        shown(world.trusting(), world.tls_port, host)
    except ssl.SSLError as error:
        assert "unrecognized name" in str(error), error
        return True
    return False


def on_demand(binaries):
    """A name of the allow-list gets its certificate when the first client asks for it, whose handshake waits meanwhile; others cost
    no order. The names outlive a restart, at most as many as may be."""
    acme = ('{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01],'
            ' onDemand: {allow: ["*.example.test", other.test], maxNames: 2}}')
    with World(binaries, [], acme=acme) as world:
        world.start()
        wait_for("the port", lambda: socket.create_connection(("127.0.0.1", world.tls_port), timeout=5))
        assert refused(world, "stranger.test") and not world.orders(), world.orders()
        world.certificate("a.example.test")
        world.certificate("b.example.test")
        # A third one, and a stranger's, are refused without an order.
        assert refused(world, "c.example.test") and refused(world, "stranger.test")
        wait_for("the limit", lambda: world.metric('edge_acme_on_demand_decisions_total{result="limited"}') == 1)
        assert world.metric("edge_acme_on_demand_names") == 2
        assert world.metric('edge_acme_on_demand_decisions_total{result="added"}') == 2
        assert sorted(world.orders()) == ["order a.example.test", "order b.example.test"], world.orders()
        row = wait_for("a row of the listener", lambda: world.rows().get(""))
        assert (row["state"], row["listener"]) == ("Refusing", "web/https") and "maxNames" in row["fault"], row
        wait_for("an event", lambda: "CertificatesOnDemandFail" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        world.kill()
        world.start()
        for host in ("a.example.test", "b.example.test"):
            world.certificate(host)
        assert len(world.orders()) == 2, world.orders()
        # A name that is not allowed any more is not served any more: as by a start from nothing.
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace('"*.example.test"', "b.example.test"))
        wait_for("the name to go", lambda: refused(world, "a.example.test"))
        world.certificate("b.example.test")
        # Names that nobody uses are given up by whoever finds them, long before they would be renewed.
        world.kill()
        world.start(environment=shifted(world, 31 * 86400))
        wait_for("no names", lambda: world.metric("edge_acme_on_demand_names") == 0)


def asked_for(binaries):
    """Names that the allow-list does not have are asked for at the ask-URL, once each: yes gives an order, no and no answer give
    none; while it does not answer, handshakes of others go on."""
    Asked.log, Asked.slow = [], threading.Event()
    decider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    decider.daemon_threads = True
    threading.Thread(target=decider.serve_forever, daemon=True).start()
    acme = ('{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01],'
            f' onDemand: {{allow: [listed.test], askURL: "http://127.0.0.1:{decider.server_port}/may?of=shop"}}}}')
    with World(binaries, [], acme=acme) as world:
        world.start()
        world.certificate("listed.test")
        world.certificate("yes.example.test")
        assert refused(world, "no.example.test") and refused(world, "no.example.test")
        assert Asked.log == ["/may?of=shop&domain=yes.example.test", "/may?of=shop&domain=no.example.test"], Asked.log
        slow = [threading.Thread(target=refused, args=(world, f"slow{i}.example.test")) for i in range(6)]
        for thread in slow:
            thread.start()
        wait_for("two questions at once", lambda: len(Asked.log) >= 4)
        for _ in range(20):
            shown(world.trusting(), world.tls_port, "yes.example.test")
        for thread in slow:
            thread.join()
        wait_for("no answers", lambda: world.metric('edge_acme_on_demand_decisions_total{result="unanswered"}') == 6)
        Asked.slow.set()
        assert world.metric('edge_acme_on_demand_decisions_total{result="refused"}') == 1
        wait_for("a row of the listener", lambda: "gives no answer" in world.rows().get("", {}).get("fault", ""))
        assert sorted(world.orders()) == ["order listed.test", "order yes.example.test"], world.orders()
    decider.shutdown()


def knock(port, host, address="127.0.0.1"):
    """A handshake of a client at that address, whether or not it is refused."""
    with socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0)) as connection:
        try:
            ssl._create_unverified_context().wrap_socket(connection, server_hostname=host).close()
        except ssl.SSLError as error:
            assert "unrecognized name" in str(error), error


def many_strangers(binaries):
    """Strangers at one listener use up its questions of the minute, and no other listener's: there the next name is asked for at
    once, though it is one that the first listener had no question left for."""
    Asked.log = []
    decider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    decider.daemon_threads = True
    threading.Thread(target=decider.serve_forever, daemon=True).start()
    acme = ('{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01],'
            f' onDemand: {{askURL: "http://127.0.0.1:{decider.server_port}/may"}}}}')
    other = free_port()
    second = f"""---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: other, namespace: shop}}
spec:
  listeners: [{{name: https, port: {other}, protocol: HTTPS, tls: {{acme: {acme}}}}}]
"""
    decisions = 'edge_acme_on_demand_decisions_total{result="%s"}'
    with World(binaries, [], acme=acme, more=second) as world:
        world.start()
        for port in (world.tls_port, other):
            wait_for("the port", lambda port=port: socket.create_connection(("127.0.0.1", port), timeout=5))
        threads = []

        def decided(result):
            return int(world.metric(decisions % result) or 0)

        def one_more_client():
            """Asks for ten names, and waits until all have been decided. Returns whether some were one too many."""
            before = len(threads)
            for i in range(before, before + 10):
                threads.append(threading.Thread(target=knock, args=(world.tls_port, f"no{i}.example.test", f"127.0.1.{before // 10 + 1}")))
                threads[-1].start()
            wait_for("decisions", lambda: decided("refused") + decided("limited") == len(threads))
            return decided("limited") > 0

        while not one_more_client():
            pass
        assert decided("refused") >= 60, decided("refused")
        limited = decided("limited")
        knock(world.tls_port, "yes.example.test")
        wait_for("the name to be one too many", lambda: decided("limited") == limited + 1)
        assert not any("yes" in line for line in Asked.log), Asked.log
        knock(other, "yes.example.test")
        wait_for("the question", lambda: "/may?domain=yes.example.test" in Asked.log)
        wait_for("its certificate", lambda: shown(world.trusting(), other, "yes.example.test"))
        for thread in threads:
            thread.join()
    decider.shutdown()


def strangers_names(binaries):
    """A Secret of the names' name that somebody else has made is never written: that is said once, and no client is said to get a
    certificate meanwhile. Once it is gone, the name that waits gets its certificate."""
    acme = '{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01], onDemand: {allow: ["*.example.test"]}}'
    secret = "acme-names-" + hashlib.sha256(b"acme:web:https").hexdigest()[:16]
    strangers = f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {secret}, namespace: shop}}\nstringData: {{mine: kept}}\n"
    with World(binaries, [], acme=acme, more=strangers) as world:
        world.start()
        wait_for("a word of it", lambda: f"Secret {secret}: it was made by somebody else" in world.edge_log())
        assert refused(world, "a.example.test") and not world.orders(), world.orders()
        assert "which gets a certificate" not in world.edge_log()
        wait_for("an event", lambda: "made by somebody else" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        assert not world.metric('edge_acme_on_demand_decisions_total{result="added"}')
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace(strangers, ""))
        wait_for("the order", lambda: world.orders() == ["order a.example.test"])
        world.certificate("a.example.test")
        wait_for("the count", lambda: world.metric('edge_acme_on_demand_decisions_total{result="added"}') == 1)
        log = world.edge_log()
        assert log.count("it was made by somebody else") == 1 and f"Secret {secret}: works again" in log, log


CASES = {"strangers-names": strangers_names, "on-demand": on_demand, "asked-for": asked_for, "many-strangers": many_strangers}


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or CASES:
        CASES[name](binaries)
        print(f"on_demand_test: {name}: {' '.join(CASES[name].__doc__.split())}", flush=True)


main()
