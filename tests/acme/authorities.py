"""CAs for the tests of certificates: pebble with its DNS server, as processes on ports of their own."""
import base64
import json
import os
import pathlib
import secrets
import socket
import ssl
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from ports import free_port  # noqa: E402

PATIENCE = 120
# Of edge-standalone: no port that another test may have.
QUIET = ("--metrics-listen", "127.0.0.1:0", "--health-listen", "off", "--otlp-listen", "off", "--traces-listen", "off")


def wait_for(what, test, patience=PATIENCE):
    """Returns what `test` returns once that is true."""
    until = time.monotonic() + patience
    fault = None
    while time.monotonic() < until:
        try:
            if found := test():
                return found
        except OSError as error:
            fault = error
        time.sleep(0.05)
    raise SystemExit(f"FAILED: {what}: not within {patience} s ({fault})")


class Processes:
    """Started programs, each with a log; ended by their ids."""

    def __init__(self, work):
        self.work = pathlib.Path(work)
        self.running = []

    def start(self, name, *command, environment=None):
        log = open(self.work / f"{name}.log", "ab")
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log, cwd=self.work,
                                   env={**os.environ, **(environment or {})})
        self.running.append(process)
        return process

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.terminate()
        for process in self.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def log(self, name):
        return (self.work / f"{name}.log").read_text(errors="replace")


class Pebble:
    """One pebble, which finds every name at 127.0.0.1."""

    def __init__(self, processes, programs, name="pebble", http_port=0, tls_port=0, environment=None, dns_server="",
                 **settings):
        self.work = processes.work / name
        self.work.mkdir()
        self.port, self.management = free_port(), free_port()
        self.dns, self.dns_control = free_port(), free_port()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.work / "key.pem", "-out", self.work / "cert.pem"],
                       check=True, stderr=subprocess.DEVNULL)
        configuration = {"listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}",
                         "certificate": str(self.work / "cert.pem"), "privateKey": str(self.work / "key.pem"),
                         "httpPort": http_port, "tlsPort": tls_port, "retryAfter": {"authz": 1, "order": 1},
                         "profiles": {"default": {"description": "test", "validityPeriod": 7776000}}}
        configuration.update(settings)
        (self.work / "config.json").write_text(json.dumps({"pebble": configuration}))
        processes.start(f"{name}-dns", programs / "pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "",
                        "-dnsserver", f"127.0.0.1:{self.dns}", "-management", f"127.0.0.1:{self.dns_control}",
                        "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
        self.process = processes.start(name, programs / "pebble", "-config", self.work / "config.json", "-dnsserver",
                                       dns_server or f"127.0.0.1:{self.dns}",
                                       environment={"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "15",
                                                    **(environment or {})})
        self.directory = f"https://localhost:{self.port}/dir"
        self.context = ssl.create_default_context(cafile=str(self.work / "cert.pem"))
        wait_for(f"{name} answers", lambda: self.get(self.directory))
        (self.work / "root.pem").write_bytes(self.root(0))

    def get(self, url):
        return urllib.request.urlopen(url, context=self.context, timeout=10).read()

    def root(self, number):
        return self.get(f"https://localhost:{self.management}/roots/{number}")

    def advise(self, certificate, start, end):
        """Sets the window in which a certificate (PEM) is to be renewed."""
        advice = json.dumps({"suggestedWindow": {"start": start, "end": end}})
        body = json.dumps({"Certificate": certificate, "ARIResponse": advice}).encode()
        request = urllib.request.Request(f"https://localhost:{self.management}/set-renewal-info/", body)
        urllib.request.urlopen(request, context=self.context, timeout=10).read()

    @property
    def certificate(self):
        return self.work / "cert.pem"

    def trusting(self):
        """A client's settings that accept what this one has issued."""
        return ssl.create_default_context(cafile=str(self.work / "root.pem"))


class StepCa:
    """step-ca with a provisioner of ACME, which finds names by `resolver`."""

    def __init__(self, processes, programs, http_port, tls_port, resolver):
        self.work = processes.work / "step"
        self.work.mkdir()
        self.root, self.port = self.work / "root.pem", free_port()

        def openssl(*words):
            subprocess.run(["openssl", *words], check=True, stderr=subprocess.DEVNULL, cwd=self.work)

        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        openssl("req", "-x509", *key, "-days", "5", "-subj", "/CN=Step Root", "-keyout", "root.key", "-out", "root.pem")
        openssl("req", *key, "-subj", "/CN=Step Intermediate", "-keyout", "ca.key", "-out", "ca.csr")
        (self.work / "ca.ext").write_text("basicConstraints=critical,CA:true,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\n"
                                          "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
        openssl("x509", "-req", "-in", "ca.csr", "-CA", "root.pem", "-CAkey", "root.key", "-set_serial", "2", "-days", "5",
                "-extfile", "ca.ext", "-out", "ca.pem")
        configuration = {"root": str(self.root), "crt": str(self.work / "ca.pem"), "key": str(self.work / "ca.key"),
                         "address": f"127.0.0.1:{self.port}", "dnsNames": ["localhost", "127.0.0.1"],
                         "logger": {"format": "text"}, "db": {"type": "badgerv2", "dataSource": str(self.work / "db")},
                         "authority": {"provisioners": [{"type": "ACME", "name": "acme"}]}}
        (self.work / "ca.json").write_text(json.dumps(configuration))
        processes.start("step-ca", programs / "step-ca", self.work / "ca.json", "--acme-http-port", str(http_port),
                        "--acme-tls-port", str(tls_port), "--resolver", resolver, "--insecure")
        self.directory = f"https://localhost:{self.port}/acme/acme/directory"
        wait_for("step-ca answers", lambda: urllib.request.urlopen(self.directory, context=self.trusting(), timeout=10).read())

    def trusting(self):
        return ssl.create_default_context(cafile=str(self.root))


class ScriptedCa:
    """scripted_ca.py as a process."""

    def __init__(self, processes):
        self.work = processes.work / "ca"
        log = open(processes.work / "ca.log", "wb")
        self.process = subprocess.Popen([sys.executable, "-B", pathlib.Path(__file__).parent / "scripted_ca.py", self.work],
                                        stdout=subprocess.PIPE, stderr=log)
        processes.running.append(self.process)
        self.directory = self.process.stdout.readline().decode().split()[1]

    def ask(self, page, body=None):
        return urllib.request.urlopen(self.directory.removesuffix("/dir") + page, body, timeout=10).read().decode()

    def control(self, **settings):
        self.ask("/control", json.dumps(settings).encode())

    def log(self):
        return self.ask("/log").split("\n")

    def orders(self):
        return [line for line in self.log() if line.startswith("order ")]

    def trusting(self):
        return ssl.create_default_context(cafile=str(self.work / "ca.pem"))


def shown(context, port, name):
    """Makes a handshake as a client that verifies; returns the certificate."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        with context.wrap_socket(connection, server_hostname=name) as secure:
            return secure.getpeercert()


def leaf(context, port, name):
    """Likewise, as PEM."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        with context.wrap_socket(connection, server_hostname=name) as secure:
            return ssl.DER_cert_to_PEM_cert(secure.getpeercert(binary_form=True))


class NameServer:
    """BIND with one zone, which takes updates that are signed by the key `acme`; every name in it is 127.0.0.1."""

    def __init__(self, work, programs, zone):
        self.work, self.port = work, free_port()
        self.key = base64.b64encode(secrets.token_bytes(32)).decode()
        (work / "zone").write_text(f"$TTL 1\n@ SOA ns.{zone}. ops.{zone}. 1 60 60 600 1\n@ NS ns.{zone}.\n"
                                   "@ A 127.0.0.1\nns A 127.0.0.1\n")
        (work / "named.conf").write_text(f"""options {{
  directory "{work}"; pid-file none; session-keyfile none; recursion no; dnssec-validation no;
  listen-on port {self.port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; notify no;
}};
controls {{ }};
key "acme" {{ algorithm hmac-sha256; secret "{self.key}"; }};
zone "{zone}" {{ type primary; file "zone"; update-policy {{ grant acme zonesub TXT; }}; }};
""")
        named = next(path for path in (programs / "bind9/usr/sbin/named", pathlib.Path("/usr/sbin/named")) if path.exists())
        self.log = open(work / "named.log", "wb")
        self.process = subprocess.Popen([named, "-g", "-n", "1", "-c", work / "named.conf"], stdout=self.log, stderr=self.log)
        wait_for("the name server", lambda: self.records("ns." + zone, "A"))

    def records(self, name, kind="TXT"):
        asked = subprocess.run(["dig", "+short", "+tries=1", "+time=2", "@127.0.0.1", "-p", str(self.port), name, kind],
                               capture_output=True, text=True)
        return asked.stdout.split() if asked.returncode == 0 else []

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()
