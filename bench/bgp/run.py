#!/usr/bin/env python3
"""Addresses announced by BGP: from a change to the kernel's route of an FRR router, and from a lost node to the loss of its route.

    run.py --build DIR [--rounds N] [--json FILE]

Two edge-standalone, each with a BIRD, and FRR with BFD (50 ms, three times) beside them on a bridge, in network namespaces that this
makes and takes away: as root. A round adds a ProxyVIP at one node (from the rename of the file to the route), removes it, takes
that node's cable away (to the loss of its next hop), puts it back, and ends the node by SIGTERM. Told are the median, the 99th
percentile and the longest, in milliseconds.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
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
            raise SystemExit("bench: what was waited for did not come")
        time.sleep(STEP)
    return (time.monotonic() - began) * 1000


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
        self.log = open(network.folder / f"{name}.log", "a")
        self.process = subprocess.Popen(command.split(), stdout=self.log, stderr=self.log)

    def vip(self, name, address):
        fresh = self.files.parent / f"{name}.new"
        fresh.write_text(VIP.format(name=name, address=address))
        fresh.rename(self.files / f"{name}.yaml")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def measure(network, build, rounds):
    nodes = {name: Node(network, build, name) for name in NODES}
    wait_until(lambda: all(network.over("203.0.113.10", name) for name in NODES))
    figures = {"added": [], "removed": [], "cable cut": [], "SIGTERM": []}
    port = f"ip -n {network.prefix}switch link set port-a"
    for number in range(rounds):
        nodes["a"].vip("second", "203.0.113.20")
        figures["added"].append(wait_until(lambda: network.over("203.0.113.20", "a")))
        (nodes["a"].files / "second.yaml").unlink()
        figures["removed"].append(wait_until(lambda: not network.route("203.0.113.20")))
        run(port + " down")
        figures["cable cut"].append(wait_until(lambda: not network.over("203.0.113.10", "a")))
        run(port + " up")
        wait_until(lambda: network.over("203.0.113.10", "a"))
        if number % 5 == 4:
            nodes["a"].process.send_signal(signal.SIGTERM)
            figures["SIGTERM"].append(wait_until(lambda: not network.over("203.0.113.10", "a")))
            nodes["a"].process.wait()
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
        print(f"{name:<10} median {told[name]['median']:7.1f} ms  p99 {told[name]['p99']:7.1f} ms  "
              f"longest {told[name]['longest']:7.1f} ms  of {len(ordered)}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
