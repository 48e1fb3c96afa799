// The handling of one request by a program, from the matching rule to the head for its backend or the answer to the
// client. Rules D3, D4, D11. Uses the same functions of program/ as the data plane.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

using NameValues = std::vector<std::pair<std::string, std::string>>;

/// Listed among a passage's backends for unresolved references: their share is answered 500.
inline constexpr std::string_view kUnresolvedBackend = "unresolved";

struct Passage {
  /// The status of the proxy's own answer; 0: the request goes to a backend.
  int status = 0;
  std::string reason;    ///< of the proxy's own answer: X-Edge-Reason
  std::string location;  ///< redirects

  std::string listener;  ///< empty: no listener takes this host
  std::string route;     ///< namespace/name; empty: no rule matched
  std::uint32_t rule = 0;
  std::uint32_t match = 0;

  std::vector<std::string> policies;  ///< `RateLimit demo/limit`, in the order of evaluation (rule D4)
  /// The possible backends, namespace/name: several by weight, or only the canary. Only where status is 0.
  std::vector<std::string> backends;
  /// The head for the backend, without what the proxy adds to every request (X-Forwarded-*, X-Request-ID, Via). With
  /// per-backend filters, the head for the first; `X-Canary` selects one.
  std::string path;
  std::string host;
  NameValues headers;  ///< names in lower case
  /// The changes that the rule's filters make to the response's fields.
  NameValues response_headers;
  std::vector<std::string> response_removed;
};

/// Returns the bind (an index into the program's binds) for a request to `port`. Without an explicit port the only
/// bind, if there is one. kNotFound lists the ports.
Result<std::uint32_t> bind_of_port(const program::ProgramView& program, std::uint16_t port, bool port_written);

/// `bind` is an index into the program's binds. `%REQ_ID%` is left as it is.
Passage pass(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
             const program::RegexMatcher& regex);

}  // namespace edge::compiler::analyze
