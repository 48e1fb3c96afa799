#include "compiler/workspace_link.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/cache/fingerprint.h"
#include "compiler/compile.h"
#include "compiler/link/link.h"
#include "compiler/link/policies/effective_policies.h"
#include "compiler/model/policy.h"

namespace edge::compiler {
namespace {

using Names = WorkspaceResources::Names;

constexpr std::string_view kRouteKind = "ProxyRoute ";
constexpr std::string_view kIngress = "Ingress ";

bool is_own(const std::string& route) { return route.starts_with(kRouteKind); }
bool is_ingress(const std::string& route) { return route.starts_with(kIngress); }
std::string name_of(const Identity& identity) { return identity.name_space + "/" + identity.name; }

template <typename T>
program::Hash hash_of(const T& value) {
  Fingerprint fingerprint;
  fingerprint.add(value);
  return fingerprint.take();
}

/// Who has what is said of `resource`: a route that is linked, the policies on it, and those that were made of its
/// filters, whose names begin with its own (translate/routes.cc). End: what is linked with everything.
template <typename Owners>
auto owner_of(const Owners& owners, const std::string& resource) {
  const auto owner = owners.find(resource);
  if (owner != owners.end()) return owner;
  if (resource.starts_with("ProxyPolicy ")) {
    if (const auto route = model::route_of_filter_policy(resource)) return owners.find(*route);
    // On the routes of an Ingress (translate/ingress.cc). Copies for other targets belong to those.
    return owners.find(resource.substr(0, resource.find('@')));
  }
  return owners.find(model::origin_text(resource));
}

void add_policies(const std::vector<std::uint32_t>& policies, const LinkedConfig& config, Fingerprint& world) {
  for (const std::uint32_t policy : policies) {
    world.add(config.policies[policy].identity);
    world.add(config.policies[policy].type);
    world.add(config.policies[policy].enforced);
    // Whether tokens can be verified by it: routes with conditions on claims attach where they can.
    world.add(std::holds_alternative<std::monostate>(config.policies[policy].settings));
    world.add(link::replaces_backend_errors(config.policies[policy]));
    // Routes have a rule for the path that it names (link/stages.h, add_login_rules).
    if (const auto* oidc = std::get_if<OidcSettings>(&config.policies[policy].settings)) world.add(oidc->redirect_url);
  }
}

/// What linking a route may depend on, less the backends: gateways, listeners, and which policies the gateways have.
/// Not the settings of any of them: routes name them.
program::Hash world_of(const LinkedConfig& config) {
  Fingerprint world;
  for (LinkedGateway gateway : config.gateways) {
    add_policies(std::exchange(gateway.policies, {}), config, world);
    gateway.trusted_proxies.clear();
    gateway.variants.clear();
    gateway.compression.reset();
    gateway.cache.reset();
    gateway.tracing.reset();
    gateway.access_log.reset();
    world.add(gateway);
  }
  for (LinkedListener listener : config.listeners) {
    add_policies(std::exchange(listener.policies, {}), config, world);
    listener.redirect_scheme.reset();
    listener.tls.reset();
    world.add(listener);
  }
  return world.take();
}

/// Of gateways and listeners, which hosts may hold.
program::Hash settings_of(const LinkedConfig& config) {
  Fingerprint settings;
  for (LinkedGateway gateway : config.gateways) {
    gateway.policies.clear();
    settings.add(gateway);
  }
  for (LinkedListener listener : config.listeners) {
    listener.policies.clear();
    settings.add(listener);
  }
  return settings.take();
}

/// The place of `key`; a new one at the end of `list`, or where one is free.
template <typename T>
std::uint32_t place_for(std::unordered_map<std::string, std::uint32_t>& indexes, std::vector<std::uint32_t>& free,
                        std::vector<T>& list, const std::string& key) {
  const auto [known, added] = indexes.try_emplace(key, 0);
  if (!added) return known->second;
  if (free.empty()) {
    free.push_back(static_cast<std::uint32_t>(list.size()));
    list.emplace_back();
  }
  known->second = free.back();
  free.pop_back();
  return known->second;
}

void renumber(std::vector<std::uint32_t>& numbers, const std::vector<std::uint32_t>& indexes) {
  for (std::uint32_t& number : numbers) number = indexes[number];
}

}  // namespace

WorkspaceLink::Change WorkspaceLink::update(WorkspaceResources& resources, const Touched& touched) {
  if (linked_ && !touched.links_something()) return {.nothing = true, .routes = {}};
  const std::optional<Names> names = linked_ ? depending_on(resources, touched) : std::nullopt;
  if (!names) return link_whole(resources);
  if (auto change = link_part(resources, *names)) return *std::move(change);
  return link_whole(resources);
}

/// The routes to be linked anew; nullopt: all.
std::optional<Names> WorkspaceLink::depending_on(WorkspaceResources& resources, const Touched& touched) const {
  if (touched.unclear || resources.has_unclear_policy()) return std::nullopt;
  Names names = touched.routes;
  if (std::ranges::any_of(names, is_ingress)) names.merge(resources.ingresses_beside_others());
  const bool others = touched.others || touched.grants;
  if (!touched.supply && !touched.secrets && !touched.policies && !others) return with_found_translated(names);

  // Translated ones become what they become by Services, Gateways, classes, policies for TLS and their Secrets.
  if (others || touched.secrets) names.merge(resources.translated_names());
  // Their policies, and the services that those ask, are found with everything.
  names.merge(resources.routes_with_extensions());
  names.merge(resources.routes_naming(touched.services));
  names.merge(resources.routes_naming(touched.backends));
  names = with_found_translated(std::move(names));
  Names translated;
  for (const std::string& name : names) {
    if (!is_own(name)) translated.insert(name);
  }
  Diagnostics unheard;
  model::ResourceSet set = resources.others();
  resources.add_routes(translated, set);
  translate::KeptTranslation kept = kept_without(resources, translated);
  const LinkedConfig fresh = link_resources(std::move(set), unheard, kept);
  if (world_of(fresh) != world_) return std::nullopt;
  Names backends = touched.backends;
  Names gone;
  for (const auto& [name, index] : backends_) gone.insert(name);
  for (const LinkedBackend& backend : fresh.backends) {
    const std::string name = name_of(backend.identity);
    const auto known = backends_.find(name);
    gone.erase(name);
    if (known == backends_.end() || hash_of(config_.backends[known->second]) != hash_of(backend)) backends.insert(name);
  }
  backends.merge(gone);
  names.merge(resources.routes_naming(backends));
  if (!backends.empty() || others) {
    // What was said of a reference may offer other names now, or point to where they stand.
    for (const auto& [name, found] : found_) names.insert(name);
  }
  if (touched.grants) names.merge(resources.routes_crossing());
  if (touched.secrets || touched.grants)
    names.insert(resources.routes_with_policies().begin(), resources.routes_with_policies().end());
  return names;
}

/// A reference that leads nowhere is told with near names, which may come and go with what others refer to.
WorkspaceLink::Names WorkspaceLink::with_found_translated(Names names) const {
  if (std::ranges::all_of(names, is_own)) return names;
  for (const auto& [name, found] : found_) {
    if (!is_own(name) && !found.said.empty()) names.insert(name);
  }
  return names;
}

/// For a translation of these routes.
translate::KeptTranslation WorkspaceLink::kept_without(const WorkspaceResources& resources, const Names& names) const {
  translate::KeptTranslation kept = kept_;
  kept.others = resources.has_api_routes();
  kept.let_go([&](const std::string& user) { return names.contains(user); });
  kept.ingresses.emplace();
  for (const std::string& name : names) {
    if (is_ingress(name)) kept.ingresses->insert(name);
  }
  return kept;
}

WorkspaceLink::Change WorkspaceLink::link_whole(WorkspaceResources& resources) {
  clear();
  const Names names = resources.route_names();
  model::ResourceSet set = resources.others();
  resources.add_routes(names, set);
  Diagnostics said;
  LinkedConfig whole = link_resources(std::move(set), said, kept_);
  linked_ = true;
  world_ = world_of(whole);
  settings_ = settings_of(whole);

  Owners owners;
  Names all = resources.translated_names();
  all.insert(names.begin(), names.end());
  for (const std::string& name : all) {
    for (std::string& text : resources.texts(name)) owners.emplace(std::move(text), name);
  }
  keep_found(owners, said, std::exchange(whole.statuses, {}));
  for (std::uint32_t i = 0; i < whole.routes.size(); ++i) {
    const Identity& identity = whole.routes[i].identity;
    routes_.emplace(identity.text(), i);
    if (is_ingress(identity.text())) of_ingresses_[model::origin_text(identity.text())].insert(identity.text());
  }
  for (std::uint32_t i = 0; i < whole.backends.size(); ++i) backends_.emplace(name_of(whole.backends[i].identity), i);
  for (std::uint32_t i = 0; i < whole.policies.size(); ++i) {
    const std::string text = whole.policies[i].identity.text();
    const auto owner = owner_of(owners, text);
    policies_.emplace(text, i);
    if (owner != owners.end()) routes_of_policies_.emplace(text, owner->second);
  }
  config_ = std::move(whole);
  return {.whole = true, .settings = true, .routes = {}, .routes_linked = config_.routes.size()};
}

/// nullopt when what was found shows that more has to be linked.
std::optional<WorkspaceLink::Change> WorkspaceLink::link_part(WorkspaceResources& resources, const Names& names) {
  model::ResourceSet set = resources.others();
  resources.add_routes(names, set);
  Diagnostics said;
  translate::KeptTranslation kept = kept_without(resources, names);
  LinkedConfig part = link_resources(std::move(set), said, kept);
  if (world_of(part) != world_ || needs_all_names(resources, part, names)) return std::nullopt;

  kept_ = std::move(kept);
  Owners owners;
  for (const std::string& name : names) {
    for (std::string& text : resources.texts(name)) owners.emplace(std::move(text), name);
    found_.erase(name);
  }
  keep_found(owners, said, std::exchange(part.statuses, {}));
  const program::Hash settings = settings_of(part);
  const PartIndexes indexes = take_shared(part, owners, names);
  const std::size_t routes = part.routes.size();
  return Change{.settings = std::exchange(settings_, settings) != settings,
                .routes = take_routes(part.routes, indexes, names),
                .routes_linked = routes};
}

/// A policy on a route that is not there is told of routes with near names: of all that there are. That takes all of
/// them, when such a policy is in the part, or when the names of routes change and there is one elsewhere.
bool WorkspaceLink::needs_all_names(const WorkspaceResources& resources, const LinkedConfig& part,
                                    const Names& names) const {
  const Names& with_policies = resources.routes_with_policies();
  if (with_policies.empty()) return false;
  Names linked;
  for (const LinkedRoute& route : part.routes) {
    linked.insert(route.identity.text());
  }
  bool moved = false;
  for (const std::string& name : names) {
    if (with_policies.contains(name) && !linked.contains(name)) return true;
    moved |= is_own(name) && routes_.contains(name) != linked.contains(name);
  }
  return moved && std::ranges::any_of(with_policies, [&](const std::string& name) {
           return !linked.contains(name) && !routes_.contains(name);
         });
}

void WorkspaceLink::keep_found(const Owners& owners, const Diagnostics& said, std::vector<ResourceStatus> statuses) {
  const auto found = [&](const std::string& text) -> Found& {
    const auto owner = owner_of(owners, text);
    return owner == owners.end() ? found_of_others_ : found_[owner->second];
  };
  found_of_others_ = {};
  for (const Diagnostic& diagnostic : said.all()) {
    // Ingresses are looked at with everything: what is said of those that are not linked now was kept when they were.
    const bool again = is_ingress(diagnostic.resource) && found_.contains(diagnostic.resource);
    if (again && owner_of(owners, diagnostic.resource) == owners.end()) continue;
    found(diagnostic.resource).said.push_back(diagnostic);
  }
  for (ResourceStatus& status : statuses) {
    found(resource_text(status.kind, status.name_space, status.name)).statuses.push_back(std::move(status));
  }
}

/// Takes over all but the routes. Everything but routes, and policies on routes, is in every part.
WorkspaceLink::PartIndexes WorkspaceLink::take_shared(LinkedConfig& part, const Owners& owners, const Names& names) {
  PartIndexes indexes;
  Names named;
  for (LinkedBackend& backend : part.backends) {
    const std::string name = name_of(backend.identity);
    const std::uint32_t index = place_for(backends_, free_backends_, config_.backends, name);
    config_.backends[index] = std::move(backend);
    indexes.backends.push_back(index);
    named.insert(name);
  }
  std::erase_if(backends_, [&](const auto& backend) {
    if (named.contains(backend.first)) return false;
    config_.backends[backend.second] = {};
    free_backends_.push_back(backend.second);
    return true;
  });

  named.clear();
  for (LinkedPolicy& policy : part.policies) {
    const std::string text = policy.identity.text();
    const std::uint32_t index = place_for(policies_, free_policies_, config_.policies, text);
    config_.policies[index] = std::move(policy);
    indexes.policies.push_back(index);
    named.insert(text);
    const auto owner = owner_of(owners, text);
    if (owner == owners.end()) {
      routes_of_policies_.erase(text);
    } else {
      routes_of_policies_[text] = owner->second;
    }
  }
  std::erase_if(policies_, [&](const auto& policy) {
    const auto route = routes_of_policies_.find(policy.first);
    const bool elsewhere = route != routes_of_policies_.end() && !names.contains(route->second);
    if (elsewhere || named.contains(policy.first)) return false;
    if (route != routes_of_policies_.end()) routes_of_policies_.erase(route);
    config_.policies[policy.second] = {};
    free_policies_.push_back(policy.second);
    return true;
  });

  config_.gateways = std::move(part.gateways);
  for (LinkedGateway& gateway : config_.gateways) {
    renumber(gateway.policies, indexes.policies);
    for (BackendVariant& one : gateway.variants) {
      one = {indexes.backends[one.backend], indexes.backends[one.variant]};
    }
    std::ranges::sort(gateway.variants, {}, &BackendVariant::backend);
  }
  config_.listeners = std::move(part.listeners);
  for (LinkedListener& listener : config_.listeners) renumber(listener.policies, indexes.policies);
  return indexes;
}

/// \returns the places whose routes changed.
std::vector<std::uint32_t> WorkspaceLink::take_routes(std::vector<LinkedRoute>& routes, const PartIndexes& indexes,
                                                      const Names& names) {
  std::set<std::uint32_t> changed;
  Names gone = names;
  for (const std::string& name : names) {
    if (const auto made = of_ingresses_.extract(name)) gone.insert(made.mapped().begin(), made.mapped().end());
  }
  for (LinkedRoute& route : routes) {
    renumber(route.policies, indexes.policies);
    for (LinkedRule& rule : route.rules) {
      renumber(rule.policies, indexes.policies);
      for (WeightedBackend& backend : rule.backends) {
        if (backend.backend) backend.backend = indexes.backends[*backend.backend];
      }
      for (Mirror& mirror : rule.mirrors) {
        if (mirror.backend) mirror.backend = indexes.backends[*mirror.backend];
      }
    }
    const std::string text = route.identity.text();
    gone.erase(text);
    if (is_ingress(text)) of_ingresses_[model::origin_text(text)].insert(text);
    const std::uint32_t index = place_for(routes_, free_routes_, config_.routes, text);
    config_.routes[index] = std::move(route);
    changed.insert(index);
  }
  for (const std::string& text : gone) {
    const auto known = routes_.find(text);
    if (known == routes_.end()) continue;
    config_.routes[known->second] = {};
    changed.insert(known->second);
    free_routes_.push_back(known->second);
    routes_.erase(known);
  }
  return {changed.begin(), changed.end()};
}

void WorkspaceLink::add_values(WorkspaceResources& resources) {
  config_.statuses.clear();
  said_of_values_ = Diagnostics{};
  compiler::add_values(resources.others(), config_, said_of_values_);
}

std::vector<ResourceStatus> WorkspaceLink::statuses() const {
  std::vector<ResourceStatus> statuses = found_of_others_.statuses;
  statuses.insert(statuses.end(), config_.statuses.begin(), config_.statuses.end());
  for (const auto& [name, found] : found_)
    statuses.insert(statuses.end(), found.statuses.begin(), found.statuses.end());
  link::name_as_written(statuses);
  count_attached_routes(config_, statuses);
  return statuses;
}

void WorkspaceLink::report(Diagnostics& diagnostics) const {
  diagnostics.append(said_of_values_);
  for (const Diagnostic& diagnostic : found_of_others_.said) diagnostics.add(link::named_as_written(diagnostic));
  for (const auto& [name, found] : found_)
    for (const Diagnostic& diagnostic : found.said) diagnostics.add(link::named_as_written(diagnostic));
}

}  // namespace edge::compiler
