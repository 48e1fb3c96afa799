"""What the tests of certificates run: a scripted CA (scripted_ca.py) and an edge-standalone."""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import urllib.request

from authorities import QUIET, Processes, ScriptedCa, free_port, shown, wait_for


class World:
    """A CA and an edge-standalone with these hosts."""

    def __init__(self, binaries, hosts, acme="", more=""):
        self.binaries = binaries
        self.folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.folder.name)
        self.processes = Processes(self.work)
        self.http_port, self.tls_port = free_port(), free_port()
        self.ca = ScriptedCa(self.processes)
        self.directory = self.ca.directory
        self.control(http_ports=[self.http_port])
        names = ", ".join(f'"{host}"' for host in hosts)
        acme = acme or f"{{email: ops@example.com, directoryURL: \"{self.directory}\", challenges: [HTTP01]}}"
        (self.work / "edge.yaml").write_text(f"""apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: web, namespace: shop}}
spec:
  redirectScheme: {{enabled: true}}
  listeners:
    - {{name: http, port: {self.http_port}, protocol: HTTP}}
    - name: https
      port: {self.tls_port}
      protocol: HTTPS
      hostnames: [{names}]
      tls: {{acme: {acme.replace("DIRECTORY", self.directory)}}}
""" + more.replace("DIRECTORY", self.directory))
        self.edge = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.edge_log()[-5000:], "\n".join(self.ca_log()[-40:]), sep="\n---- CA\n", flush=True)
        self.processes.end()
        self.folder.cleanup()

    def control(self, **settings):
        self.ca.control(**settings)

    def ca_log(self):
        return self.ca.log()

    def orders(self):
        return self.ca.orders()

    def start(self, *flags, environment=None):
        self.edge = self.processes.start("edge", self.binaries / "edge-standalone", "--config", self.work / "edge.yaml",
                                         "--data-dir", self.work / "data", "--api-listen", "127.0.0.1:0", *QUIET, *flags, environment=environment)

    def edge_log(self):
        return self.processes.log("edge") if (self.work / "edge.log").exists() else ""

    def kill(self):
        self.edge.send_signal(signal.SIGKILL)
        self.edge.wait()

    def trusting(self):
        return self.ca.trusting()

    def certificate(self, host):
        return wait_for(f"a certificate for {host}", lambda: shown(self.trusting(), self.tls_port, host))

    def edgectl(self, *words, text=None):
        done = subprocess.run([self.binaries / "edgectl", "--kubeconfig", self.work / "data/kubeconfig", *words], input=text,
                              capture_output=True, text=True)
        return done.stdout

    def metric(self, series):
        port = re.findall(r"metrics on \S*:(\d+)", self.edge_log())[-1]
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
        return next((float(line.rsplit(" ", 1)[1]) for line in text.split("\n") if line.startswith(series + " ")), None)

    def rows(self):
        text = self.edgectl("get", "certificates", "-A", "-o", "json")
        return {row["host"]: row for row in json.loads(text)} if text else {}

    def plain(self, host, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse()


def shifted(world, seconds):
    """The environment of a process whose clock is ahead."""
    (world.work / "shift").write_text(str(seconds))
    return {"LD_PRELOAD": str(world.binaries / "libshifted_clock.so"), "EDGE_SHIFTED_CLOCK": str(world.work / "shift")}
