// The reference matcher: rules D1, D2 and D5 and the order of Gateway API's and Ingress's rules as decisions.md words
// them, by looking at every match of every rule of every route and taking the first by its key. Slow, and free of any
// idea of tables, groups or programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "compiler/link/linked_config.h"
#include "tests/reference/expression.h"
#include "tests/reference/pattern.h"
#include "tests/reference/request.h"

namespace edge::reference {

/// A socket address that requests come in on; no address: every address of the node.
struct Bind {
  std::optional<IpAddress> address;
  std::uint16_t port = 0;
};

/// The match that won: indices into the LinkedConfig.
struct Answer {
  std::uint32_t listener = 0;
  std::uint32_t route = 0;
  std::uint16_t rule = 0;
  std::uint16_t match = 0;
  friend bool operator==(const Answer&, const Answer&) = default;
};

class Reference {
 public:
  /// `config` must outlive the reference.
  explicit Reference(const compiler::LinkedConfig& config);

  /// The listener with the most specific hostname for `host` on a bind.
  std::optional<std::uint32_t> listener_of(const Bind& bind, const std::string& host) const;
  std::optional<Answer> answer(const Bind& bind, const OwnedRequest& request) const;

 private:
  /// One condition on a header or query key.
  struct FieldTest {
    std::string name;
    std::string value;
    compiler::MatchType type;
    std::optional<Pattern> pattern;
  };
  struct MatchEntry {
    const compiler::RuleMatch* match;
    Answer origin;  ///< its listener is not used
    std::optional<Pattern> path;
    std::vector<FieldTest> headers;
    std::vector<FieldTest> query;
  };
  struct RouteEntry {
    const compiler::LinkedRoute* route;
    std::shared_ptr<const Expression> expression;  ///< null: none
    /// A fault in it (an expression or pattern that cannot be read, a prefix past the limit): it matches nothing.
    bool refused = false;
    std::vector<MatchEntry> matches;
  };

  std::optional<HostPattern> host_level(const compiler::LinkedListener& listener, const compiler::LinkedRoute& route,
                                        const std::string& host) const;
  bool holds(const MatchEntry& entry, const Facts& facts) const;
  bool serves(std::uint32_t listener, const RouteEntry& entry, const HostPattern& host) const;
  const compiler::Identity& oldest(std::uint32_t listener, const HostPattern& host, const MatchEntry& like) const;
  bool before(std::uint32_t listener, const HostPattern& host_a, const MatchEntry& a, const HostPattern& host_b,
              const MatchEntry& b) const;

  const compiler::LinkedConfig& config_;
  std::vector<RouteEntry> routes_;
};

}  // namespace edge::reference
