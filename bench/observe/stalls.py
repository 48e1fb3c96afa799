#!/usr/bin/env python3
"""Whether whoever looks on can hold traffic: the 99th percentile of requests while the collector of traces stalls, the
access log's disk is full, or many scrape /metrics at once, against that at rest. See docs/benchmarks.md.

Agents that log and trace every request share one core, each alike but for what is wrong with its observers; load,
backend and observers are on another. Each round asks all agents, one after the other, at the same fixed rate. A second
agent at rest tells how much two equal ones differ.
"""
import argparse
import http.client
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "http"))
import run  # noqa: E402

GOAL = 1.10
OBSERVED = "  accessLog: {enabled: true}\n  tracing: {enabled: true}\n"
#: Of the full disk.
DISK = "4m"
PIPE = 1024  # bytes a second that the pipe's reader takes
PIECE = 16 * 1024  # that a scraper reads at a time
LOAD_PRIORITY = ["chrt", "--fifo", "1"]
LOST_LINES = "edge_access_log_dropped_total"
LOST_SPANS = "edge_spans_dropped_total"


class Collector:
    """Takes connections on a port of its own and does with them what `behaviour` says."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.held = []
        if behaviour == "refuses":
            self.listener.close()
        else:
            threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection = self.listener.accept()[0]
            if self.behaviour == "silent":
                self.held.append(connection)
                continue
            serve = self.take if self.behaviour == "takes" else self.trickle
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    @staticmethod
    def take(connection):
        reader = connection.makefile("rb")
        while line := reader.readline():
            length = 0
            while line not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                line = reader.readline()
            reader.read(length)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")

    @staticmethod
    def trickle(connection):
        while connection.recv(1):
            time.sleep(1)


class Scraper:
    """One client with an address of its own, which asks again as soon as it was answered."""

    def __init__(self, port, number):
        coding = "gzip" if number % 2 else "identity"
        self.request = f"GET /metrics HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: {coding}\r\n\r\n".encode()
        self.socket = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.1.{number + 1}", 0))
        self.socket.setblocking(False)
        self.ask()

    def ask(self):
        self.head, self.left, self.tail = b"", None, b""
        self.socket.send(self.request)

    def take(self, data):
        """\returns the status once the answer is whole."""
        if self.left is None:
            self.head += data
            if b"\r\n\r\n" not in self.head:
                return None
            self.head, data = self.head.split(b"\r\n\r\n", 1)
            length = re.search(rb"content-length: (\d+)", self.head.lower())
            self.left = int(length.group(1)) if length else -1
        if self.left >= 0:
            self.left -= len(data)
        self.tail = (self.tail + data)[-7:]
        whole = self.left == 0 or (self.left < 0 and self.tail == b"\r\n0\r\n\r\n")
        return int(self.head.split()[1]) if whole else None


class Storm:
    """Clients that scrape without a pause, every other one in gzip. One thread, small pieces: they share a core with the
    load, which is not what is asked about."""

    def __init__(self, port, clients):
        self.port, self.clients, self.over = port, clients, threading.Event()
        self.answers, self.bytes = {}, 0
        self.thread = threading.Thread(target=self.scrape)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def scrape(self):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        with selectors.DefaultSelector() as selector:
            for number in range(self.clients):
                scraper = Scraper(self.port, number)
                selector.register(scraper.socket, selectors.EVENT_READ, scraper)
            while not self.over.is_set():
                for key, _ in selector.select(0.1):
                    data = key.data.socket.recv(PIECE)
                    if not data:
                        selector.unregister(key.fileobj)
                        continue
                    self.bytes += len(data)
                    if (status := key.data.take(data)) is not None:
                        self.answers[status] = self.answers.get(status, 0) + 1
                        key.data.ask()
            for key in list(selector.get_map().values()):
                key.data.socket.close()


class Disk:
    """A file system of its own, filled to the last block. Without root /dev/full stands for it."""

    def __init__(self, folder):
        self.folder = folder
        self.mounted = False
        folder.mkdir()
        if os.geteuid() == 0:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "edge-bench", folder]
            self.mounted = subprocess.run(mount, capture_output=True).returncode == 0

    def fill(self):
        if not self.mounted:
            print("  not allowed to mount: /dev/full stands for the full disk", flush=True)
            return "/dev/full"
        with open(self.folder / "others", "wb", buffering=0) as others:
            try:
                while others.write(bytes(4096)):
                    pass
            except OSError:
                pass
        return self.folder / "access.log"

    def unmount(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.folder], check=False)


def slow_pipe(path):
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read():
        while True:
            time.sleep(1)
            try:
                os.read(reader, PIPE)
            except BlockingIOError:
                pass
    threading.Thread(target=read, daemon=True).start()
    return path


class Agent:
    """An edge-agent that logs to `log` and sends spans to `collector`."""

    def __init__(self, bench, name, log, collector):
        self.name, self.output = name, bench.folder / f"{name}.err"
        command = ["taskset", "-c", str(bench.core), bench.binaries / "edge-agent", "--program", bench.folder / "p.edgeprog",
                   "--endpoints", bench.folder / "endpoints.json", "--allow-unsigned", "--threads", "1", "--ephemeral-ports",
                   "--access-log", log, "--access-log-max-size", "64Mi", "--otlp-endpoint",
                   f"http://127.0.0.1:{collector.port}", "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"]
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output,
                                            stdin=subprocess.DEVNULL)
        bench.processes.append(self.process)
        self.port = self.find_port(r"listener \S+ on \S+:(\d+)")
        self.metrics_port = self.find_port(r"metrics on \S+:(\d+)")

    def find_port(self, pattern):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := re.search(pattern, self.output.read_text()):
                return int(found.group(1))
            time.sleep(0.05)
        sys.exit(f"stalls: {self.name} did not start\n{self.output.read_text()}")

    def count(self, family):
        connection = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(family))

    def resident_mib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text()).group(1)) / 1024


class Stalls:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.bench = run.Bench(arguments.build.resolve() / "bin", folder, arguments.core)
        self.load_core = min(os.sched_getaffinity(0) - {arguments.core}, default=arguments.core)
        self.disk = Disk(folder / "disk")
        self.agents = {}
        self.may_go_before = subprocess.run([*LOAD_PRIORITY, "true"], capture_output=True).returncode == 0

    def start(self):
        os.sched_setaffinity(0, {self.load_core})
        backend = run.free_port()
        text = run.EDGE.format(port=8080, backend=backend, protocol="protocol: HTTP")
        for number in range(self.arguments.routes):
            text += run.EDGE_ROUTE.format(number=number, path=f"/service-{number}/items", type="Exact")
        (self.folder / "config.yaml").write_text(text.replace("spec:\n", "spec:\n" + OBSERVED, 1))
        edgectl = self.arguments.edgectl or self.bench.binaries / "edgectl"
        subprocess.run([edgectl, "compile", "-f", self.folder / "config.yaml", "-o", self.folder / "p.edgeprog",
                        "--endpoints-out", self.folder / "endpoints.json"], check=True, stdout=subprocess.DEVNULL)
        origin = subprocess.Popen([*self.priority(), self.bench.binaries / "http_backend", str(backend), "100"])
        self.bench.processes.append(origin)
        run.wait_for(backend, origin)
        good = Collector("takes")
        for name, log, collector in (
                ("at rest", self.folder / "rest.log", good),
                ("at rest again", self.folder / "again.log", good),
                ("collector silent", self.folder / "silent.log", Collector("silent")),
                ("collector refuses", self.folder / "refuses.log", Collector("refuses")),
                ("collector trickles", self.folder / "trickles.log", Collector("trickles")),
                ("disk full", self.disk.fill(), good),
                ("pipe slow", slow_pipe(self.folder / "pipe"), good),
                ("scrape storm", self.folder / "storm.log", good)):
            if not self.arguments.only or name in self.arguments.only or name.startswith("at rest"):
                self.agents[name] = Agent(self.bench, name, log, collector)

    def priority(self):
        """Load and backend go before the observers that share their core."""
        return LOAD_PRIORITY if self.may_go_before else []

    def load(self, agent, seconds):
        command = [*self.priority(), self.bench.binaries / "paced_load", agent.port, self.arguments.rate, 16, seconds,
                   self.arguments.routes]
        output = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if output.returncode != 0:
            sys.exit(f"stalls: {agent.name}: failed requests\n{output.stdout}{output.stderr}")
        return json.loads(output.stdout)

    def measure(self, agent):
        if agent.name != "scrape storm":
            return self.load(agent, self.arguments.seconds)
        with Storm(agent.metrics_port, self.arguments.scrapers) as storm:
            figures = self.load(agent, self.arguments.seconds)
        figures["scrapes"], figures["scraped_mib"] = storm.answers, round(storm.bytes / 2**20, 1)
        return figures

    def rounds(self):
        # Every route of each once, so that it has series; and as much as the queues of those that stall can hold.
        seconds = max(6, 2 * self.arguments.routes // self.arguments.rate)
        for agent in self.agents.values():
            self.load(agent, seconds)
        for number in range(self.arguments.rounds):
            names = list(self.agents)
            figures = {name: self.measure(self.agents[name]) for name in (names if number % 2 == 0 else names[::-1])}
            print(f"  round {number + 1}: " + ", ".join(f"{name} {figures[name]['p99_us']:.0f}" for name in names) + " us",
                  flush=True)
            yield figures

    def losses(self):
        """What must have been lost, and was counted: lines or spans."""
        found = {}
        for name, agent in self.agents.items():
            if name.startswith("collector"):
                found[name] = {"spans dropped": agent.count(LOST_SPANS)}
            elif name in ("disk full", "pipe slow"):
                found[name] = {"lines dropped": agent.count(LOST_LINES)}
        return found

    def stop(self):
        self.bench.stop_all()
        self.disk.unmount()


def quantile(rounds, name, share):
    return sorted(one[name]["p99_us"] for one in rounds)[int(share * (len(rounds) - 1))]


def summarise(rounds, stalls):
    """Of every agent the same quantiles over all rounds: whatever else the machine did struck all alike."""
    losses = stalls.losses()
    results = {}
    for name in rounds[0]:
        if name == "at rest":
            continue
        figures = {"p99_us": quantile(rounds, name, 0.5), "ratio": 0.0, "quartile_ratio": 0.0}
        for key, share in (("ratio", 0.5), ("quartile_ratio", 0.25)):
            rest = [quantile(rounds, "at rest", share)]
            if name != "at rest again":
                rest.append(quantile(rounds, "at rest again", share))
            figures[key] = round(quantile(rounds, name, share) / statistics.mean(rest), 3)
        figures["resident_mib"] = round(stalls.agents[name].resident_mib(), 1)
        lost = losses.get(name, {})
        counted = all(count > 0 for count in lost.values())
        figures |= lost
        figures["reached"] = counted and (name == "at rest again" or figures["ratio"] <= GOAL)
        results[name] = figures
    if "scrape storm" in results:
        answers = {}
        for one in rounds:
            for status, count in one["scrape storm"]["scrapes"].items():
                answers[str(status)] = answers.get(str(status), 0) + count
        results["scrape storm"]["scrapes"] = answers
        results["scrape storm"]["series"] = stalls.agents["scrape storm"].count("edge_metrics_series ")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=run.ROOT / "build/release")
    parser.add_argument("--edgectl", type=Path, help="of another build")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=1, help="of an agent in a round")
    parser.add_argument("--rate", type=int, default=2000, help="requests a second")
    parser.add_argument("--routes", type=int, default=5000)
    parser.add_argument("--scrapers", type=int, default=20)
    parser.add_argument("--core", type=int, default=(os.cpu_count() or 1) - 1, help="of the agents")
    parser.add_argument("--only", action="append", help="one that stalls; repeatable")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for tool in ("taskset", "chrt"):
        if shutil.which(tool) is None:
            sys.exit(f"stalls: {tool} is missing; run script/bootstrap")
    # Ended from outside it leaves neither agents nor a mounted disk behind.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("stalls: interrupted"))
    with tempfile.TemporaryDirectory(prefix="edge-stalls-") as folder:
        stalls = Stalls(arguments, Path(folder))
        try:
            stalls.start()
            rounds = list(stalls.rounds())
            results = summarise(rounds, stalls)
        finally:
            stalls.stop()
    floor = quantile(rounds, "at rest", 0.5)
    print(f"\n99th percentile at rest {floor:.0f} us, median of {len(rounds)} rounds; of the others, as a ratio to those at "
          f"rest (goal {GOAL}), and the ratio of the lower quartiles:")
    for name, result in results.items():
        more = ", ".join(f"{key} {value}" for key, value in result.items()
                         if key not in ("p99_us", "ratio", "quartile_ratio", "reached"))
        print(f"  {name:20} {result['p99_us']:8.0f} us  {result['ratio']:.3f}, {result['quartile_ratio']:.3f}  "
              f"{'' if result['reached'] else 'NOT reached  '}{more}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"at_rest_us": floor, "results": results}, indent=2) + "\n")
    sys.exit(0 if all(result["reached"] for result in results.values()) else 1)


if __name__ == "__main__":
    main()
