#include "standalone/denials.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "schemas/schema.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;
using schemas::kApiGroup;

constexpr std::string_view kRoutes[] = {"ProxyRoute", "HTTPRoute", "GRPCRoute", "TLSRoute",
                                        "TCPRoute",   "UDPRoute",  "Ingress"};
constexpr std::string_view kGateways[] = {"ProxyGateway", "Gateway"};
constexpr std::string_view kPolicy = "ProxyPolicy";
constexpr std::string_view kTlsPolicy = "BackendTLSPolicy";

struct Target {
  std::string kind, name_space, name, section{};
  friend bool operator==(const Target&, const Target&) = default;
};

/// What a document says it is for, by the field that every kind of policy has for it.
std::vector<Target> targets_of(const std::string& document) {
  const Json json = parse_json(document);
  const Json& spec = member_in(json, "spec");
  std::vector<Target> targets;
  const auto add = [&](const Json& target) {
    Target one{text_in(target, "kind"), text_in(target, "namespace"), text_in(target, "name"),
               text_in(target, "sectionName")};
    if (!one.kind.empty() && !one.name.empty()) targets.push_back(std::move(one));
  };
  add(member_in(spec, "targetRef"));
  for (const Json& target : list_in(spec, "targetRefs")) add(target);
  return targets;
}

std::string type_of(const FileObject& object) {
  const Json json = parse_json(object.json);
  return text_in(member_in(json, "spec"), "type");
}

struct Path {
  bool exact = false;
  std::string value;
};

/// The requests that a route may match, as far as they can be derived. Without a value: any.
struct Reach {
  std::optional<std::vector<std::string>> hosts;
  std::optional<std::vector<Path>> paths;
};

bool is_letter_or_digit(char c) {
  const char letter = ascii_lower(c);
  return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9');
}

bool is_host(std::string_view host) {
  if (host.starts_with("*.")) host.remove_prefix(2);
  return !host.empty() &&
         std::ranges::all_of(host, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

/// A path that is the same before and after it was normalised.
bool is_plain(std::string_view path) {
  if (!path.starts_with("/")) return false;
  if (path.find("//") != std::string_view::npos || path.find("/.") != std::string_view::npos) return false;
  return std::ranges::all_of(path, [](char c) {
    return is_letter_or_digit(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
  });
}

std::optional<std::vector<std::string>> hosts_of(const Json& spec) {
  std::vector<std::string> hosts;
  const Json& written = member_in(spec, "hostnames");
  if (!written.is_array() || written.empty()) return std::nullopt;
  for (const Json& host : written) {
    if (!is_host(text_value(host))) return std::nullopt;
    hosts.push_back(ascii_lower(text_value(host)));
  }
  return hosts;
}

std::optional<std::vector<Path>> paths_of(const Json& spec) {
  std::vector<Path> paths;
  const Json& rules = list_in(spec, "rules");
  if (rules.empty()) return std::nullopt;
  for (const Json& rule : rules) {
    const Json& matches = list_in(rule, "matches");
    if (matches.empty() || !member_in(rule, "expression").is_null()) return std::nullopt;
    for (const Json& match : matches) {
      const Json& path = member_in(match, "path");
      const std::string& type = text_in(path, "type");
      const bool exact = type == "Exact";
      const std::string& value = text_in(path, "value");
      if ((!exact && type != "Prefix" && type != "PathPrefix") || !is_plain(value)) return std::nullopt;
      paths.push_back({exact, value});
    }
  }
  return paths;
}

/// Whether its paths may be regular expressions, whatever their type says (docs/ingress.md).
bool uses_patterns(const Json& ingress) {
  const Json& annotations = member_in(member_in(ingress, "metadata"), "annotations");
  if (!annotations.is_object()) return false;
  return std::ranges::any_of(annotations.items(), [](const auto& one) {
    return one.key().ends_with("/use-regex") || one.key().starts_with("nginx.ingress.kubernetes.io/rewrite-target");
  });
}

Reach reach_of_ingress(const Json& ingress) {
  const Json& spec = member_in(ingress, "spec");
  const Json& rules = list_in(spec, "rules");
  if (rules.empty() || !member_in(spec, "defaultBackend").is_null()) return {};
  Reach reach{.hosts = std::vector<std::string>(), .paths = std::vector<Path>()};
  for (const Json& rule : rules) {
    const std::string& host = text_in(rule, "host");
    if (reach.hosts && is_host(host)) {
      reach.hosts->push_back(ascii_lower(host));
    } else {
      reach.hosts.reset();
    }
    const Json& paths = list_in(member_in(rule, "http"), "paths");
    if (paths.empty() || uses_patterns(ingress)) reach.paths.reset();
    for (const Json& path : paths) {
      const std::string& type = text_in(path, "pathType");
      const std::string& value = text_in(path, "path");
      if ((type != "Exact" && type != "Prefix") || !is_plain(value)) reach.paths.reset();
      if (reach.paths) reach.paths->push_back({type == "Exact", value});
    }
  }
  return reach;
}

Reach reach_of(const FileObject& route) {
  const Json json = parse_json(route.json);
  if (route.kind == "Ingress") return reach_of_ingress(json);
  const Json& spec = member_in(json, "spec");
  if (!member_in(spec, "expression").is_null()) return {hosts_of(spec), std::nullopt};
  return {hosts_of(spec), paths_of(spec)};
}

/// Whether `wide` has `host` among its names; both may be wildcards.
bool covers(std::string_view wide, std::string_view host) {
  if (wide == host) return true;
  return wide.starts_with("*.") && host.size() > wide.size() - 1 && host.ends_with(wide.substr(1));
}

bool covers(const Path& wide, const Path& path) {
  if (wide.value == path.value) return true;
  if (wide.exact || !path.value.starts_with(wide.value)) return false;
  return wide.value.ends_with('/') || path.value[wide.value.size()] == '/';
}

template <typename T>
bool meet(const std::optional<std::vector<T>>& a, const std::optional<std::vector<T>>& b) {
  if (!a || !b) return true;
  return std::ranges::any_of(*a, [&](const T& one) {
    return std::ranges::any_of(*b, [&](const T& other) { return covers(one, other) || covers(other, one); });
  });
}

bool is_target(const FileObject& object, const Target& target, const FileObject& from) {
  const std::string& space = target.name_space.empty() ? from.name_space : target.name_space;
  const auto or_default = [](const std::string& text) { return text.empty() ? std::string("default") : text; };
  // A kind that is none: whatever bears the name.
  const bool kind = object.kind == target.kind || (!is_route(target.kind) && !is_gateway(target.kind));
  return kind && object.name == target.name && or_default(object.name_space) == or_default(space);
}

/// A policy without settings: what it is on answers 503 (compiler/link/policies/link_policies.cc).
controller::ExtraDocument denial(const std::string& name_space, const Target& target, const std::string& type) {
  const std::string space = name_space.empty() ? "default" : name_space;
  Json reference = {{"kind", target.kind}, {"name", target.name}};
  if (!target.name_space.empty()) reference["namespace"] = target.name_space;
  // No resource of Kubernetes has a `:` in its name, so no ProxyPolicy can be taken for it.
  const std::string name = "denied:" + target.kind + ":" + target.name_space + ":" + target.name + ":" + type;
  Json spec = {{"targetRef", std::move(reference)}};
  if (!type.empty()) spec["type"] = type;
  const Json policy = {{"apiVersion", std::string(kApiGroup) + "/v1alpha1"},
                       {"kind", kPolicy},
                       {"metadata", {{"name", name}, {"namespace", space}}},
                       {"spec", std::move(spec)}};
  return {{std::string(kPolicy), space, name}, json_line(policy)};
}

/// A BackendTLSPolicy without a validation: no server is believed, and requests for the Service are answered 500
/// (compiler/translate/service_backends.cc). Without it they would go on in plain text.
controller::ExtraDocument tls_denial(const std::string& name_space, const Target& target) {
  const std::string space = name_space.empty() ? "default" : name_space;
  Json reference = {{"group", ""}, {"kind", target.kind}, {"name", target.name}};
  if (!target.section.empty()) reference["sectionName"] = target.section;
  const std::string name = "denied:" + target.kind + ":" + target.name + ":" + target.section;
  const Json policy = {{"apiVersion", "gateway.networking.k8s.io/v1"},
                       {"kind", kTlsPolicy},
                       {"metadata", {{"name", name}, {"namespace", space}}},
                       {"spec", {{"targetRefs", {std::move(reference)}}}}};
  return {{std::string(kTlsPolicy), space, name}, json_line(policy)};
}

class Denials {
 public:
  explicit Denials(std::vector<ProtectedObject>& objects) : objects_(objects) {
    for (ProtectedObject& object : objects_) before_.push_back(std::exchange(object.denied_for, {}));
  }

  void unreadable(const UnreadableFile& file) {
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      // A gateway would take along routes that came later, and serves nothing without routes.
      if (!is_route(objects_[i].object->kind)) continue;
      if (file.fresh ? objects_[i].fresh : before_[i] == file.file) deny(i, file.file);
    }
  }

  void refused(const RefusedDocument& document) {
    const FileObject& object = document.object;
    if (is_route(object.kind)) {
      if (!document.held) deny_in_place_of(object);
      return;
    }
    const std::vector<Target> targets = targets_of(object.json);
    const std::vector<Target> protected_already = targets_of(document.in_api);
    for (const Target& target : targets) {
      if (std::ranges::find(protected_already, target) == protected_already.end()) protect(document, target);
    }
    // A kind that is none may be a policy's, misspelt.
    const bool policy =
        object.kind == kPolicy || (object.group() == kApiGroup && schemas::find_kind(object.kind) == nullptr);
    if (policy && targets.empty() && !document.held) unreadable({object.file, document.fresh});
  }

  std::vector<controller::ExtraDocument> documents() {
    for (const ProtectedObject& object : objects_) {
      if (object.denied_for.empty()) continue;
      add(denial_of(object.object->kind, object.object->name_space, object.object->name));
    }
    return std::move(documents_);
  }

 private:
  bool was_never_served(std::size_t i) const { return objects_[i].fresh || !before_[i].empty(); }
  void deny(std::size_t i, const std::string& file) { objects_[i].denied_for = file; }

  void protect(const RefusedDocument& document, const Target& target) {
    if (target.kind == "Service") {
      if (!document.held) add(tls_denial(document.object.name_space, target));
      return;
    }
    if (!document.held) add(denial(document.object.name_space, target, type_of(document.object)));
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      if (!is_target(*objects_[i].object, target, document.object)) continue;
      if (document.held && was_never_served(i)) deny(i, document.object.file);
    }
  }

  void deny_in_place_of(const FileObject& refused) {
    const Reach reach = reach_of(refused);
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      const FileObject& object = *objects_[i].object;
      if (!was_never_served(i) || !is_route(object.kind) || object.key() == refused.key()) continue;
      const Reach other = reach_of(object);
      if (meet(reach.hosts, other.hosts) && meet(reach.paths, other.paths)) deny(i, refused.file);
    }
  }

  void add(controller::ExtraDocument document) {
    if (std::ranges::find(documents_, document) == documents_.end()) documents_.push_back(std::move(document));
  }

  std::vector<ProtectedObject>& objects_;
  std::vector<std::string> before_;
  std::vector<controller::ExtraDocument> documents_;
};

}  // namespace

bool is_route(const std::string& kind) { return std::ranges::find(kRoutes, kind) != std::end(kRoutes); }
bool is_gateway(const std::string& kind) { return std::ranges::find(kGateways, kind) != std::end(kGateways); }

controller::ExtraDocument denial_of(const std::string& kind, const std::string& name_space, const std::string& name) {
  return denial(name_space, {kind, {}, name}, {});
}

std::vector<controller::ExtraDocument> deny(const std::vector<RefusedDocument>& refused,
                                            const std::vector<UnreadableFile>& unreadable,
                                            std::vector<ProtectedObject>& objects) {
  Denials denials(objects);
  for (const UnreadableFile& file : unreadable) denials.unreadable(file);
  for (const RefusedDocument& document : refused) denials.refused(document);
  return denials.documents();
}

}  // namespace edge::standalone
