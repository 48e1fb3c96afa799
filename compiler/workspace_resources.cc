#include "compiler/workspace_resources.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/fields.h"
#include "compiler/model/decode.h"
#include "compiler/translate/ingress.h"
#include "compiler/yaml/read.h"

namespace edge::compiler {
namespace {

using Touched = WorkspaceResources::Touched;

std::string name_of(const model::Metadata& metadata) { return metadata.name_space + "/" + metadata.name; }

/// Of a policy on a route.
std::string target_of(const model::ProxyPolicy& policy) {
  const std::string& space = policy.target.name_space.empty() ? policy.metadata.name_space : policy.target.name_space;
  const std::string& kind = policy.target_resource;
  return resource_text(kind.empty() ? "ProxyRoute" : kind, space, policy.target.name.value);
}

bool is_api_route(std::string_view kind) {
  return kind == "HTTPRoute" || kind == "GRPCRoute" || kind == "TLSRoute" || kind == "TCPRoute" || kind == "UDPRoute" ||
         kind == "ServiceExport";
}

bool is_unclear(const model::ProxyPolicy& policy) { return policy.target_kind == model::PolicyTarget::kUnknown; }

bool is_on_route(const model::ProxyPolicy& policy) { return policy.target_kind == model::PolicyTarget::kRoute; }

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Whether any Reference in `value`, however deep, satisfies `test`.
template <typename T, typename Test>
bool any_reference(const T& value, const Test& test) {
  if constexpr (std::is_same_v<T, model::Reference>) {
    return test(value);
  } else if constexpr (kIsVector<T>) {
    return std::ranges::any_of(value, [&](const auto& item) { return any_reference(item, test); });
  } else if constexpr (kIsOptional<T>) {
    return value && any_reference(*value, test);
  } else if constexpr (std::is_aggregate_v<T>) {
    return std::apply([&](const auto&... field) { return (any_reference(field, test) || ...); }, fields_of(value));
  } else {
    return false;
  }
}

/// Whether the service that a ForwardAuth policy asks satisfies `test`.
template <typename Test>
bool asks(const model::ProxyPolicy& policy, const Test& test) {
  const auto* const forward = std::get_if<model::ForwardAuth>(&policy.settings);
  return forward != nullptr && forward->backend && test(*forward->backend);
}

/// Whether an Ingress refers to a Service, or to what else may be a backend, of these names.
bool names_one(const model::Ingress& ingress, const WorkspaceResources::Names& names) {
  const auto refers = [&](const model::IngressBackend& to) {
    const std::string* name = to.service ? &to.service->value : to.resource ? &to.resource->to.name.value : nullptr;
    return name != nullptr && names.contains(ingress.metadata.name_space + "/" + *name);
  };
  if (ingress.default_backend && refers(*ingress.default_backend)) return true;
  return std::ranges::any_of(ingress.rules, [&](const model::IngressRule& rule) {
    return std::ranges::any_of(rule.paths, [&](const model::IngressPath& path) { return refers(path.backend); });
  });
}

/// The resources of a set: its last field says what is known of the reader.
template <typename Set>
auto lists_of(Set& set) {
  const auto fields = fields_of(set);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tie(std::get<I>(fields)...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(fields)> - 1>());
}

/// Adds everything of `from` to `to`, list by list.
void append(const model::ResourceSet& from, model::ResourceSet& to) {
  const auto sources = lists_of(from);
  const auto targets = lists_of(to);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (std::get<I>(targets).insert(std::get<I>(targets).end(), std::get<I>(sources).begin(), std::get<I>(sources).end()),
     ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(sources)>>());
}

bool is_empty(const model::ResourceSet& set) {
  return std::apply([](const auto&... list) { return (list.empty() && ...); }, lists_of(set));
}

/// Which parts of a configuration the resources of one document belong to, less its routes.
void touch(const model::ResourceSet& set, Touched& touched) {
  for (const model::ProxyBackend& backend : set.backends) touched.backends.insert(name_of(backend.metadata));
  for (const model::Service& service : set.services) touched.services.insert(name_of(service.metadata));
  bool known = true;
  for (const model::Metadata& metadata : set.refused) {
    if (metadata.kind == "ProxyBackend") touched.backends.insert(name_of(metadata));
    known &= metadata.kind == "ProxyBackend";
  }
  touched.supply |= !set.backends.empty() || !set.services.empty() || !touched.backends.empty();
  for (const model::Ingress& ingress : set.ingresses) {
    touched.routes.insert(ingress.metadata.text());
    touched.others |= translate::concerns_others(ingress);
  }
  touched.secrets |= !set.secrets.empty() || !set.config_maps.empty();
  touched.policies |= !set.policies.empty();
  touched.unclear |= std::ranges::any_of(set.policies, is_unclear);
  touched.grants |= !set.grants.empty();
  const auto lists = std::apply([](const auto&... list) { return (list.size() + ...); }, lists_of(set));
  const std::size_t reported = set.backends.size() + set.services.size() + set.slices.size() + set.secrets.size() +
                               set.policies.size() + set.grants.size() + set.ingresses.size() + set.refused.size();
  touched.others |= !known || lists != reported;
}

/// The reader knows its text by another number.
void renumber(const Diagnostics& from, std::uint32_t number, Diagnostics& to) {
  for (Diagnostic diagnostic : from.all()) {
    diagnostic.span.source = number;
    for (Label& label : diagnostic.labels) label.span.source = number;
    to.add(std::move(diagnostic));
  }
}

}  // namespace

void WorkspaceResources::put(const std::string& document, const std::optional<std::string>& text, Touched& touched) {
  const auto known = numbers_.find(document);
  if (known != numbers_.end()) {
    const std::uint32_t number = known->second;
    remove(number, touched);
    if (text) return read(number, *text, touched);
    documents_[number] = {};
    numbers_.erase(known);
    free_.push_back(number);
    return;
  }
  if (!text) return;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(documents_.size()));
    documents_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  numbers_.emplace(document, number);
  documents_[number].name = document;
  read(number, *text, touched);
}

void WorkspaceResources::read(std::uint32_t number, const std::string& text, Touched& touched) {
  Document& document = documents_[number];
  SourceMap sources;
  sources.add(document.name, text);
  Diagnostics syntax;
  Diagnostics said;
  model::ResourceSet set;
  yaml::read_documents(sources, 0, syntax, {}, [&](yaml::Document read) {
    read.source = number;
    model::decode(read, set, said);
  });
  renumber(syntax, number, said);
  if (!said.empty()) document.said = std::make_unique<Diagnostics>(std::move(said));
  take_routes(set, document, touched);
  if (is_empty(set)) return;
  touch(set, touched);
  document.others = std::make_unique<model::ResourceSet>(std::move(set));
  others_.reset();
}

/// Takes the routes, and what goes with them, out of `set`.
void WorkspaceResources::take_routes(model::ResourceSet& set, Document& document, Touched& touched) {
  const auto claim = [&](std::string name) -> Claims& {
    touched.routes.insert(name);
    document.routes.push_back(name);
    return claims_[std::move(name)];
  };
  const auto take = [&](auto& from, auto& into) {
    for (auto& route : from) {
      claim(route.metadata.text()).routes.push_back(static_cast<std::uint32_t>(into.size()));
      into.push_back(std::move(route));
    }
    from.clear();
  };
  take(set.routes, routes_);
  take(set.api_routes, api_routes_);
  std::erase_if(set.refused, [&](model::Metadata& metadata) {
    if (metadata.kind != "ProxyRoute" && !is_api_route(metadata.kind)) return false;
    claim(metadata.text()).refused.push_back(metadata);
    return true;
  });
  std::erase_if(set.policies, [&](model::ProxyPolicy& policy) {
    if (!is_on_route(policy)) return false;
    const std::string target = target_of(policy);
    with_policies_.insert(target);
    Claims& claims = claim(target);
    // One at fault is refused and yet there, to deny.
    std::erase_if(set.refused, [&](model::Metadata& metadata) {
      if (metadata.text() != policy.metadata.text()) return false;
      claims.refused.push_back(std::move(metadata));
      return true;
    });
    claims.policies.push_back(std::move(policy));
    return true;
  });
}

void WorkspaceResources::remove(std::uint32_t number, Touched& touched) {
  Document& document = documents_[number];
  for (const std::string& name : std::exchange(document.routes, {})) {
    touched.routes.insert(name);
    remove_claims(number, name);
  }
  if (document.others != nullptr) {
    touch(*document.others, touched);
    document.others.reset();
    others_.reset();
  }
  document.said.reset();
}

void WorkspaceResources::remove_claims(std::uint32_t number, const std::string& name) {
  const auto found = claims_.find(name);
  if (found == claims_.end()) return;
  Claims& claims = found->second;
  if (name.starts_with("ProxyRoute ")) {
    remove_routes(number, routes_, claims);
  } else {
    remove_routes(number, api_routes_, claims);
  }
  std::erase_if(claims.refused, [number](const model::Metadata& metadata) { return metadata.span.source == number; });
  std::erase_if(claims.policies, [number](const auto& policy) { return policy.metadata.span.source == number; });
  if (claims.policies.empty()) with_policies_.erase(name);
  if (claims.routes.empty() && claims.refused.empty() && claims.policies.empty()) claims_.erase(found);
}

/// The last route moves into the place that is free.
template <typename Route>
void WorkspaceResources::remove_routes(std::uint32_t number, std::vector<Route>& routes, Claims& claims) {
  for (std::size_t i = claims.routes.size(); i > 0; --i) {
    const std::uint32_t index = claims.routes[i - 1];
    if (routes[index].metadata.span.source != number) continue;
    claims.routes.erase(claims.routes.begin() + static_cast<std::ptrdiff_t>(i - 1));
    const auto last = static_cast<std::uint32_t>(routes.size() - 1);
    if (index != last) {
      routes[index] = std::move(routes[last]);
      std::ranges::replace(claims_.at(routes[index].metadata.text()).routes, last, index);
    }
    routes.pop_back();
  }
}

const model::ResourceSet& WorkspaceResources::others() {
  if (others_) return *others_;
  std::vector<const Document*> in_order;
  for (const Document& document : documents_) {
    if (document.others != nullptr) in_order.push_back(&document);
  }
  std::ranges::sort(in_order, {}, [](const Document* document) -> const std::string& { return document->name; });
  others_.emplace();
  others_->certificate_directories = certificate_directories_;
  for (const Document* document : in_order) append(*document->others, *others_);
  return *others_;
}

void WorkspaceResources::add_routes(const Names& names, model::ResourceSet& set) const {
  for (const std::string& name : names) {
    const auto found = claims_.find(name);
    if (found == claims_.end()) continue;
    const bool own = name.starts_with("ProxyRoute ");
    for (const std::uint32_t index : found->second.routes) {
      if (own) {
        set.routes.push_back(routes_[index]);
      } else {
        set.api_routes.push_back(api_routes_[index]);
      }
    }
    // Which of several is pointed to must not depend on the order of edits.
    std::vector<model::Metadata> refused = found->second.refused;
    std::ranges::sort(refused, {}, [this](const model::Metadata& metadata) {
      return std::tie(documents_[metadata.span.source].name, metadata.span.begin);
    });
    set.refused.insert(set.refused.end(), refused.begin(), refused.end());
    add_policies(name, set);
  }
}

void WorkspaceResources::add_policies(const std::string& name, model::ResourceSet& set) const {
  const std::vector<model::ProxyPolicy>& policies = claims_.at(name).policies;
  set.policies.insert(set.policies.end(), policies.begin(), policies.end());
}

WorkspaceResources::Names WorkspaceResources::route_names() const {
  Names names;
  for (const auto& [name, claims] : claims_) names.insert(name);
  return names;
}

WorkspaceResources::Names WorkspaceResources::translated_names() {
  Names names;
  for (const model::Ingress& ingress : others().ingresses) names.insert(ingress.metadata.text());
  for (const auto& [name, claims] : claims_) {
    if (!name.starts_with("ProxyRoute ")) names.insert(name);
  }
  return names;
}

WorkspaceResources::Names WorkspaceResources::ingresses_beside_others() {
  Names names;
  for (const model::Ingress& ingress : others().ingresses) {
    if (translate::depends_on_others(ingress)) names.insert(ingress.metadata.text());
  }
  return names;
}

std::vector<std::string> WorkspaceResources::texts(const std::string& route) const {
  std::vector<std::string> texts{route};
  const auto found = claims_.find(route);
  if (found == claims_.end()) return texts;
  for (const model::ProxyPolicy& policy : found->second.policies) texts.push_back(policy.metadata.text());
  return texts;
}

bool WorkspaceResources::has_unclear_policy() { return std::ranges::any_of(others().policies, is_unclear); }

WorkspaceResources::Names WorkspaceResources::routes_naming(const Names& names) {
  Names found;
  if (names.empty()) return found;
  const auto search = [&](const auto& routes) {
    for (const auto& route : routes) {
      const bool refers = any_reference(route, [&](const model::Reference& reference) {
        const std::string& space = reference.name_space.empty() ? route.metadata.name_space : reference.name_space;
        return names.contains(space + "/" + reference.name.value);
      });
      if (refers) found.insert(route.metadata.text());
    }
  };
  search(routes_);
  search(api_routes_);
  for (const auto& [name, claims] : claims_) {
    const bool asked = std::ranges::any_of(claims.policies, [&](const model::ProxyPolicy& policy) {
      return asks(policy, [&](const model::Reference& service) {
        const std::string& space = service.name_space.empty() ? policy.metadata.name_space : service.name_space;
        return names.contains(space + "/" + service.name.value);
      });
    });
    if (asked) found.insert(name);
  }
  bool shares = false;
  for (const model::Ingress& ingress : others().ingresses) {
    if (!names_one(ingress, names)) continue;
    found.insert(ingress.metadata.text());
    shares |= translate::depends_on_others(ingress);
  }
  if (!shares) return found;
  // What a canary names stands in the routes of those whose requests it shares.
  for (const model::Ingress& ingress : others().ingresses) found.insert(ingress.metadata.text());
  return found;
}

WorkspaceResources::Names WorkspaceResources::routes_with_extensions() const {
  Names found;
  for (const model::ApiRoute& route : api_routes_) {
    const bool some = std::ranges::any_of(route.rules, [](const auto& rule) { return !rule.extensions.empty(); });
    if (some) found.insert(route.metadata.text());
  }
  return found;
}

WorkspaceResources::Names WorkspaceResources::routes_crossing() const {
  Names found;
  const auto search = [&](const auto& routes) {
    for (const auto& route : routes) {
      const bool crosses = any_reference(route, [&](const model::Reference& reference) {
        return !reference.name_space.empty() && reference.name_space != route.metadata.name_space;
      });
      if (crosses) found.insert(route.metadata.text());
    }
  };
  search(routes_);
  search(api_routes_);
  return found;
}

void WorkspaceResources::report(Diagnostics& diagnostics) const {
  for (const Document& document : documents_) {
    if (document.said != nullptr) diagnostics.append(*document.said);
  }
}

}  // namespace edge::compiler
