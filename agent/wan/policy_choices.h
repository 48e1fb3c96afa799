// The choices of a site: for every policy and peer one, among the tunnels that the policy's links make to that peer.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/wan/measurer.h"

namespace edge::agent::wan {

/// The limits that a tunnel must keep for a policy: the narrower of the policy's and its link's.
Limits narrower(const Limits& one, const Limits& other);

class PolicyChoices {
 public:
  /// A choice whose settings and tunnels stay keeps what it has chosen.
  void set(const Measured& measured);
  /// Decides. `state` returns what is known of a tunnel under limits. \returns whether anything moved.
  bool step(const std::function<PathState(std::size_t tunnel, const Limits& limits)>& state, Time now);
  /// In the order of policies, then of peers.
  std::vector<PolicyReport> reports() const;

 private:
  struct Entry {
    MeasuredPolicy policy;
    std::vector<std::string> names{};    ///< of the tunnels, which are the same in another assignment
    std::vector<std::size_t> tunnels{};  ///< of Measured::tunnels, by position of the candidate
    std::vector<Candidate> candidates{};
    std::vector<Limits> limits{};  ///< likewise
    Choice choice;
    PolicyReport report{};
  };
  Entry make(const Measured& measured, const MeasuredPolicy& policy, const std::string& peer) const;
  static void note(Entry& entry, const Change& change);

  std::vector<Entry> entries_;
};

}  // namespace edge::agent::wan
