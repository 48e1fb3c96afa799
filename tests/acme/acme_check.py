"""Certificates that are ordered from CAs, with real ones: pebble. `acme_check.py BIN_DIR PROGRAMS_DIR [CASE...]`"""
import base64
import contextlib
import http.client
import json
import pathlib
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from authorities import QUIET, NameServer, Pebble, Processes, StepCa, free_port, leaf, shown, wait_for


def standalone(processes, binaries, name, resources, environment, *flags):
    """Starts edge-standalone with these resources; returns its data directory."""
    data = processes.work / f"{name}-data"
    (processes.work / f"{name}.yaml").write_text(resources)
    processes.start(name, binaries / "edge-standalone", "--config", processes.work / f"{name}.yaml", "--data-dir", data,
                    "--api-listen", "127.0.0.1:0", *QUIET, *flags, environment=environment)
    return data


@contextlib.contextmanager
def world(binaries, programs, **settings):
    """A pebble and ports; logs are printed where something fails."""
    with tempfile.TemporaryDirectory() as work:
        processes = Processes(work)
        try:
            http_port, tls_port = free_port(), free_port()
            ca = Pebble(processes, programs, http_port=http_port, tls_port=tls_port, **settings)
            yield processes, ca, http_port, tls_port
        except BaseException:
            for log in sorted(processes.work.glob("*.log")):
                print(f"---- {log.name}", processes.log(log.stem)[-4000:], sep="\n", flush=True)
            raise
        finally:
            processes.end()


def gateway(http_port, tls_port, hosts, acme):
    names = ", ".join(f'"{host}"' for host in hosts)
    return f"""apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: web, namespace: shop}}
spec:
  redirectScheme: {{enabled: true}}
  listeners:
    - {{name: http, port: {http_port}, protocol: HTTP}}
    - name: https
      port: {tls_port}
      protocol: HTTPS
      hostnames: [{names}]
      tls:
        acme: {acme}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: web, namespace: shop}}
spec:
  parentRefs: [{{name: web}}]
  rules:
    - filters:
        - type: RequestRedirect
          requestRedirect: {{hostname: elsewhere.example, statusCode: 302}}
"""


def by_http(binaries, programs):
    """A name is validated in plain HTTP, though everything else of that listener is redirected."""
    with world(binaries, programs) as (processes, ca, http_port, tls_port):
        acme = f"{{email: ops@example.com, directoryURL: \"{ca.directory}\", challenges: [HTTP01]}}"
        standalone(processes, binaries, "edge", gateway(http_port, tls_port, ["a.example.test"], acme),
                   {"SSL_CERT_FILE": str(ca.certificate)})
        certificate = wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "a.example.test"))
        assert ("DNS", "a.example.test") in certificate["subjectAltName"], certificate
        # What is no token of an order under way is redirected as everything else is.
        plain = http.client.HTTPConnection("127.0.0.1", http_port, timeout=10)
        plain.request("GET", "/.well-known/acme-challenge/unknown", headers={"Host": "a.example.test"})
        assert plain.getresponse().status == 301


def by_tls(binaries, programs):
    """Names are validated within TLS (tls-alpn-01) at a listener that has no certificate yet; several of them at once."""
    hosts = [f"n{i}.example.test" for i in range(8)]
    with world(binaries, programs) as (processes, ca, http_port, tls_port):
        acme = f"{{email: ops@example.com, directoryURL: \"{ca.directory}\", challenges: [TLSALPN01]}}"
        standalone(processes, binaries, "edge", gateway(http_port, tls_port, hosts, acme),
                   {"SSL_CERT_FILE": str(ca.certificate)})
        for host in hosts:
            wait_for(f"a certificate for {host}", lambda host=host: shown(ca.trusting(), tls_port, host))
        context = ca.trusting()
        context.set_alpn_protocols(["acme-tls/1"])
        try:
            with socket.create_connection(("127.0.0.1", tls_port), timeout=10) as connection:
                context.wrap_socket(connection, server_hostname=hosts[0])
            raise SystemExit("FAILED: a challenge's protocol was spoken without a challenge")
        except ssl.SSLError:
            pass


def of_two_namespaces(binaries, programs):
    """One name that two namespaces order at once within TLS: one after the other, as there is one answer for it."""
    with world(binaries, programs) as (processes, ca, http_port, tls_port):
        acme = f"{{directoryURL: \"{ca.directory}\", challenges: [TLSALPN01]}}"
        other_port = free_port()
        first = gateway(http_port, tls_port, ["a.example.test"], acme)
        second = gateway(free_port(), other_port, ["a.example.test"], acme).replace("namespace: shop", "namespace: desk")
        standalone(processes, binaries, "edge", first + "---\n" + second, {"SSL_CERT_FILE": str(ca.certificate)})
        serials = {wait_for(f"a certificate at {port}", lambda port=port: shown(ca.trusting(), port, "a.example.test"))["serialNumber"]
                   for port in (tls_port, other_port)}
        assert len(serials) == 2, serials
        assert "was not validated" not in processes.log("edge")


def by_dns(binaries, programs):
    """A wildcard is validated by DNS through the operator's program."""
    with world(binaries, programs) as (processes, ca, http_port, tls_port):
        hook = processes.work / "hook"
        hook.write_text(f"""#!/bin/sh
case $1 in
  present) exec curl -sf -d "{{\\"host\\":\\"$2.\\",\\"value\\":\\"$3\\"}}" http://127.0.0.1:{ca.dns_control}/set-txt ;;
  cleanup) exec curl -sf -d "{{\\"host\\":\\"$2.\\"}}" http://127.0.0.1:{ca.dns_control}/clear-txt ;;
esac
""")
        hook.chmod(0o755)
        issuer = f"""---
apiVersion: edgeproxy.io/v1alpha1
kind: CertificateIssuer
metadata: {{name: by-dns, namespace: shop}}
spec: {{directoryURL: "{ca.directory}", challenges: [DNS01], dns: {{provider: Hook, propagationDelay: 100ms}}}}
"""
        standalone(processes, binaries, "edge", gateway(http_port, tls_port, ["*.example.test"], "{issuer: by-dns}") + issuer,
                   {"SSL_CERT_FILE": str(ca.certificate)}, "--acme-dns-hook", hook)
        certificate = wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "any.example.test"))
        assert certificate["subjectAltName"] == (("DNS", "*.example.test"),), certificate


def on_demand(binaries, programs):
    """A name of which nothing is known before: validated within TLS, and served to the client that asked for it first."""
    with world(binaries, programs) as (processes, ca, http_port, tls_port):
        acme = (f'{{directoryURL: "{ca.directory}", challenges: [TLSALPN01], onDemand: {{allow: ["*.example.test"]}}}}')
        standalone(processes, binaries, "edge", gateway(http_port, tls_port, [], acme), {"SSL_CERT_FILE": str(ca.certificate)})
        found = wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "any.example.test"))
        assert found["subjectAltName"] == (("DNS", "any.example.test"),), found
        try:
            shown(ca.trusting(), tls_port, "stranger.test")
            raise SystemExit("FAILED: a name was served that is not allowed")
        except ssl.SSLError:
            pass


def secret(name, **values):
    data = "".join(f"  {key}: {base64.b64encode(value.encode()).decode()}\n" for key, value in values.items())
    return f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: shop}}\ndata:\n{data}"


def issuer(**spec):
    return (f"---\napiVersion: edgeproxy.io/v1alpha1\nkind: CertificateIssuer\nmetadata: {{name: ours, namespace: shop}}\n"
            f"spec: {json.dumps(spec)}\n")


def by_dynamic_updates(binaries, programs):
    """A name and its wildcard at once, by dynamic updates (RFC 2136) of BIND with a TSIG key; the records go afterwards.
    A wrong key is told, and nothing is ordered by it."""
    with tempfile.TemporaryDirectory() as zone, contextlib.ExitStack() as stack:
        names = NameServer(pathlib.Path(zone), programs, "example.test")
        stack.callback(names.end)
        with world(binaries, programs, dns_server=f"127.0.0.1:{names.port}") as (processes, ca, http_port, tls_port):
            dns = {"provider": "RFC2136", "server": f"127.0.0.1:{names.port}", "zone": "example.test", "keyName": "acme",
                   "keySecret": "tsig", "propagationDelay": "10ms"}
            hosts = ["*.example.test", "example.test"]
            more = issuer(directoryURL=ca.directory, challenges=["DNS01"], dns=dns)
            text = gateway(http_port, tls_port, hosts, "{issuer: ours}") + more + secret("tsig", secret=names.key)
            standalone(processes, binaries, "edge", text, {"SSL_CERT_FILE": str(ca.certificate)})
            for name, host in (("any.example.test", hosts[0]), ("example.test", hosts[1])):
                found = wait_for(f"a certificate for {host}", lambda name=name: shown(ca.trusting(), tls_port, name))
                assert found["subjectAltName"] == (("DNS", host),), found
            wait_for("no record is left", lambda: not names.records("_acme-challenge.example.test"))
            wrong = base64.b64encode(b"another key of as many bytes ...").decode()
            text = gateway(free_port(), free_port(), ["b.example.test"], "{issuer: ours}") + more + secret("tsig", secret=wrong)
            standalone(processes, binaries, "wrong", text, {"SSL_CERT_FILE": str(ca.certificate)})
            wait_for("the refusal", lambda: "nsupdate ended with status" in processes.log("wrong"))


def external_account(binaries, programs):
    """A CA that wants an external account gets it, signed by the MAC key of a Secret; without one, or with another key, the
    reason is told."""
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    with world(binaries, programs, externalAccountBindingRequired=True, externalAccountMACKeys={"kid-1": key}) as (
            processes, ca, http_port, tls_port):
        bound = {"directoryURL": ca.directory, "challenges": ["HTTP01"],
                 "externalAccount": {"keyID": "kid-1", "keySecret": "eab"}}
        environment = {"SSL_CERT_FILE": str(ca.certificate)}
        unbound = {name: value for name, value in bound.items() if name != "externalAccount"}
        other = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        for name, spec, mac, expected in (("without", unbound, key, "wants an external account"),
                                          ("other-key", bound, other, "registering the account")):
            text = gateway(free_port(), free_port(), [f"{name}.example.test"], "{issuer: ours}")
            standalone(processes, binaries, name, text + issuer(**spec) + secret("eab", hmac=mac), environment)
            wait_for(expected, lambda name=name, expected=expected: expected in processes.log(name))
        text = gateway(http_port, tls_port, ["a.example.test"], "{issuer: ours}") + issuer(**bound) + secret("eab", hmac=key)
        standalone(processes, binaries, "edge", text, environment)
        wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "a.example.test"))


def advised(binaries, programs):
    """A certificate is renewed when the CA advises it (RFC 9773), by an order that names the one that it replaces."""
    # Advice counts from a tenth of the lifetime on.
    profiles = {"default": {"description": "short", "validityPeriod": 200}}
    with world(binaries, programs, profiles=profiles) as (processes, ca, http_port, tls_port):
        acme = f"{{directoryURL: \"{ca.directory}\", challenges: [HTTP01]}}"
        environment = {"SSL_CERT_FILE": str(ca.certificate)}
        text = gateway(http_port, tls_port, ["a.example.test"], acme)
        standalone(processes, binaries, "edge", text, environment)
        first = wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "a.example.test"))
        pem = leaf(ca.trusting(), tls_port, "a.example.test")
        ca.advise(pem, "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z")
        # Advice is asked for by who begins to lead.
        processes.running[-1].send_signal(signal.SIGKILL)
        processes.running[-1].wait()
        standalone(processes, binaries, "edge", text, environment)
        wait_for("the renewal", lambda: shown(ca.trusting(), tls_port, "a.example.test")["serialNumber"] != first["serialNumber"])
        assert "is renewed" in processes.log("edge")
        assert "as the CA advises" in processes.log("edge")


class Gate:
    """A port that leads to another one while it is open; closed it ends each connection at once."""

    def __init__(self, target):
        self.target, self.open, self.tries = target, False, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.tries += 1
            threading.Thread(target=self.pass_on if self.open else socket.socket.close, args=(client,), daemon=True).start()

    def pass_on(self, client):
        """One request and its answer, after which the CA's client asks for no other on it."""
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self.target), timeout=10) as server:
            server.sendall(client.recv(65536))
            while data := server.recv(65536):
                client.sendall(data)

    def end(self):
        self.listener.close()


def staging(binaries, programs):
    """A CA with which a name fails is not asked again before a trial at its staging directory has succeeded: which costs the CA no
    order, and whose certificate is never served. After the trial the CA is asked at once; where that fails, another trial comes first."""
    with world(binaries, programs) as (processes, trial, http_port, tls_port), contextlib.ExitStack() as stack:
        gate = Gate(http_port)
        stack.callback(gate.end)
        ca = Pebble(processes, programs, name="production", http_port=gate.port, tls_port=tls_port)
        trusted = processes.work / "trusted.pem"
        trusted.write_bytes(ca.certificate.read_bytes() + trial.certificate.read_bytes())
        text = (gateway(http_port, tls_port, ["a.example.test"], "{issuer: ours}") +
                issuer(directoryURL=ca.directory, stagingURL=trial.directory, challenges=["HTTP01"]))
        shift = processes.work / "shift"
        environment = {"SSL_CERT_FILE": str(trusted), "LD_PRELOAD": str(binaries / "libshifted_clock.so"),
                       "EDGE_SHIFTED_CLOCK": str(shift)}
        served, ends = set(), threading.Event()

        def watch():
            """Takes down whose certificates clients are shown."""
            context = ssl._create_unverified_context()
            while not ends.is_set():
                with contextlib.suppress(OSError):
                    served.add(leaf(context, tls_port, "a.example.test"))
                ends.wait(0.02)

        watching = threading.Thread(target=watch)
        watching.start()
        stack.callback(watching.join)
        stack.callback(ends.set)

        def ordered(directory):
            return processes.log("edge").count(f"is ordered from {directory}")

        def start_at(minutes):
            """By a clock that is ahead; who begins to lead looks at once."""
            if (processes.work / "edge.log").exists():
                processes.running[-1].send_signal(signal.SIGKILL)
                processes.running[-1].wait()
            shift.write_text(str(minutes * 60))
            standalone(processes, binaries, "edge", text, environment)

        def failures():
            return processes.log("edge").count("the name was not validated")

        start_at(0)
        wait_for("the first failure", lambda: failures() == 1)
        start_at(7)
        wait_for("the second failure", lambda: failures() == 2)
        assert (ordered(ca.directory), ordered(trial.directory)) == (2, 0), processes.log("edge")
        # After two failures: a trial, and then the CA at once.
        start_at(20)
        wait_for("the third failure", lambda: failures() == 3)
        assert (ordered(ca.directory), ordered(trial.directory)) == (3, 1), processes.log("edge")
        assert "a trial at the staging directory has succeeded" in processes.log("edge")
        gate.open = True
        start_at(50)
        found = wait_for("a certificate", lambda: shown(ca.trusting(), tls_port, "a.example.test"))
        assert found["subjectAltName"] == (("DNS", "a.example.test"),), found
        assert (ordered(ca.directory), ordered(trial.directory)) == (4, 2), processes.log("edge")
        pem = leaf(ca.trusting(), tls_port, "a.example.test")
        wait_for("the watch to see it", lambda: served)
        assert served == {pem}, served
        assert gate.tries >= 4, gate.tries


def preferred_chain(binaries, programs):
    """Of several chains that a CA offers the one of the preferred issuer is served."""
    environment = {"PEBBLE_ALTERNATE_ROOTS": "2", "PEBBLE_CHAIN_LENGTH": "2"}
    with world(binaries, programs, environment=environment) as (processes, ca, http_port, tls_port):
        root = ca.root(2)
        name = subprocess.run(["openssl", "x509", "-noout", "-subject", "-nameopt", "multiline"], input=root, check=True,
                              capture_output=True).stdout.decode().split("= ")[-1].strip()
        more = issuer(directoryURL=ca.directory, challenges=["HTTP01"], preferredChain=name)
        standalone(processes, binaries, "edge", gateway(http_port, tls_port, ["a.example.test"], "{issuer: ours}") + more,
                   {"SSL_CERT_FILE": str(ca.certificate)})
        preferred = ssl.create_default_context(cadata=root.decode())
        wait_for("a chain to the preferred root", lambda: shown(preferred, tls_port, "a.example.test"))
        try:
            shown(ca.trusting(), tls_port, "a.example.test")
            raise SystemExit("FAILED: the chain leads to the first root")
        except ssl.SSLError:
            pass


def second_ca(binaries, programs):
    """Another CA than pebble, step-ca: two names by plain HTTP and within TLS."""
    if not (programs / "step-ca").exists():
        print("check-acme: second-ca: skipped: step-ca could not be built", flush=True)
        return "skipped"
    with world(binaries, programs) as (processes, resolver, http_port, tls_port):
        ca = StepCa(processes, programs, http_port=http_port, tls_port=tls_port, resolver=f"127.0.0.1:{resolver.dns}")
        for host, challenge in (("a.example.test", "HTTP01"), ("b.example.test", "TLSALPN01")):
            acme = f'{{directoryURL: "{ca.directory}", challenges: [{challenge}]}}'
            edge = f"edge-{challenge}"
            standalone(processes, binaries, edge, gateway(http_port, tls_port, [host], acme),
                       {"SSL_CERT_FILE": str(ca.root)})
            found = wait_for(f"a certificate by {challenge}", lambda host=host: shown(ca.trusting(), tls_port, host))
            assert found["subjectAltName"] == (("DNS", host),), found
            processes.running[-1].terminate()
            processes.running[-1].wait()


CASES = {"by-http": by_http, "by-tls": by_tls, "of-two-namespaces": of_two_namespaces, "by-dns": by_dns, "by-dynamic-updates": by_dynamic_updates,
         "external-account": external_account, "advised": advised, "preferred-chain": preferred_chain, "staging": staging, "on-demand": on_demand, "second-ca": second_ca}


def main():
    binaries, programs = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    chosen = sys.argv[3:] or CASES
    for name in chosen:
        if CASES[name](binaries, programs) != "skipped":
            print(f"check-acme: {name}: {' '.join(CASES[name].__doc__.split())}", flush=True)


main()
