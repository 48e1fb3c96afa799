#!/usr/bin/env python3
"""Certificates that are ordered by one of several controllers, and answered for by agents of all of them: edge-controller and
edge-agent with one API, and a scripted CA that looks at every agent. `several_test.py BIN_DIR [CASE...]`"""
import base64
import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from authorities import Processes, ScriptedCa, free_port, shown, wait_for


class World:
    """An API, a CA, controllers, and agents that chose their ports themselves."""

    def __init__(self, binaries):
        self.binaries = binaries
        self.folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.folder.name)
        self.processes = Processes(self.work)
        self.ca = ScriptedCa(self.processes)
        self.controllers, self.agents, self.ports = {}, {}, {}
        self.processes.start("api", "sh", "-c", 'mkfifo in; exec 0<>in; exec "$1" api', "sh", binaries / "serve_resource_api")
        wait_for("the API", lambda: (self.work / "api/kubeconfig").exists() and self.edgectl("get", "secrets").returncode == 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            for log in sorted(self.work.glob("*.log")):
                print(f"---- {log.name}", self.processes.log(log.stem)[-4000:], sep="\n", flush=True)
            with contextlib.suppress(OSError):
                print("---- asked of the CA", *self.ca.log()[-60:], sep="\n", flush=True)
        self.processes.end()
        self.folder.cleanup()

    def edgectl(self, *words, text=None):
        return subprocess.run([self.binaries / "edgectl", "--kubeconfig", self.work / "api/kubeconfig", *words], input=text,
                              capture_output=True, text=True)

    def controller(self, name, *flags):
        port = self.ports.setdefault(name, free_port())
        self.controllers[name] = self.processes.start(
            name, self.binaries / "edge-controller", "--kubeconfig", self.work / "api/kubeconfig", "--data-dir", self.work / name,
            "--agents-listen", f"127.0.0.1:{port}", "--metrics-listen", "127.0.0.1:0", "--otlp-listen", "off",
            "--traces-listen", "off", *flags)
        wait_for(f"{name} takes agents", lambda: "agents on port " in self.processes.log(name))

    def agent(self, name, of, ports="--ephemeral-ports"):
        self.agents[name] = self.processes.start(
            name, self.binaries / "edge-agent", "--controller", f"127.0.0.1:{self.ports[of]}", "--name", name, "--token-file",
            self.work / of / "agents/join", "--data-dir", self.work / f"{name}-data", *([ports] if ports else []), "--threads", "1",
            "--metrics-listen", "127.0.0.1:0", "--health-listen", "off")

    def port(self, agent, listener):
        line = rf"listener {listener} on \S*:(\d+)"
        return int(wait_for(f"{listener} of {agent}", lambda: re.findall(line, self.processes.log(agent)))[-1])

    def metric(self, controller, name):
        port = re.findall(r"metrics on \S*:(\d+)", self.processes.log(controller))[-1]
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
        return next((float(line.rsplit(" ", 1)[1]) for line in text.split("\n") if line.startswith(name + " ")), None)

    def leader(self):
        """The one that leads; None while there is none, or are several."""
        leads = [name for name, process in self.controllers.items()
                 if process.poll() is None and self.metric(name, "edge_controller_leader") == 1]
        return leads[0] if len(leads) == 1 else None

    def gateway(self, hosts, ports=(8080, 8443), more=""):
        names = json.dumps(hosts)
        applied = self.edgectl("apply", "-f", "-", text=f"""apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {{name: web, namespace: default}}
spec:
  listeners:
    - {{name: http, port: {ports[0]}, protocol: HTTP}}
    - {{name: https, port: {ports[1]}, protocol: HTTPS, hostnames: {names},
       tls: {{acme: {{email: ops@example.com, directoryURL: "{self.ca.directory}", challenges: [HTTP01]{more}}}}}}}
""")
        assert applied.returncode == 0, applied.stderr

    def looks_at(self, *agents):
        """Sets the agents at which the CA looks, each of which must answer."""
        self.ca.control(http_ports=[self.port(agent, "http") for agent in agents])

    def certificate(self, agent, host):
        return wait_for(f"a certificate for {host} at {agent}",
                        lambda: shown(self.ca.trusting(), self.port(agent, "https"), host))


ELECT = ("--leader-elect", "--lease-namespace", "default")


def agents_of_all(binaries):
    """The CA is asked to look once every agent has the answer: one that is stopped keeps it from that until it goes on."""
    with World(binaries) as world:
        world.controller("first")
        for name in ("one", "two", "three"):
            world.agent(name, "first")
        # The ports are known with a program, the CA is told of them before there is an order.
        world.gateway([])
        world.looks_at("one", "two", "three")
        world.agents["two"].send_signal(signal.SIGSTOP)
        world.gateway(["a.example.test"])
        wait_for("the authorization", lambda: any("/authz/" in line for line in world.ca.log()))
        # Another certificate's beginning shows that the controller goes on meanwhile.
        world.gateway(["a.example.test", "b.example.test"])
        wait_for("the other order", lambda: "order b.example.test" in world.ca.log())
        assert not any("/challenge/" in line for line in world.ca.log()), world.ca.log()
        world.agents["two"].send_signal(signal.SIGCONT)
        for name in ("one", "two", "three"):
            for host in ("a.example.test", "b.example.test"):
                world.certificate(name, host)
        assert len(world.ca.orders()) == 2, world.ca.orders()


def agents_of_followers(binaries):
    """Likewise of agents that are connected to a controller that does not lead: it says for its agents what they have."""
    with World(binaries) as world:
        world.controller("first", *ELECT)
        world.controller("second", *ELECT)
        leader = wait_for("a leader", world.leader)
        other = "second" if leader == "first" else "first"
        world.agent("one", leader)
        world.agent("two", other)
        world.gateway([])
        world.looks_at("one", "two")

        def beat():
            listed = json.loads(world.edgectl("get", "secrets", "-l", "edgeproxy.io/acme=controller", "-o", "json").stdout)
            return [int(base64.b64decode(item["data"]["beat"])) for item in listed["items"]]

        # Where nothing is ordered no Secret is written, by neither of both, which followed at first.
        assert beat() == [], beat()
        world.gateway(["b.example.test"])
        for name in ("one", "two"):
            world.certificate(name, "b.example.test")
        wait_for("one Secret of a controller", lambda: len(beat()) == 1)
        world.agents["two"].send_signal(signal.SIGSTOP)
        asked = len(world.ca.log())
        world.gateway(["a.example.test", "b.example.test"])
        wait_for("the authorization", lambda: any("/authz/" in line for line in world.ca.log()[asked:]))
        now = beat()[0]
        wait_for("the follower to say twice what it has", lambda: beat()[0] >= now + 2)
        assert not any("/challenge/" in line for line in world.ca.log()[asked:]), world.ca.log()
        world.agents["two"].send_signal(signal.SIGCONT)
        for name in ("one", "two"):
            world.certificate(name, "a.example.test")
        assert world.ca.orders() == ["order b.example.test", "order a.example.test"], world.ca.orders()


def leader_killed_in_mid_order(binaries):
    """The leading controller is killed while the CA validates, and while it issues: the other one goes on with the same order,
    and every agent has the certificate in the end, those of the one that was killed once it is back."""
    for fault, path in (("slow-validation", "/challenge/"), ("slow-issuing", "/finalize/")):
        with World(binaries) as world:
            world.controller("first", *ELECT)
            world.controller("second", *ELECT)
            leader = wait_for("a leader", world.leader)
            other = "second" if leader == "first" else "first"
            world.agent("one", leader)
            world.agent("two", other)
            world.agent("three", other)
            world.gateway([])
            world.looks_at("one", "two", "three")
            world.ca.control(fault=fault, times=1)
            world.gateway(["a.example.test"])
            wait_for("the order", lambda path=path, ca=world.ca: any(path in line for line in ca.log()))
            world.controllers[leader].kill()
            world.controllers[leader].wait()
            for name in ("two", "three"):
                world.certificate(name, "a.example.test")
            assert "is continued" in world.processes.log(other)
            world.controller(leader, *ELECT)
            world.certificate("one", "a.example.test")
            assert world.ca.orders() == ["order a.example.test"], world.ca.orders()


def two_leaders(binaries):
    """Two controllers that both take themselves for the leader make one order of each name."""
    hosts = [f"n{i}.example.test" for i in range(8)]
    with World(binaries) as world:
        world.controller("first")
        world.controller("second")
        world.agent("one", "first")
        world.agent("two", "second")
        world.gateway([])
        # Each has agents of its own, and asks the CA when these have the answer.
        world.ca.control(any_port=True)
        world.looks_at("one", "two")
        world.gateway(hosts)
        for name in ("one", "two"):
            for host in hosts:
                world.certificate(name, host)
        assert sorted(world.ca.orders()) == sorted(f"order {host}" for host in hosts), world.ca.orders()


def port_of_another(binaries):
    """Nothing is ordered while another process has the port of an agent, whichever controller that is connected to: one that does not
    lead tells the leader."""
    with World(binaries) as world, socket.socket() as stranger:
        world.controller("first", *ELECT)
        world.controller("second", *ELECT)
        leader = wait_for("a leader", world.leader)
        other = "second" if leader == "first" else "first"
        ports = (free_port(), free_port())
        stranger.bind(("0.0.0.0", ports[0]))
        stranger.listen()
        world.agent("one", leader)
        world.agent("two", other, ports=None)
        world.gateway([], ports)
        world.port("one", "http")
        wait_for("the fault", lambda: "in use by another process" in world.processes.log("two"))
        world.ca.control(any_port=True, http_ports=[world.port("one", "http")])
        world.gateway(["a.example.test"], ports)
        row = wait_for("the wait", lambda: next(
            (row for row in json.loads(world.edgectl("get", "certificates", "-o", "json").stdout or "[]")
             if row["state"] == "Waiting"), None))
        assert "agent two" in row["fault"] and "in use" in row["fault"], row
        assert not any("/challenge/" in line for line in world.ca.log()), world.ca.log()
        stranger.close()
        world.certificate("one", "a.example.test")
        assert world.ca.orders() == ["order a.example.test"], world.ca.orders()


def pace_of_followers(binaries):
    """A controller that does not lead writes its Secret at once when its agents have an answer, and every five seconds: no more
    often, where nothing has changed."""
    with World(binaries) as world:
        world.controller("first", *ELECT)
        world.controller("second", *ELECT)
        leader = wait_for("a leader", world.leader)
        world.agent("one", leader)
        world.agent("two", "second" if leader == "first" else "first")
        world.gateway([])
        world.looks_at("one", "two")
        world.gateway(["a.example.test"])
        for name in ("one", "two"):
            world.certificate(name, "a.example.test")

        def beat():
            listed = json.loads(world.edgectl("get", "secrets", "-l", "edgeproxy.io/acme=controller", "-o", "json").stdout)
            return int(base64.b64decode(listed["items"][0]["data"]["beat"]))

        # The answer that was withdrawn is the last change; the one after the next is by time alone.
        first = beat()
        wait_for("the next one", lambda: beat() >= first + 2)
        began, first = time.monotonic(), beat()
        wait_for("four writes", lambda: beat() >= first + 4)
        # The look at the first one may have been just before the second.
        assert time.monotonic() - began >= 3 * 5 - 1, time.monotonic() - began


def names_on_demand(binaries):
    """A name that a client asks an agent of any controller for is ordered once, by the one that leads, and served by all agents; it
    outlives the leader."""
    allow = ', onDemand: {allow: ["*.example.test"]}'
    with World(binaries) as world:
        world.controller("first", *ELECT)
        world.controller("second", *ELECT)
        leader = wait_for("a leader", world.leader)
        other = "second" if leader == "first" else "first"
        world.agent("one", leader)
        world.agent("two", other)
        world.gateway([], more=allow)
        world.looks_at("one", "two")
        for agent, host in (("one", "a.example.test"), ("two", "b.example.test")):
            world.certificate(agent, host)
        for agent in ("one", "two"):
            for host in ("a.example.test", "b.example.test"):
                world.certificate(agent, host)
        assert sorted(world.ca.orders()) == ["order a.example.test", "order b.example.test"], world.ca.orders()
        world.controllers[leader].kill()
        world.controllers[leader].wait()
        wait_for("another leader", lambda: world.leader() == other)
        world.ca.control(http_ports=[world.port("two", "http")])
        world.certificate("two", "c.example.test")
        world.certificate("two", "a.example.test")
        assert sorted(world.ca.orders()) == [f"order {name}.example.test" for name in "abc"], world.ca.orders()


CASES = {"agents-of-all": agents_of_all, "agents-of-followers": agents_of_followers,
         "leader-killed-in-mid-order": leader_killed_in_mid_order, "two-leaders": two_leaders,
         "port-of-another": port_of_another, "pace-of-followers": pace_of_followers, "names-on-demand": names_on_demand}


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or CASES:
        CASES[name](binaries)
        print(f"several_test: {name}: {' '.join(CASES[name].__doc__.split())}", flush=True)


main()
