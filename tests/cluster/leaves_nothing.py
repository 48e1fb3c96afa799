#!/usr/bin/env python3
"""Checks that a cluster leaves nothing behind, however it ends.

    leaves_nothing.py CLUSTER_BED

CLUSTER_BED is script/cluster-bed. Its command is ended by itself and by a failure, the cluster by SIGINT, by SIGTERM and
by the death of the process that made it; each time every process of the cluster must be gone within 20 seconds, and
neither a network namespace nor a folder may be left.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time


def children(pid):
    """Every process below `pid`."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    parents[int(name)] = int(re.sub(r".*\) ", "", file.read()).split()[1])
            except OSError:
                pass
    below, found = {pid}, set()
    while below:
        below = {child for child, parent in parents.items() if parent in below} - found
        found |= below
    return found


def alive(pids):
    def runs(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return re.sub(r".*\) ", "", file.read())[0] != "Z"
        except OSError:
            return False
    return {pid for pid in pids if runs(pid)}


def end(bed, how, command):
    """Runs a cluster until it ends as `how` says. Returns what is wrong, or None."""
    with tempfile.TemporaryDirectory() as work:
        before = sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else []
        environment = {**os.environ, "TMPDIR": work}
        run = subprocess.Popen([bed, "--", *command], env=environment, stdout=subprocess.PIPE, text=True,
                               start_new_session=True)
        line = run.stdout.readline()
        below = children(run.pid)
        if line != "up\n" or len(below) < 5:
            return f"the cluster said {line!r}, and has {len(below)} processes"
        if how == "kill":
            # The one that holds the namespaces: the shell of script/cluster-bed has it as its child.
            for pid in below:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    if re.search(r"\(bed\)", file.read()):
                        os.kill(pid, signal.SIGKILL)
                        break
        elif how is not None:
            os.killpg(run.pid, how)
        code = run.wait(timeout=60)
        until = time.monotonic() + 20
        while alive(below) and time.monotonic() < until:
            time.sleep(0.1)
        if left := alive(below):
            return f"{len(left)} processes are left"
        if left := os.listdir(work):
            return f"folders are left: {left}"
        after = sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else []
        if after != before:
            return f"network namespaces are left: {after}"
        if (code == 0) != (how is None and command[-1].endswith("true")):
            return f"the exit code is {code}"
    return None


def main():
    up = "kubectl create deployment one --image=echo-basic >/dev/null; " \
         "kubectl wait --for=condition=Available --timeout=60s deployment/one >/dev/null; echo up; "
    cases = {"its command ends": (None, up + "true"), "its command fails": (None, up + "false"),
             "SIGINT": (signal.SIGINT, up + "sleep 1000"), "SIGTERM": (signal.SIGTERM, up + "sleep 1000"),
             "SIGKILL of its first process": ("kill", up + "sleep 1000")}
    failed = 0
    for name, (how, script) in cases.items():
        fault = end(sys.argv[1], how, ["bash", "-c", script])
        print(f"leaves nothing behind, {name}: {fault or 'yes'}")
        failed += fault is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
