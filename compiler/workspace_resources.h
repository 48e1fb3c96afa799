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

/// ProxyRoutes, and the policies on them, are held apart: there may be very many, and nearly every edit is of one. All
/// else is held together. Routes are named `namespace/name` here. Not thread-safe.
class WorkspaceResources {
 public:
  using Names = std::set<std::string>;

  /// What edits touched.
  struct Touched {
    Names routes;         ///< that came, changed or went, or had a policy do so
    Names backends;       ///< ProxyBackends that came, changed or went
    bool supply = false;  ///< backends, services, endpoints
    bool secrets = false;
    bool policies = false;  ///< on gateways
    bool unclear = false;   ///< policies of which it cannot be told what they are on
    bool grants = false;
    bool others = false;  ///< all else
  };

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
  /// `ProxyRoute ns/name` and `ProxyPolicy ns/name` of what add_routes() adds for this name.
  std::vector<std::string> texts(const std::string& route) const;
  /// A policy so wrong that it cannot be told whether it is on a route: it holds for what there is of its name.
  bool has_unclear_policy();
  const Names& routes_with_policies() const { return with_policies_; }
  /// Routes that refer to anything of these names. Linear in all routes.
  Names routes_naming(const Names& names) const;
  /// Routes that refer into another namespace. Linear in all routes.
  Names routes_crossing() const;

  /// Calls `visit` with all resources.
  template <typename Visit>
  void with_all(Visit visit) {
    model::ResourceSet set = others();
    for (const std::string& name : with_policies_) add_policies(name, set);
    set.routes = std::move(routes_);
    visit(std::as_const(set));
    routes_ = std::move(set.routes);
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
    std::vector<std::uint32_t> routes;     ///< places in routes_
    std::vector<model::Metadata> refused;  ///< routes and policies at fault
    std::vector<model::ProxyPolicy> policies;
  };

  void read(std::uint32_t number, const std::string& text, Touched& touched);
  void remove(std::uint32_t number, Touched& touched);
  void remove_claims(std::uint32_t number, const std::string& name);
  void remove_route(std::uint32_t place);
  void take_routes(model::ResourceSet& set, Document& document, Touched& touched);
  void add_policies(const std::string& name, model::ResourceSet& set) const;

  std::vector<Document> documents_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<model::ProxyRoute> routes_;
  std::unordered_map<std::string, Claims> claims_;
  Names with_policies_;
  std::optional<model::ResourceSet> others_;  ///< nullopt: to be put together anew
};

}  // namespace edge::compiler
