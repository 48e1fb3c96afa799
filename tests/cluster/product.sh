# shellcheck shell=bash
# Runs the product within a cluster of script/cluster-bed; read by the scripts that the cluster runs (`source`).
#
#   install_product                 definitions, the namespace edge-system, rights and a GatewayClass `edge`
#   start_controller [FLAG...]      as the service account that deploy/rbac has, on the machine of the API server
#   start_agent NODE [FLAG...]      on a node of the cluster
#
# Both are stopped at the end of the shell.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
logs=${EDGE_BED_LOGS:?}
data=$(mktemp -d)
programs=${EDGE_BED_PROGRAMS:?}
# The address of the machine that the API server runs on, which nodes and pods reach.
machine=10.244.0.1
# Whose requests the API server logs (bed --audit).
controller_user=system:serviceaccount:edge-system:edge-controller
trap stop_product EXIT

stop_product() {
  local running
  running=$(jobs -p)
  # shellcheck disable=SC2086
  [ -z "$running" ] || kill $running 2>/dev/null || true
  wait
}

# The definitions of Gateway API as its module has them, of the experimental channel.
gateway_api() {
  (cd "$root/tests/cluster" && go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)
}

install_product() {
  kubectl apply --server-side -k "$(gateway_api)/config/crd/experimental" >/dev/null
  kubectl apply --server-side -f "$root/deploy/crds" >/dev/null
  kubectl wait --for condition=Established --timeout 60s crd --all >/dev/null
  kubectl apply -f "$root/deploy/rbac" >/dev/null
  kubectl apply -f - >/dev/null <<'YAML'
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: edge
spec:
  controllerName: edgeproxy.io/proxy
YAML
}

# What edge-controller connects with: the token of its service account.
controller_kubeconfig() {
  local file=$data/controller.kubeconfig
  if [ ! -e "$file" ]; then
    cp "$KUBECONFIG" "$file"
    kubectl --kubeconfig "$file" config set-credentials edge-controller \
      --token "$(kubectl -n edge-system create token edge-controller --duration 10h)" >/dev/null
    kubectl --kubeconfig "$file" config set-context --current --user edge-controller >/dev/null
  fi
  echo "$file"
}

start_controller() {
  "$programs/edge-controller" --kubeconfig "$(controller_kubeconfig)" --data-dir "$data/controller" \
    --agents-listen "$machine:9190" --metrics-listen "$machine:9192" --otlp-listen off --traces-listen off "$@" \
    >"$logs/edge-controller.log" 2>&1 &
  until [ -s "$data/controller/agents/join" ]; do
    kill -0 $! || return
    sleep 0.05
  done
}

start_agent() {
  local node=$1
  shift
  ip netns exec "$node" "$programs/edge-agent" --controller "$machine:9190" --name "$node" --node "$node" \
    --token-file "$data/controller/agents/join" --data-dir "$data/$node" --metrics-listen :9193 \
    --health-listen :9194 --deny-calls-to none "$@" >"$logs/edge-agent-$node.log" 2>&1 &
}
