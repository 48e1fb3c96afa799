#!/bin/bash
# Within a cluster of the bed with --audit: what the product promises of times, and what it takes. Called by
# script/check-cluster.
set -euo pipefail
# shellcheck source=tests/cluster/product.sh
source "$(dirname "$0")/../product.sh"
bars=$programs/bars

# Writes of the controller that the API server has answered.
writes() {
  grep -cE '"stage":"ResponseComplete".*"verb":"(create|update|patch|delete)"' "$logs/audit.log" || true
}

memory() { # memory PID: MiB that are resident
  awk '/^VmRSS/ {printf "%d MiB", $2 / 1024}' "/proc/$1/status"
}

seconds_since() { # seconds_since START (of `date +%s%N`)
  echo "$((($(date +%s%N) - $1) / 1000000)) ms"
}

install_product
kubectl create namespace bars >/dev/null
kubectl -n bars create deployment echo --image echo-basic >/dev/null
kubectl -n bars expose deployment echo --port 3000 >/dev/null
# Addresses of the Gateways, which lead to the node as a router would have it.
ip netns exec node-1 ip route add local 10.244.9.0/24 dev lo
start_controller
controller=$!
start_agent node-1
agent=$!
kubectl wait --for condition=Accepted --timeout 60s gatewayclass edge >/dev/null
kubectl -n bars wait --for condition=Available --timeout 60s deployment echo >/dev/null

"$bars" programmed 30

kubectl apply -f - >/dev/null <<'YAML'
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: bars, namespace: bars}
spec:
  gatewayClassName: edge
  addresses: [{type: IPAddress, value: 10.244.9.200}]
  listeners: [{name: http, port: 80, protocol: HTTP}]
YAML
kubectl -n bars wait --for condition=Programmed --timeout 60s gateway bars >/dev/null
"$bars" routes 3000 http://10.244.9.200/
echo "memory with 3,000 HTTPRoutes: controller $(memory $controller), agent $(memory $agent)"

# At rest once nothing was written for five seconds.
before=-1
while now=$(writes) && [ "$now" != "$before" ]; do
  before=$now
  sleep 5
done
sleep 30
echo "writes at rest: $(($(writes) - before)) within 30 s"

"$bars" services 5000
before=-1
while now=$(memory $controller) && [ "$now" != "$before" ]; do
  before=$now
  sleep 5
done
echo "memory with 5,000 Services, 50,000 endpoints and 3,000 HTTPRoutes: controller $(memory $controller), agent $(memory $agent)"
kill $controller
wait $controller || true
began=$(date +%s%N)
start_controller
controller=$!
until curl -fs "http://$machine:9192/readyz" >/dev/null; do sleep 0.05; done
echo "the controller starts and has a program after $(seconds_since "$began")"
sleep 10
echo "memory after that start: controller $(memory $controller)"
