// The effect of a change: the classes of requests that two programs handle differently, each with an example, and the
// settings that differ. Works on programs only, so that files, artifacts and live agents can be compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/analyze/space/witness.h"
#include "program/read.h"
#include "program/values/endpoints.h"

namespace edge::compiler::analyze {

struct DiffOptions {
  /// A change of the matching rule's name counts as a difference too.
  bool by_name = false;
};

/// Requests that another rule matches now, or that the same rule handles differently.
struct DiffClass {
  std::vector<std::string> hosts;  ///< patterns it was found on; `*` for every host
  std::string where;               ///< place and conditions of the rule before, or of the one after
  std::string rule_before;         ///< `demo/shop rules[2].matches[0]`; empty: none
  std::string rule_after;
  std::vector<std::string> before;  ///< their treatment, see Treatments::parts
  std::vector<std::string> after;
  Witness request;
};

/// A difference outside of routing, by name: `backend demo/stable, requestTimeout`. Empty where absent.
struct SettingChange {
  std::string what;
  std::string before;
  std::string after;
};

struct Diff {
  std::vector<DiffClass> classes;
  std::vector<SettingChange> settings;
  std::vector<std::string> undecided;  ///< comparisons that exceeded the limits of the search
  bool equal() const { return classes.empty() && settings.empty() && undecided.empty(); }
};

class ProgramDiff {
 public:
  /// Both programs must outlive this object.
  ProgramDiff(const program::ProgramView& before, const program::ProgramView& after, DiffOptions options);
  ~ProgramDiff();
  ProgramDiff(const ProgramDiff&) = delete;
  ProgramDiff& operator=(const ProgramDiff&) = delete;

  /// Computes the difference. Cost: equal parts are compared by hash; the rest grows with the change.
  Diff run();

  /// Returns the class of one request, as far as it can be told; nullopt when nothing changes for it.
  std::optional<DiffClass> of_request(const Witness& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns a key that is equal for classes of the same rules with the same change of treatment.
std::string class_key(const DiffClass& changed);

/// Compares backends' addresses, which are not part of a program.
std::vector<SettingChange> diff_endpoints(const program::EndpointSet& before, const program::EndpointSet& after);

}  // namespace edge::compiler::analyze
