// The definitions of this project's kinds (CustomResourceDefinitions): the operator brings them to its own version
// before it looks at an installation. An older operator leaves those of a newer one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/log.h"
#include "controller/kube/client.h"

namespace edge::cluster_operator {

/// What is to be applied in place of `live` (null: there is none); nullopt: it is what `wanted` says, or of a newer
/// version. Versions in which the API may still store objects stay in it, as the API would not take it without.
std::optional<nlohmann::json> next_definition(const nlohmann::json& live, const nlohmann::json& wanted);

/// Of all definitions.
struct DefinitionsResult {
  /// A call failed that may go well the next time.
  bool again = false;
  /// `Forbidden` or `Refused`, and what is amiss, for users; empty: they are as they should be.
  std::string reason{};
  std::string message{};
};

/// On the client's loop.
class Definitions {
 public:
  Definitions(kube::Client& client, Logger log) : client_(client), log_(std::move(log)) {}

  /// Looks at all again; else a call looks at those that it has not brought to an end before.
  void begin() { done_.clear(); }
  /// `kind`: CustomResourceDefinition, as the API serves it.
  net::Task<DefinitionsResult> upgrade(net::Waiter& waiter, kube::Resource kind);
  /// Calls that change something.
  std::uint64_t writes() const { return writes_; }

 private:
  kube::Client& client_;
  Logger log_;
  std::set<std::string> done_;
  std::uint64_t writes_ = 0;
};

}  // namespace edge::cluster_operator
