#!/bin/bash
# Within a cluster of the bed with --audit: the controller's rights against its calls. Called by script/check-cluster.
set -euo pipefail
# shellcheck source=tests/cluster/product.sh
source "$(dirname "$0")/../product.sh"
install_product
start_controller --leader-elect
start_agent node-1
kubectl apply -f "$root/tests/cluster/rights/world.yaml" >/dev/null
# What is made for a Gateway is changed, and taken away.
kubectl wait --for create --timeout 60s service/web-edge endpointslice/web-edge-ipv4 >/dev/null
kubectl patch gateway web --type merge -p '{"spec":{"infrastructure":{"labels":{"team":"second"}}}}' >/dev/null
kubectl wait --for jsonpath='{.metadata.labels.team}'=second --timeout 60s service/web-edge >/dev/null
kubectl patch gateway web --type merge -p '{"spec":{"infrastructure":null}}' >/dev/null
# The first makes what says which agents are revoked, the second changes it.
for name in gone-1 gone-2; do
  "$programs/edgectl" agents revoke "$name" --controller "$machine:9190" --credentials "$data/controller/agents/admin.pem" >/dev/null
done
"$root/tests/cluster/rights/rights.py" "$logs/audit.log" 60
