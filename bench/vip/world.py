"""Three nodes, a router's place and a client on one bridge, each in a network namespace; taken away at the end."""
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

VIP = "192.0.2.100"
MORE = "198.51.100."
PORT, TLS_PORT, UPSTREAM = 8080, 8443, 18080
NODES = ["a", "b", "c"]
ADDRESSES = {"a": "192.0.2.1", "b": "192.0.2.2", "c": "192.0.2.3", "ctl": "192.0.2.200", "client": "192.0.2.50"}
PREFIX = f"edge-bench-{os.getpid()}-"
NEVER = 120  # seconds after which what is waited for is taken for lost
HERE = Path(__file__).parent


def run(*command, check=True):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def ip(name, *command, check=True):
    return run("ip", "-n", PREFIX + name, *command, check=check)


def until(condition, what):
    end = time.monotonic() + NEVER
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise RuntimeError("waited in vain: " + what)
        time.sleep(0.1)


def call_of(line):
    """`PATCH proxyvips/status by edge-controller` of a line that tells of a write."""
    names = line["path"].strip("/").split("/")
    names = names[3:] if names[0] == "apis" else names[2:]  # without group and version
    if names[:1] == ["namespaces"] and len(names) > 2:
        names = names[2:]
    resource = "/".join([names[0], *names[2:]]) if names else line["path"]
    return f"{line['method']} {resource} by {line.get('manager') or line['client'].split('/')[0]}"


class Net:
    def __init__(self, folder):
        self.folder, self.processes = folder, []
        run("ip", "netns", "add", PREFIX + "switch")
        ip("switch", "link", "add", "bridge", "type", "bridge")
        ip("switch", "link", "set", "bridge", "up")
        for name, address in ADDRESSES.items():
            run("ip", "netns", "add", PREFIX + name)
            ip("switch", "link", "add", "port-" + name, "type", "veth", "peer", "name", "eth0", "netns", PREFIX + name)
            ip("switch", "link", "set", "port-" + name, "master", "bridge", "up")
            ip(name, "link", "set", "lo", "up")
            ip(name, "link", "set", "eth0", "up")
            ip(name, "addr", "add", address + "/24", "dev", "eth0")

    def start(self, name, *command):
        log = open(self.folder / f"{name}-{Path(str(command[0])).name}.log", "ab")
        process = subprocess.Popen(["ip", "netns", "exec", PREFIX + name, *map(str, command)],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def holders(self):
        return [name for name in NODES
                if re.search(rf"inet {re.escape(VIP)}/", ip(name, "addr", "show", "dev", "eth0"))]

    def holder(self):
        """Once one node alone has the address."""
        found = until(lambda: (lambda all_: all_ if len(all_) == 1 else None)(self.holders()), "one holder")
        return found[0]

    def cut(self, name):
        """Frames of a node are lost, and its link stays up."""
        run("ip", "netns", "exec", PREFIX + "switch", "nft",
            f"add table bridge cut; add chain bridge cut f {{ type filter hook forward priority 0; }}; "
            f"add rule bridge cut f iifname port-{name} drop; add rule bridge cut f oifname port-{name} drop")

    def mend(self):
        run("ip", "netns", "exec", PREFIX + "switch", "nft", "delete table bridge cut", check=False)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
        for process in self.processes:
            process.wait(60)
        for name in [*ADDRESSES, "switch"]:
            run("ip", "netns", "del", PREFIX + name, check=False)


class Fault:
    """What is done to the holder, and how it is undone."""

    def __init__(self, peer):
        self.peer, self.net = peer, peer.net

    def do(self, kind, name):
        if kind == "move":
            return self.peer.move(name)
        if kind == "upgrade":
            self.before = self.peer.agents[name]
            return self.peer.start_node(name)
        if kind == "end":
            return self.peer.end(name)
        if kind in ("kill", "stop"):
            return self.peer.signal(name, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
        if kind == "down":
            return ip(name, "link", "set", "eth0", "down")
        if kind == "cable":
            return ip("switch", "link", "set", "port-" + name, "down")
        return self.net.cut(name)

    def undo(self, kind, name):
        if kind == "end":
            self.peer.agents[name].wait(NEVER)
        if kind == "upgrade":
            self.before.wait(NEVER)
        if kind in ("kill", "end"):
            self.peer.start_node(name)
        if kind == "stop":
            self.peer.signal(name, signal.SIGCONT)
        if kind == "down":
            ip(name, "link", "set", "eth0", "up")
        if kind == "cable":
            ip("switch", "link", "set", "port-" + name, "up")
        if kind == "partition":
            self.net.mend()
        self.peer.ready(name)


class Edge:
    """edge-standalone as the controller, and an edge-agent on each node."""
    name = "edge-agent"

    def __init__(self, net, build, logs_writes=False):
        """`logs_writes`: for `written`."""
        self.net, self.bin, self.agents = net, build / "bin", {}
        folder = net.folder
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=bench", "-addext", f"subjectAltName=IP:{VIP}", "-keyout", folder / "key.pem", "-out",
            folder / "cert.pem")
        logs = ["--log-level", "debug", "--log-format", "json"] if logs_writes else []
        net.start("ctl", self.bin / "edge-standalone", "--data-dir", folder / "ctl", "--api-listen", "127.0.0.1:16443",
                  "--agents-listen", ADDRESSES["ctl"] + ":9443", "--health-listen", "127.0.0.1:0",
                  "--metrics-listen", "127.0.0.1:9090", "--otlp-listen", "off", "--traces-listen", "127.0.0.1:0", *logs)
        until((folder / "ctl/kubeconfig").exists, "the API")
        until((folder / "ctl/agents/join").exists, "the join file")
        until(lambda: "ProxyVIP" in self.edgectl("api-resources", check=False) or
              self.edgectl("get", "vips", check=False) is not None, "the API")
        self.apply()
        for name in NODES:
            net.start(name, sys.executable, HERE / "upstream.py", "127.0.0.1", UPSTREAM)
            self.start_node(name)
        for name in NODES:
            self.ready(name)

    def edgectl(self, *words, check=True):
        return run("ip", "netns", "exec", PREFIX + "ctl", self.bin / "edgectl", *words, "--kubeconfig",
                   self.net.folder / "ctl/kubeconfig", check=check)

    def apply(self):
        folder = self.net.folder
        (folder / "config.yaml").write_text(f"""
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {{name: public, namespace: default}}
spec: {{address: {VIP}/24, nodeSelector: {{bench: "yes"}}}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: web, namespace: default}}
spec:
  vipRef: public
  listeners:
  - {{name: http, port: {PORT}, protocol: HTTP}}
  - {{name: https, port: {TLS_PORT}, protocol: HTTPS, tls: {{secretRef: {{name: tls}}}}}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {{name: all, namespace: default}}
spec:
  parentRefs: [{{name: web}}]
  rules: [{{backendRefs: [{{name: upstream}}]}}]
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {{name: upstream, namespace: default}}
spec: {{serviceRef: {{name: upstream, port: 80}}, passiveHealthCheck: {{enabled: false}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: upstream, namespace: default}}
spec: {{ports: [{{port: 80, targetPort: {UPSTREAM}}}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
addressType: IPv4
metadata: {{name: upstream, namespace: default, labels: {{kubernetes.io/service-name: upstream}}}}
ports: [{{port: {UPSTREAM}}}]
endpoints: [{{addresses: [127.0.0.1]}}]
""")
        self.edgectl("create", "secret", "tls", "tls", "--cert", folder / "cert.pem", "--key", folder / "key.pem")
        self.edgectl("apply", "-f", folder / "config.yaml")

    def apply_gateway_of_all(self):
        (self.net.folder / "any.yaml").write_text("""apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: any, namespace: default}
spec: {listeners: [{name: http, port: 8081, protocol: HTTP}]}
""")
        self.edgectl("apply", "-f", self.net.folder / "any.yaml")

    def apply_more(self, count):
        """So many addresses besides, 198.51.100.1 and on, for a gateway of all addresses."""
        all_of = [f"""apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {{name: more-{number}, namespace: default}}
spec: {{address: {MORE}{number}/24, interface: eth0, nodeSelector: {{bench: "yes"}}}}
""" for number in range(1, count + 1)]
        (self.net.folder / "more.yaml").write_text("---\n".join(all_of))
        self.edgectl("apply", "-f", self.net.folder / "more.yaml")

    def start_node(self, name):
        folder = self.net.folder
        self.agents[name] = self.net.start(
            name, self.bin / "edge-agent", "--controller", ADDRESSES["ctl"] + ":9443", "--name", name, "--node",
            "node-" + name, "--token-file", folder / "ctl/agents/join", "--data-dir", folder / name, "--label",
            "bench=yes", "--peer-listen",
            "0.0.0.0:9095", "--upgrade-socket", folder / f"{name}.sock", "--drain-timeout", "30s",
            "--metrics-listen", "127.0.0.1:9090", "--health-listen", "127.0.0.1:9091", "--threads", "1")

    def ready(self, name):
        until(lambda: run("ip", "netns", "exec", PREFIX + name, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                          "http://127.0.0.1:9091/readyz", check=False) == "200", name + " ready")

    def settle(self):
        """All agents hear each other."""
        def all_hear():
            for name in NODES:
                figures = run("ip", "netns", "exec", PREFIX + name, "curl", "-s", "http://127.0.0.1:9090/metrics",
                              check=False)
                # The controller's own agent is among them.
                if not re.search(r"edge_vip_live_agents [34]\b", figures):
                    return False
            return True
        until(all_hear, "agents that hear each other")

    def move(self, name):
        to = next(other for other in NODES if other != name)
        self.edgectl("vip", "move", "public", "--to", to)

    def shares(self):
        """Which of the additional addresses each node has."""
        return {name: set(re.findall(rf"inet ({re.escape(MORE)}\d+)/", ip(name, "addr", "show", "dev", "eth0")))
                for name in NODES}

    def written(self):
        """What the API has been asked to write, in its order: (seconds, kind of call)."""
        with open(self.net.folder / "ctl-edge-standalone.log", encoding="utf-8") as log:
            for text in log:
                line = json.loads(text) if text.startswith("{") and text.endswith("}\n") else {}
                if line.get("msg") == "resource api: a write" and line["status"].startswith("2"):
                    yield datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp(), call_of(line)

    def waiting(self):
        """Statuses of the controller that are to be written yet."""
        figures = run("ip", "netns", "exec", PREFIX + "ctl", "curl", "-s", "http://127.0.0.1:9090/metrics", check=False)
        waiting = re.search(r'edge_controller_queue_depth\{queue="statuses"\} (\S+)', figures)
        return float(waiting.group(1)) if waiting else 0

    def end(self, name):
        self.agents[name].send_signal(signal.SIGTERM)

    def signal(self, name, number):
        process = self.agents[name]
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait(60)


class Keepalived:
    """VRRP with its shortest customary interval of a second, and a server on each node."""
    name = "keepalived"

    def __init__(self, net, _):
        self.net, self.daemons = net, {}
        for name in NODES:
            net.start(name, sys.executable, HERE / "upstream.py", "0.0.0.0", PORT)
            self.start_node(name)
        net.holder()

    def start_node(self, name):
        folder = self.net.folder
        (folder / f"{name}.conf").write_text(f"""
global_defs {{ router_id {name}
 vrrp_garp_master_refresh 60 }}
vrrp_instance vip {{
 state BACKUP
 nopreempt
 interface eth0
 virtual_router_id 51
 priority {100 + NODES.index(name)}
 advert_int 1
 virtual_ipaddress {{ {VIP}/32 dev eth0 }}
}}
""")
        self.daemons[name] = self.net.start(name, "keepalived", "-n", "-l", "-P", "-f", folder / f"{name}.conf", "-p",
                                            folder / f"{name}.pid", "-r", folder / f"{name}-vrrp.pid")

    def ready(self, name):
        pass

    def settle(self):
        self.net.holder()
        time.sleep(4)  # of three missed advertisements

    def move(self, name):
        """It has no move: who holds the address is stopped in an orderly way, and starts again."""
        self.daemons[name].send_signal(signal.SIGTERM)
        self.daemons[name].wait(60)
        self.start_node(name)

    def signal(self, name, number):
        process = self.daemons[name]
        children = run("pgrep", "-P", process.pid, check=False).split()
        for pid in [*map(int, children), process.pid]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        if number == signal.SIGKILL:
            process.wait(60)
            ip(name, "addr", "del", VIP + "/32", "dev", "eth0", check=False)
