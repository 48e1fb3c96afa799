#!/usr/bin/env python3
"""Addresses announced by BGP: from a change to the kernel's route of an FRR router, and from a lost node to the loss of its route.

    run.py --build DIR [--rounds N] [--json FILE]

Two edge-standalone, each with a BIRD, and FRR with BFD (50 ms, three times) beside them on a bridge, in network namespaces that this
makes and takes away: as root. A round adds a ProxyVIP at one node by the API (from the request to the route; of it, until the UPDATE of
BGP is at the router's interface), removes it, does the same by a file (from its rename; files that change within 50 ms are read together), takes that node's cable away (to the loss of its next hop), puts it back, and ends the node by SIGTERM. Told are the median, the 99th
percentile and the longest, in milliseconds.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PATIENCE = 60
STEP = 0.001
NODES = {"a": "192.0.2.1", "b": "192.0.2.2"}
ROUTER = "192.0.2.9"

GATEWAY = """apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: gw, annotations: {edgeproxy.io/allow: EDGE1012}}
spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: be}
spec: {endpoints: [{address: "127.0.0.1:8081"}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: r}
spec: {parentRefs: [{name: gw}], rules: [{backendRef: {name: be}}]}
"""

VIP = """apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {{name: {name}, annotations: {{edgeproxy.io/allow: EDGE1012}}}}
spec:
  address: {address}/32
  mode: BGP
  bgp: {{localAS: 64512, peers: [{{address: 192.0.2.9, as: 64500}}], bfd: true, bfdInterval: 50ms, connectRetryTime: 1s}}
"""


def run(command):
    return subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def wait_until(there):
    began = time.monotonic()
    while not there():
        if time.monotonic() - began > PATIENCE:
            raise RuntimeError("what was waited for did not come")
        time.sleep(STEP)
    return (time.monotonic() - began) * 1000


class Lines:
    """What a program prints, with the time at which it came."""

    def __init__(self, *command):
        self.lines, self.came = [], threading.Condition()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.came:
                self.lines.append((time.monotonic(), line))
                self.came.notify_all()

    def wait(self, of_interest, what):
        """The first line, with its time, that is of interest."""
        def found():
            return next((one for one in self.lines if of_interest(*one)), None)
        with self.came:
            if not self.came.wait_for(found, PATIENCE):
                raise RuntimeError(what)
            return found()


class Router:
    """Its kernel says of each change when it comes, and of each UPDATE is known when it was there."""

    def __init__(self, network):
        space = network.prefix + "router"
        self.routes = Lines("ip", "-n", space, "-o", "monitor", "route")
        self.updates = Lines("ip", "netns", "exec", space, sys.executable, str(Path(__file__).parent / "updates.py"), "eth0")
        self.updates.wait(lambda at, line: line.startswith("reads"), "the interface of the router cannot be read")

    def after(self, sent, address, deleted):
        """Milliseconds from `sent` until an UPDATE was there, and until a route came, or went."""
        route, _ = self.routes.wait(lambda at, line: at > sent and f"{address} " in line
                                    and line.startswith("Deleted") == deleted, "a route did not change")
        words = ["-" if deleted else "+", address]
        _, update = self.updates.wait(lambda at, line: line.split()[1:] == words and float(line.split()[0]) > sent,
                                      "no UPDATE came")
        return (float(update.split()[0]) - sent) * 1000, (route - sent) * 1000


class Network:
    def __init__(self, folder):
        self.folder = folder
        self.prefix = f"edge-bgp-bench-{os.getpid()}-"
        if os.system(f"ip netns add {self.prefix}switch") != 0:
            raise SystemExit("bench: needs ip, and the right to make network namespaces")
        run(f"ip -n {self.prefix}switch link add bridge type bridge; ip -n {self.prefix}switch link set bridge up")
        for name, address in {**NODES, "router": ROUTER}.items():
            space, switch = self.prefix + name, self.prefix + "switch"
            run(f"ip netns add {space}")
            run(f"ip -n {switch} link add port-{name} type veth peer name eth0 netns {space}")
            run(f"ip -n {switch} link set port-{name} master bridge up")
            run(f"ip -n {space} link set lo up; ip -n {space} link set eth0 up")
            run(f"ip -n {space} addr add {address}/24 dev eth0")

    def router(self):
        folder = self.folder / "frr"
        folder.mkdir()
        neighbors = "".join(
            f" neighbor {n} remote-as 64512\n neighbor {n} bfd\n neighbor {n} timers connect 1\n" for n in NODES.values())
        bfd = "".join(f" peer {n}\n  detect-multiplier 3\n  receive-interval 50\n  transmit-interval 50\n"
                      for n in NODES.values())
        (folder / "zebra.conf").write_text("hostname router\n")
        (folder / "bgpd.conf").write_text(
            f"hostname router\nrouter bgp 64500\n bgp router-id {ROUTER}\n no bgp ebgp-requires-policy\n{neighbors}")
        (folder / "bfdd.conf").write_text("bfd\n" + bfd)
        run(f"chown -R frr:frr {folder}")
        for daemon, more in (("zebra", ""), ("bfdd", f"--bfdctl {folder}/bfdd.sock"), ("bgpd", "")):
            run(f"ip netns exec {self.prefix}router /usr/lib/frr/{daemon} -d -i {folder}/{daemon}.pid -z {folder}/zebra.api "
                f"--vty_socket {folder} -f {folder}/{daemon}.conf {more}")

    def route(self, address):
        return run(f"ip -n {self.prefix}router route show {address}")

    def over(self, address, node):
        return f"via {NODES[node]} " in self.route(address)

    def watched(self, node):
        """Whether BFD sees a node: it begins with a packet a second (RFC 5880 6.8.3), after the session has come."""
        told = run(f"vtysh --vty_socket {self.folder}/frr -c 'show bfd peers json'")
        peers = json.loads(told) if told.startswith("[") else []
        return any(peer.get("peer") == NODES[node] and peer.get("status") == "up" for peer in peers)

    def remove(self):
        for name in (*NODES, "router", "switch"):
            for pid in run(f"ip netns pids {self.prefix}{name}").split():
                os.kill(int(pid), signal.SIGKILL)
            run(f"ip netns del {self.prefix}{name}")


class Node:
    def __init__(self, network, build, name):
        self.files = network.folder / name
        if not self.files.exists():
            self.files.mkdir()
            (self.files / "gateway.yaml").write_text(GATEWAY)
            self.vip("public", "203.0.113.10")
        command = f"ip netns exec {network.prefix}{name} {build}/bin/edge-standalone --config {self.files}"
        command += f" --data-dir {network.folder}/data-{name} --peer-listen 0.0.0.0:9095 --drain-timeout 1s"
        for flag in ("metrics-listen", "health-listen", "api-listen", "otlp-listen", "traces-listen"):
            command += f" --{flag} 127.0.0.1:0"
        self.changes = None
        self.network, self.name = network, name
        self.log = open(network.folder / f"{name}.log", "a")
        self.process = subprocess.Popen(command.split(), stdout=self.log, stderr=self.log)

    def vip(self, name, address):
        fresh = self.files.parent / f"{name}.new"
        fresh.write_text(VIP.format(name=name, address=address))
        fresh.rename(self.files / f"{name}.yaml")

    def change(self, *words):
        """Asks the API. Returns when."""
        if self.changes is None:
            self.changes = subprocess.Popen(
                ["ip", "netns", "exec", self.network.prefix + self.name, sys.executable,
                 str(Path(__file__).parent / "changes.py"), f"{self.network.folder}/data-{self.name}/kubeconfig"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.changes.stdin.write(" ".join(map(str, words)) + "\n")
        self.changes.stdin.flush()
        sent, status = self.changes.stdout.readline().split()
        if not 200 <= int(status) < 300:
            raise SystemExit(f"bench: the API answers {status}")
        return float(sent)

    def end(self):
        if self.changes is not None:
            self.changes.stdin.close()
            self.changes.wait()
            self.changes = None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def measure(network, build, rounds):
    nodes = {name: Node(network, build, name) for name in NODES}
    wait_until(lambda: all(network.over("203.0.113.10", name) for name in NODES))
    figures = {"added": [], "added: UPDATE": [], "removed": [], "removed: UPDATE": [], "file added": [], "file removed": [], "cable cut": [], "SIGTERM": []}
    router = Router(network)
    by_api = network.folder / "third.yaml"
    by_api.write_text(VIP.format(name="third", address="203.0.113.30"))
    port = f"ip -n {network.prefix}switch link set port-a"
    for number in range(rounds):
        sent = nodes["a"].change("put", by_api)
        for name, took in zip(("added: UPDATE", "added"), router.after(sent, "203.0.113.30", deleted=False)):
            figures[name].append(took)
        sent = nodes["a"].change("delete", "third")
        for name, took in zip(("removed: UPDATE", "removed"), router.after(sent, "203.0.113.30", deleted=True)):
            figures[name].append(took)
        nodes["a"].vip("second", "203.0.113.20")
        figures["file added"].append(wait_until(lambda: network.over("203.0.113.20", "a")))
        (nodes["a"].files / "second.yaml").unlink()
        figures["file removed"].append(wait_until(lambda: not network.route("203.0.113.20")))
        wait_until(lambda: network.watched("a"))
        run(port + " down")
        figures["cable cut"].append(wait_until(lambda: not network.over("203.0.113.10", "a")))
        run(port + " up")
        wait_until(lambda: network.over("203.0.113.10", "a"))
        if number % 5 == 4:
            nodes["a"].process.send_signal(signal.SIGTERM)
            figures["SIGTERM"].append(wait_until(lambda: not network.over("203.0.113.10", "a")))
            nodes["a"].process.wait()
            nodes["a"].end()
            nodes["a"] = Node(network, build, "a")
            wait_until(lambda: network.over("203.0.113.10", "a"))
    for node in nodes.values():
        node.end()
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="edge-bgp-", dir="/tmp"))
    folder.chmod(0o755)
    network = Network(folder)
    try:
        network.router()
        figures = measure(network, arguments.build, arguments.rounds)
    finally:
        network.remove()
        shutil.rmtree(folder)
    told = {}
    for name, all_of in figures.items():
        if not all_of:
            continue
        ordered = sorted(all_of)
        told[name] = {"median": statistics.median(ordered), "p99": ordered[int(len(ordered) * 0.99)], "longest": ordered[-1],
                      "count": len(ordered)}
        print(f"{name:<15} median {told[name]['median']:7.1f} ms  p99 {told[name]['p99']:7.1f} ms  "
              f"longest {told[name]['longest']:7.1f} ms  of {len(ordered)}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
