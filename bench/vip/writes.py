"""What many addresses cost the API: writes by kind of call as they are taken, at rest, and after the loss of a node."""
import collections
import signal
import sys
import time

import world

ADDRESSES = 200
STEP = 1
REST, QUIET, TOLD, PATIENCE = 30, 5, 30, 1800  # seconds: a status of an address is written a second (decision 144)


def by_call(calls):
    return dict(collections.Counter(call for _, call in calls).most_common())


def busiest(calls):
    """Those of the second that has the most of them."""
    most, begin = [], 0
    for end, (at, _) in enumerate(calls, 1):
        while calls[begin][0] <= at - 1:
            begin += 1
        if end - begin > len(most):
            most = calls[begin:end]
    return most


def counted(calls):
    most = busiest(calls)
    return {"writes": len(calls), "by_call": by_call(calls), "most_in_a_second": len(most), "in_that_second": by_call(most)}


def watch(peer, before, until=lambda: True):
    """The writes after the first `before`, once nothing is written or waits, and `until` holds, for some seconds."""
    quiet = begin = told = time.monotonic()
    seen = before
    while time.monotonic() < begin + PATIENCE:
        calls, waiting, now = list(peer.written()), peer.waiting(), time.monotonic()
        if now - told > TOLD:
            told = now
            print(f"  after {now - begin:.0f} s: {len(calls) - before} writes, {waiting:.0f} statuses wait", file=sys.stderr,
                  flush=True)
        if len(calls) != seen or waiting or not until():
            quiet = now
        seen = len(calls)
        if now - quiet > QUIET:
            return sorted(calls[before:])
        time.sleep(STEP)
    raise RuntimeError(f"the API is not at rest: {seen - before} writes, waiting {waiting}, shares as they should be: {until()}")


def even(shares):
    held = [len(one) for one in shares.values()]
    return sum(held) == ADDRESSES and max(held) - min(held) <= 1


def measure(net, build):
    peer = world.Edge(net, build, logs_writes=True)
    peer.settle()
    peer.apply_gateway_of_all()  # its own statuses and events are none of the addresses
    watch(peer, 0)
    applied = sum(1 for _ in peer.written())
    peer.apply_more(ADDRESSES)
    taken = watch(peer, applied, lambda: even(peer.shares()))
    taken = [(at, call) for at, call in taken if not call.endswith(" by edgectl")]
    rested = sum(1 for _ in peer.written())
    time.sleep(REST)
    at_rest = sum(1 for _ in peer.written()) - rested
    before = peer.shares()
    rested += at_rest
    peer.signal("b", signal.SIGKILL)
    began = time.monotonic()
    world.until(lambda: sum(len(one) for name, one in peer.shares().items() if name != "b") == ADDRESSES, "all held")
    served = time.monotonic() - began
    lost = watch(peer, rested)
    after = peer.shares()
    others = [name for name in world.NODES if name != "b"]
    return {"addresses": ADDRESSES, "taken": counted(taken), "rest": {"seconds": REST, "writes": at_rest},
            "node_lost": {"held_again_ms": 1000 * served, "its_addresses": len(before["b"]),
                          "moved_others": sum(len(before[name] - after[name]) for name in others), **counted(lost)}}


def tell_calls(row):
    for call, count in row["by_call"].items():
        print(f"  {count:>5} {call}, {row['in_that_second'].get(call, 0)} in the busiest second")


def tell(row):
    taken, rest, lost = row["taken"], row["rest"], row["node_lost"]
    print(f"{row['addresses']} addresses taken: {taken['writes']} writes, at most {taken['most_in_a_second']} a second")
    tell_calls(taken)
    print(f"at rest: {rest['writes']} writes in {rest['seconds']} s")
    print(f"node lost: its {lost['its_addresses']} addresses held again after {lost['held_again_ms']:.0f} ms, "
          f"{lost['moved_others']} of the others moved; {lost['writes']} writes, at most {lost['most_in_a_second']} a second")
    tell_calls(lost)
    sys.stdout.flush()
