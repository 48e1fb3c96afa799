#!/bin/bash
# Within a cluster of the bed: the commands of tests/kubectl, by one kubectl and edgectl. Called by script/check-cluster.
#
#   kubectl.sh KUBECTL
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
kubectl apply --server-side -f "$root/deploy/crds" >/dev/null
kubectl wait --for condition=Established --timeout 60s crd --all >/dev/null
kubectl create namespace edge-system >/dev/null
EDGECTL=$EDGE_BED_PROGRAMS/edgectl "$root/tests/kubectl/run_commands.py" cluster "$1"
