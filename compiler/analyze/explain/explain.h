// Explains the routing of a request: the path through a program's tables, the winning rule, and for each other rule the
// first condition that failed. By the canonical interpreter; native code and the regex engine are run too and compared
// with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/analyze/explain/handshake.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// One match of one rule, and its result.
struct ExplainedRule {
  enum class MatchResult {
    kWon,
    kFailed,     ///< it was tested, and `failed` did not hold
    kNotTried,   ///< its path matches, but an earlier rule had won (D1)
    kOtherPath,  ///< the tables do not lead here for this path
  };
  MatchResult match_result = MatchResult::kOtherPath;
  std::string where;  ///< `exact /cart`, `prefix /api`, `regex`, `any path`
  std::string route;  ///< namespace/name
  std::uint32_t rule = 0;
  std::uint32_t match = 0;
  std::string condition;  ///< in the syntax of rule D5; empty: none beyond the path
  std::string failed;     ///< the first part of it that did not hold
  std::string actual;     ///< the request's value instead, such as `"staging"`, `absent`
};

struct ExplainedHost {
  std::string pattern;  ///< `*` for every host
  bool tried = false;   ///< false: an earlier host had the winning rule
  /// Those tested, in order; then the others in the order of the tables.
  std::vector<ExplainedRule> rules;
};

struct ExplainedBackend {
  std::string name;  ///< namespace/name; empty: the reference did not resolve
  std::uint32_t weight = 0;
  bool canary = false;  ///< takes `X-Canary: true` (rule D3)
  /// Replace the rule's filters for requests to it; nullopt: the rule's apply.
  std::optional<std::vector<std::string>> filters{};
  /// Which clusters its endpoints belong to, in the order in which they are used, and when; empty: this one alone.
  std::vector<std::string> clusters{};
};

/// The result of an engine other than the interpreter.
struct ExplainedEngine {
  enum class State { kAgrees, kDisagrees, kNotNeeded, kNotRun };
  std::string name;
  State state = State::kNotNeeded;
  std::string note;
};

/// A redirect that answers in place of a backend.
struct ExplainedRedirect {
  int status = 0;
  std::string location;
  /// By `redirectScheme` (rule D9): before rules and policies. Else by a filter of the rule, after its policies.
  bool of_listener = false;
};

struct Explanation {
  std::string request;   ///< as it was matched: canonical host, normalised path
  std::string bind;      ///< `*:8080`
  std::string listener;  ///< empty: no listener takes this host
  std::string gateway;   ///< namespace/name
  std::string clients;   ///< what the listener requires of client certificates; empty: it requests none
  /// What answers the handshake; nullopt: it was not asked for, or TLS is not decrypted here. Where it is refused, the
  /// rules are not looked at: the request is never sent.
  std::optional<ExplainedHandshake> handshake{};
  /// The policy that verifies tokens before a rule is looked for, `namespace/name`; empty: no rule matches claims.
  std::string token_policy{};
  std::vector<ExplainedHost> hosts;
  bool matched = false;
  ExplainedRule winner;
  std::vector<ExplainedBackend> backends;
  /// The steps in the order of rule D4: policies with their effect as far as the request determines it, limits (size,
  /// buffering, timeouts, retries, mirrors), filters.
  std::vector<std::string> policies;
  std::vector<std::string> limits;
  std::vector<std::string> filters;
  std::optional<ExplainedRedirect> redirect{};
  bool path_refused = false;  ///< answered 400: rejected by the gateway's `paths`
  bool denied = false;        ///< answered 503: a policy that protects it cannot be enforced
  std::vector<ExplainedEngine> engines;
  bool agree = true;
};

/// `bind` is an index into the program's binds. None of the program's own code is executed: native code and regex
/// databases are rebuilt from its tables. `handshake`: that of the client; null: it is taken to be done. `body`: for
/// policies that look into bodies; nullopt: they say what they would look at.
Explanation explain(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
                    const Handshake* handshake = nullptr, std::optional<std::string_view> body = std::nullopt);

/// Formats the explanation for users. `all`: with the rules that were not tested.
std::string explanation_text(const Explanation& explanation, bool all);

}  // namespace edge::compiler::analyze
