#!/usr/bin/env python3
"""What being seen costs a request: access log and tracing on, against both off, in CPU time of the proxy.

Metrics are counted either way: nobody turns them off. Four agents share one core with load and backend, in rounds of
alternating order; the result is the median of the rounds' ratios. The log goes to a file, spans to a collector that
takes them, on another core where there is one.
"""
import argparse
import http.server
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402

GOAL = 1.08
LOG = "  accessLog: {enabled: true}\n"
TRACES = "  tracing: {enabled: true}\n"
VARIANTS = {"off": "", "log": LOG, "traces": TRACES, "on": LOG + TRACES}


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def start_agent(bench, name, port, backend, collector):
    folder = bench.folder / name
    folder.mkdir()
    config = run.EDGE.format(port=port, backend=backend, protocol="protocol: HTTP")
    config += run.EDGE_ROUTE.format(number=0, path="/", type="PathPrefix")
    config = config.replace("spec:\n", "spec:\n" + VARIANTS[name], 1)
    (folder / "config.yaml").write_text(config)
    files = {"--program": "p.edgeprog", "--endpoints": "endpoints.json"}
    run.subprocess.run([bench.edgectl, "compile", "-f", folder / "config.yaml", "-o", folder / "p.edgeprog",
                        "--endpoints-out", folder / "endpoints.json"], check=True, stdout=run.subprocess.DEVNULL)
    flags = [part for flag, file in files.items() for part in (flag, folder / file)]
    if name != "off":
        flags += ["--access-log", folder / "access.log", "--access-log-max-size", "64Mi",
                  "--otlp-endpoint", f"http://127.0.0.1:{collector}"]
    return bench.start(bench.binaries / "edge-agent", *flags, "--allow-unsigned", "--threads", 1,
                       "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0")


def measure(bench, rounds, seconds, collector):
    backend = run.free_port()
    run.wait_for(backend, bench.start(bench.binaries / "http_backend", backend, 100))
    ports, agents = {}, {}
    for name in VARIANTS:
        ports[name] = run.free_port()
        agents[name] = start_agent(bench, name, ports[name], backend, collector)
        run.wait_for(ports[name], agents[name])
        bench.load("http", ports[name], "/", 64, False, "1s")
    rounds_of = []
    for number in range(rounds):
        figures = {}
        for name in list(VARIANTS)[::1 if number % 2 == 0 else -1]:
            before = run.cpu_nanoseconds(agents[name].pid)
            requests = bench.load("http", ports[name], "/", 64, False, f"{seconds}s")
            figures[name] = (run.cpu_nanoseconds(agents[name].pid) - before) / requests / 1000
        rounds_of.append(figures)
        print(f"  round {number + 1}: " + ", ".join(f"{name} {figures[name]:.2f}" for name in VARIANTS) + " us",
              flush=True)
    return rounds_of


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=run.ROOT / "build/release")
    parser.add_argument("--edgectl", type=Path, help="of another build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp(prefix="edge-observing-"))
    bench = run.Bench(arguments.build / "bin", folder, max(os.sched_getaffinity(0)))
    bench.edgectl = arguments.edgectl or arguments.build / "bin/edgectl"
    try:
        results = measure(bench, arguments.rounds, arguments.seconds, collector.server_address[1])
    finally:
        bench.stop_all()
        shutil.rmtree(folder, ignore_errors=True)
    ratios = {name: round(statistics.median(one[name] / one["off"] for one in results), 3) for name in VARIANTS}
    print("CPU time of a request, against access log and tracing off: " +
          ", ".join(f"{name} {ratio}" for name, ratio in ratios.items()) + f"; goal for both on {GOAL}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"ratios": ratios, "goal": GOAL}) + "\n")
    sys.exit(0 if ratios["on"] <= GOAL else 1)


if __name__ == "__main__":
    main()
