#!/usr/bin/env python3
"""What a change of configuration costs, from the API's answer to traffic: see docs/benchmarks.md.

  latency   a route created with 3,000 present: from the answer of the API to the first 200 through the data plane
  load      the same, 1,000 requests a second on other routes, none of which may fail
  churn     rules reordered, backends renamed and policies changed under load, none of which may fail
  scale     10,000 routes as fast as they are taken: CPU time and memory; writes at steady state
  agent     resident memory of an agent of 5,000 routes
  endpoints CPU time of the controller for one changed EndpointSlice, at few and many routes; 1,000 changes a second
"""
import argparse
import http.client
import json
import os
import random
import re
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64decode
from pathlib import Path

import endpoints

GROUP = "/apis/edgeproxy.io/v1alpha1/namespaces/default"
POLL = 0.0005  # seconds between two looks
NEVER = 30  # seconds that a change may take before it is taken for lost


def resident_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Api:
    """The resource API, by one connection that is kept."""

    def __init__(self, kubeconfig):
        text = Path(kubeconfig).read_text()
        field = lambda name: re.search(rf"{name}: (\S+)", text).group(1)
        server = re.match(r"https://(.+):(\d+)", field("server"))
        self.address = (server.group(1).strip("[]"), int(server.group(2)))
        self.context = ssl.create_default_context(cadata=b64decode(field("certificate-authority-data")).decode())
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(b64decode(field("client-certificate-data")) + b64decode(field("client-key-data")))
            pair.flush()
            self.context.load_cert_chain(pair.name)
        self.connect()

    def connect(self):
        self.connection = http.client.HTTPSConnection(*self.address, context=self.context, timeout=NEVER)

    def call(self, method, path, body=None, kind="application/json"):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"control: {method} {path}: {answer.status} {text[:500]!r}")
        return json.loads(text)


def resource(kind, name, spec, version="edgeproxy.io/v1alpha1", **more):
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **more}
    return {**body, "spec": spec} if spec is not None else body


def route(number, backend="backend", paths=("/",)):
    return resource("ProxyRoute", f"route-{number}", {
        "parentRefs": [{"name": "gateway"}], "hostnames": [f"host-{number}.example.com"],
        "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": [{"name": backend}]}
                  for path in paths]})


def plain_resources(port, upstream):
    yield "/api/v1/namespaces/default/services", resource("Service", "upstream", {
        "ports": [{"port": 80, "targetPort": upstream}]}, "v1")
    yield "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "upstream", "namespace": "default", "labels": {"kubernetes.io/service-name": "upstream"}},
        "ports": [{"port": upstream}], "endpoints": [{"addresses": ["127.0.0.1"]}]}
    yield GROUP + "/proxygateways", resource("ProxyGateway", "gateway", {
        "listeners": [{"name": "http", "port": port, "protocol": "HTTP"}]})
    for name in ("backend", "other"):
        yield GROUP + "/proxybackends", resource("ProxyBackend", name, {
            "serviceRef": {"name": "upstream", "port": 80}, "passiveHealthCheck": {"enabled": False}})


class Load(threading.Thread):
    """`rate` requests a second on one connection. Every answer but 200 is a failure."""

    def __init__(self, port, hosts, rate):
        super().__init__(daemon=True)
        self.port, self.hosts, self.rate = port, hosts, rate
        self.sent, self.failed, self.ending = 0, [], threading.Event()

    def run(self):
        # A process of its own: one interpreter would make the measurer wait for the load.
        program = (Path(__file__).parent / "load.py")
        self.process = subprocess.Popen([sys.executable, program, str(self.port), str(self.rate), *self.hosts],
                                        stdout=subprocess.PIPE, text=True)
        self.ending.wait()
        self.process.send_signal(signal.SIGTERM)
        result = json.loads(self.process.communicate()[0])
        self.sent, self.failed = result["sent"], result["failed"]

    def __enter__(self):
        self.start()
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join()


class World:
    """edge-standalone with an upstream and a first configuration."""

    def __init__(self, build, folder, routes):
        self.bin, self.folder, self.log = build / "bin", folder, open(folder / "log", "w+b")
        self.port, upstream = free_port(), free_port()
        self.upstream = self.start("http_backend", upstream, 100)
        self.edge = self.start("edge-standalone", "--data-dir", folder / "data", "--api-listen", "127.0.0.1:0",
                               "--agents-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
                               "--health-listen", "127.0.0.1:0", "--otlp-listen", "127.0.0.1:0",
                               "--traces-listen", "127.0.0.1:0")
        kubeconfig = folder / "data/kubeconfig"
        self.until(kubeconfig.exists)
        self.api = Api(kubeconfig)
        self.until(self.answers)
        for path, body in plain_resources(self.port, upstream):
            self.api.call("POST", path, body)
        for number in range(routes):
            self.api.call("POST", GROUP + "/proxyroutes", route(number))
        self.until(lambda: self.status(routes - 1) == 200)

    def start(self, program, *arguments):
        return subprocess.Popen([str(part) for part in (self.bin / program, *arguments)], stdin=subprocess.DEVNULL,
                                stdout=self.log, stderr=self.log)

    def answers(self):
        try:
            return self.api.call("GET", "/version")
        except OSError:
            self.api.connect()
            return False

    def until(self, condition):
        end = time.monotonic() + NEVER * 4
        while not condition():
            if self.edge.poll() is not None or time.monotonic() > end:
                sys.exit(f"control: edge-standalone did not come up\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def status(self, number):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=NEVER)
            connection.request("GET", "/", headers={"Host": f"host-{number}.example.com"})
            return connection.getresponse().status
        except OSError:
            return 0

    def stop(self):
        for process in (self.edge, self.upstream):
            process.terminate()
            process.wait(60)

    def appear(self, number):
        """Milliseconds from the API's answer to the first 200 of a new route; what was answered until then."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=NEVER)
        connection.connect()
        self.api.call("POST", GROUP + "/proxyroutes", route(number))
        start = time.perf_counter()
        seen = {}
        while time.perf_counter() < start + NEVER:
            connection.request("GET", "/", headers={"Host": f"host-{number}.example.com"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return (time.perf_counter() - start) * 1000, seen
            seen[answer.status] = seen.get(answer.status, 0) + 1
            time.sleep(POLL)  # else the one who measures takes the core that those have who are measured
        sys.exit(f"control: route {number} was not served within {NEVER} s")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Report:
    def __init__(self):
        self.rows, self.missed = [], 0

    def add(self, name, value, unit="", goal=None):
        met = goal is None or value <= goal
        self.missed += not met
        self.rows.append({"name": name, "value": value, "unit": unit, "goal": goal})
        text = "" if goal is None else f"   goal {goal:g}{'' if met else '  MISSED'}"
        print(f"  {name:<58} {value:>10.2f} {unit}{text}", flush=True)


def tell_latency(report, world, first, changes, prefix):
    times, others = [], 0
    for number in range(first, first + changes):
        took, seen = world.appear(number)
        times.append(took)
        others += sum(count for status, count in seen.items() if status != 404)
    report.add(f"{prefix}: median of {changes}", statistics.median(times), "ms", 15)
    report.add(f"{prefix}: 99th percentile", percentile(times, 0.99), "ms", 40)
    report.add(f"{prefix}: answers other than 404 and 200", others, "", 0)


def latency(report, world, options):
    tell_latency(report, world, options.routes, options.changes, f"a route with {options.routes} present")


def load(report, world, options):
    hosts = [f"host-{number}.example.com" for number in range(20)]
    with Load(world.port, hosts, 1000) as traffic:
        tell_latency(report, world, options.routes + options.changes, options.changes, "under 1,000 requests a second")
    report.add("requests meanwhile", traffic.sent)
    report.add("of them failed", len(traffic.failed), "", 0)
    if traffic.failed:
        print(f"  first: {traffic.failed[0]}")


def churn(report, world, options):
    chance = random.Random(1)
    hosts = [f"host-{number}.example.com" for number in range(20)]
    api = world.api
    with Load(world.port, hosts, 1000) as traffic:
        for change in range(options.changes):
            number, step = chance.randrange(20), change % 3
            path = f"{GROUP}/proxyroutes/route-{number}"
            if step == 0:
                paths = ["/a", "/b", "/c"]
                chance.shuffle(paths)
                body = route(number, chance.choice(["backend", "other"]), [*paths, "/"])
                api.call("PATCH", path, {"spec": body["spec"]}, "application/merge-patch+json")
            elif step == 1:
                # A backend under another name: the new one first, then the route, then the old one goes.
                name = f"renamed-{change}"
                api.call("POST", GROUP + "/proxybackends", resource("ProxyBackend", name, {
                    "serviceRef": {"name": "upstream", "port": 80}, "passiveHealthCheck": {"enabled": False}}))
                api.call("PATCH", path, {"spec": route(number, name)["spec"]}, "application/merge-patch+json")
                api.call("PATCH", path, {"spec": route(number)["spec"]}, "application/merge-patch+json")
                api.call("DELETE", f"{GROUP}/proxybackends/{name}")
            else:
                api.call("PATCH", f"{GROUP}/proxypolicies/headers?fieldManager=bench&force=true", resource(
                    "ProxyPolicy", "headers", {
                        "type": "SecurityHeaders", "targetRef": {"kind": "ProxyGateway", "name": "gateway"},
                        "securityHeaders": {"xFrameOptions": chance.choice(["DENY", "SAMEORIGIN"])}}),
                    "application/apply-patch+yaml")
            time.sleep(0.005)
    report.add(f"{options.changes} reorderings, renamings, changes of a policy: requests", traffic.sent)
    report.add("of them failed", len(traffic.failed), "", 0)
    if traffic.failed:
        print(f"  first: {traffic.failed[0]}")


def scale(report, build, folder):
    world = World(build, folder, 0 + 1)
    cpu, start = cpu_seconds(world.edge.pid), time.monotonic()
    for number in range(1, 10_000):
        world.api.call("POST", GROUP + "/proxyroutes", route(number))
    world.until(lambda: world.status(9_999) == 200)
    took = time.monotonic() - start
    report.add("10,000 routes: created a second", 10_000 / took)
    report.add("CPU time of API, controller and agent", cpu_seconds(world.edge.pid) - cpu, "s")
    version = lambda: int(world.api.call("GET", GROUP + "/proxyroutes?limit=1")["metadata"]["resourceVersion"])
    before, end = version(), time.monotonic() + NEVER * 4
    while time.monotonic() < end:
        time.sleep(3)
        now = version()
        if now == before:
            break
        before = now
    cpu = cpu_seconds(world.edge.pid)
    time.sleep(10)
    report.add("writes in ten seconds of rest", version() - before, "", 0)
    report.add("CPU time in ten seconds of rest", cpu_seconds(world.edge.pid) - cpu, "s")
    report.add("resident memory of API, controller and agent", resident_mb(world.edge.pid), "MB", 400)
    world.stop()


def agent(report, build, folder):
    """In a process of its own, with what the one beside API and controller has on disk."""
    world = World(build, folder, 5_000)
    time.sleep(3)  # programs are stored once a second
    world.stop()
    data = folder / "data"
    agent = world.start("edge-agent", "--program", data / "program.edgeprog", "--endpoints", data / "endpoints.json",
                        "--secrets", data / "secrets.json", "--allow-unsigned", "--metrics-listen", "127.0.0.1:0",
                        "--health-listen", "127.0.0.1:0")
    world.edge = agent
    world.until(lambda: world.status(4_999) not in (0, 404))  # the upstream is gone
    report.add("resident memory of an agent with 5,000 routes", resident_mb(agent.pid), "MB", 60)
    agent.terminate()
    agent.wait(60)


PARTS = ["latency", "load", "churn", "scale", "agent", "endpoints"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--routes", type=int, default=3000)
    parser.add_argument("--changes", type=int, default=300)
    parser.add_argument("--backends", type=int, default=500, help="of endpoints")
    parser.add_argument("--many-routes", type=int, default=100_000, help="of endpoints")
    parser.add_argument("--slices", type=int, default=1000, help="changed one after the other, of endpoints")
    parser.add_argument("--rate", type=int, default=50, help="of these a second")
    parser.add_argument("--turns", type=int, default=3, help="of endpoints")
    parser.add_argument("--seconds", type=int, default=60, help="of 1,000 changes each, of endpoints; 0: left out")
    options = parser.parse_args()
    wanted = options.only or PARTS
    report = Report()
    with tempfile.TemporaryDirectory(prefix="edge-control-") as folder:
        if {"latency", "load", "churn"} & set(wanted):
            place = Path(folder) / "world"
            place.mkdir()
            world = World(options.build, place, options.routes)
            for name, run in (("latency", latency), ("load", load), ("churn", churn)):
                if name in wanted:
                    run(report, world, options)
            world.stop()
        for name, run in (("scale", scale), ("agent", agent)):
            if name in wanted:
                place = Path(folder) / name
                place.mkdir()
                run(report, options.build, place)
        if "endpoints" in wanted:
            place = Path(folder) / "endpoints"
            place.mkdir()
            endpoints.endpoints(report, options.build, place, options, free_port, resident_mb)
    if options.json:
        options.json.write_text(json.dumps(report.rows, indent=1))
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
