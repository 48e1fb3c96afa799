// The NetworkPolicy that charts have for a controller or a relay.
#pragma once

#include <string>
#include <string_view>

namespace edge::cluster_operator {

/// Returns the template of a NetworkPolicy, made where `networkPolicy.enabled` is set. Agents, which have the addresses
/// of nodes, and other clusters reach the port of agents from anywhere; metrics are for pods of the release's namespace
/// and the peers of `networkPolicy.metricsFrom`. `name`: a template's action; `labels`: of the pods, lines with six
/// spaces before them.
inline std::string network_policy_template(std::string_view name, std::string_view labels) {
  return R"({{- if .Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: )" +
         std::string(name) + R"(
  namespace: {{ .Release.Namespace | quote }}
spec:
  podSelector:
    matchLabels:
)" + std::string(labels) +
         R"(  policyTypes:
  - Ingress
  ingress:
  - ports:
    - port: agents
      protocol: TCP
  - ports:
    - port: admin
      protocol: TCP
    from:
    - podSelector: {}
    {{- with .Values.networkPolicy.metricsFrom }}
{{ toYaml . | indent 4 }}
    {{- end }}
{{- end }}
)";
}

}  // namespace edge::cluster_operator
