// What a program does to one request, from the rule that takes it to the head that its backend sees or the answer that
// the client gets. Rules D3, D4, D11. The code that serves decides by the same functions of program/.
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

/// Stands among a passage's backends for those whose reference did not resolve: their share is answered 500.
inline constexpr std::string_view kUnresolvedBackend = "unresolved";

struct Passage {
  /// Of the proxy's own answer; 0: the request goes to a backend, which answers it.
  int status = 0;
  std::string reason;    ///< of the proxy's own answer: the word in X-Edge-Reason
  std::string location;  ///< redirects

  std::string listener;  ///< empty: none takes this host
  std::string route;     ///< namespace/name; empty: no rule took it
  std::uint32_t rule = 0;
  std::uint32_t match = 0;

  std::vector<std::string> policies;  ///< `RateLimit demo/limit`, in the order in which it passes them (rule D4)
  /// Those that may take it, namespace/name: one of several weights, or the canary alone. Only where status is 0.
  std::vector<std::string> backends;
  /// The head as the backend sees it, less what the proxy adds to every request (X-Forwarded-*, X-Request-ID, Via). Of
  /// several backends with filters of their own, as the first sees it; `X-Canary` asks for one of them.
  std::string path;
  std::string host;
  NameValues headers;  ///< names in lower case
  /// What the rule's filters do to the response's fields.
  NameValues response_headers;
  std::vector<std::string> response_removed;
};

/// The bind (an index into the program's binds) that a request to `port` comes in on. Where no port was written and the
/// program has one bind, that one. kNotFound names the ports that there are.
Result<std::uint32_t> bind_of_port(const program::ProgramView& program, std::uint16_t port, bool port_written);

/// `bind` is an index into the program's binds. `%REQ_ID%` stays as it is written.
Passage pass(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
             const program::RegexMatcher& regex);

}  // namespace edge::compiler::analyze
