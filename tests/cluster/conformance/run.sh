#!/bin/bash
# Within a cluster of the bed: the product, and the official tests. Called by script/check-conformance.
#
#   run.sh REPORT [FLAG...]
set -euo pipefail
report=$1
shift
# shellcheck source=tests/cluster/product.sh
source "$(dirname "$0")/../product.sh"

# Several of the suite's Gateways ask for one port without a host name and name no address: each gets one of its own from
# a pool. One address more is there for who asks for it.
give_addresses() {
  kubectl apply -f - >/dev/null <<'YAML'
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {name: conformance, namespace: edge-system}
spec: {pool: [10.244.9.0/25], mode: L2ARP}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {name: usable, namespace: edge-system}
spec: {address: 10.244.9.250/16, mode: L2ARP}
YAML
}

install_product
give_addresses
start_controller
start_agent node-1
kubectl wait --for condition=Accepted --timeout 60s gatewayclass edge >/dev/null

version=$("$programs/edge-controller" --version | awk '{print $2; exit}')
profiles=$("$programs/edgectl" conformance --offline -o json |
  python3 -c 'import json, sys; print(",".join(p["name"] for p in json.load(sys.stdin)["profiles"]))')
# The features are those that the GatewayClass says of itself.
features=$(kubectl get gatewayclass edge -o jsonpath='{range .status.supportedFeatures[*]}{.name},{end}')
"$programs/conformance.test" -test.timeout 30m --gateway-class edge \
  --supported-features "${features%,}" --conformance-profiles "$profiles" \
  --usable-address 10.244.9.250 --unusable-address 192.0.2.1 \
  --organization edgeproxy --project edge-proxy --url https://edgeproxy.io --version "$version" --contact maintainers \
  --report-output "$report" "$@"
