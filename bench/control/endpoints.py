"""Endpoints that change, from a watch of the API to an agent: part `endpoints` of run.py, see docs/benchmarks.md.

An API of this process has the objects, and edge-controller and edge-agent are processes of their own, so that what is
measured is the controller alone: reading the watch, finding what hangs on the slice, publishing it. A Lease that somebody
else holds keeps it from writing statuses, which are the same work however many routes there are.
"""
import http.client
import json
import os
import queue
import socketserver
import statistics
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

OWN = "edgeproxy.io/v1alpha1"
KINDS = {  # plural: (apiVersion, kind, path of the collection)
    "services": ("v1", "Service", "/api/v1/services"),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice", "/apis/discovery.k8s.io/v1/endpointslices"),
    **{plural: (OWN, kind, f"/apis/{OWN}/{plural}") for plural, kind in (
        ("proxygateways", "ProxyGateway"), ("proxyroutes", "ProxyRoute"), ("proxybackends", "ProxyBackend"),
        ("proxypolicies", "ProxyPolicy"), ("proxyvips", "ProxyVIP"))},
}
PATIENCE = 600


def schedstat_ms(pid):
    """CPU time of a process in milliseconds, finer than the ticks of /proc/PID/stat."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass
    return total / 1e6


class Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True


class Api:
    """Lists, and watches of EndpointSlices that `change` speaks to."""

    def __init__(self, objects):
        self.objects, self.version, self.watchers = objects, 1, []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, body):
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path in ("/api", "/apis"):
                    return self.answer(api.discovery(path))
                if "/leases/" in path:
                    return self.answer(api.lease())
                for plural, (version, kind, collection) in KINDS.items():
                    if path != collection:
                        continue
                    if "watch=" in query:
                        return self.watch(plural)
                    return self.answer({"apiVersion": version, "kind": kind + "List",
                                        "metadata": {"resourceVersion": "1"}, "items": api.objects[plural]})
                self.send_error(404)

            def watch(self, plural):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                events = queue.SimpleQueue()
                if plural == "endpointslices":
                    api.watchers.append(events)
                try:
                    while True:
                        data = events.get()
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                except OSError:
                    pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def discovery(self, path):
        groups = {}
        leases = ("coordination.k8s.io/v1", "Lease", None)
        for plural, (version, kind, _) in {**KINDS, "leases": leases}.items():
            group, _, number = version.rpartition("/")
            if (group == "") == (path == "/api"):
                groups.setdefault((group, number), []).append({
                    "resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced",
                    "singularResource": kind.lower(), "verbs": ["get", "list", "watch", "update", "patch"]})
        return {"apiVersion": "apidiscovery.k8s.io/v2", "kind": "APIGroupDiscoveryList",
                "items": [{"metadata": {"name": group}, "versions": [{"version": number, "resources": resources}]}
                          for (group, number), resources in groups.items()]}

    def lease(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": "edge-controller", "namespace": "edge-system", "resourceVersion": "1"},
                "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": now,
                         "acquireTime": now, "leaseTransitions": 0}}

    def kubeconfig(self, file):
        file.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
            f"clusters: [{{name: bench, cluster: {{server: 'http://127.0.0.1:{self.server.server_address[1]}'}}}}]\n"
            "users: [{name: bench, user: {}}]\ncontexts: [{name: bench, context: {cluster: bench, user: bench}}]\n")
        return file

    def change(self, slices):
        data = b""
        for body in slices:
            self.version += 1
            body["metadata"]["resourceVersion"] = str(self.version)
            data += json.dumps({"type": "MODIFIED", "object": body}).encode() + b"\n"
        for watcher in self.watchers:
            watcher.put(data)


def made(kind, name, **more):
    version = next(v for v, k, _ in KINDS.values() if k == kind)
    return {"apiVersion": version, "kind": kind,
            "metadata": {"name": name, "namespace": "default", "uid": f"{kind}-{name}", "resourceVersion": "1",
                         "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z"}, **more}


def slice_of(number, sequence, endpoints):
    """The first address tells the sequence number; the others stay."""
    first = f"10.{sequence >> 16 & 255}.{sequence >> 8 & 255}.{sequence & 255}"
    body = made("EndpointSlice", f"service-{number}", addressType="IPv4", ports=[{"name": "http", "port": 8080}],
                endpoints=[{"addresses": [address]} for address in
                           [first, *(f"11.0.{number >> 8}.{number & 255}" if i == 1 else
                                     f"11.{i}.{number >> 8}.{number & 255}" for i in range(1, endpoints))]])
    body["metadata"]["labels"] = {"kubernetes.io/service-name": f"service-{number}"}
    return body


def world(routes, backends, endpoints):
    objects = {plural: [] for plural in KINDS}
    for i in range(backends):
        objects["services"].append(made("Service", f"service-{i}", spec={"ports": [{"name": "http", "port": 80}]}))
        objects["endpointslices"].append(slice_of(i, 0, endpoints))
        objects["proxybackends"].append(made("ProxyBackend", f"backend-{i}", spec={
            "serviceRef": {"name": f"service-{i}", "port": 80}, "passiveHealthCheck": {"enabled": False}}))
    objects["proxygateways"].append(made("ProxyGateway", "gateway", spec={
        "listeners": [{"name": "http", "port": 0, "protocol": "HTTP"}]}))
    for i in range(routes):
        objects["proxyroutes"].append(made("ProxyRoute", f"route-{i}", spec={
            "parentRefs": [{"name": "gateway"}], "hostnames": [f"host-{i % 2000}.example.com"],
            "rules": [{"matches": [{"path": {"type": "Exact", "value": f"/p/{i}"}}],
                       "backendRefs": [{"name": f"backend-{i % backends}"}]}]}))
    return objects


class Fleet:
    """A controller that follows `objects`, and one agent of it."""

    def __init__(self, build, folder, objects, free_port):
        self.folder, self.log = folder, open(folder / "log", "w+b")
        objects["proxygateways"][0]["spec"]["listeners"][0]["port"] = free_port()
        self.api = Api(objects)
        self.health, agents = free_port(), free_port()
        self.processes = []
        self.controller = self.start(build, "edge-controller", "--data-dir", folder / "controller", "--kubeconfig",
                                     self.api.kubeconfig(folder / "kubeconfig"), "--leader-elect",
                                     "--agents-listen", f"127.0.0.1:{agents}", "--metrics-listen", "127.0.0.1:0",
                                     "--otlp-listen", "off", "--traces-listen", "off")
        join = folder / "controller/agents/join"
        self.until(join.exists)
        self.agent = self.start(build, "edge-agent", "--controller", f"127.0.0.1:{agents}", "--name", "agent",
                                "--token-file", join, "--data-dir", folder / "agent", "--health-listen",
                                f"127.0.0.1:{self.health}", "--metrics-listen", "127.0.0.1:0")

    def start(self, build, program, *arguments):
        process = subprocess.Popen([str(part) for part in (build / "bin" / program, *arguments)],
                                   stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.processes.append(process)
        return process

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            if any(process.poll() is not None for process in self.processes) or time.monotonic() > end:
                sys.exit(f"control: endpoints: {(self.folder / 'log').read_text()[-3000:]}")
            time.sleep(0.05)

    def rest(self):
        """Waits until what the start has left behind is done. Milliseconds of CPU a second from then on."""
        while True:
            before, start = schedstat_ms(self.controller.pid), time.monotonic()
            time.sleep(4)
            idle = (schedstat_ms(self.controller.pid) - before) / (time.monotonic() - start)
            if idle < 20:
                return idle

    def seen(self):
        """The sequence number that the agent has of each backend."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.health, timeout=PATIENCE)
            connection.request("GET", "/debug/endpoints")
            backends = json.loads(connection.getresponse().read())["backends"]
        except (OSError, ValueError, KeyError):
            return {}
        sequences = {}
        for backend in backends:
            for endpoint in backend["endpoints"]:
                part = endpoint["address"].split(":")[0].split(".")
                if part[0] == "10":
                    sequences[backend["name"]] = int(part[1]) << 16 | int(part[2]) << 8 | int(part[3])
        return sequences

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(60)
        self.api.server.shutdown()


def cost(build, folder, routes, options, free_port):
    """Milliseconds of the controller's CPU for one changed slice, at `--rate` a second; idling is taken off."""
    backends = options.backends
    fleet = Fleet(build, folder, world(routes, backends, 1), free_port)
    fleet.until(lambda: len(fleet.seen()) == backends)
    idle = fleet.rest()
    before, start = schedstat_ms(fleet.controller.pid), time.monotonic()
    for change in range(1, options.slices + 1):
        fleet.api.change([slice_of(change % backends, change, 1)])
        time.sleep(max(0, start + change / options.rate - time.monotonic()))
    last = f"backend-{options.slices % backends}"
    fleet.until(lambda: fleet.seen().get(last) == options.slices)
    spent = schedstat_ms(fleet.controller.pid) - before - idle * (time.monotonic() - start)
    fleet.stop()
    return spent / options.slices


def storm(report, build, folder, options, free_port, resident_mb):
    backends, each = options.backends, 20
    fleet = Fleet(build, folder, world(10, backends, each), free_port)
    fleet.until(lambda: len(fleet.seen()) == backends)
    total = options.seconds * 1000
    sent, looks, backwards = {}, {f"backend-{i}": set() for i in range(backends)}, 0
    latest, memory, done = dict.fromkeys(looks, 0), [], threading.Event()

    def send():
        start = time.monotonic()
        for first in range(1, total + 1, 5):
            changes = range(first, first + 5)
            for change in changes:
                sent.setdefault(f"backend-{change % backends}", []).append(change)
            fleet.api.change([slice_of(change % backends, change, each) for change in changes])
            time.sleep(max(0, start + (first + 4) / 1000 - time.monotonic()))
        done.set()

    def look():
        nonlocal backwards
        for name, sequence in fleet.seen().items():
            backwards += sequence < latest[name]
            latest[name] = sequence
            looks[name].add(sequence)

    started, cpu = time.monotonic(), schedstat_ms(fleet.controller.pid)
    sender = threading.Thread(target=send)
    sender.start()
    while not done.is_set():
        look()
        if time.monotonic() - started > 1 + 10 * len(memory):
            memory.append(resident_mb(fleet.controller.pid))
    sender.join()
    took = time.monotonic() - started
    spent = schedstat_ms(fleet.controller.pid) - cpu
    behind = time.monotonic()
    fleet.until(lambda: (look(), all(latest[name] == changes[-1] for name, changes in sent.items()))[1])
    memory.append(resident_mb(fleet.controller.pid))
    missed = sum(len(set(changes) - looks[name]) for name, changes in sent.items())
    fleet.stop()
    report.add(f"changes a second for {options.seconds} s over {backends * each} endpoints", total / took)
    report.add("the agent has the last of each, after the last change", (time.monotonic() - behind) * 1000, "ms")
    report.add("seen out of order at the agent", backwards, "", 0)
    report.add("not seen at the agent by who looks all the time", missed, "", 0)
    report.add("CPU time of the controller a change", spent / total, "ms")
    report.add("memory of the controller at the end to that after a second", memory[-1] / memory[0], "", 1.25)
    report.add("memory of the controller at the end", memory[-1], "MB")


def endpoints(report, build, folder, options, free_port, resident_mb):
    few, many = [], []
    for turn in range(options.turns):
        for routes, into in ((10, few), (options.many_routes, many)):
            place = folder / f"cost-{routes}-{turn}"
            place.mkdir()
            into.append(cost(build, place, routes, options, free_port))
    few, many = statistics.median(few), statistics.median(many)
    report.add(f"controller's CPU for one changed slice, 10 routes, {options.backends} backends", few, "ms")
    report.add(f"the same with {options.many_routes} routes", many, "ms")
    report.add("ratio of the two", many / few, "", 1.1)
    if options.seconds:
        place = folder / "storm"
        place.mkdir()
        storm(report, build, place, options, free_port, resident_mb)
