// What a change does, whatever its text: the classes of requests that two programs treat otherwise, each with a request
// that shows it, and the settings that differ. Works on programs alone, so that files, artifacts and live agents can be
// compared with each other.
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
  /// The name of the rule that takes a request counts as well, not only what it does.
  bool by_name = false;
};

/// Requests that one rule took and that another takes now, or that the same rule treats otherwise.
struct DiffClass {
  std::vector<std::string> hosts;  ///< patterns that it shows on; `*` for every host
  std::string where;               ///< place and conditions of the rule that took it, or of the one that takes it now
  std::string rule_before;         ///< `demo/shop rules[2].matches[0]`; empty: none
  std::string rule_after;
  std::vector<std::string> before;  ///< what becomes of them, see Treatments::parts
  std::vector<std::string> after;
  Witness request;
};

/// Something beside routing, by name: `backend demo/stable, requestTimeout`. Empty where there is none.
struct SettingChange {
  std::string what;
  std::string before;
  std::string after;
};

struct Diff {
  std::vector<DiffClass> classes;
  std::vector<SettingChange> settings;
  std::vector<std::string> undecided;  ///< questions that the search did not answer within its bounds
  bool equal() const { return classes.empty() && settings.empty() && undecided.empty(); }
};

class ProgramDiff {
 public:
  /// Both programs must outlive this object.
  ProgramDiff(const program::ProgramView& before, const program::ProgramView& after, DiffOptions options);
  ~ProgramDiff();
  ProgramDiff(const ProgramDiff&) = delete;
  ProgramDiff& operator=(const ProgramDiff&) = delete;

  /// Cost: what both programs have alike is compared by hash; the rest grows with what changed.
  Diff run();

  /// The class that one request falls into, as far as it alone can tell; nullopt when nothing changes for it.
  std::optional<DiffClass> of_request(const Witness& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Equal for classes of the same rules that are treated otherwise in the same way.
std::string class_key(const DiffClass& changed);

/// Backends' addresses, which travel beside a program.
std::vector<SettingChange> diff_endpoints(const program::EndpointSet& before, const program::EndpointSet& after);

}  // namespace edge::compiler::analyze
