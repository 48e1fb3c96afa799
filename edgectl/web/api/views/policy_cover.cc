#include "edgectl/web/api/views/policy_cover.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kCoveredKinds = {"ProxyRoute", "HTTPRoute", "GRPCRoute"};
/// Types that decide who may pass.
constexpr std::array<std::string_view, 8> kGuards = {"BasicAuth",    "ForwardAuth", "OIDC",   "JWT",
                                                     "ExternalAuth", "IPAccess",    "APIKey", "ClientCertificate"};

bool guards(std::string_view type) { return std::ranges::find(kGuards, type) != kGuards.end(); }

std::string target_key(std::string_view kind, const std::string& name_space, const std::string& name) {
  return std::string(kind) + " " + name_space + "/" + name;
}

/// A policy on one of its targets.
struct Policy {
  const StoredObject* object = nullptr;
  std::string type;
  Reference target;
  std::string section;  ///< the listener or rule that it is limited to; empty: all of the target
  std::size_t routes = 0;
};

/// A policy that applies: `from` is `route`, `gateway` or `rule`.
struct Applied {
  std::string type, from, policy_namespace, policy, gateway;
};

class Cover {
 public:
  explicit Cover(const StoreView& view) : view_(view) {
    read_policies();
    for (const std::string_view name : kCoveredKinds) {
      const StoredKind* kind = view_.find_kind(name);
      if (kind == nullptr) continue;
      view_.each(*kind, [&](const std::string&, const StoredObject& route) { add_route(*kind, route); });
    }
  }

  OrderedJson json() {
    OrderedJson policies = OrderedJson::array();
    for (const Policy& policy : policies_) {
      const StoredKind* kind = view_.find_kind(policy.target.kind);
      const std::string key = policy.target.name_space + "/" + policy.target.name;
      OrderedJson known = nullptr;
      if (kind != nullptr && view_.visible().may_list(kind->kind, policy.target.name_space)) {
        known = view_.find_object(*kind, key) != nullptr;
      }
      policies.push_back({{"namespace", policy.object->name_space},
                          {"name", policy.object->name},
                          {"type", policy.type},
                          {"health", word_of(policy.object->verdict.health)},
                          {"problem", policy.object->verdict.problem},
                          {"target",
                           {{"kind", policy.target.kind},
                            {"plural", kind == nullptr ? std::string_view() : kind->kind.plural},
                            {"namespace", policy.target.name_space},
                            {"name", policy.target.name},
                            {"section", policy.section},
                            {"known", std::move(known)}}},
                          {"routes", policy.routes}});
    }
    return {{"policies", std::move(policies)}, {"routes", std::move(rows_)}, {"leftOut", left_out_}};
  }

 private:
  /// Of two of a type for one target the older applies.
  void read_policies() {
    const StoredKind* kind = view_.find_kind("ProxyPolicy");
    if (kind == nullptr) return;
    view_.each(*kind, [&](const std::string&, const StoredObject& object) {
      const Json json = parse_json(object.text);
      const Json& spec = member_in(json, "spec");
      const std::string& type = text_in(spec, "type");
      const bool targeted = member_in(spec, "targetRef").is_object() || member_in(spec, "targetRefs").is_array();
      if (!targeted) policies_.push_back({.object = &object, .type = type, .target = {}, .section = {}});
      add_target(object, type, member_in(spec, "targetRef"));
      for (const Json& target : list_in(spec, "targetRefs")) add_target(object, type, target);
    });
    std::ranges::sort(policies_, [](const Policy& a, const Policy& b) {
      return std::tie(a.object->created, a.object->name_space, a.object->name) <
             std::tie(b.object->created, b.object->name_space, b.object->name);
    });
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      const Reference& target = policies_[i].target;
      if (target.kind.empty()) {
        by_name_.emplace(policies_[i].object->name_space + "/" + policies_[i].object->name, i);
        continue;
      }
      // Nothing is said here of the parts of a target.
      if (!policies_[i].section.empty()) continue;
      by_target_[target_key(target.kind, target.name_space, target.name)].emplace(policies_[i].type, i);
    }
  }

  void add_target(const StoredObject& policy, const std::string& type, const Json& target) {
    if (!target.is_object()) return;
    const std::string& name_space = text_in(target, "namespace");
    policies_.push_back({.object = &policy,
                         .type = type,
                         .target = {.kind = text_in(target, "kind"),
                                    .name_space = name_space.empty() ? policy.name_space : name_space,
                                    .name = text_in(target, "name"),
                                    .field = {}},
                         .section = text_in(target, "sectionName")});
  }

  using ByType = std::map<std::string, std::size_t>;
  const ByType& of_target(std::string_view kind, const std::string& name_space, const std::string& name) const {
    static const ByType kNone;
    const auto found = by_target_.find(target_key(kind, name_space, name));
    return found == by_target_.end() ? kNone : found->second;
  }

  Applied applied(std::size_t policy, std::string from, std::string gateway) {
    ++policies_[policy].routes;
    const Policy& of = policies_[policy];
    return {of.type, std::move(from), of.object->name_space, of.object->name, std::move(gateway)};
  }

  void add_route(const StoredKind& kind, const StoredObject& route) {
    if (rows_.size() >= kMostCoveredRoutes) {
      ++left_out_;
      return;
    }
    std::vector<Applied> all;
    const ByType& own = of_target(kind.kind.kind, route.name_space, route.name);
    bool guarded = false;
    for (const auto& [type, policy] : own) {
      all.push_back(applied(policy, "route", {}));
      guarded |= guards(type);
    }
    if (kind.kind.kind == "HTTPRoute" || kind.kind.kind == "GRPCRoute") guarded |= add_filters(route, all);
    bool any_gateway = false;
    bool guarded_everywhere = true;
    for (const Reference& parent : route.references) {
      if (parent.field != "parentRefs") continue;
      any_gateway = true;
      bool guarded_here = false;
      for (const auto& [type, policy] : of_target(parent.kind, parent.name_space, parent.name)) {
        if (own.contains(type)) continue;
        all.push_back(applied(policy, "gateway", parent.name_space + "/" + parent.name));
        guarded_here |= guards(type);
      }
      guarded_everywhere &= guarded_here;
    }
    add_row(kind, route, all, guarded || (any_gateway && guarded_everywhere));
  }

  /// The policy without targets that a filter of type ExtensionRef names; nullopt: it names none.
  std::optional<std::size_t> named_by(const Json& filter, const StoredObject& route) const {
    if (text_in(filter, "type") != "ExtensionRef") return std::nullopt;
    const Json& named = member_in(filter, "extensionRef");
    if (text_in(named, "kind") != "ProxyPolicy") return std::nullopt;
    const auto found = by_name_.find(route.name_space + "/" + text_in(named, "name"));
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Filters that are policies of their rule. \returns whether each rule has one that decides who may pass.
  bool add_filters(const StoredObject& route, std::vector<Applied>& all) {
    const Json json = parse_json(route.text);
    std::set<std::string> types;
    std::set<std::size_t> named;
    std::size_t guarded = 0;
    const Json& rules = list_in(member_in(json, "spec"), "rules");
    for (const Json& rule : rules) {
      bool guarded_here = false;
      for (const Json& filter : list_in(rule, "filters")) {
        const std::string& type = text_in(filter, "type");
        if (type == "CORS" || type == "ExternalAuth") types.insert(type);
        const std::optional<std::size_t> policy = named_by(filter, route);
        if (policy) named.insert(*policy);
        guarded_here |= type == "ExternalAuth" || (policy && guards(policies_[*policy].type));
      }
      guarded += guarded_here ? 1 : 0;
    }
    for (const std::string& type : types) all.push_back({type, "rule", {}, {}, {}});
    for (const std::size_t policy : named) all.push_back(applied(policy, "rule", {}));
    return !rules.empty() && guarded == rules.size();
  }

  void add_row(const StoredKind& kind, const StoredObject& route, const std::vector<Applied>& all, bool guarded) {
    OrderedJson list = OrderedJson::array();
    for (const Applied& one : all) {
      list.push_back({{"type", one.type},
                      {"from", one.from},
                      {"namespace", one.policy_namespace},
                      {"name", one.policy},
                      {"gateway", one.gateway}});
    }
    rows_.push_back({{"kind", kind.kind.kind},
                     {"plural", kind.kind.plural},
                     {"namespace", route.name_space},
                     {"name", route.name},
                     {"guarded", guarded},
                     {"policies", std::move(list)}});
  }

  const StoreView& view_;
  std::vector<Policy> policies_;
  std::map<std::string, ByType> by_target_;
  std::map<std::string, std::size_t> by_name_;  ///< those without targets
  OrderedJson rows_ = OrderedJson::array();
  std::size_t left_out_ = 0;
};

}  // namespace

OrderedJson policy_cover_json(const StoreView& view) { return Cover(view).json(); }

}  // namespace edge::edgectl::web
