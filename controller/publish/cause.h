// The cause of a program change, for history and log.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace edge::controller {

struct Cause {
  std::vector<std::string> resources;  ///< `ProxyRoute shop/cart`, at most kMaxNamed
  std::size_t count = 0;               ///< the number of all resources
  std::string user;                    ///< field manager; empty: unknown, or several

  static constexpr std::size_t kMaxNamed = 20;

  void add(const std::string& resource, const std::string& by);
  void add(const Cause& more);
  /// `ProxyRoute shop/cart and 2 more by kubectl-apply`.
  std::string line() const;

 private:
  void add_user(const std::string& by);
  bool several_ = false;
};

}  // namespace edge::controller
