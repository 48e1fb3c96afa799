#!/usr/bin/env python3
"""CPU time a request of our proxy, nginx and HAProxy, side by side: see docs/benchmarks.md.

Proxy, load and backend share one core. Rounds of two seconds in alternating order, with a relay that parses nothing as
the floor in each; rounds whose floor is off are thrown away; the result is the median of the rounds' ratios.
"""
import argparse
import base64
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
ROUTES = 10_000
FLOOR_TOLERANCE = 0.03
PEERS = ("nginx", "haproxy")
PROXIES = ("relay", "nginx", "haproxy", "edge")



class Workload(NamedTuple):
    name: str
    size: int  # bytes of an answer
    connections: int
    close: bool  # a new connection for each request
    routes: int
    goals: tuple  # to (nginx, haproxy)
    tls: bool = False  # towards the client; the relay stays plain
    streams: int = 0  # of HTTP/2 on each connection at once; 0: HTTP/1.1


WORKLOADS = [
    Workload("h1-64", 100, 64, False, 1, (0.75, 0.78)),
    Workload("h1-512", 100, 512, False, 1, (0.60, 0.64)),
    Workload("h1-64-10000-routes", 100, 64, False, ROUTES, (0.78, 0.80)),
    Workload("new-connection", 100, 64, True, 1, (0.90, 0.90)),
    Workload("body-100KB", 100 * 1024, 64, False, 1, (0.60, 0.75)),
    Workload("body-1MB", 1024 * 1024, 64, False, 1, (0.60, 0.75)),
    Workload("tls-64", 100, 64, False, 1, (0.78, 0.78), tls=True),
    Workload("tls-handshake", 100, 64, True, 1, (0.95, 0.90), tls=True),
    Workload("tls-body-100KB", 100 * 1024, 64, False, 1, (0.90, 0.90), tls=True),
    Workload("h2-tls", 100, 8, False, 1, (0.70, 1.00), tls=True, streams=32),
]

NGINX = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log crit;
worker_rlimit_nofile 65536;
events {{ worker_connections 8192; }}
http {{
  access_log {log};
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 75s;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream backend {{ server 127.0.0.1:{backend}; keepalive 1024; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096{ssl};
{certificate}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Request-ID $request_id;
    proxy_buffers 16 256k;
    proxy_buffer_size 64k;
    proxy_busy_buffers_size 1m;
{locations}
  }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 8192
  tune.bufsize 65536
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 60s
  option http-keep-alive
  http-reuse always
frontend in
  bind 127.0.0.1:{port} backlog 4096{ssl}
  option forwardfor
  http-request set-header X-Forwarded-Proto http
  unique-id-format %{{+X}}o%ci%cp%fi%fp%Ts%rt%pid
  unique-id-header X-Request-ID
{rules}
backend origin
  server s 127.0.0.1:{backend} pool-max-conn 2048
"""

EDGE = """
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: bench}}
spec:
  listeners: [{{name: http, port: {port}, {protocol}}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: origin}}
spec:
  serviceRef: {{name: origin, port: {backend}}}
  connectionPool: {{maxIdleConns: 2048, maxIdleConnsPerHost: 2048}}
---
apiVersion: v1
kind: Service
metadata: {{name: origin}}
spec: {{ports: [{{name: http, port: {backend}, targetPort: {backend}}}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: origin-1, labels: {{kubernetes.io/service-name: origin}}}}
addressType: IPv4
ports: [{{name: http, port: {backend}}}]
endpoints: [{{addresses: ["127.0.0.1"], conditions: {{ready: true}}}}]
"""
EDGE_SECRET = """---
apiVersion: v1
kind: Secret
metadata: {{name: site}}
type: kubernetes.io/tls
data: {{tls.crt: {certificate}, tls.key: {key}}}
"""
EDGE_ROUTE = """---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: route-{number}}}
spec:
  parentRefs: [{{name: bench}}]
  rules: [{{matches: [{{path: {{type: {type}, value: "{path}"}}}}], backendRefs: [{{name: origin}}]}}]
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(folder):
    """An ECDSA certificate for example.com and its key, as site.crt, site.key and, for HAProxy, both in site.pem."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=example.com", "-addext", "subjectAltName=DNS:example.com",
                    "-keyout", folder / "site.key", "-out", folder / "site.crt"], check=True, capture_output=True)
    (folder / "site.pem").write_text((folder / "site.crt").read_text() + (folder / "site.key").read_text())


def wait_for(port, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"http bench: {' '.join(map(str, process.args))} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"http bench: nothing listens on port {port}")


def process_tree(pid):
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            todo += [int(child) for child in children.read_text().split()]
    return found


def cpu_nanoseconds(pid):
    """Time on the core of all threads of a process and its children, as the scheduler counts it."""
    total = 0
    for one in process_tree(pid):
        for schedstat in Path(f"/proc/{one}/task").glob("*/schedstat"):
            total += int(schedstat.read_text().split()[0])
    return total


class Bench:
    def __init__(self, binaries, folder, core):
        self.binaries, self.folder, self.core = binaries, folder, core
        self.edgectl = binaries / "edgectl"
        self.processes = []

    def start(self, *command):
        log = open(self.folder / "processes.log", "ab")
        process = subprocess.Popen(["taskset", "-c", str(self.core), *map(str, command)], stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def stop_all(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()

    def start_proxy(self, name, port, backend, routes, tls, log="off"):
        """`log` is nginx's alone, as its `access_log` takes it."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        paths = [f"/service-{n}/items" for n in range(routes)] if routes > 1 else []
        if name == "relay":
            return self.start(self.binaries / "http_relay", port, backend)
        if name == "nginx":
            locations = "".join(f"    location = {path} {{ proxy_pass http://backend; }}\n" for path in paths)
            locations = locations or "    location / { proxy_pass http://backend; }\n"
            certificate = f"    ssl_certificate {self.folder}/site.crt; ssl_certificate_key {self.folder}/site.key;"
            (folder / "nginx.conf").write_text(NGINX.format(
                folder=folder, port=port, backend=backend, log=log, locations=locations, ssl=" ssl http2" if tls else "",
                certificate=certificate + " ssl_protocols TLSv1.2 TLSv1.3;" if tls else ""))
            return self.start("nginx", "-p", folder, "-c", folder / "nginx.conf")
        if name == "haproxy":
            (folder / "routes.map").write_text("".join(f"{path} origin\n" for path in paths))
            rules = f"  use_backend %[path,map_str({folder}/routes.map)]" if paths else "  default_backend origin"
            (folder / "haproxy.cfg").write_text(HAPROXY.format(
                port=port, backend=backend, rules=rules, ssl=f" ssl crt {self.folder}/site.pem alpn h2,http/1.1" if tls else ""))
            return self.start("haproxy", "-db", "-f", folder / "haproxy.cfg")
        return self.start_edge(folder, port, backend, paths, tls)

    def start_edge(self, folder, port, backend, paths, tls, gateway="", flags=(), rule="", more=""):
        """An agent of ours. `gateway`: lines of YAML for the gateway's spec; `flags`: more of the agent's; `rule`: more
        fields of each rule, each behind a comma; `more`: further documents."""
        protocol = "protocol: HTTPS, tls: {secretRef: {name: site}}" if tls else "protocol: HTTP"
        config = EDGE.format(port=port, backend=backend, protocol=protocol).replace("spec:\n", "spec:\n" + gateway, 1)
        if tls:
            texts = [base64.b64encode((self.folder / one).read_bytes()).decode() for one in ("site.crt", "site.key")]
            config += EDGE_SECRET.format(certificate=texts[0], key=texts[1])
        for number, path in enumerate(paths or ["/"]):
            route = EDGE_ROUTE.format(number=number, path=path, type="Exact" if paths else "PathPrefix")
            config += route.replace("[{name: origin}]", "[{name: origin}]" + rule)
        (folder / "config.yaml").write_text(config + more)
        subprocess.run([self.edgectl, "compile", "-f", folder / "config.yaml", "-o", folder / "p.edgeprog",
                        "--endpoints-out", folder / "endpoints.json", "--secrets-out", folder / "secrets.json"],
                       check=True, stdout=subprocess.DEVNULL)
        return self.start(self.binaries / "edge-agent", "--program", folder / "p.edgeprog", "--endpoints",
                          folder / "endpoints.json", "--secrets", folder / "secrets.json", "--allow-unsigned", "--threads", 1,
                          "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", *flags)

    def load(self, scheme, port, path, connections, close, seconds, streams=0):
        """Requests answered in one burst of load. Any failed one ends the benchmark."""
        if streams:
            return self.load_http2(scheme, port, path, connections, seconds, streams)
        command = ["taskset", "-c", str(self.core), "wrk", "-t1", f"-c{connections}", f"-d{seconds}",
                   f"{scheme}://127.0.0.1:{port}{path}"]
        if close:
            command[-1:-1] = ["-H", "Connection: close"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(f"http bench: failed requests on port {port}\n{output}")
        return int(next(line.split()[0] for line in output.splitlines() if " requests in " in line))

    def load_http2(self, scheme, port, path, connections, seconds, streams):
        command = ["taskset", "-c", str(self.core), "h2load", "-t1", f"-c{connections}", f"-m{streams}",
                   f"-D{seconds.rstrip('s')}", f"{scheme}://127.0.0.1:{port}{path}"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored", output)
        if not counts or counts[2] != "0" or counts[3] != "0" or counts[1] == "0":
            sys.exit(f"http bench: failed requests on port {port}\n{output}")
        return int(counts[1])

    def workload(self, spec, rounds, seconds, proxies=PROXIES, start=None):
        """Microseconds a request of each of `proxies`, a dictionary a round. `start`, as start_proxy, begins one."""
        name, size, connections, close, routes, _, tls, streams = spec
        start = start or self.start_proxy
        backend = free_port()
        wait_for(backend, self.start(self.binaries / "http_backend", backend, size))
        ports, running = {}, {}
        for proxy in proxies:
            ports[proxy] = free_port()
            running[proxy] = start(proxy, ports[proxy], backend, routes, tls)
            wait_for(ports[proxy], running[proxy])
        path = f"/service-{routes // 2}/items" if routes > 1 else "/"
        scheme = {proxy: "https" if tls and proxy != "relay" else "http" for proxy in proxies}
        streams = {proxy: streams if proxy != "relay" else 0 for proxy in proxies}
        for proxy in proxies:
            self.load(scheme[proxy], ports[proxy], path, connections, close, "1s", streams[proxy])
        results = []
        for number in range(rounds):
            order = proxies if number % 2 == 0 else proxies[::-1]
            figures = {}
            for proxy in order:
                before = cpu_nanoseconds(running[proxy].pid)
                requests = self.load(scheme[proxy], ports[proxy], path, connections, close, f"{seconds}s",
                                     streams[proxy])
                figures[proxy] = (cpu_nanoseconds(running[proxy].pid) - before) / requests / 1000
            results.append(figures)
            print(f"  {name} round {number + 1}: " +
                  ", ".join(f"{proxy} {figures[proxy]:.2f}" for proxy in proxies) + " us", flush=True)
        self.stop_all()
        return results


def summarise(spec, results):
    floor = statistics.median(figures["relay"] for figures in results)
    by_distance = sorted(results, key=lambda figures: abs(figures["relay"] / floor - 1))
    kept = [figures for figures in by_distance if abs(figures["relay"] / floor - 1) <= FLOOR_TOLERANCE]
    # A busy machine leaves too few: then the nearer half counts, and the table says so.
    quiet = 2 * len(kept) >= len(results)
    if not quiet:
        kept = by_distance[:(len(results) + 1) // 2]
    summary = {"workload": spec.name, "rounds": len(results), "kept": len(kept), "quiet": quiet,
               "microseconds": {}, "ratios": {}}
    for proxy in PROXIES:
        summary["microseconds"][proxy] = round(statistics.median(figures[proxy] for figures in kept), 2)
    for peer, goal in zip(PEERS, spec.goals):
        ratios = [figures["edge"] / figures[peer] for figures in kept]
        summary["ratios"][peer] = {"median": round(statistics.median(ratios), 3), "min": round(min(ratios), 3),
                                   "max": round(max(ratios), 3), "goal": goal,
                                   "reached": statistics.median(ratios) <= goal}
    return summary


def print_table(summaries):
    print(f"\n{'workload':20} {'relay':>8} {'nginx':>8} {'haproxy':>8} {'edge':>8}   "
          f"{'to nginx (min..max)':26} {'to haproxy (min..max)':26} kept")
    for one in summaries:
        cells = []
        for peer in PEERS:
            ratio = one["ratios"][peer]
            mark = "<=" if ratio["reached"] else "> "
            cells.append(f"{ratio['median']:.2f} ({ratio['min']:.2f}..{ratio['max']:.2f}) {mark} {ratio['goal']:.2f}")
        micros = one["microseconds"]
        print(f"{one['workload']:20} {micros['relay']:8.2f} {micros['nginx']:8.2f} {micros['haproxy']:8.2f} "
              f"{micros['edge']:8.2f}   {cells[0]:26} {cells[1]:26} {one['kept']}/{one['rounds']}"
              f"{'' if one['quiet'] else ' (busy machine: the floor varied by more than 3%)'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build directory")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2, help="of a round")
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--only", action="append", help="a workload's name; repeatable")
    parser.add_argument("--json", type=Path, help="write the results there as well")
    arguments = parser.parse_args()
    for tool in ("wrk", "nginx", "haproxy", "taskset", "openssl"):
        if shutil.which(tool) is None:
            sys.exit(f"http bench: {tool} is missing; run script/bootstrap")
    chosen = [spec for spec in WORKLOADS if not arguments.only or spec.name in arguments.only]
    if not chosen:
        sys.exit("http bench: workloads are " + ", ".join(spec.name for spec in WORKLOADS))
    summaries = []
    with tempfile.TemporaryDirectory(prefix="edge-bench-") as folder:
        os.chmod(folder, 0o755)
        make_certificate(Path(folder))
        bench = Bench(arguments.build.resolve() / "bin", Path(folder), arguments.core)
        try:
            for spec in chosen:
                summaries.append(summarise(spec, bench.workload(spec, arguments.rounds, arguments.seconds)))
        finally:
            bench.stop_all()
    print("\nCPU microseconds a request of the proxy alone (median), and the ratios edge/peer of the kept rounds")
    print_table(summaries)
    if arguments.json:
        arguments.json.write_text(json.dumps({"bench": "http", "core": arguments.core, "seconds": arguments.seconds,
                                              "workloads": summaries}, indent=2) + "\n")


if __name__ == "__main__":
    main()
