#include "bench/compile/documents.h"

#include <algorithm>

namespace edge::bench {
namespace {

std::string head(const std::string& version, const std::string& kind, const std::string& name) {
  return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: edge\n";
}

std::string own(const std::string& kind, const std::string& name) {
  return head(EDGE_API_GROUP "/v1alpha1", kind, name);
}

/// The condition of a rule, less its path, as lines of a match.
std::string condition_lines(const compiler::RuleMatch& match, const std::string& revision) {
  std::string lines;
  if (match.method) lines += "          method: " + match.method->value + "\n";
  for (const compiler::FieldMatch& header : match.headers) {
    lines += "          headers:\n            - {name: " + header.name.value + ", value: " + header.value.value +
             revision + "}\n";
  }
  return lines;
}

}  // namespace

std::vector<compiler::DocumentEdit> shared_documents() {
  std::vector<compiler::DocumentEdit> documents;
  documents.push_back(
      {"gateway", own("ProxyGateway", "main") + "spec:\n  listeners:\n    - {name: http, port: 80, protocol: HTTP}\n"});
  for (std::uint32_t i = 0; i < kBackends; ++i) {
    const std::string name = backend_name(i);
    documents.push_back({"backend " + name, own("ProxyBackend", name) + "spec:\n  serviceRef: {name: " + name +
                                                ", port: 80}\n  timeout: {connect: 2s, request: 30s}\n"});
    documents.push_back({"service " + name, head("v1", "Service", name) + "spec:\n  ports: [{port: 80}]\n"});
    documents.push_back(
        {"slice " + name, "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: " + name +
                              "\n  namespace: edge\n  labels: {kubernetes.io/service-name: " + name +
                              "}\naddressType: IPv4\nports: [{port: 8080}]\nendpoints:\n  - " + "addresses: [10.1." +
                              std::to_string(i / 250) + "." + std::to_string(i % 250 + 1) + "]\n"});
  }
  return documents;
}

RuleKind rule_kind(const Shape& shape, std::uint32_t route) {
  const compiler::RuleMatch match = match_of(shape, route);
  if (match.path.type == compiler::PathMatch::Type::kRegex) return RuleKind::kPattern;
  return match.method || !match.headers.empty() ? RuleKind::kCondition : RuleKind::kPath;
}

compiler::DocumentEdit route_document(const Shape& shape, std::uint32_t route, std::uint32_t revision) {
  const compiler::RuleMatch match = match_of(shape, route);
  const std::string number = std::to_string(route);
  const std::string name = "route-" + std::string(6 - std::min<std::size_t>(6, number.size()), '0') + number;
  const std::string mark = revision == 0 ? "" : "-" + std::to_string(revision);
  std::string path = match.path.value.value;
  std::string type = "PathPrefix";
  switch (match.path.type) {
    case compiler::PathMatch::Type::kExact:
      type = "Exact";
      path += mark;
      break;
    case compiler::PathMatch::Type::kRegex:
      type = "RegularExpression";
      path.insert(path.size() - 1, mark);
      break;
    default:
      if (match.headers.empty()) path += mark;
  }
  return {"ProxyRoute edge/" + name,
          own("ProxyRoute", name) + "spec:\n  parentRefs:\n    - name: main\n  hostnames:\n    - " +
              host_name(shape, route) + "\n  rules:\n    - matches:\n        - path:\n            type: " + type +
              "\n            value: '" + path + "'\n" + condition_lines(match, mark) +
              "      backendRef:\n        name: " + backend_name(backend_of(shape, route)) + "\n"};
}

}  // namespace edge::bench
