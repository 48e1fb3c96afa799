// CORS: which other origins may read responses (Fetch standard, §3.2). Preflights are answered by the proxy.
// docs/cors.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/read.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime {

/// Returns the method of a preflight, an `OPTIONS` request with Origin and Access-Control-Request-Method; empty: it is
/// not one.
std::string_view preflight_method(const net::http1::RequestHead& head);

class Cors {
 public:
  Cors(const program::SectionView& policies, const program::CorsRecord& settings);

  /// Adds the CORS fields of the response to this request, also of the proxy's own answers.
  void decorate(const PolicyRequest& policy_request, AddedFields& added) const;
  /// Returns the answer to a preflight; nullopt for every other request.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request) const;

 private:
  enum class Match : std::uint8_t { kNone, kExact, kPattern, kAny };
  struct Found {
    Match match = Match::kNone;
    std::size_t index = 0;
  };
  /// `https://*.example.com:8443` in parts: before the `*`, and after it.
  struct Pattern {
    std::string before;
    std::string after;
  };

  Found find(std::string_view origin) const;
  /// Whether all origins get the same response.
  bool alike() const { return any_ && !everyone_ && exact_.empty() && patterns_.empty(); }
  FieldBlock block(std::string_view origin, bool credentials) const;

  std::vector<std::string> exact_;
  std::vector<Pattern> patterns_;
  bool any_ = false;
  bool credentials_;
  bool everyone_;  ///< for `*` with credentials: the origin itself is returned
  bool any_method_ = false;
  bool any_header_ = false;
  std::string methods_;
  std::string headers_;
  std::string exposed_;
  std::string exposed_by_name_;  ///< the same without `*`
  std::string max_age_;          ///< seconds; empty: not sent

  /// The fields for each of `exact_`, for one of `patterns_` (without the origin), for any origin, for none.
  std::vector<FieldBlock> of_exact_;
  FieldBlock of_pattern_;
  FieldBlock of_any_;
  FieldBlock of_none_;
};

}  // namespace edge::runtime
