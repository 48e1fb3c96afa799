"""CAs for the tests of certificates: pebble with its DNS server, as processes on ports that the system chose."""
import json
import os
import pathlib
import socket
import ssl
import subprocess
import time
import urllib.request

PATIENCE = 120
# Of edge-standalone: no port that another test may have.
QUIET = ("--metrics-listen", "127.0.0.1:0", "--health-listen", "off", "--otlp-listen", "off", "--traces-listen", "off")


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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

    def __init__(self, processes, programs, name="pebble", http_port=0, tls_port=0, environment=None, **settings):
        self.work = processes.work / name
        self.work.mkdir()
        self.port, self.management = free_port(), free_port()
        self.dns, self.dns_control = free_port(socket.SOCK_DGRAM), free_port()
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
                                       f"127.0.0.1:{self.dns}",
                                       environment={"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "15",
                                                    **(environment or {})})
        self.directory = f"https://localhost:{self.port}/dir"
        self.context = ssl.create_default_context(cafile=str(self.work / "cert.pem"))
        wait_for(f"{name} answers", lambda: self.get(self.directory))
        (self.work / "root.pem").write_bytes(self.get(f"https://localhost:{self.management}/roots/0"))

    def get(self, url):
        return urllib.request.urlopen(url, context=self.context, timeout=10).read()

    @property
    def certificate(self):
        return self.work / "cert.pem"

    def trusting(self):
        """A client's settings that accept what this one has issued."""
        return ssl.create_default_context(cafile=str(self.work / "root.pem"))


def shown(context, port, name):
    """Makes a handshake as a client that verifies; returns the certificate."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        with context.wrap_socket(connection, server_hostname=name) as secure:
            return secure.getpeercert()
