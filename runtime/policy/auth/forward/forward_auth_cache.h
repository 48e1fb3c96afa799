// Caches the decisions of authorization services for as long as their policies allow. One per process, bounded in
// number and bytes; threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/clock.h"
#include "program/read.h"
#include "runtime/policy/auth/auth_result.h"

namespace edge::runtime::auth {

class ForwardAuthCache {
 public:
  /// A digest: collisions cannot be constructed, and the request cannot be recovered.
  using Key = program::Hash;
  struct Limits {
    std::size_t entries = 16 * 1024;
    std::size_t bytes = std::size_t{16} << 20;
  };

  ForwardAuthCache() : ForwardAuthCache(Limits{}) {}
  explicit ForwardAuthCache(const Limits& limits);

  /// Returns the key of a policy and everything that would be sent to its service.
  Key key(std::string_view policy, std::string_view forwarded) const;
  /// Returns the cached decision; null where there is none, or it has expired.
  std::shared_ptr<const AuthResult> find(const Key& key, net::Time now);
  /// Stores a decision; evicts the least recently used.
  void put(const Key& key, AuthResult auth_result, net::Time until);
  std::size_t entries() const;

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const AuthResult> auth_result;
    net::Time until;
    std::size_t bytes;
  };
  using Order = std::list<Entry>;

  void erase(Order::iterator entry);

  const Limits limits_;
  /// Random at start: keys are useless outside of the process.
  Key salt_;
  mutable std::mutex mutex_;
  /// The most recently used first.
  Order order_;
  std::map<Key, Order::iterator> places_;
  std::size_t bytes_ = 0;
};

}  // namespace edge::runtime::auth
