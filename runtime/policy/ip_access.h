// IPAccess: allows and denies clients by address: by networks, lists that have a name, countries and autonomous
// systems. docs/ip-access.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/read.h"
#include "program/values/secrets.h"
#include "runtime/policy/access_files.h"
#include "runtime/policy/address_set.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

/// The IPAccess policies of a program, with the lists and databases that they name: made apart from the program,
/// because these change without it. Immutable, shared by all threads.
class IpAccesses {
 public:
  /// `previous`: lists that have not changed are taken from it; may be null.
  static std::shared_ptr<const IpAccesses> make(const program::SectionView& policies, const program::SecretSet& secrets,
                                                const AccessFiles& files, const IpAccesses* previous);

  /// Returns 403 for a client that the lists deny, and 503 where a list or database that the policy names cannot be
  /// used. `settings`: index into the section's array.
  std::optional<PolicyAnswer> pass(std::uint32_t settings, const IpAddress& source) const;
  std::optional<PolicyAnswer> pass(std::uint32_t settings, const PolicyRequest& policy_request) const {
    return pass(settings, policy_request.source);
  }

  /// Returns one line for each unusable policy.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  enum class Among : std::uint8_t { kNo, kYes, kUnknown };
  /// Where an address may be found.
  struct Sources {
    std::vector<std::shared_ptr<const AddressSet>> sets;
    /// Ascending. The databases are those of the agent.
    std::vector<std::uint32_t> countries;
    std::vector<std::uint32_t> systems;
  };
  struct Policy {
    Sources allow;
    Sources deny;
    bool everybody = false;  ///< nobody is listed that may pass
    bool usable = true;
  };
  /// A list of a ConfigMap.
  struct Listed {
    program::Hash digest{};
    std::shared_ptr<const AddressSet> set;  ///< null: it is at fault
    std::string fault;
  };
  struct Making;

  Among among(const Sources& sources, const IpAddress& address) const;

  std::vector<Policy> policies_;
  std::map<std::pair<std::string, std::string>, Listed> lists_;
  std::shared_ptr<const GeoDatabase> countries_;
  std::shared_ptr<const GeoDatabase> systems_;
  std::vector<std::string> faults_;
};

}  // namespace edge::runtime
