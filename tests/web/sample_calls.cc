#include "tests/web/sample_calls.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::test {

using edgectl::web::Call;
using edgectl::web::CallId;

std::string path_for(const Call& call) {
  std::string path(call.path);
  const auto fill = [&path](const std::string& name, const std::string& value) {
    const std::size_t at = path.find(name);
    if (at != std::string::npos) path.replace(at, name.size(), value);
  };
  if (call.id == CallId::kRange) return "/api/ranges/6h";
  const bool of_cluster = path.ends_with("/{plural}/{name}") || path.ends_with("/rights/{plural}");
  if (of_cluster) {
    fill("{plural}", "namespaces");
    fill("{name}", "default");
  }
  fill("{id}", kTraceId);
  fill("{program}", "live");
  fill("{kind}", "ProxyRoute");
  fill("{plural}", "proxyroutes");
  fill("{namespace}", "default");
  fill("{name}", path.starts_with("/api/agents/") ? "standalone" : "cart");
  return path;
}

std::string body_for(WebWorld& world, const Call& call) {
  const auto draft = [&](const char* name) {
    const nlohmann::json edit = parse_json(world.ask(std::string("/api/edit/proxyroutes/default/") + name).body);
    return nlohmann::json{{"plural", "proxyroutes"},
                          {"namespace", "default"},
                          {"name", name},
                          {"version", text_in(edit, "version")},
                          {"yaml", text_in(edit, "yaml")}};
  };
  switch (call.id) {
    case CallId::kExplain:
    case CallId::kExplainKept:
      return R"({"request":"GET http://shop.example:8080/cart"})";
    case CallId::kCheck:
    case CallId::kDifference:
    case CallId::kApply:
      return json_line(draft("cart"));
    case CallId::kDelete:
      return json_line(draft("late"));
    case CallId::kProgress:
      return R"({"objects":[{"kind":"ProxyRoute","namespace":"default","name":"cart","uid":"","version":"1","gone":false}]})";
    case CallId::kProve:
      return R"({"claims":["path prefix \"/admin\" implies policy OIDC"]})";
    case CallId::kCompare:
      return R"({"before":"live","after":"live"})";
    case CallId::kRollback: {
      const nlohmann::json history = parse_json(world.ask("/api/history").body);
      return json_line(nlohmann::json{{"program", history.empty() ? "" : text_in(history[0], "program")}});
    }
    default:
      return "{}";
  }
}

bool only_reads(const Call& call) {
  switch (call.id) {
    case CallId::kExplain:
    case CallId::kExplainKept:
    case CallId::kCheck:
    case CallId::kDifference:
    case CallId::kProgress:
    case CallId::kProve:
    case CallId::kCompare:
      return true;
    default:
      return false;
  }
}

}  // namespace edge::test
