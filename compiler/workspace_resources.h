// The decoded documents of a Workspace. Documents are added, changed and removed one at a time; each is decoded once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler {

/// Routes (ProxyRoutes with their policies, and those of Gateway API) are stored separately: there may be very many,
/// and nearly every edit is of one. Everything else is stored together, including Ingresses, which have names like
/// routes. Routes are named `Kind namespace/name` here, what they refer to `namespace/name`. Not thread-safe.
class WorkspaceResources {
 public:
  using Names = std::set<std::string>;

  /// The names affected by edits.
  struct Touched {
    Names routes;         ///< added, changed or removed, or with such a policy; including Ingresses
    Names backends;       ///< ProxyBackends added, changed or removed
    Names services;       ///< the same
    bool supply = false;  ///< either
    bool secrets = false;
    bool policies = false;  ///< on gateways, or without a target
    bool unclear = false;   ///< policies with an unreadable target
    bool grants = false;
    bool others = false;  ///< everything else, except endpoints, which no part of a program depends on

    bool links_something() const {
      return !routes.empty() || !backends.empty() || supply || secrets || policies || unclear || grants || others;
    }
  };

  /// `certificate_directories` as in ResourceSet.
  explicit WorkspaceResources(std::optional<std::vector<std::string>> certificate_directories = std::nullopt)
      : certificate_directories_(std::move(certificate_directories)) {}

  /// Sets a document, or removes it when there is no text. Spans in it count from its own first byte, and their source
  /// is its number.
  void put(const std::string& document, const std::optional<std::string>& text, Touched& touched);
  /// Returns the name of the document for a span's source.
  const std::string& document(std::uint32_t number) const { return documents_[number].name; }

  /// Returns everything but routes and their policies, in the order of the documents' names.
  const model::ResourceSet& others();
  /// Adds to `set` the resources with these names, including invalid ones, and their policies.
  void add_routes(const Names& names, model::ResourceSet& set) const;
  /// Returns all names of routes, and of targets of policies.
  Names route_names() const;
  /// Returns those of routes of Gateway API, and of Ingresses.
  Names translated_names();
  /// Returns Ingresses that become something else when another one comes, goes or has other hosts or paths.
  Names ingresses_beside_others();
  bool has_api_routes() const { return !api_routes_.empty(); }
  /// Returns the route itself, and `ProxyPolicy ns/name` of what add_routes() adds for this name.
  std::vector<std::string> texts(const std::string& route) const;
  /// Returns whether there is a policy with an unreadable target: it applies to every target of its name.
  bool has_unclear_policy();
  const Names& routes_with_policies() const { return with_policies_; }
  /// Returns routes that refer to any of these names. Linear in all routes.
  Names routes_naming(const Names& names);
  /// Returns routes with filters of type ExtensionRef, which name policies. Linear in all routes of Gateway API.
  Names routes_with_extensions() const;
  /// Returns routes with references into another namespace. Linear in all routes.
  Names routes_crossing() const;

  /// Calls `visit` with all resources.
  template <typename Visit>
  void with_all(Visit visit) {
    model::ResourceSet set = others();
    for (const std::string& name : with_policies_) add_policies(name, set);
    set.routes = std::move(routes_);
    set.api_routes = std::move(api_routes_);
    visit(std::as_const(set));
    routes_ = std::move(set.routes);
    api_routes_ = std::move(set.api_routes);
  }

  /// Reports the diagnostics of decoding.
  void report(Diagnostics& diagnostics) const;

 private:
  struct Document {
    std::string name;
    std::vector<std::string> routes;             ///< names of its routes, or of the targets of its policies
    std::unique_ptr<model::ResourceSet> others;  ///< null: none
    std::unique_ptr<Diagnostics> said;           ///< null: none
  };
  /// The resources of one name. Spans identify their documents.
  struct Claims {
    std::vector<std::uint32_t> routes;     ///< indices in routes_, or in api_routes_
    std::vector<model::Metadata> refused;  ///< invalid routes and policies
    std::vector<model::ProxyPolicy> policies;
  };

  void read(std::uint32_t number, const std::string& text, Touched& touched);
  void remove(std::uint32_t number, Touched& touched);
  void remove_claims(std::uint32_t number, const std::string& name);
  template <typename Route>
  void remove_routes(std::uint32_t number, std::vector<Route>& routes, Claims& claims);
  void take_routes(model::ResourceSet& set, Document& document, Touched& touched);
  void add_policies(const std::string& name, model::ResourceSet& set) const;

  std::vector<Document> documents_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<model::ProxyRoute> routes_;
  std::vector<model::ApiRoute> api_routes_;
  std::unordered_map<std::string, Claims> claims_;
  Names with_policies_;
  std::optional<std::vector<std::string>> certificate_directories_;
  std::optional<model::ResourceSet> others_;  ///< nullopt: to be rebuilt
};

}  // namespace edge::compiler
