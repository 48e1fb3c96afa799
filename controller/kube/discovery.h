// Which kinds the API serves, and by which names: `kubectl`'s words for them led to a Resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/client.h"

namespace edge::kube {

/// Immutable; what one look at the API found.
class ResourceTable {
 public:
  ResourceTable() = default;
  /// In order of preference: core first, then groups as the server lists them, preferred versions before others.
  explicit ResourceTable(std::vector<Resource> resources) : all_(std::move(resources)) {}

  const std::vector<Resource>& all() const { return all_; }
  /// Plural, singular, short name or kind, in any case, alone or with its group, or with version and group:
  /// `proxyroutes`, `pr`, `ProxyRoute`, `deployments.apps`, `deployments.v1.apps`. Null: none is served.
  const Resource* find(std::string_view word) const;
  /// By what an object says of itself.
  const Resource* find_kind(std::string_view api_version, std::string_view kind) const;
  /// Those of a category, e.g. `all`.
  std::vector<const Resource*> of_category(std::string_view category) const;

 private:
  std::vector<Resource> all_;
};

/// Reads aggregated discovery, or the plain documents where the server has no other. Documents of one answer.
std::vector<Resource> read_aggregated_discovery(std::string_view json);

struct DiscoveryReply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  ResourceTable table{};
  /// Groups that could not be read; the others are there.
  std::vector<std::string> unavailable{};
  bool ok() const { return failure.none(); }
};

/// A table that is asked for once and then kept, and asked for anew when a word is not in it. On the client's loop.
class Discovery {
 public:
  explicit Discovery(Client& client) : client_(client) {}

  /// Asks the server.
  net::Task<DiscoveryReply> refresh(net::Waiter& waiter);
  /// The resource of the word; asks when it is not known, at most once in ten seconds. An empty failure and no
  /// resource: it is not served.
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
