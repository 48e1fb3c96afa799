"""A running edge-standalone with many routes, and `edgectl web` in front of it."""
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

PATIENCE = 180

HEAD = """apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: gw}}
spec: {{listeners: [{{name: http, port: {port}, protocol: HTTP}}]}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: be}}
spec: {{endpoints: [{{address: "127.0.0.1:{backend}"}}]}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: probed}}
spec:
  endpoints: [{{address: "127.0.0.1:{probed}"}}]
  healthCheck:
    interval: {interval}ms
    timeout: 80ms
    healthyThreshold: 1
    unhealthyThreshold: 1
    httpHealthCheck: {{path: /}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: probed}}
spec:
  parentRefs: [{{name: gw}}]
  hostnames: [probed.example]
  rules: [{{backendRef: {{name: probed}}}}]
"""
# An endpoint's state is known after so long at most; what is measured has a half of it in it.
CHECK_MILLISECONDS = 100


class Probed:
    """An endpoint whose health is switched."""

    def __init__(self):
        owner = self
        self.healthy = True

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200 if owner.healthy else 503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def routes(count, port, backend, probed):
    texts = [HEAD.format(port=port, backend=backend, probed=probed, interval=CHECK_MILLISECONDS)]
    for number in range(count):
        texts.append(
            f"---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {{name: route-{number}}}\nspec:\n"
            f"  parentRefs: [{{name: gw}}]\n  hostnames: [h{number % 500}.example]\n  rules:\n"
            f"  - matches: [{{path: {{type: PathPrefix, value: /service-{number}/api}}}}]\n    backendRef: {{name: be}}\n"
        )
    return "".join(texts)


class Bed:
    def __init__(self, build, count):
        self.work = tempfile.TemporaryDirectory(prefix="edge-web-")
        self.folder = Path(self.work.name)
        self.build = Path(build)
        self.port = free_port()
        self.processes = []
        self.probed = Probed()
        backend = free_port()
        (self.folder / "config").mkdir()
        (self.folder / "config" / "all.yaml").write_text(routes(count, self.port, backend, self.probed.port))
        command = ["edge-standalone", "--config", str(self.folder / "config"), "--data-dir", str(self.folder / "data"), "--access-log", "off"]
        for flag in ("metrics-listen", "health-listen", "api-listen", "agents-listen", "otlp-listen", "traces-listen"):
            command += [f"--{flag}", "127.0.0.1:0"]
        self.processes.append(subprocess.Popen([str(self.build / "bin" / "http_backend"), str(backend), "100"]))
        self.proxy = self.start(command, "proxy.out", "ready program=")

    def start(self, command, output, word):
        path = self.folder / output
        with path.open("w") as out:
            environment = os.environ | {"KUBECONFIG": str(self.folder / "data" / "kubeconfig"), "HOME": str(self.folder)}
            process = subprocess.Popen([str(self.build / "bin" / command[0]), *command[1:]], stdout=out, stderr=subprocess.STDOUT, env=environment)
        self.processes.append(process)
        end = time.monotonic() + PATIENCE
        while word not in path.read_text():
            if time.monotonic() > end or process.poll() is not None:
                raise SystemExit(f"web: no `{word}`: {path.read_text()[-2000:]}")
            time.sleep(0.01)
        return process

    def serve(self, *flags):
        self.web = self.start(["edgectl", "web", "--listen", "127.0.0.1:0", *flags], "web.out", "Serving on ")
        self.url = re.search(r"Serving on (\S+)/", (self.folder / "web.out").read_text())[1]
        return self.url

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, data=None if body is None else json.dumps(body).encode())
        if body is not None:
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.loads(reply.read())

    def wait_synced(self):
        end = time.monotonic() + PATIENCE
        while not self.ask("/api/session")["synced"]:
            if time.monotonic() > end:
                raise SystemExit("web: the objects are not known")
            time.sleep(0.05)

    def change(self, number):
        """Switches the health of an endpoint."""
        self.probed.healthy = number % 2 == 1

    def shows(self, number):
        """Whether the page of the agent has that endpoint's state of change(number)."""
        for backend in self.ask("/api/agents/standalone")["backends"]:
            if backend["name"] == "probed":
                return backend["endpoints"][0]["healthy"] == (number % 2 == 1)
        return False

    def load(self, seconds):
        """Sends requests for so long. Returns how many were answered."""
        command = ["wrk", "-t1", "-c8", f"-d{seconds}s", "-H", "Host: h1.example", f"http://127.0.0.1:{self.port}/service-1/api"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output:
            raise SystemExit(f"web: failed requests: {output}")
        return int(re.search(r"(\d+) requests in", output)[1])

    def close(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            process.wait(timeout=60)
        self.work.cleanup()


def memory(pid):
    """Kilobytes by name, of /proc/PID/status and smaps_rollup."""
    text = Path(f"/proc/{pid}/status").read_text() + Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+)", text, re.M)}


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
