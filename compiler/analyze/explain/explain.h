// Why a request goes where it goes: the way through a program's tables, the winner, and for each loser the first
// condition that failed. Built on the canonical interpreter; native code and the regex engine decide as well and are
// compared with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// One match of one rule, and what became of it.
struct ExplainedRule {
  enum class MatchResult {
    kWon,
    kFailed,     ///< it was looked at, and `failed` did not hold
    kNotTried,   ///< its path fits, but an earlier rule had won (D1)
    kOtherPath,  ///< the tables never lead here for this path
  };
  MatchResult match_result = MatchResult::kOtherPath;
  std::string where;  ///< `exact /cart`, `prefix /api`, `regex`, `any path`
  std::string route;  ///< namespace/name
  std::uint32_t rule = 0;
  std::uint32_t match = 0;
  std::string condition;  ///< in the syntax of rule D5; empty: none beyond the path
  std::string failed;     ///< the first part of it that did not hold
  std::string actual;     ///< what the request has instead, e.g. `"staging"`, `absent`
};

struct ExplainedHost {
  std::string pattern;  ///< `*` for every host
  bool tried = false;   ///< false: an earlier host had the winner
  /// Those looked at, in the order in which they were; then the others in the order of the tables.
  std::vector<ExplainedRule> rules;
};

struct ExplainedBackend {
  std::string name;  ///< namespace/name; empty: the reference did not resolve
  std::uint32_t weight = 0;
  bool canary = false;  ///< takes `X-Canary: true` (rule D3)
  /// Of requests that go there, in place of the rule's; nullopt: the rule's hold.
  std::optional<std::vector<std::string>> filters{};
};

/// What an engine beside the interpreter said.
struct ExplainedEngine {
  enum class State { kAgrees, kDisagrees, kNotNeeded, kNotRun };
  std::string name;
  State state = State::kNotNeeded;
  std::string note;
};

/// What is answered in place of a backend.
struct ExplainedRedirect {
  int status = 0;
  std::string location;
  /// By `redirectScheme` (rule D9): before any rule is looked for and any policy asked. Else by a filter of the rule,
  /// after its policies.
  bool of_listener = false;
};

struct Explanation {
  std::string request;   ///< as it was matched: canonical host, normalised path
  std::string bind;      ///< `*:8080`
  std::string listener;  ///< empty: none takes this host
  std::string gateway;   ///< namespace/name
  std::vector<ExplainedHost> hosts;
  bool matched = false;
  ExplainedRule winner;
  std::vector<ExplainedBackend> backends;
  /// What happens on the way, in the order of rule D4: policies with what they do with the request as far as it tells,
  /// limits (size, buffering, timeouts, retries, mirrors), filters.
  std::vector<std::string> policies;
  std::vector<std::string> limits;
  std::vector<std::string> filters;
  std::optional<ExplainedRedirect> redirect{};
  bool path_refused = false;  ///< answered 400: its gateway's `paths` refuse it
  bool denied = false;        ///< answered 503: a policy that protects it cannot be enforced
  std::vector<ExplainedEngine> engines;
  bool agree = true;
};

/// `bind` is an index into the program's binds. Nothing of the program's own code is run: native code and regex
/// databases are made anew from its tables. `regex_worker` as in CompileOptions.
Explanation explain(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
                    const std::string& regex_worker = {});

/// As a person reads it. `all`: with the rules that were not looked at.
std::string explanation_text(const Explanation& explanation, bool all);

}  // namespace edge::compiler::analyze
