#!/bin/bash
# Within a cluster of the bed: the product on its node, a GatewayClass, and the official tests. Called by script/check-conformance.
#
#   run.sh PROGRAMS CRDS RELEASE REPORT [FLAG...]
set -euo pipefail
programs=$1 crds=$2 release=$3 report=$4
shift 4
root=$(cd "$(dirname "$0")/../../.." && pwd)
data=$(mktemp -d)
logs=${EDGE_BED_LOGS:?}
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$data"' EXIT

# The node's own address, where the product listens and clients find it.
node=10.244.0.1
kubectl apply --server-side -f "$crds" >/dev/null
kubectl apply --server-side -f "$root/deploy/crds" >/dev/null
kubectl wait --for condition=Established --timeout 60s crd --all >/dev/null
kubectl create namespace edge-system >/dev/null
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: edge
spec:
  controllerName: edgeproxy.io/proxy
YAML
[ -z "${EDGE_CONFORMANCE_SETUP:-}" ] || kubectl apply -f "$EDGE_CONFORMANCE_SETUP"

"$programs/edge-controller" --kubeconfig "$KUBECONFIG" --data-dir "$data/controller" --listen "$node:9190" \
  --metrics 127.0.0.1:9192 --published-address "$node" --otlp-listen off --traces-listen off >"$logs/edge-controller.log" 2>&1 &
for _ in $(seq 300); do
  [ -s "$data/controller/agents/join" ] && break
  sleep 0.1
done
"$programs/edge-agent" --controller "$node:9190" --name bed --node bed --token-file "$data/controller/agents/join" \
  --data-dir "$data/agent" --metrics-listen 127.0.0.1:9193 --health-listen 127.0.0.1:9194 --deny-calls-to none \
  >"$logs/edge-agent.log" 2>&1 &
kubectl wait --for condition=Accepted --timeout 60s gatewayclass edge >/dev/null

version=$("$programs/edge-controller" --version | awk '{print $2; exit}')
features=$(kubectl get gatewayclass edge -o jsonpath='{range .status.supportedFeatures[*]}{.name},{end}')
"$programs/conformance.test" -test.v -test.timeout 30m --gateway-class edge \
  --supported-features "${features%,}" --conformance-profiles GATEWAY-HTTP,GATEWAY-TLS,GATEWAY-GRPC \
  --organization edgeproxy --project edge-proxy --url https://edgeproxy.io --version "$version" --contact maintainers \
  --report-output "$report" "$@"
