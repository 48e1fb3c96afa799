"""Certificates that are ordered from CAs, with real ones: pebble. `acme_check.py BIN_DIR PROGRAMS_DIR [CASE...]`"""
import contextlib
import http.client
import pathlib
import socket
import ssl
import sys
import tempfile

from authorities import QUIET, Pebble, Processes, free_port, shown, wait_for


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


CASES = {"by-http": by_http, "by-tls": by_tls, "by-dns": by_dns}


def main():
    binaries, programs = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    chosen = sys.argv[3:] or CASES
    for name in chosen:
        CASES[name](binaries, programs)
        print(f"check-acme: {name}: {' '.join(CASES[name].__doc__.split())}", flush=True)


main()
