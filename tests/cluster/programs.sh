#!/bin/bash
# Within a cluster of the bed: tests of whole programs and of Kubernetes' own clients, which run on the embedded API in
# script/test. Called by script/check-cluster.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
kubectl apply --server-side -f "$root/deploy/crds" >/dev/null
gateway_api=$(cd "$root/tests/cluster" && go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)
kubectl apply --server-side -k "$gateway_api/config/crd/experimental" >/dev/null
kubectl wait --for condition=Established --timeout 60s crd --all >/dev/null
export EDGE_TEST_KUBECONFIG=$KUBECONFIG EDGE_TEST_ADDRESS=10.244.0.1
case $1 in
  e2e) "$EDGE_BED_PROGRAMS/e2e_cluster_test" --gtest_brief=1 ;;
  client-go) cd "$root/tests/client_go" && go test -count=1 ./... ;;
esac
