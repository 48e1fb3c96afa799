#!/usr/bin/env python3
"""A hub and sites whose agents have no controller, as processes: what a change at the hub does at the agents, and what
becomes of a site whose relay or hub is restarted, killed or revoked.

    relay_test.py BIN_DIR [TEST...]
"""
import base64
import http.server
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
from clusters_test import PATIENCE, Cluster, free_port  # noqa: E402

GROUP = "shops"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "acme"))
from authorities import Processes as CaProcesses, ScriptedCa, shown  # noqa: E402


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.text.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Process:
    """A process of ours, with its log. `words` come before its command."""

    def __init__(self, folder, name, words=()):
        self.name, self.log_path, self.process = name, os.path.join(folder, name + ".log"), None
        self.words = words

    def run(self, *command):
        self.command = [*self.words, os.path.join(clusters_test.BIN, command[0]), *command[1:]]
        self.start()

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def restart(self):
        self.kill()
        self.start()


class RelayProcess(Process):
    def __init__(self, folder, name, join, port=None, words=()):
        super().__init__(folder, name, words)
        self.data, self.port, self.metrics = os.path.join(folder, name), port or free_port(), free_port()
        self.run("edge-controller", "--relay", "--data-dir", self.data, "--hub-join", join, "--agents-listen",
                 f"127.0.0.1:{self.port}", "--metrics-listen", f"127.0.0.1:{self.metrics}")

    def figure(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=PATIENCE) as page:
            for line in page.read().decode().splitlines():
                if line.startswith(name + " ") or line.startswith(name + "{"):
                    return float(line.split()[-1])
        raise AssertionError("no metric " + name)


class AgentProcess(Process):
    def __init__(self, folder, relay, name, place, group=GROUP, words=()):
        super().__init__(folder, relay.name + "-" + name, words)
        self.place, self.data = place, os.path.join(folder, relay.name + "-" + name)
        self.run("edge-agent", "--controller", f"127.0.0.1:{relay.port}", "--name", name, "--label",
                 f"edgeproxy.io/group={group}", "--token-file", os.path.join(relay.data, "agents", "join"), "--data-dir",
                 self.data, "--metrics-listen", f"127.0.0.1:{free_port()}", "--health-listen", f"127.0.0.1:{free_port()}", "--peer-listen", "off", "--threads", "1")

    def get(self, port, tls=False, host="shop.example"):
        context = ssl._create_unverified_context() if tls else None
        request = urllib.request.Request(f"http{'s' if tls else ''}://{self.place}:{port}/", headers={"host": host})
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return answer.read().decode()


def wait_for(condition, what, of=(), patience=PATIENCE):
    until = time.monotonic() + patience
    fault = None
    while True:
        try:
            if condition():
                return
            fault = None
        except (OSError, AssertionError, subprocess.SubprocessError, json.JSONDecodeError) as error:
            fault = error
        if time.monotonic() > until:
            logs = "\n".join(f"--- {one.name}\n{one.log()[-2500:]}" for one in of)
            raise AssertionError(f"{what} does not come ({fault})\n{logs}")
        time.sleep(0.05)


class RelayTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="relay.")
        self.processes = []
        self.hub = Cluster(self.folder, "hub", prefix=self.words("hub"))
        self.backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.backend.text = "one"
        threading.Thread(target=self.backend.serve_forever, daemon=True).start()
        wait_for(lambda: b"controller: " in content(os.path.join(self.hub.data, "agents", "admin.pem")),
                 "the hub's address for its administrators", [self.hub])

    def words(self, of):
        """Before the commands of the hub, or of a site."""
        del of
        return ()

    def tearDown(self):
        for process in reversed(self.processes):
            process.kill()
        self.hub.stop()
        self.backend.shutdown()
        self.backend.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def site(self, name, groups=(GROUP,)):
        join = os.path.join(self.folder, name + ".join")
        words = [word for group in groups for word in ("--agent-group", group)]
        self.hub.edgectl("cluster", "add", name, "--hub", f"127.0.0.1:{self.hub.port}", "--out", join, *words)
        patch = {"spec": {"heartbeat": {"interval": "500ms", "timeout": "2s"}}}
        self.hub.edgectl("patch", "remotecluster", name, "--type", "merge", "-p", json.dumps(patch))
        relay = RelayProcess(self.folder, name, join, words=self.words(name))
        self.processes.append(relay)
        wait_for(lambda: os.path.exists(os.path.join(relay.data, "agents", "join")), "the relay's join file", [relay])
        return relay

    def agent(self, relay, name, group=GROUP):
        made = AgentProcess(self.folder, relay, name, "127.0.0.1", group, words=relay.words)
        self.processes.append(made)
        return made

    def serve(self, port, change="1", group=GROUP, tls_port=None):
        listeners = [{"name": "http", "port": port, "protocol": "HTTP"}]
        if tls_port:
            listeners.append({"name": "https", "port": tls_port, "protocol": "HTTPS",
                              "tls": {"secretRef": {"name": "shop-tls"}}})
        objects = [
            {"kind": "ProxyGateway", "metadata": {"name": "shops"},
             "spec": {"agentGroups": [group], "listeners": listeners}},
            {"kind": "ProxyRoute", "metadata": {"name": "shop"},
             "spec": {"parentRefs": [{"name": "shops"}], "hostnames": ["shop.example", f"shop-{change}.example"],
                      "rules": [{"backendRef": {"name": "shop"}}]}},
            {"kind": "ProxyBackend", "metadata": {"name": "shop"},
             "spec": {"endpoints": [{"address": f"127.0.0.1:{self.backend.server_address[1]}"}]}}]
        for one in objects:
            one["apiVersion"] = "edgeproxy.io/v1alpha1"
            one["metadata"]["namespace"] = "default"
        self.hub.edgectl("apply", "-f", "-", text="\n---\n".join(json.dumps(one) for one in objects))

    def add_certificate(self):
        key, certificate = os.path.join(self.folder, "key.pem"), os.path.join(self.folder, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=shop.example", "-addext", "subjectAltName=DNS:shop.example", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True)
        data = {name: base64.b64encode(content(path)).decode()
                for name, path in (("tls.key", key), ("tls.crt", certificate))}
        self.hub.edgectl("apply", "-f", "-", text=json.dumps(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop-tls", "namespace": "default"},
             "type": "kubernetes.io/tls", "data": data}))

    def test_an_agent_gets_program_and_values_through_its_relay(self):
        relay = self.site("berlin")
        port = free_port()
        self.serve(port)
        agent = self.agent(relay, "agent1")
        both = [relay, agent]
        wait_for(lambda: agent.get(port) == "one", "an answer of the agent", both)
        self.hub.await_phase("berlin", "Connected")
        wait_for(lambda: self.hub.status("berlin").get("agents", {}).get("summary") == "1/1", "the agents of berlin", both)
        wait_for(lambda: "berlin:agent1" in self.hub.edgectl("agents", "list").stdout, "the agent at the hub", both)
        # What is asked of the agent goes through the relay, and the hub knows what it runs.
        self.assertIn("127.0.0.1:", self.hub.edgectl("agent", "backends", "berlin:agent1").stdout)
        self.assertIn("shops", self.hub.edgectl("agents", "describe", "berlin:agent1").stdout)
        wait_for(lambda: "Current" in self.row("berlin:agent1"), "the agent's program at the hub", both)
        # A host that is new at the hub.
        with self.assertRaises(urllib.error.HTTPError):
            agent.get(port, host="shop-2.example")
        self.serve(port, change="2")
        wait_for(lambda: agent.get(port, host="shop-2.example") == "one", "the next program", both)
        page = self.page(relay)
        for figure in ("edge_relay_in_session 1", "edge_relay_sessions_total 1", "edge_relay_groups 1",
                       "edge_relay_groups_without_program 0", "edge_relay_groups_without_secrets 0",
                       "edge_relay_sections_evicted_total 0",
                       "edge_relay_sections_corrupt_total 0"):
            self.assertIn(f"\n{figure}\n", page)
        for name in ("edge_relay_section_received_bytes_total", "edge_relay_sections", "edge_relay_section_bytes",
                     "edge_relay_programs_total"):
            self.assertGreater(relay.figure(name), 0)

    def test_names_on_demand_are_told_through_the_relay(self):
        """A name that a client asks an agent of a site for is told to the hub, which orders it; agents of the site answer the CA, and
        serve it. Names that are not allowed are told to no one."""
        ca = ScriptedCa(CaProcesses(self.folder))
        self.addCleanup(ca.process.wait)
        self.addCleanup(ca.process.kill)
        relay = self.site("berlin")
        port, tls_port = free_port(), free_port()
        ca.control(http_ports=[port])
        acme = {"directoryURL": ca.directory, "challenges": ["HTTP01"], "onDemand": {"allow": ["*.example.test"]}}
        self.hub.edgectl("apply", "-f", "-", text=json.dumps(
            {"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyGateway", "metadata": {"name": "shops", "namespace": "default"},
             "spec": {"agentGroups": [GROUP], "listeners": [
                 {"name": "http", "port": port, "protocol": "HTTP"},
                 {"name": "https", "port": tls_port, "protocol": "HTTPS", "tls": {"acme": acme}}]}}))
        agent = self.agent(relay, "agent1")
        both = [relay, agent]
        wait_for(lambda: shown(ca.trusting(), tls_port, "a.example.test"), "a certificate", both)
        self.assertEqual(ca.orders(), ["order a.example.test"])
        with self.assertRaises(ssl.SSLError):
            shown(ca.trusting(), tls_port, "stranger.test")
        # Without a hub names are kept for a minute, and it is told when it is back.
        self.hub.kill()
        with self.assertRaises(ssl.SSLError):
            shown(ca.trusting(), tls_port, "b.example.test")
        self.hub.start()
        wait_for(lambda: shown(ca.trusting(), tls_port, "b.example.test"), "the other certificate", both)
        self.assertEqual(ca.orders(), ["order a.example.test", "order b.example.test"])

    def row(self, name):
        lines = self.hub.edgectl("agents", "list").stdout.splitlines()
        return next((line for line in lines if line.startswith(name + " ")), "")

    @staticmethod
    def page(relay):
        with urllib.request.urlopen(f"http://127.0.0.1:{relay.metrics}/metrics", timeout=PATIENCE) as page:
            return page.read().decode()

    def test_a_site_serves_without_hub_and_relay_and_comes_back(self):
        self.add_certificate()
        relay = self.site("berlin")
        port, tls_port = free_port(), free_port()
        self.serve(port, tls_port=tls_port)
        agent = self.agent(relay, "agent1")
        wait_for(lambda: agent.get(tls_port, tls=True) == "one", "an answer over TLS", [relay, agent])
        received = relay.figure("edge_relay_section_received_bytes_total")
        self.assertEqual(relay.figure("edge_relay_programs_total"), 1)
        # A relay that restarts fetches nothing again.
        relay.restart()
        wait_for(lambda: relay.figure("edge_relay_in_session") == 1, "the relay's session", [relay])
        self.assertEqual(relay.figure("edge_relay_section_received_bytes_total"), 0)
        self.assertGreater(received, 0)
        # No file of the relay has the key of the certificate.
        secret = content(os.path.join(self.folder, "key.pem")).splitlines()[1]
        for folder, _, names in os.walk(os.path.join(relay.data, "relay")):
            for name in names:
                self.assertNotIn(secret, content(os.path.join(folder, name)), name)
        self.hub.kill()
        # With the hub away an agent is restarted, and everything that it needs is with it or with the relay.
        agent.restart()
        wait_for(lambda: agent.get(tls_port, tls=True) == "one", "an answer after a restart", [relay, agent])
        # Then the relay is, whose secrets are gone: the agent keeps its own.
        relay.restart()
        wait_for(lambda: relay.figure("edge_relay_groups_without_secrets") == 1, "what the relay has on disk", [relay])
        wait_for(lambda: "connected" in agent.log() and agent.get(tls_port, tls=True) == "one", "an answer", [relay, agent])
        agent.kill()
        # One that is new gets the program and endpoints, and has no certificate to show.
        fresh = self.agent(relay, "agent2")
        wait_for(lambda: fresh.get(port) == "one", "an answer of the new agent", [relay, fresh])
        with self.assertRaises((urllib.error.URLError, OSError)):
            fresh.get(tls_port, tls=True)
        self.hub.start()
        wait_for(lambda: fresh.get(tls_port, tls=True) == "one", "the certificate", [relay, fresh, self.hub])
        self.hub.await_phase("berlin", "Connected")
        self.serve(port, change="3", tls_port=tls_port)
        wait_for(lambda: fresh.get(port, host="shop-3.example") == "one", "a change after all that", [relay, fresh])

    def test_two_sites_with_agents_of_one_name_and_one_that_is_revoked(self):
        port = free_port()
        self.serve(port)
        berlin, paris = self.site("berlin"), self.site("paris")
        agent = self.agent(berlin, "agent1")
        wait_for(lambda: agent.get(port) == "one", "an answer at berlin", [berlin, agent])
        other = self.agent(paris, "agent1")
        wait_for(lambda: self.row("berlin:agent1") and self.row("paris:agent1"), "both at the hub", [berlin, paris, other])
        self.hub.edgectl("cluster", "revoke", "berlin")
        self.hub.await_phase("berlin", "Failed")
        wait_for(lambda: "Lost" in self.row("berlin:agent1"), "the loss of berlin's agent", [berlin])
        self.assertNotIn("Lost", self.row("paris:agent1"))
        wait_for(lambda: berlin.figure("edge_relay_in_session") == 0, "the end of the session", [berlin])
        self.assertEqual(agent.get(port), "one")
        # A new file brings it back, as the file that it was started with.
        self.hub.edgectl("cluster", "token", "berlin", "--out", os.path.join(self.folder, "berlin.join"))
        wait_for(lambda: "Lost" not in self.row("berlin:agent1"), "berlin's agent", [berlin])
        # Who suspends it cuts it off, too.
        self.hub.edgectl("cluster", "suspend", "paris")
        wait_for(lambda: "Lost" in self.row("paris:agent1"), "the loss of paris's agent", [paris])

    def test_a_relay_does_not_forge_programs(self):
        relay = self.site("berlin")
        port = free_port()
        self.serve(port)
        agent = self.agent(relay, "agent1")
        wait_for(lambda: agent.get(port) == "one", "an answer", [relay, agent])
        # The agents' join file says the hub's key, and an agent that joined by it takes no other.
        join = content(os.path.join(relay.data, "agents", "join"))
        self.assertIn(b"program-key: ", join)
        printed = subprocess.run([os.path.join(clusters_test.BIN, "edge-controller"), "--print-join", "--data-dir",
                                  relay.data], capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual((printed.returncode, printed.stdout), (0, join))
        missing = subprocess.run([os.path.join(clusters_test.BIN, "edge-controller"), "--print-join", "--data-dir",
                                  self.folder], capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn(b"agents/join", missing.stderr)
        # It serves a program before it has stored it.
        wait_for(lambda: os.path.exists(os.path.join(agent.data, "program.edgeprog")), "the stored program", [agent])
        agent.kill()
        evil = Cluster(self.folder, "evil", port=free_port())
        try:
            # Another controller with the relay's authority, and a signing key of its own.
            relay.kill()
            evil.stop()
            shutil.rmtree(os.path.join(evil.data, "agents"))
            shutil.copytree(os.path.join(relay.data, "agents"), os.path.join(evil.data, "agents"))
            evil.port = relay.port
            evil.start()
            evil.edgectl("apply", "-f", "-", text="\n---\n".join(json.dumps(
                {"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyGateway",
                 "metadata": {"name": "evil", "namespace": "default"},
                 "spec": {"agentGroups": [GROUP], "listeners": [{"name": "http", "port": port, "protocol": "HTTP"}]}})
                for _ in range(1)))
            agent.start()
            wait_for(lambda: "names another key of programs" in agent.log(), "the refusal", [evil, agent])
            # By the program that it has kept, which it may load after it has called.
            wait_for(lambda: agent.get(port) == "one", "an answer by what was kept", [agent])
        finally:
            evil.stop()


    def test_an_address_for_agents_behind_a_relay_is_told_to_be_held_by_none(self):
        relay, port = self.site("berlin"), free_port()
        self.serve(port)
        agent = self.agent(relay, "agent1")
        wait_for(lambda: agent.get(port) == "one", "an answer", [relay, agent])
        vip = {"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyVIP", "metadata": {"name": "tills", "namespace": "default"},
               "spec": {"address": "198.51.100.7/32", "nodeSelector": {"edgeproxy.io/group": GROUP}}}
        # It is made when all agents have said what they have to say, and before they come.
        for _ in range(2):
            self.hub.edgectl("delete", "vip", "tills", check=False)
            self.hub.edgectl("apply", "-f", "-", text=json.dumps(vip))

            def told():
                status = json.loads(self.hub.edgectl("get", "vip", "tills", "-o", "json").stdout).get("status", {})
                said = {one["type"]: one for one in status.get("conditions", [])}
                return all(said[name]["reason"] == "BehindRelay" and "berlin:agent1" in said[name]["message"]
                           for name in ("Ready", "Announced", "Degraded")) if "Ready" in said else False

            wait_for(told, "the condition of the address", [relay, agent, self.hub])
            wait_for(lambda: "BehindRelay" in self.hub.edgectl("get", "events").stdout, "an event", [self.hub])
            self.hub.stop()
            self.hub.start()
        # Before anything is applied: of a gateway that asks for it there.
        self.hub.edgectl("apply", "-f", "-", text=json.dumps(
            {"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyGateway", "metadata": {"name": "tills", "namespace": "default"},
             "spec": {"agentGroups": [GROUP], "vipRef": "tills",
                      "listeners": [{"name": "http", "port": free_port(), "protocol": "HTTP"}]}}))
        files = os.path.join(self.folder, "validated")
        os.makedirs(files)
        for kind, name in (("remotecluster", "berlin"), ("gateway", "tills"), ("vip", "tills")):
            with open(os.path.join(files, kind + ".yaml"), "w", encoding="utf-8") as file:
                file.write(self.hub.edgectl("get", kind, name, "-o", "yaml").stdout)
        said = self.hub.edgectl("validate", files, check=False)
        self.assertIn("EDGE0801", said.stdout + said.stderr)
        self.assertIn("behind the relay of the cluster `berlin`", said.stdout + said.stderr)

    def test_phases_of_a_site_are_what_is_so(self):
        join = os.path.join(self.folder, "berlin.join")
        self.hub.edgectl("cluster", "add", "berlin", "--hub", f"127.0.0.1:{self.hub.port}", "--out", join,
                         "--agent-group", GROUP)
        patch = {"spec": {"heartbeat": {"interval": "500ms", "timeout": "2s"}}}
        self.hub.edgectl("patch", "remotecluster", "berlin", "--type", "merge", "-p", json.dumps(patch))
        self.hub.await_phase("berlin", "Pending")
        port = free_port()
        self.serve(port)
        relay = RelayProcess(self.folder, "berlin", join)
        self.processes.append(relay)
        wait_for(lambda: os.path.exists(os.path.join(relay.data, "agents", "join")), "the relay's join file", [relay])
        # A site without agents is one with nothing amiss.
        self.hub.await_phase("berlin", "Connected")
        first, second = self.agent(relay, "agent1"), self.agent(relay, "agent2")
        wait_for(lambda: self.hub.status("berlin").get("agents", {}).get("summary") == "2/2", "both agents",
                 [relay, first, second])
        self.hub.await_phase("berlin", "Connected")
        # One of two lags behind: it is gone, or it runs another program.
        second.kill()
        self.hub.await_phase("berlin", "Degraded")
        self.assertEqual(self.hub.reason("berlin"), "AgentsNotReady")
        self.assertEqual(self.hub.status("berlin")["agents"]["summary"], "1/2")
        second.start()
        self.hub.await_phase("berlin", "Connected")
        # A relay that is heard and gets no programs is not as it should be.
        groups = lambda names: self.hub.edgectl("patch", "remotecluster", "berlin", "--type", "merge", "-p",
                                                json.dumps({"spec": {"agentGroups": names}}))
        groups(None)
        wait_for(lambda: self.hub.status("berlin").get("agents", {}).get("summary") == "0/2", "the loss of programs",
                 [relay])
        self.hub.await_phase("berlin", "Degraded")
        groups([GROUP])
        self.hub.await_phase("berlin", "Connected")
        # A relay that hangs says nothing, and one that is killed is gone; its agents are neither.
        relay.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        self.hub.await_phase("berlin", "Disconnected")
        self.assertLess(time.monotonic() - began, clusters_test.TIMEOUT + clusters_test.SLACK)
        self.assertIn(self.hub.reason("berlin"), ("HeartbeatTimeout", "ConnectionLost"))
        relay.process.send_signal(signal.SIGCONT)
        self.hub.await_phase("berlin", "Connected")
        relay.kill()
        self.hub.await_phase("berlin", "Disconnected")
        self.assertEqual(first.get(port), "one")
        # A hub that restarts knows that it was there.
        self.hub.stop()
        self.hub.start()
        self.hub.await_phase("berlin", "Disconnected")
        relay.start()
        self.hub.await_phase("berlin", "Connected")
        self.hub.edgectl("cluster", "suspend", "berlin")
        self.hub.await_phase("berlin", "Disconnected")
        self.assertEqual(self.hub.reason("berlin"), "Suspended")

    def test_what_a_relay_has_lost_it_gets_again(self):
        relay = self.site("berlin")
        port = free_port()
        self.serve(port)
        agent = self.agent(relay, "agent1")
        wait_for(lambda: agent.get(port) == "one", "an answer", [relay, agent])
        whole = relay.figure("edge_relay_section_received_bytes_total")
        sections = [os.path.join(folder, name)
                    for folder, _, names in os.walk(os.path.join(relay.data, "relay", "sections")) for name in names]
        # A section is damaged while the hub is away: nothing of it is given, and agents serve on.
        self.hub.kill()
        relay.kill()
        largest = max(sections, key=os.path.getsize)
        size = os.path.getsize(largest)
        with open(largest, "r+b") as file:
            file.write(bytes(byte ^ 0xff for byte in content(largest)[:16]))
        relay.start()
        wait_for(lambda: relay.figure("edge_relay_sections_corrupt_total") == 1, "the look at the section", [relay])
        self.assertEqual(relay.figure("edge_relay_groups_without_program"), 1)
        self.assertEqual(agent.get(port), "one")
        agent.restart()
        wait_for(lambda: agent.get(port) == "one", "an answer after a restart", [relay, agent])
        # The hub sends that section, and no other.
        self.hub.start()
        wait_for(lambda: relay.figure("edge_relay_groups_without_program") == 0, "the program", [relay, self.hub])
        received = relay.figure("edge_relay_section_received_bytes_total")
        self.assertGreaterEqual(received, size)
        self.assertLess(received, whole)
        # Everything that it has of programs is lost, and then its authority: agents join anew by the file's new content.
        relay.kill()
        shutil.rmtree(os.path.join(relay.data, "relay"))
        relay.start()
        wait_for(lambda: relay.figure("edge_relay_programs_total") == 1, "the program once more", [relay, self.hub])
        self.assertEqual(relay.figure("edge_relay_section_received_bytes_total"), whole)
        relay.kill()
        shutil.rmtree(os.path.join(relay.data, "agents"))
        relay.start()
        self.serve(port, change="2")
        wait_for(lambda: agent.get(port, host="shop-2.example") == "one", "a change for the agent that joined anew",
                 [relay, agent])

    def test_a_hub_with_another_signing_key_is_believed_by_a_new_join_file_alone(self):
        relay = self.site("berlin")
        port = free_port()
        self.serve(port)
        agent = self.agent(relay, "agent1")
        wait_for(lambda: agent.get(port) == "one", "an answer", [relay, agent])
        self.hub.stop()
        for name in ("signing.key", "signing.key.pub"):
            os.remove(os.path.join(self.hub.data, name))
        self.hub.start()
        self.serve(port, change="2")
        # Nobody has told the agent of the other key: it goes on with what it has.
        wait_for(lambda: "Refused" in self.row("berlin:agent1"), "the refusal at the hub", [relay, agent, self.hub])
        self.assertEqual(agent.get(port), "one")
        with self.assertRaises(urllib.error.HTTPError):
            agent.get(port, host="shop-2.example")
        # The file that the hub's administrator hands over says it, and the relay's own for its agents after it.
        self.hub.edgectl("cluster", "token", "berlin", "--out", os.path.join(self.folder, "berlin.join"))
        relay.restart()
        wait_for(lambda: agent.get(port, host="shop-2.example") == "one", "the new program", [relay, agent])
        self.assertIn("takes programs by the key in", agent.log())

if __name__ == "__main__":
    if len(sys.argv) > 1:
        clusters_test.BIN = sys.argv.pop(1)
    unittest.main(verbosity=2)
