#!/bin/bash
# Within a cluster of the bed: the product, and the official tests. Called by script/check-conformance.
#
#   run.sh REPORT [FLAG...]
set -euo pipefail
report=$1
shift
# shellcheck source=tests/cluster/product.sh
source "$(dirname "$0")/../product.sh"

# Gateways have addresses that lead to the node, as a router would have it.
give_addresses() {
  local suite
  suite=$(cd "$root/tests/cluster" && go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api/conformance)
  ip netns exec node-1 ip route add local 10.244.9.0/24 dev lo
  "$root/tests/cluster/conformance/addresses.py" "$suite" 10.244.9 | kubectl apply -f - >/dev/null
  # The API server obeys a policy a while after it has taken it.
  until kubectl create --dry-run=server -o yaml -f - <<'YAML' | grep -q 10.244.9; do sleep 0.2; done
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: same-namespace, namespace: default}
spec: {gatewayClassName: edge, listeners: [{name: http, port: 80, protocol: HTTP}]}
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
