// The controller's own secrets, which are none of the configuration's and go to every group with its values: the key of
// client sessions, and the answers to challenges of CAs that certificates are ordered from.
//
//   Groups -> Published -> OwnSecrets -> Distributor
//                            ^
//   Cluster (acme) ----------+ challenges
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "controller/distribute/distributor.h"
#include "program/sign.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// Thread-safe.
class OwnSecrets {
 public:
  /// The key of sessions is derived from `key`, so that it outlives the process and all agents have the same; without
  /// one that can be derived clients have no sessions. `publish` is called on the callers' threads, one at a time, and
  /// returns the version of values that it gave.
  OwnSecrets(const program::SigningKey& key, std::function<std::uint64_t(Published)> publish);
  OwnSecrets(const OwnSecrets&) = delete;
  OwnSecrets& operator=(const OwnSecrets&) = delete;

  void publish(Published published);
  /// Publishes the last values of every group anew. null: there are no challenges. Returns the first version of values
  /// that has them, acme::kNotGiven without any values: versions ascend over all groups.
  std::uint64_t set_challenges(std::shared_ptr<const program::NamedSecret> challenges);

 private:
  void add_to(program::ValueSet& values) const;

  const std::shared_ptr<const program::NamedSecret> session_key_;
  const std::function<std::uint64_t(Published)> publish_;
  std::mutex mutex_;  ///< guards what follows; held while publishing, so that the order is one
  std::map<std::string, program::ValueSet> last_values_;  ///< by group, as they came
  std::shared_ptr<const program::NamedSecret> challenges_;
};

}  // namespace edge::controller
