#!/bin/bash
# Installs, upgrades, rolls back and uninstalls the charts on the cluster of $KUBECONFIG.
#
#   releases.sh HELM
set -euo pipefail
helm=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
charts=$root/deploy/charts
space=edge-system
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Nothing of the user's own settings, and nothing that stays.
export HELM_CACHE_HOME=$work/cache HELM_CONFIG_HOME=$work/config HELM_DATA_HOME=$work/data

fail() {
  echo "charts: $helm: FAILED: $*"
  exit 1
}

of_cluster() { kubectl -n $space get edgeclusters main -o "jsonpath={$1}"; }
of_operator() { kubectl -n $space get deployment edge-operator -o "jsonpath={$1}"; }
expect() { # expect WHAT GOT WANTED
  [ "$2" = "$3" ] || fail "$1 is $2, not $3"
  echo "charts: $helm: $1 is $3"
}

# The embedded API comes with both.
made=no
kubectl get namespace $space >/dev/null 2>&1 || { kubectl create namespace $space >/dev/null && made=yes; }
takes=()
! kubectl get crd edgeclusters.edgeproxy.io >/dev/null 2>&1 || takes=(--take-ownership)
"$helm" install edge-crds "$charts/edge-crds" -n $space "${takes[@]}" >/dev/null
# kubectl fails, in place of waiting, where there is no status yet.
for _ in $(seq 60); do
  kubectl wait --for condition=Established --timeout 60s crd/edgeclusters.edgeproxy.io >/dev/null 2>&1 && break
  sleep 1
done
"$helm" install main "$charts/edge" -n $space --set cluster.image.repository=registry.example/one >"$work/notes"
grep -q 'get edgeclusters' "$work/notes" || fail "the notes do not tell the next step"
expect "the repository after install" "$(of_cluster .spec.image.repository)" registry.example/one
image=$(of_operator '.spec.template.spec.containers[0].image')

"$helm" upgrade main "$charts/edge" -n $space --set cluster.image.repository=registry.example/two \
  --set operator.image=registry.example/two/edge-operator:9 >/dev/null
expect "the repository after upgrade" "$(of_cluster .spec.image.repository)" registry.example/two
expect "the image after upgrade" "$(of_operator '.spec.template.spec.containers[0].image')" registry.example/two/edge-operator:9

"$helm" rollback main 1 -n $space >/dev/null
expect "the repository after rollback" "$(of_cluster .spec.image.repository)" registry.example/one
expect "the image after rollback" "$(of_operator '.spec.template.spec.containers[0].image')" "$image"

# edgectl leaves to Helm what Helm installed.
if edgectl upgrade -n $space --dry-run >"$work/log" 2>&1; then fail "edgectl upgrades a release of Helm"; fi
grep -q 'helm upgrade' "$work/log" || fail "edgectl does not name Helm: $(cat "$work/log")"

"$helm" upgrade edge-crds "$charts/edge-crds" -n $space >/dev/null
"$helm" uninstall main -n $space >/dev/null
# What the operator made ends with its EdgeCluster, and Helm 3 does not wait for the end of what it deletes.
for _ in $(seq 60); do
  [ -n "$(kubectl -n $space get deployments --no-headers 2>/dev/null)" ] || break
  sleep 1
done
expect "the number of operators after uninstall" "$(kubectl -n $space get deployments --no-headers 2>/dev/null | wc -l)" 0
expect "the number of cluster roles after uninstall" "$(kubectl get clusterroles --no-headers 2>/dev/null | grep -c '^edge-operator')" 0
"$helm" uninstall edge-crds -n $space >/dev/null
expect "the number of definitions after uninstall" "$(kubectl get crds --no-headers | grep -c '\.edgeproxy\.io')" 10
[ $made = no ] || kubectl delete namespace $space --wait=false >/dev/null
