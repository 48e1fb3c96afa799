// The kinds that the API serves, and their names: maps the words that `kubectl` accepts to a Resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/client.h"

namespace edge::kube {

/// Immutable; the result of one discovery.
class ResourceTable {
 public:
  ResourceTable() = default;
  /// In order of preference: core first, then groups in the server's order, preferred versions before others.
  explicit ResourceTable(std::vector<Resource> resources) : all_(std::move(resources)) {}

  const std::vector<Resource>& all() const { return all_; }
  /// Finds a resource by plural, singular, short name or kind, case-insensitive, alone or with its group, or with
  /// version and group: `proxyroutes`, `pr`, `ProxyRoute`, `deployments.apps`, `deployments.v1.apps`. Null: not served.
  const Resource* find(std::string_view word) const;
  /// Finds a resource by an object's apiVersion and kind.
  const Resource* find_kind(std::string_view api_version, std::string_view kind) const;
  /// The same; else the first of the group, in order of preference, that has the kind and can be watched.
  const Resource* find_watched(std::string_view api_version, std::string_view kind) const;
  /// Returns the resources of a category, such as `all`.
  std::vector<const Resource*> of_category(std::string_view category) const;

 private:
  std::vector<Resource> all_;
};

/// Parses aggregated discovery.
std::vector<Resource> read_aggregated_discovery(std::string_view json);

struct DiscoveryReply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  ResourceTable table{};
  /// Groups that could not be read; the others are present.
  std::vector<std::string> unavailable{};
  bool ok() const { return failure.none(); }
};

/// A table that is fetched once and cached, and fetched again when a word is not in it. On the client's loop.
class Discovery {
 public:
  explicit Discovery(Client& client) : client_(client) {}

  /// Fetches the table.
  net::Task<DiscoveryReply> refresh(net::Waiter& waiter);
  /// Finds the resource of a word; fetches the table when it is unknown, at most once in ten seconds. An empty failure
  /// and no resource: it is not served.
  struct Found {
    Failure failure{};
    std::optional<Resource> resource{};
  };
  net::Task<Found> find(net::Waiter& waiter, std::string word);
  net::Task<Found> find_kind(net::Waiter& waiter, std::string api_version, std::string kind);
  const ResourceTable& table() const { return table_; }

 private:
  net::Task<bool> refresh_for_miss(net::Waiter& waiter, Failure& failure);

  Client& client_;
  ResourceTable table_;
  net::Time asked_ = net::Time::min();
};

}  // namespace edge::kube
