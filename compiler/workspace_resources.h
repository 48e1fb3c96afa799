// The decoded documents of a Workspace. Documents come, change and go one at a time; each is decoded once.
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

/// Routes (ProxyRoutes with the policies on them, and those of Gateway API) are held apart: there may be very many, and
/// nearly every edit is of one. All else is held together, Ingresses among it, which are named all the same. Routes are
/// named `Kind namespace/name` here, what they refer to `namespace/name`. Not thread-safe.
class WorkspaceResources {
 public:
  using Names = std::set<std::string>;

  /// What edits touched.
  struct Touched {
    Names routes;         ///< that came, changed or went, or had a policy do so; Ingresses too
    Names backends;       ///< ProxyBackends that came, changed or went
    Names services;       ///< the same
    bool supply = false;  ///< either
    bool secrets = false;
    bool policies = false;  ///< on gateways
    bool unclear = false;   ///< policies of which it cannot be told what they are on
    bool grants = false;
    bool others = false;  ///< all else, but for endpoints, which no part of a program depends on

    bool links_something() const {
      return !routes.empty() || !backends.empty() || supply || secrets || policies || unclear || grants || others;
    }
  };

  /// `certificate_directories` as ResourceSet has them.
  explicit WorkspaceResources(std::optional<std::vector<std::string>> certificate_directories = std::nullopt)
      : certificate_directories_(std::move(certificate_directories)) {}

  /// Sets a document, or removes it when there is no text. The spans of what is in it count from its own first byte,
  /// and their source is its number.
  void put(const std::string& document, const std::optional<std::string>& text, Touched& touched);
  /// The name of the document that a span's source stands for.
  const std::string& document(std::uint32_t number) const { return documents_[number].name; }

  /// Everything but the routes and the policies on them, in the order of the documents' names.
  const model::ResourceSet& others();
  /// Adds to `set` the resources that claim these names, faulty ones too, and the policies on them.
  void add_routes(const Names& names, model::ResourceSet& set) const;
  /// All names that are claimed by a route or stood on by a policy.
  Names route_names() const;
  /// Those of routes of Gateway API, and of Ingresses.
  Names translated_names();
  bool has_api_routes() const { return !api_routes_.empty(); }
  /// The route itself, and `ProxyPolicy ns/name` of what add_routes() adds for this name.
  std::vector<std::string> texts(const std::string& route) const;
  /// A policy so wrong that it cannot be told whether it is on a route: it holds for what there is of its name.
  bool has_unclear_policy();
  const Names& routes_with_policies() const { return with_policies_; }
  /// Routes that refer to anything of these names. Linear in all routes.
  Names routes_naming(const Names& names);
  /// Routes that refer into another namespace. Linear in all routes.
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

  /// What decoding has to say.
  void report(Diagnostics& diagnostics) const;

 private:
  struct Document {
    std::string name;
    std::vector<std::string> routes;             ///< names that it claims, or whose policies it holds
    std::unique_ptr<model::ResourceSet> others;  ///< null when there are none
    std::unique_ptr<Diagnostics> said;           ///< null when there is nothing
  };
  /// What claims one name. Spans tell the documents apart.
  struct Claims {
    std::vector<std::uint32_t> routes;     ///< places in routes_, or in api_routes_
    std::vector<model::Metadata> refused;  ///< routes and policies at fault
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
  std::optional<model::ResourceSet> others_;  ///< nullopt: to be put together anew
};

}  // namespace edge::compiler
