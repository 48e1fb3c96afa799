#!/usr/bin/env python3
"""Certificates that are ordered, with a scripted CA (scripted_ca.py): edge-standalone, from an empty data directory to TLS
with clients that verify. `ordering_test.py BIN_DIR [CASE...]`"""
import collections
import json
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

from authorities import free_port, shown, wait_for
from world import World, shifted


def from_nothing(binaries):
    """From no certificate at all: refused by an alert, then served; nothing but the token's path is answered."""
    with World(binaries, ["a.example.test", "b.example.test"]) as world:
        world.control(fault="slow-issuing", times=2)
        world.start()
        wait_for("the port", lambda: socket.create_connection(("127.0.0.1", world.tls_port), timeout=5))
        assert "DNS" in str(world.certificate("a.example.test")["subjectAltName"])
        world.certificate("b.example.test")
        for host in ("a.example.test", "c.example.test"):
            reply = world.plain(host, "/.well-known/acme-challenge/unknown")
            assert reply.status == 301, reply.status
        try:
            shown(world.trusting(), world.tls_port, "c.example.test")
            raise SystemExit("FAILED: a name without a certificate was shown one")
        except ssl.SSLError as error:
            assert "unrecognized name" in str(error), error
        assert sorted(world.orders()) == ["order a.example.test", "order b.example.test"], world.orders()
        rows = wait_for("both are valid",
                        lambda: (rows := world.rows()) and all(row["state"] == "Valid" for row in rows.values()) and rows)
        assert rows["a.example.test"]["secret"] == "acme.a.example.test", rows
        assert "PRIVATE" not in world.edgectl("get", "certificates", "-A", "-o", "yaml")
        # Nothing of it is begun anew by the next run.
        world.kill()
        world.start()
        world.certificate("a.example.test")
        assert len(world.orders()) == 2, world.orders()
        for line in ("is ordered from", "is there"):
            assert line in world.edge_log(), line


def killed_in_mid_order(binaries):
    """A controller that is killed in mid-order is followed by one that goes on with the same order."""
    with World(binaries, ["a.example.test"]) as world:
        world.control(fault="slow-issuing", times=1)
        world.start()
        wait_for("the order", lambda: any("/finalize/" in line for line in world.ca_log()))
        world.kill()
        world.start()
        world.certificate("a.example.test")
        assert world.orders() == ["order a.example.test"], world.orders()
        assert "is continued" in world.edge_log()


def faults_that_pass(binaries):
    """Nonces that are refused or missing, an order or an account that the CA has forgotten: certificates in the end."""
    for fault, times in (("bad-nonce", 2), ("no-nonce", 1), ("forget-order", 1), ("forget-account", 1)):
        with World(binaries, ["a.example.test"]) as world:
            world.control(fault=fault, times=times)
            world.start()
            world.certificate("a.example.test")


def faults_that_stay(binaries):
    """A CA that lies, limits rates, or answers what is none: told, waited for, and the certificate of before is served."""
    expected = {"rate-limit": "rateLimited", "server-error": "serverInternal", "garbage": "", "huge": "",
                "other-name": "other names", "redirect": "302", "invalid": "not validated"}
    for fault, text in expected.items():
        with World(binaries, ["a.example.test"]) as world:
            world.control(fault=fault, times=-1)
            world.start()
            row = wait_for(f"the fault of {fault}",
                           lambda: (row := world.rows().get("a.example.test")) and row["state"] == "Waiting" and row)
            assert text in row["fault"], (fault, row)
            assert row["nextTry"], row
            assert len(world.orders()) <= 2, world.orders()
            assert f"certificate for a.example.test: " in world.edge_log(), fault


def seen_by_operators(binaries):
    """What became of accounts and orders is told in the conditions of the issuer, in events of the gateway, in metrics and by one
    line of the log, while the CA issues and while it limits rates."""
    issuer = """---
apiVersion: edgeproxy.io/v1alpha1
kind: CertificateIssuer
metadata: {name: ours, namespace: shop}
spec: {email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01]}
"""
    with World(binaries, ["a.example.test"], acme="{issuer: ours}", more=issuer) as world:
        world.start()
        world.certificate("a.example.test")

        def conditions():
            text = world.edgectl("get", "issuer", "ours", "-n", "shop", "-o", "json")
            listed = json.loads(text).get("status", {}).get("conditions", []) if text else []
            return {one["type"]: (one["status"], one["reason"], one["message"]) for one in listed}

        held = wait_for("conditions", lambda: (all := conditions()) and "Issued" in all and all)
        assert held["Accepted"][0] == held["Registered"][0] == held["Issued"][0] == "True", held
        described = world.edgectl("describe", "issuer", "ours", "-n", "shop")
        assert "Registered" in described and "a.example.test" in described, described
        wait_for("an event", lambda: "CertificateIssued" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        until = world.metric('edge_acme_certificate_expiry_timestamp_seconds{namespace="shop",host="a.example.test"}')
        renewal = world.metric('edge_acme_certificate_renewal_timestamp_seconds{namespace="shop",host="a.example.test"}')
        assert 50 * 86400 < renewal - time.time() < until - time.time() <= 90 * 86400, (renewal, until)
        assert world.metric('edge_acme_orders_total{result="issued"}') == 1
        world.control(fault="rate-limit", times=-1)
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace('"a.example.test"', '"a.example.test", "b.example.test"'))
        held = wait_for("the failure", lambda: (all := conditions()) and all["Issued"][0] == "False" and all)
        assert held["Issued"][1] == "RateLimited" and "b.example.test: ordering: rateLimited" in held["Issued"][2], held
        assert held["Registered"][0] == "True", held
        wait_for("an event", lambda: "CertificateFailed" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        assert world.metric('edge_acme_failures_total{kind="rate-limited"}') == 1
        wait_for("the count", lambda: world.metric('edge_acme_certificates{state="failed"}') == 1)
        lines = [line for line in world.edge_log().split("\n") if "rateLimited" in line]
        assert len(lines) == 1, lines


def ca_that_stalls(binaries):
    """A CA that takes requests and does not answer is given up within a bound, told, and keeps no process from its end."""
    with World(binaries, ["a.example.test"]) as world:
        world.control(fault="stall", times=-1)
        world.start()
        row = wait_for("the fault", lambda: (row := world.rows().get("a.example.test")) and row["state"] == "Waiting" and row)
        assert "timeout" in row["fault"], row
        world.edge.terminate()
        assert world.edge.wait(60) == 0


def ca_that_moves(binaries):
    """A CA whose directory names other URLs than before is followed by the next round, with the account that there is."""
    with World(binaries, ["a.example.test"]) as world:
        world.control(paths="/old")
        world.start()
        world.certificate("a.example.test")
        world.control(paths="/new")
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace('"a.example.test"', '"a.example.test", "b.example.test"'))
        wait_for("the fault", lambda: (row := world.rows().get("b.example.test")) and row["state"] == "Waiting" and row)
        # The wait is over for whoever begins with other settings.
        text = (world.work / "edge.yaml").read_text()
        world.control(paths="/new")
        world.edgectl("delete", "secret", "-n", "shop", "-l", "edgeproxy.io/acme=order")
        (world.work / "edge.yaml").write_text(text.replace('"b.example.test"', '"b.example.test", "c.example.test"'))
        world.certificate("c.example.test")
        assert len([line for line in world.ca_log() if line.startswith("new account")]) == 1, world.ca_log()


def hundred_names(binaries):
    """A hundred names of one listener: one order each, at most eight at once; what a limit of the CA refuses is asked for
    once and waits as long as the CA says."""
    hosts = [f"n{i}.example.test" for i in range(100)]
    with World(binaries, hosts) as world:
        world.control(most_orders=60)
        world.start()
        rows = wait_for("all names", lambda: len(rows := world.rows()) == 100 and rows
                        and not [row for row in rows.values() if row["state"] not in ("Valid", "Waiting")] and rows, 400)
        valid = [host for host, row in rows.items() if row["state"] == "Valid"]
        limited = [line for line in world.ca_log() if line.startswith("limited ")]
        assert len(valid) == 60 and len(limited) == len(set(limited)) == 40, (len(valid), len(limited))
        assert sorted(world.orders()) == sorted(f"order {host}" for host in valid)
        most = int(world.ca.ask("/most"))
        assert 1 <= most <= 8, most
        for host in (valid[0], valid[-1]):
            world.certificate(host)


def renewal_under_load(binaries):
    """While a certificate is renewed, clients make handshakes one after the other from eight threads: none fails."""
    acme = '{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01], keyType: EC256}'
    with World(binaries, ["a.example.test"], acme=acme) as world:
        world.start()
        first = world.certificate("a.example.test")["serialNumber"]
        done, faults, serials = threading.Event(), [], collections.Counter()

        def clients():
            context = world.trusting()
            while not done.is_set():
                try:
                    serials[shown(context, world.tls_port, "a.example.test")["serialNumber"]] += 1
                except OSError as fault:
                    faults.append(fault)

        threads = [threading.Thread(target=clients) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            for key in ("EC384", "EC256", "EC384"):
                text = (world.work / "edge.yaml").read_text()
                (world.work / "edge.yaml").write_text(re.sub("keyType: EC[0-9]*", f"keyType: {key}", text))
                known = len(serials)
                wait_for(f"the certificate of {key}", lambda known=known: len(serials) > known)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert not faults, (len(faults), faults[:3])
        assert serials[first] and len(serials) == 4, serials


def stapled(binaries):
    """A certificate with must-staple (RFC 7633) is shown with an OCSP response of its responder from the first handshake on; it
    is kept where the responder is away."""
    with World(binaries, ["a.example.test"]) as world:
        responder = Responder(world)
        responder.start()
        world.start()
        world.certificate("a.example.test")
        assert "Cert Status: good" in responder.status(), responder.status()
        responder.stop()
        world.kill()
        world.start()
        world.certificate("a.example.test")
        assert "Cert Status: good" in responder.status(), responder.status()
        assert len(world.orders()) == 1, world.orders()


def strangers_secret(binaries):
    """A Secret of that name that somebody else has made is served, and never written."""
    with World(binaries, ["a.example.test"]) as world:
        (world.work / "own").mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "5", "-subj", "/CN=mine", "-addext", "subjectAltName=DNS:a.example.test", "-keyout",
                        world.work / "own/tls.key", "-out", world.work / "own/tls.crt"], check=True, stderr=subprocess.DEVNULL)
        import base64
        data = "".join(f"  {name}: {base64.b64encode((world.work / 'own' / name).read_bytes()).decode()}\n"
                       for name in ("tls.crt", "tls.key"))
        with open(world.work / "edge.yaml", "a") as file:
            file.write("---\napiVersion: v1\nkind: Secret\nmetadata: {name: acme.a.example.test, namespace: shop}\n"
                       f"type: kubernetes.io/tls\ndata:\n{data}")
        world.start()
        own = ssl.create_default_context(cafile=str(world.work / "own/tls.crt"))
        wait_for("the own certificate", lambda: shown(own, world.tls_port, "a.example.test"))
        wait_for("a word of it", lambda: "was made by somebody else" in world.edge_log())
        assert not world.orders(), world.orders()


def issuer_and_renewal(binaries):
    """By a CertificateIssuer; another type of key renews at once, without a failed handshake meanwhile, by one more order."""
    issuer = """---
apiVersion: edgeproxy.io/v1alpha1
kind: CertificateIssuer
metadata: {name: ours, namespace: shop}
spec: {email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01], keyType: EC384}
"""
    with World(binaries, ["a.example.test"], acme="{issuer: ours}", more=issuer) as world:
        world.start()
        first = world.certificate("a.example.test")
        text = (world.work / "edge.yaml").read_text().replace("EC384", "RSA2048")
        (world.work / "edge.yaml").write_text(text)
        handshakes = 0

        def renewed():
            nonlocal handshakes
            handshakes += 1
            return shown(world.trusting(), world.tls_port, "a.example.test")["serialNumber"] != first["serialNumber"]

        wait_for("the renewal", renewed)
        assert handshakes > 0 and len(world.orders()) == 2, (handshakes, world.orders())


def conditions_of(world, issuer="ours"):
    text = world.edgectl("get", "issuer", issuer, "-n", "shop", "-o", "json")
    listed = json.loads(text).get("status", {}).get("conditions", []) if text else []
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in listed}


ISSUER = """---
apiVersion: edgeproxy.io/v1alpha1
kind: CertificateIssuer
metadata: {name: ours, namespace: shop}
spec: {email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01]}
"""


def port_of_another(binaries):
    """While another process has the port at which the CA looks, nothing is ordered and the CA is told of no challenge: the name
    waits, which its row, the issuer's condition and an event of the gateway say. Once the port is free there is one order."""
    with World(binaries, ["a.example.test"], acme="{issuer: ours}", more=ISSUER) as world, socket.socket() as stranger:
        stranger.bind(("0.0.0.0", world.http_port))
        stranger.listen()
        world.start()
        row = wait_for("the wait", lambda: (row := world.rows().get("a.example.test")) and row["state"] == "Waiting" and row)
        assert f"listener shop/web http: *:{world.http_port}" in row["fault"] and "in use" in row["fault"], row
        issued = wait_for("the condition", lambda: conditions_of(world).get("Issued"))
        assert issued[:2] == ("False", "ListenerNotReady") and "in use" in issued[2], issued
        wait_for("an event", lambda: "CertificateWaits" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        # A round later it is as it was, and was said once.
        looks = 'edge_api_requests_total{verb="GET",code="4xx"}'  # each asks for the certificate's Secret, which is not there
        looked = wait_for("a look", lambda: world.metric(looks))
        wait_for("two more looks", lambda: world.metric(looks) >= looked + 2)
        assert not world.orders() and not any("/challenge/" in line for line in world.ca_log()), world.ca_log()
        lines = [line for line in world.edge_log().split("\n") if "certificate for a.example.test: " in line]
        assert len(lines) == 1, lines
        stranger.close()
        world.certificate("a.example.test")
        assert world.orders() == ["order a.example.test"], world.orders()
        wait_for("the condition", lambda: conditions_of(world)["Issued"][0] == "True")


def several_cas(binaries):
    """Where the first CA of an issuer does not answer, the next one is asked, by the same name's order; the conditions say which."""
    dead = f"http://127.0.0.1:{free_port()}/dir"
    issuer = ISSUER.replace('directoryURL: "DIRECTORY"', f'directoryURL: "{dead}", alternatives: [{{directoryURL: "DIRECTORY"}}]')
    with World(binaries, ["a.example.test"], acme="{issuer: ours}", more=issuer) as world:
        world.start()
        world.certificate("a.example.test")
        assert world.orders() == ["order a.example.test"], world.orders()
        assert f"a certificate for a.example.test is ordered from {world.directory}" in world.edge_log()
        held = wait_for("conditions", lambda: (all := conditions_of(world)) and all.get("Issued", [""])[0] == "True" and all)
        assert world.directory in held["Registered"][2], held
        assert world.metric('edge_acme_failures_total{kind="unreachable"}') == 1


class Responder:
    """openssl's OCSP responder of the scripted CA, as often as it is wanted."""

    def __init__(self, world):
        self.world, self.port, self.process, self.starts = world, free_port(), None, 0
        world.control(ocsp=f"http://127.0.0.1:{self.port}/")

    def start(self):
        ca = self.world.work / "ca"
        self.process = self.world.processes.start(
            "responder", "openssl", "ocsp", "-index", ca / "index.txt", "-port", str(self.port), "-rsigner", ca / "ca.pem",
            "-rkey", ca / "ca.key", "-CA", ca / "ca.pem", "-ndays", "2")
        self.starts += 1
        # It serves one connection at a time: one that only looks whether it is there would be in the way.
        wait_for("the responder", lambda: self.world.processes.log("responder").count("waiting for OCSP") == self.starts)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def status(self):
        asked = ["openssl", "s_client", "-connect", f"127.0.0.1:{self.world.tls_port}", "-servername", "a.example.test", "-status",
                 "-CAfile", self.world.work / "ca/ca.pem"]
        return subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def revoked(binaries):
    """A certificate that its CA has revoked is replaced at once, by one more order, with an event and in the metrics; the old OCSP
    response is not stapled any more. One that is revoked again is not replaced a second time that day, by another process neither,
    nor by one whose clock was set back."""
    with World(binaries, ["a.example.test"]) as world:
        responder = Responder(world)
        responder.start()
        world.start()
        first = world.certificate("a.example.test")
        wait_for("a staple", lambda: "Cert Status: good" in responder.status())

        def revoke():
            index = world.work / "ca/index.txt"
            index.write_text("".join(
                line if line.startswith("R") else "R\t400101000000Z\t251101000000Z\t" + line.split("\t", 3)[3]
                for line in index.read_text().splitlines(keepends=True)))
            responder.stop()
            responder.start()

        revoke()
        world.kill()
        # The responder is asked anew when half of its response's time is over.
        world.start(environment=shifted(world, 25 * 3600))
        second = wait_for("another certificate", lambda: (
            found := world.certificate("a.example.test"))["serialNumber"] != first["serialNumber"] and found)
        assert len(world.orders()) == 2, world.orders()
        assert "as it is revoked" in world.edge_log()
        assert world.metric("edge_acme_revoked_total") == 1
        wait_for("an event", lambda: "CertificateRevoked" in world.edgectl("describe", "gateway", "web", "-n", "shop"))
        wait_for("a staple", lambda: "Cert Status: good" in responder.status())
        revoke()
        note = "edgeproxy.io/acme-replaced-revoked"

        def replaced_at():
            text = world.edgectl("get", "secret", "acme.a.example.test", "-n", "shop", "-o", "json")
            return int(json.loads(text)["metadata"]["annotations"][note])

        for environment in (shifted(world, 25 * 3600), None):
            world.kill()
            known = world.edge_log().count("it is revoked again")
            world.start(environment=environment)
            world.certificate("a.example.test")
            # A response that cannot be read is fetched anew.
            world.edgectl("patch", "secret", "acme.a.example.test", "-n", "shop", "--type", "merge", "-p",
                          '{"data": {"tls.ocsp-staple": "AAAA"}}')
            wait_for("the answer", lambda known=known: world.edge_log().count("it is revoked again") > known)
            # One line, whose text is not another at the next look.
            assert "it says that the certificate is revoked" not in world.edge_log(), world.edge_log()
        wait_for("a time that has been", lambda: replaced_at() <= time.time())
        assert world.certificate("a.example.test")["serialNumber"] == second["serialNumber"]
        assert len(world.orders()) == 2, world.orders()


def responder_away(binaries):
    """Where the responder of a certificate with must-staple is away, the first one is put to use all the same, and one that renews
    another waits for its response: the other is served until the responder is back."""
    acme = '{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01], keyType: EC256}'
    with World(binaries, ["a.example.test"], acme=acme) as world:
        responder = Responder(world)
        world.start()
        first = world.certificate("a.example.test")
        assert "OCSP response: no response sent" in responder.status(), responder.status()
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace("keyType: EC256", "keyType: EC384"))
        wait_for("the wait", lambda: "its renewal waits for the OCSP response" in world.edge_log())
        assert world.certificate("a.example.test")["serialNumber"] == first["serialNumber"]
        responder.start()
        # Whoever begins to lead looks at once.
        world.kill()
        world.start()
        wait_for("the renewal", lambda: world.certificate("a.example.test")["serialNumber"] != first["serialNumber"])
        assert "Cert Status: good" in responder.status(), responder.status()
        assert len(world.orders()) == 2, world.orders()


def advised(binaries):
    """A renewal that the CA advises (RFC 9773) names the certificate that it replaces; one that cannot be made is due since it was
    first, however often it is looked at."""
    acme = '{email: ops@example.com, directoryURL: "DIRECTORY", challenges: [HTTP01], keyType: EC256}'
    with World(binaries, ["a.example.test"], acme=acme) as world:
        world.control(renew=[1577836800, 1577923200])
        world.start()
        first = world.certificate("a.example.test")
        assert world.orders() == ["order a.example.test"], world.orders()
        world.kill()
        # Advice counts from a day of the lifetime on.
        world.start(environment=shifted(world, 26 * 3600))
        wait_for("the order", lambda: len(world.orders()) == 2)
        # By that clock the next one is a day old, too.
        world.control(renew=[4102444800, 4102531200])
        wait_for("the renewal", lambda: world.certificate("a.example.test")["serialNumber"] != first["serialNumber"])
        assert world.orders() == ["order a.example.test", "order a.example.test replaces"], world.orders()
        assert "as the CA advises" in world.edge_log()
        series = 'edge_acme_certificate_renewal_timestamp_seconds{namespace="shop",host="a.example.test"}'
        wait_for("no renewal is due", lambda: (world.metric(series) or 0) > time.time() + 26 * 3600)
        world.control(fault="rate-limit", times=-1, renew=None)

        def set_key(key):
            text = (world.work / "edge.yaml").read_text()
            (world.work / "edge.yaml").write_text(re.sub("keyType: EC[0-9]*|keyType: RSA[0-9]*", f"keyType: {key}", text))

        set_key("EC384")
        since = wait_for("the failure", lambda: world.metric('edge_acme_failures_total{kind="rate-limited"}') and world.metric(series))
        assert since <= time.time() + 26 * 3600, since
        wait_for("time to pass", lambda: time.time() + 25 * 3600 + 3600 > since + 2)
        text = (world.work / "edge.yaml").read_text()
        (world.work / "edge.yaml").write_text(text.replace('"a.example.test"', '"a.example.test", "b.example.test"'))
        set_key("RSA2048")
        # Both are looked at; of the first one's rate limit the CA is not asked again.
        wait_for("the other failure", lambda: world.metric('edge_acme_failures_total{kind="rate-limited"}') == 2)
        assert world.metric(series) == since, (world.metric(series), since)


def beside_a_ca_that_stalls(binaries):
    """A CA that takes connections and says nothing, for ten names, keeps no name of another CA from its order."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        other = f"""---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: other, namespace: shop}}
spec:
  listeners:
    - name: https
      port: {free_port()}
      protocol: HTTPS
      hostnames: [{", ".join(f"a{i}.example.test" for i in range(10))}]
      tls: {{acme: {{directoryURL: "http://127.0.0.1:{silent.getsockname()[1]}/dir", challenges: [HTTP01]}}}}
"""
        with World(binaries, ["z.example.test"], more=other) as world:
            world.start()
            world.certificate("z.example.test")
            # Nobody has given up on the other one yet, as after half a minute.
            assert "reading the directory" not in world.edge_log(), world.edge_log()


CASES = {"from-nothing": from_nothing, "killed-in-mid-order": killed_in_mid_order, "faults-that-pass": faults_that_pass,
         "faults-that-stay": faults_that_stay, "strangers-secret": strangers_secret,
         "issuer-and-renewal": issuer_and_renewal, "seen-by-operators": seen_by_operators, "ca-that-stalls": ca_that_stalls, "beside-a-ca-that-stalls": beside_a_ca_that_stalls, "ca-that-moves": ca_that_moves,
         "hundred-names": hundred_names, "stapled": stapled, "renewal-under-load": renewal_under_load,
         "port-of-another": port_of_another, "several-cas": several_cas, "revoked": revoked, "responder-away": responder_away, "advised": advised}


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or CASES:
        CASES[name](binaries)
        print(f"ordering_test: {name}: {' '.join(CASES[name].__doc__.split())}", flush=True)


main()
