#!/bin/bash
# Within a cluster of the bed: edge-operator installs, upgrades under load, goes back when a canary fails, writes nothing at
# rest, goes on after it was killed, and leaves a namespace that ends. Called by script/check-cluster.
#
# What is replaced first are the programs of $EDGE_PREVIOUS_PROGRAMS, a folder with edge-agent, edge-controller and
# edge-operator of the last release, and $EDGE_PREVIOUS_INSTALL, its deploy/install.yaml; without it the same programs under
# another version. $EDGE_OPERATOR_RATE: requests a second, 500 without it. Half of them
# are sent on connections of their own, half on connections that stay open.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
programs=${EDGE_BED_PROGRAMS:?}
scratch=$(mktemp -d)
address=10.244.200.1
port=8080
rate=${EDGE_OPERATOR_RATE:-500}
namespace=edge-system
trap end EXIT

end() {
  local running
  running=$(jobs -p)
  # A trap keeps the exit status only if nothing in it fails: some have ended by themselves, others end by the signal.
  # shellcheck disable=SC2086
  [ -z "$running" ] || kill $running 2>/dev/null || true
  wait || true
}

say() { echo "operator: $*"; }
fail() {
  say "FAILED: $*"
  kubectl -n $namespace get edgeclusters,pods -o wide 2>&1 || true
  kubectl -n $namespace get edgecluster main -o jsonpath='{.status}' 2>&1 || true
  exit 1
}
now() { date +%s%N; }
since() { echo $((($(now) - $1) / 1000000)); }

field() { kubectl -n $namespace get edgecluster main -o "jsonpath={$1}"; }
# The API answers while it is waited for; each look costs a process.
until_holds() { # until_holds SECONDS WHAT COMMAND...
  local end=$(($(now) + $1 * 1000000000)) what=$2
  shift 2
  until "$@"; do
    [ "$(now)" -lt $end ] || fail "$what"
    sleep 0.2
  done
}
runs() { # runs VERSION: the cluster runs it, and the resource says no other
  [ "$(field '.status.phase} {.status.version} {.metadata.generation} {.status.observedGeneration')" = \
    "Running $1 $(field .metadata.generation) $(field .metadata.generation)" ]
}
set_version() { kubectl -n $namespace patch edgecluster main --type merge -p "{\"spec\":{\"version\":\"$1\"}}" >/dev/null; }
serves() { [ "$(curl -s -m 2 -o "$scratch/answer" -w '%{http_code}' -H 'Host: shop.example.com' "http://$address:$port/")" = 200 ]; }

start_load() {
  "$programs/load" --host shop.example.com --rate "$rate" $address:$port >"$scratch/load" &
  load=$!
  load_began=$(date -u +%H:%M:%S)
}
# What agents and the operator said meanwhile of addresses, ends and replacements, to be held against the failures.
moments() {
  grep -hE 'virtual address|draining|drain timeout|is replaced|ready program|listener |connections to' "$EDGE_BED_LOGS"/*.log | cut -c 1-240 |
    awk -v from="$load_began" 'match($0, /[0-9][0-9]:[0-9][0-9]:[0-9][0-9]/) && substr($0, RSTART, 8) >= from' | sort | tail -200
}
loaded() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$scratch/load" "$1"; }
end_load() { # end_load WHAT
  kill $load
  wait $load || true
  say "$1, at load $(cut -d ' ' -f 1 /proc/loadavg): $(sed 's/,"told":.*/}/' "$scratch/load")"
  [ "$(loaded notSent)" = 0 ] || fail "$1: the generator did not keep its rate"
  [ "$(loaded failed)" = 0 ] && return
  loaded told | sed 's/}, {/},\n{/g'
  moments
  fail "$1 lost requests"
}
agent_images() { kubectl -n $namespace get pods -l app.kubernetes.io/component=agent -o 'jsonpath={range .items[*]}{.spec.containers[0].image}{"\n"}{end}' | sort -u; }
operator_metric() {
  local pod
  pod=$(kubectl -n $namespace get pods -l app.kubernetes.io/name=edge-operator --field-selector status.phase=Running \
    -o 'jsonpath={.items[-1:].status.podIP}')
  curl -s -m 5 --retry 5 --retry-connrefused "http://$pod:9093/metrics" | sed -n "s/^$1 //p"
}

version=$("$programs/edge-operator" --version | sed -n '1s/^[^ ]* \([^ ]*\).*/\1/p')
mkdir -p "$programs/previous" "$programs/broken"
if [ -n "${EDGE_PREVIOUS_PROGRAMS:-}" ]; then
  for program in edge-agent edge-controller edge-operator; do
    ln -sf "$EDGE_PREVIOUS_PROGRAMS/$program" "$programs/previous/$program"
  done
fi
printf '#!/bin/sh\necho "this version does not start" >&2\nexit 1\n' >"$programs/broken/edge-agent"
chmod +x "$programs/broken/edge-agent"
"$programs/load" --backend :8099 &

began=$(now)
sed "s#/edge-operator:.*#/edge-operator:previous#" "${EDGE_PREVIOUS_INSTALL:-$root/deploy/install.yaml}" |
  kubectl apply --server-side -f - >/dev/null
kubectl wait --for condition=Established --timeout 60s crd/edgeclusters.edgeproxy.io >/dev/null
kubectl apply -f - >/dev/null <<YAML
apiVersion: edgeproxy.io/v1alpha1
kind: EdgeCluster
metadata: {name: main, namespace: $namespace}
spec:
  version: previous
  image: {repository: registry.example.com/edge}
  agents:
    drainTimeout: 5s
    updateStrategy: {canaryDuration: 5s, canaryTimeout: 30s}
  web: {enabled: true}
YAML
kubectl apply -f "$here/world.yaml" >/dev/null
until_holds 120 "installation" runs previous
say "installed after $(since "$began") ms"
until_holds 60 "first route" serves
say "first route served after $(since "$began") ms"

start_load
kubectl apply --server-side -f "$root/deploy/install.yaml" >/dev/null
kubectl -n $namespace rollout status deployment edge-operator --timeout 60s >/dev/null
set_version "$version"
until_holds 180 "upgrade" runs "$version"
end_load "upgrade from ${EDGE_PREVIOUS_PROGRAMS:-the same programs} to $version"
[ "$(agent_images)" = "registry.example.com/edge/edge-agent:$version" ] || fail "agents are of $(agent_images)"

# The dashboard listens on loopback, where `kubectl port-forward` would lead, and reads what its ServiceAccount may.
shown() {
  local pod
  pod=$(kubectl -n $namespace get pods -l app.kubernetes.io/component=web -o 'jsonpath={.items[0].metadata.uid}')
  ip netns exec "$pod" curl -s -m 5 "http://127.0.0.1:9080/api/objects/$1" | grep -q '"shop"'
}
for kind in proxyroutes proxyvips; do until_holds 60 "the dashboard shows $kind" shown $kind; done
say "the dashboard shows objects; status.web is $(field .status.web.summary)"

start_load
set_version broken
canary_failed() { [ "$(field '.status.phase} {.status.conditions[?(@.type=="Canary")].status')" = "Degraded False" ]; }
until_holds 120 "going back" canary_failed
back() { [ "$(agent_images)" = "registry.example.com/edge/edge-agent:$version" ] && [ "$(field .status.agents.summary)" = 3/3 ]; }
until_holds 120 "agents of the version before" back
end_load "failing canary"
set_version "$version"
until_holds 120 "the version before" runs "$version"

# One that is killed keeps its Lease for 15 s; without one the next goes on at once.
kubectl -n $namespace patch deployment edge-operator --type json \
  -p '[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--leader-elect=false"}]' >/dev/null
kubectl -n $namespace rollout status deployment edge-operator --timeout 60s >/dev/null
start_load
set_version previous
kills=0
until runs previous; do
  [ $kills -lt 120 ] || fail "the operator does not converge when it is killed"
  kubectl -n $namespace delete pods -l app.kubernetes.io/name=edge-operator --grace-period=0 --force --wait=false >/dev/null 2>&1
  kills=$((kills + 1))
  # Each one lives a little longer than the one before.
  sleep "$(python3 -c "print($kills / 5)")"
done
end_load "downgrade with the operator killed $kills times"

# The same at each call that changes something, with the operator beside the API server: it is killed when the API has done it.
kubectl -n $namespace scale deployment edge-operator --replicas 0 >/dev/null
no_operator() { [ -z "$(kubectl -n $namespace get pods -l app.kubernetes.io/name=edge-operator -o name)" ]; }
until_holds 60 "end of the operator's pod" no_operator
cat >"$scratch/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: bed, cluster: {server: "http://127.0.0.1:6543"}}]
users: [{name: operator, user: {token: $(kubectl -n $namespace create token edge-operator)}}]
contexts: [{name: bed, context: {cluster: bed, user: operator}}]
current-context: bed
YAML
start_load
"$programs/breaker" --kubeconfig "$KUBECONFIG" -- "$programs/edge-operator" --kubeconfig "$scratch/kubeconfig" \
  --leader-elect=false --health-listen off >"$scratch/lives" 2>"$EDGE_BED_LOGS/edge-operator-killed.log" &
breaker=$!
set_version "$version"
until_holds 300 "convergence of an operator that is killed at every call" runs "$version"
kill $breaker
wait $breaker || fail "the operator ended by itself: $(tail -1 "$EDGE_BED_LOGS/edge-operator-killed.log")"
end_load "upgrade with the operator killed at every change, $(cat "$scratch/lives") lives"
[ "$(cat "$scratch/lives")" -ge 10 ] || fail "the operator was not killed"

# Definitions of an older version, one with objects stored in a version that this one does not have, and of a newer one.
definition() { kubectl get crd "$1.edgeproxy.io" -o "jsonpath={$2}"; }
mark_version() { kubectl annotate crd "$1.edgeproxy.io" "edgeproxy.io/version=$2" --overwrite >/dev/null; }
old_version=$(kubectl get crd sites.edgeproxy.io -o json | python3 -c '
import json, sys
version = json.load(sys.stdin)["spec"]["versions"][0]
print(json.dumps(dict(version, name="v1alpha0")))')
kubectl patch crd sites.edgeproxy.io --type json -p \
  '[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"add","path":"/spec/versions/-","value":'"$old_version"'}]' >/dev/null
stored() { [ "$(definition sites .status.storedVersions)" = '["v1alpha1","v1alpha0"]' ]; }
until_holds 20 "two stored versions" stored
mark_version sites 0.0.9
mark_version wanlinks 0.0.9
mark_version wanpolicies 999.0.0
kubectl -n $namespace scale deployment edge-operator --replicas 1 >/dev/null
version_of() { definition "$1" '.metadata.annotations.edgeproxy\.io/version'; }
upgraded() { [ "$(version_of sites) $(version_of wanlinks)" = "$version $version" ]; }
until_holds 60 "definitions of this version" upgraded
[ "$(definition sites '.spec.versions[*].name} {.spec.versions[*].storage')" = "v1alpha1 v1alpha0 true false" ] ||
  fail "versions of a definition: $(definition sites '.spec.versions[*].name} {.spec.versions[*].storage')"
[ "$(version_of wanpolicies)" = 999.0.0 ] || fail "a definition of a newer version was written over"
say "definitions are upgraded, and never back"
mark_version wanpolicies "$version"

settled() { [ "$(operator_metric edge_operator_waiting)" = 0 ] && [ "$(operator_metric edge_operator_leader)" = 1 ]; }
until_holds 60 "rest" settled
writes=$(operator_metric edge_operator_writes_total)
looks=$(operator_metric edge_operator_reconciliations_total)
touched=0
until [ $(($(operator_metric edge_operator_reconciliations_total) - looks)) -ge 100 ]; do
  touched=$((touched + 1))
  [ $touched -lt 1000 ] || fail "100 reconciliations"
  kubectl -n $namespace annotate service main-controller touched=$touched --overwrite >/dev/null
done
written=$(($(operator_metric edge_operator_writes_total) - writes))
say "100 reconciliations at rest: $written writes"
[ $written = 0 ] || fail "writes at rest"

kubectl -n $namespace delete deployment edge-operator --wait >/dev/null
until_holds 60 "end of the operator" no_operator
began=$(now)
kubectl delete namespace $namespace --wait --timeout 30s >/dev/null || fail "the namespace does not end"
say "namespace without an operator ended after $(since "$began") ms"
