#!/usr/bin/env python3
"""Sites with a relay whose clocks are moved: certificates of relay and agents that are renewed, that end while somebody is
away, and clocks that are set back. Whatever it is, agents serve on.

    relay_clock_test.py BIN_DIR [TEST...]
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
import clusters_test  # noqa: E402
import relay_test  # noqa: E402
from clusters_test import free_port  # noqa: E402
from relay_test import content, wait_for  # noqa: E402
from shifted_clock import DAY, HOUR, ShiftedClock  # noqa: E402

Relays = relay_test.RelayTest
del relay_test.RelayTest  # not run again here
IS_OVER = "the certificate of this cluster is over by this machine's clock"
THE_COMMAND = "edgectl cluster token, at the hub, makes a join file"


class RelayByTheClockTest(Relays):
    def setUp(self):
        self.clocks = {}
        super().setUp()

    def clock(self, name):
        if name not in self.clocks:
            self.clocks[name] = ShiftedClock(os.path.join(self.folder, name + ".clock"))
        return self.clocks[name]

    def words(self, of):
        return self.clock(of).words()

    def pass_by(self, seconds):
        for clock in self.clocks.values():
            clock.pass_by(seconds)

    def begin(self):
        """A site with one agent that serves."""
        self.relay, self.port, self.change = self.site("berlin"), free_port(), 1
        self.serve(self.port)
        self.one = self.agent(self.relay, "agent1")
        self.all = [self.relay, self.one, self.hub]
        wait_for(lambda: self.one.get(self.port) == "one", "an answer", self.all)

    def assert_takes_changes(self, agent=None):
        """What is changed at the hub comes to the agent."""
        self.change += 1
        change = str(self.change)
        self.serve(self.port, change=change)
        wait_for(lambda: (agent or self.one).get(self.port, host=f"shop-{change}.example") == "one", "a change", self.all)

    @staticmethod
    def identity(process):
        """The certificate by which a relay calls its hub, or an agent its relay."""
        paths = [os.path.join(process.data, name) for name in ("hub.pem", "agent.pem")]
        path = next(path for path in paths if os.path.exists(path))
        return content(path).split(b"-----BEGIN CERTIFICATE-----")[1].split(b"-----END")[0]

    def new_token(self):
        """Once the hub's own certificates are renewed, which it looks at every few seconds."""
        words = ["cluster", "token", "berlin", "--out", os.path.join(self.folder, "berlin.join")]
        wait_for(lambda: self.hub.edgectl(*words, check=False).returncode == 0, "a join file", [self.hub])

    def test_certificates_of_a_site_are_renewed(self):
        self.begin()
        for _ in range(2):
            before = [self.identity(process) for process in (self.relay, self.one)]
            self.pass_by(20 * DAY)
            wait_for(lambda: all(self.identity(process) != old
                                 for process, old in zip((self.relay, self.one), before)), "new certificates", self.all)
            self.assertEqual(self.one.get(self.port), "one")
            self.assert_takes_changes()
        # Those of the beginning are over by now: what is shown are the new ones.
        self.relay.restart()
        self.one.restart()
        wait_for(lambda: self.relay.figure("edge_relay_in_session") == 1, "the relay's session", self.all)
        wait_for(lambda: self.one.get(self.port) == "one", "an answer", self.all)
        self.assert_takes_changes()

    def test_certificates_end_while_the_hub_is_away(self):
        self.begin()
        self.hub.kill()
        # The relay alone renews those of its agents.
        before = self.identity(self.one)
        self.pass_by(21 * DAY)
        wait_for(lambda: self.identity(self.one) != before, "a new certificate of the agent", self.all)
        self.pass_by(10 * DAY)
        wait_for(lambda: IS_OVER in self.relay.log() and THE_COMMAND in self.relay.log(), "which command mends it", self.all)
        self.relay.restart()
        self.one.restart()
        wait_for(lambda: self.one.get(self.port) == "one", "an answer without the hub", self.all)
        fresh = self.agent(self.relay, "agent2")
        wait_for(lambda: "has joined" in fresh.log(), "a new agent without the hub", [self.relay, fresh])
        fresh.kill()
        self.hub.start()
        self.assertEqual(self.relay.figure("edge_relay_in_session"), 0)
        self.new_token()
        wait_for(lambda: self.relay.figure("edge_relay_in_session") == 1, "the relay's session", self.all)
        self.assert_takes_changes()

    def test_certificates_end_while_agent_or_relay_are_away(self):
        self.begin()
        self.one.kill()
        before = self.identity(self.relay)
        self.pass_by(20 * DAY)
        wait_for(lambda: self.identity(self.relay) != before, "a new certificate of the relay", self.all)
        self.pass_by(11 * DAY)
        # The agent joins anew by the file that it was started with.
        self.one.start()
        wait_for(lambda: self.one.log().count("has joined") == 2, "that it joins anew", self.all)
        self.assert_takes_changes()
        # The relay is away longer than all of its own: its server's last 90 days.
        self.relay.kill()
        self.pass_by(100 * DAY)
        self.assertEqual(self.one.get(self.port), "one")
        self.one.restart()
        wait_for(lambda: self.one.get(self.port) == "one", "an answer by what is kept", self.all)
        self.relay.start()
        wait_for(lambda: IS_OVER in self.relay.log() and THE_COMMAND in self.relay.log(), "which command mends it", self.all)
        self.new_token()
        wait_for(lambda: self.relay.figure("edge_relay_in_session") == 1, "the relay's session", self.all)
        self.assert_takes_changes()

    def test_a_site_whose_clock_is_set_back(self):
        # Its authority is of a time that is yet to come.
        self.clock("berlin").set(20 * HOUR)
        self.begin()
        self.clock("berlin").set(0)
        self.assertEqual(self.one.get(self.port), "one")
        self.assert_takes_changes()
        self.relay.restart()
        wait_for(lambda: self.relay.figure("edge_relay_in_session") == 1, "the relay's session", self.all)
        self.one.restart()
        wait_for(lambda: self.one.get(self.port) == "one", "an answer", self.all)
        self.assert_takes_changes()

    def test_a_hub_whose_clock_is_set_back(self):
        self.begin()
        # What it issues for the relay meanwhile is of a time that is yet to come.
        self.clock("hub").set(20 * DAY)
        self.clock("berlin").set(20 * DAY)
        before = self.identity(self.relay)
        wait_for(lambda: self.identity(self.relay) != before, "a new certificate of the relay", self.all)
        self.clock("hub").set(0)
        self.clock("berlin").set(0)
        self.assertEqual(self.one.get(self.port), "one")
        self.relay.restart()
        self.one.restart()
        wait_for(lambda: self.one.get(self.port) == "one", "an answer", self.all)
        wait_for(lambda: "is not valid yet by this machine's clock" in self.relay.log() and THE_COMMAND in self.relay.log(),
                 "which command mends it", self.all)
        self.new_token()
        wait_for(lambda: self.relay.figure("edge_relay_in_session") == 1, "the relay's session", self.all)
        self.assert_takes_changes()


if __name__ == "__main__":
    clusters_test.BIN = sys.argv[1] if len(sys.argv) > 1 else clusters_test.BIN
    names = [name for name in vars(RelayByTheClockTest) if name.startswith("test_")]
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ["RelayByTheClockTest." + name for name in names])], verbosity=2)
