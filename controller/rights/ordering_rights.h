// Asks the API whether the controller may write Secrets in the namespaces for which certificates are ordered, and says
// so where it may not: that right is given apart from the others (ordering_access).
//
//   OrderedCertificate -> namespaces -> SelfSubjectAccessReview -> log, events
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "controller/kube/client.h"

namespace edge::controller {

struct OrderingRightsOptions {
  Logger log;
  /// Called for each namespace without the right, once until it is given; `message` is a sentence.
  std::function<void(const std::string& name_space, const std::string& message)> missing{};
  net::Duration again = std::chrono::minutes(1);  ///< until those without the right are asked for again
};

/// For the client's loop.
class OrderingRights {
 public:
  /// Further namespaces are not asked for: each costs a call a minute while the right is missing.
  static constexpr std::size_t kMostNamespaces = 256;

  OrderingRights(kube::Client& client, OrderingRightsOptions options);
  /// Nothing is called any more.
  ~OrderingRights();
  OrderingRights(const OrderingRights&) = delete;
  OrderingRights& operator=(const OrderingRights&) = delete;

  /// All namespaces for which certificates are ordered. Those that have the right are not asked for again.
  void set_namespaces(std::set<std::string> namespaces);
  /// Asks only while this controller leads.
  void lead(bool leads);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::controller
