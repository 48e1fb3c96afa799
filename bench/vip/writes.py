"""What many addresses cost the API: writes as they are taken, at rest, and after the loss of a node."""
import signal
import sys
import time

import world

ADDRESSES = 200
STEP = 0.05
REST, QUIET, TOLD, PATIENCE = 30, 5, 30, 1800  # seconds: a status is written a second (decision 144)


def most_in_a_second(samples):
    """Of (time, count), counts that only grow."""
    most, begin = 0, 0
    for end, (at, count) in enumerate(samples):
        while samples[begin][0] < at - 1:
            begin += 1
        most = max(most, count - samples[begin][1])
    return most


def watch(peer, until=lambda: True):
    """Samples of the writes until nothing is written or waits, and `until` holds, for some seconds."""
    samples, quiet, begin = [], None, time.monotonic()
    told = begin
    while time.monotonic() < begin + PATIENCE:
        written, waiting = peer.writes()
        now = time.monotonic()
        if now - told > TOLD:
            told = now
            print(f"  after {now - begin:.0f} s: {written:.0f} writes, {waiting:.0f} statuses wait", file=sys.stderr, flush=True)
        if not samples or written != samples[-1][1] or waiting or not until():
            quiet = now
        samples.append((now, written))
        if now - quiet > QUIET:
            return samples
        time.sleep(STEP)
    raise RuntimeError(f"the API is not at rest: {samples[-1]}, waiting {waiting}, shares as they should be: {until()}")


def even(shares):
    held = [len(one) for one in shares.values()]
    return sum(held) == ADDRESSES and max(held) - min(held) <= 1


def measure(net, build):
    peer = world.Edge(net, build, ADDRESSES)
    peer.settle()
    taken = watch(peer, lambda: even(peer.shares()))
    at_rest = peer.writes()[0]
    time.sleep(REST)
    at_rest = peer.writes()[0] - at_rest
    before = peer.shares()
    peer.signal("b", signal.SIGKILL)
    began = time.monotonic()
    world.until(lambda: sum(len(one) for name, one in peer.shares().items() if name != "b") == ADDRESSES, "all held")
    served = time.monotonic() - began
    lost = watch(peer)
    after = peer.shares()
    others = [name for name in world.NODES if name != "b"]
    return {"addresses": ADDRESSES,
            "taken": {"writes": taken[-1][1] - taken[0][1], "most_in_a_second": most_in_a_second(taken)},
            "rest": {"seconds": REST, "writes": at_rest},
            "node_lost": {"held_again_ms": 1000 * served, "its_addresses": len(before["b"]),
                          "moved_others": sum(len(before[name] - after[name]) for name in others),
                          "writes": lost[-1][1] - lost[0][1], "most_in_a_second": most_in_a_second(lost)}}


def tell(row):
    taken, rest, lost = row["taken"], row["rest"], row["node_lost"]
    print(f"{row['addresses']} addresses taken: {taken['writes']:.0f} writes, at most {taken['most_in_a_second']:.0f} a second")
    print(f"at rest: {rest['writes']:.0f} writes in {rest['seconds']:.0f} s")
    print(f"node lost: its {lost['its_addresses']} addresses held again after {lost['held_again_ms']:.0f} ms, "
          f"{lost['moved_others']} of the others moved; {lost['writes']:.0f} writes, at most "
          f"{lost['most_in_a_second']:.0f} a second", flush=True)
