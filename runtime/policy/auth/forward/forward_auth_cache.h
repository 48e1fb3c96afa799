// What authorization services said, for as long as their policies allow. Of the process, bounded in number and bytes;
// any thread may ask.
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
  /// A digest: nobody can find two requests that have one, and none can be read back.
  using Key = program::Hash;
  struct Limits {
    std::size_t entries = 16 * 1024;
    std::size_t bytes = std::size_t{16} << 20;
  };

  ForwardAuthCache() : ForwardAuthCache(Limits{}) {}
  explicit ForwardAuthCache(const Limits& limits);

  /// Of a policy, and everything that its service would be told.
  Key key(std::string_view policy, std::string_view forwarded) const;
  /// Null where nothing is known, or not any more.
  std::shared_ptr<const AuthResult> find(const Key& key, net::Time now);
  /// What was used longest ago goes first.
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
  /// Drawn at the start: keys mean nothing outside the process.
  Key salt_;
  mutable std::mutex mutex_;
  /// The last used first.
  Order order_;
  std::map<Key, Order::iterator> places_;
  std::size_t bytes_ = 0;
};

}  // namespace edge::runtime::auth
