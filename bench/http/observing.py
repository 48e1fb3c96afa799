#!/usr/bin/env python3
"""What being seen costs a request: access log and tracing on, against both off, in CPU time of the proxy.

Metrics are counted either way: nobody turns them off. Four agents share one core with load and backend, in rounds of
alternating order, for each workload of `script/bench http`; the result is the median of the rounds' ratios. The log goes
to a file, each request's spans to a collector that takes them, on another core where there is one. nginx runs beside
them, with its `combined` log and without.
"""
import argparse
import http.server
import json
import os
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
NGINX = ("nginx", "nginx-log")


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


def starter(bench, collector):
    def start(name, port, backend, routes, tls):
        folder = bench.folder / name
        folder.mkdir(exist_ok=True)
        if name in NGINX:
            log = f"{folder}/access.log combined buffer=64k flush=1s" if name == "nginx-log" else "off"
            return bench.start_proxy("nginx", port, backend, routes, tls, log)
        paths = [f"/service-{n}/items" for n in range(routes)] if routes > 1 else []
        flags = [] if name == "off" else ["--access-log", folder / "access.log", "--access-log-max-size", "64Mi",
                                          "--otlp-endpoint", f"http://127.0.0.1:{collector}"]
        return bench.start_edge(folder, port, backend, paths, tls, VARIANTS[name], flags)

    return start


def summarise(spec, results):
    proxies = list(results[0])
    micros = {name: round(statistics.median(one[name] for one in results), 2) for name in proxies}
    ratios = {name: round(statistics.median(one[name] / one["off"] for one in results), 3) for name in VARIANTS}
    summary = {"workload": spec.name, "rounds": len(results), "microseconds": micros, "ratios": ratios,
               "reached": ratios["on"] <= GOAL}
    for peer in set(NGINX) & set(proxies):
        summary[f"on to {peer}"] = round(statistics.median(one["on"] / one[peer] for one in results), 3)
    return summary


def print_table(summaries):
    print(f"\n{'workload':20} {'off':>8} {'on':>8}   {'log':>6} {'traces':>6} {'on':>6}   on to nginx, with its log")
    for one in summaries:
        micros, ratios = one["microseconds"], one["ratios"]
        mark = "<=" if one["reached"] else "> "
        peers = ", ".join(f"{one[f'on to {peer}']:.2f}" for peer in NGINX if f"on to {peer}" in one)
        print(f"{one['workload']:20} {micros['off']:8.2f} {micros['on']:8.2f}   {ratios['log']:6.3f} "
              f"{ratios['traces']:6.3f} {ratios['on']:6.3f} {mark} {GOAL}   {peers}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=run.ROOT / "build/release")
    parser.add_argument("--edgectl", type=Path, help="of another build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--only", action="append", help="a workload's name; repeatable")
    parser.add_argument("--without-nginx", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    chosen = [spec for spec in run.WORKLOADS if not arguments.only or spec.name in arguments.only]
    if not chosen:
        sys.exit("observing bench: workloads are " + ", ".join(spec.name for spec in run.WORKLOADS))
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    proxies = tuple(VARIANTS) + (() if arguments.without_nginx else NGINX)
    summaries = []
    with tempfile.TemporaryDirectory(prefix="edge-observing-") as folder:
        os.chmod(folder, 0o755)
        run.make_certificate(Path(folder))
        bench = run.Bench(arguments.build.resolve() / "bin", Path(folder), max(os.sched_getaffinity(0)))
        bench.edgectl = arguments.edgectl or bench.edgectl
        start = starter(bench, collector.server_address[1])
        try:
            for spec in chosen:
                results = bench.workload(spec, arguments.rounds, arguments.seconds, proxies, start)
                summaries.append(summarise(spec, results))
        finally:
            bench.stop_all()
    print("\nCPU microseconds a request (median), and the medians of the rounds' ratios to access log and tracing off")
    print_table(summaries)
    if arguments.json:
        arguments.json.write_text(json.dumps({"bench": "observing", "goal": GOAL, "workloads": summaries}, indent=2) + "\n")
    sys.exit(0 if all(one["reached"] for one in summaries) else 1)


if __name__ == "__main__":
    main()
