#!/usr/bin/env python3
"""Holds the rights of edge-controller against what it asked of the API server.

    rights.py AUDIT_LOG DEADLINE

Fails when a call was refused, and when a rule of its roles has a verb and a resource that no call used within DEADLINE
seconds. Some rights are used by chance alone: an object, or which agents are revoked, is read again after a conflict, and an
event is counted up when it happens again.
"""
import json
import subprocess
import sys
import time


def rules():
    """What the roles in the cluster allow: (group, resource, verb)."""
    granted = set()
    for role in (["clusterrole", "edge-controller"], ["-n", "edge-system", "role", "edge-controller"]):
        text = subprocess.run(["kubectl", "get", *role, "-o", "json"], check=True, capture_output=True, text=True).stdout
        for rule in json.loads(text)["rules"]:
            granted |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"]
                        for verb in rule["verbs"]}
    return granted


def calls(path):
    """What was asked, and of it what was refused."""
    used, refused = set(), set()
    with open(path, encoding="utf-8") as log:
        for line in log:
            if not line.endswith("\n"):
                break
            event = json.loads(line)
            decision = event.get("annotations", {}).get("authorization.k8s.io/decision")
            of = event.get("objectRef", {})
            resource = "/".join(part for part in (of.get("resource"), of.get("subresource")) if part)
            call = (of.get("apiGroup", ""), resource or event["requestURI"], event["verb"])
            used.add(call)
            if decision != "allow":
                refused.add(call)
    return used, refused


def by_chance(granted):
    statuses = {(group, resource.removesuffix("/status")) for group, resource, _ in granted
                if resource.endswith("/status")}
    return {(group, resource, "get") for group, resource in statuses} | {("", "events", "patch"), ("", "configmaps", "get")}


def main():
    path, until = sys.argv[1], time.monotonic() + float(sys.argv[2])
    granted = rules()
    while True:
        used, refused = calls(path)
        unused = granted - used - by_chance(granted)
        if refused or not unused or time.monotonic() > until:
            break
        time.sleep(0.5)
    for what, found in (("refused", refused), ("allowed and never asked", unused)):
        for group, resource, verb in sorted(found):
            print(f"rights: {what}: {verb} {resource} of {group or 'the core group'}")
    print(f"rights: {len(used)} kinds of calls, {len(refused)} refused, {len(unused)} rights unused")
    return 1 if refused or unused else 0


if __name__ == "__main__":
    sys.exit(main())
