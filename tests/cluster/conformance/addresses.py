#!/usr/bin/env python3
"""Prints an admission policy that gives each Gateway of the official tests an address of its own.

    addresses.py SUITE PREFIX

SUITE is the folder of the tests' module, PREFIX the first three numbers of the addresses. Several of the suite's Gateways
ask for one port without a host name and name no address: whoever runs the tests is to see to it that each is reached
alone. A Gateway that names addresses keeps them.
"""
import glob
import re
import sys


def gateways(suite):
    names = []
    for path in [f"{suite}/base/manifests.yaml", *sorted(glob.glob(f"{suite}/tests/*.yaml"))]:
        with open(path, encoding="utf-8") as file:
            for document in file.read().split("\n---"):
                if re.search(r"^kind: Gateway$", document, re.MULTILINE):
                    name = re.search(r"^  name: (\S+)", document, re.MULTILINE).group(1)
                    if name not in names:
                        names.append(name)
    return names


def main():
    suite, prefix = sys.argv[1:]
    names = gateways(suite)
    if not 0 < len(names) <= 200:
        sys.exit(f"addresses.py: {len(names)} Gateways in {suite}")
    known = ", ".join(f"'{name}': '{prefix}.{number}'" for number, name in enumerate(names, 1))
    print(f"""apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: gateway-addresses}}
spec:
  matchConstraints:
    resourceRules:
      - {{apiGroups: [gateway.networking.k8s.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [gateways]}}
  matchConditions:
    - {{name: none, expression: "!has(object.spec.addresses) || size(object.spec.addresses) == 0"}}
  failurePolicy: Fail
  reinvocationPolicy: Never
  variables:
    - {{name: known, expression: "{{{known}}}"}}
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: |
          object.metadata.name in variables.known ? [JSONPatch{{op: "add", path: "/spec/addresses",
            value: [{{"type": "IPAddress", "value": variables.known[object.metadata.name]}}]}}] : []
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: gateway-addresses}}
spec: {{policyName: gateway-addresses}}""")


if __name__ == "__main__":
    main()
