// CORS: which pages of other origins may read answers (Fetch standard, §3.2). Preflights are answered here.
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

/// `OPTIONS` with Origin and Access-Control-Request-Method: a browser asks before it sends a request of that method.
/// \returns that method; empty: none is asked for.
std::string_view preflight_method(const net::http1::RequestHead& head);

class Cors {
 public:
  Cors(const program::SectionView& policies, const program::CorsRecord& settings);

  /// What the response to this request says of CORS, also when it is an answer of ours.
  void decorate(const PolicyRequest& policy_request, AddedFields& added) const;
  /// The answer to a preflight; nullopt for every other request.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request) const;

 private:
  enum class Match : std::uint8_t { kNone, kExact, kPattern, kAny };
  struct Found {
    Match match = Match::kNone;
    std::size_t index = 0;
  };
  /// `https://*.example.com:8443` in parts: what stands before the `*`, and after it.
  struct Pattern {
    std::string before;
    std::string after;
  };

  Found find(std::string_view origin) const;
  /// All origins are answered alike.
  bool alike() const { return any_ && !everyone_ && exact_.empty() && patterns_.empty(); }
  FieldBlock block(std::string_view origin, bool credentials) const;

  std::vector<std::string> exact_;
  std::vector<Pattern> patterns_;
  bool any_ = false;
  bool credentials_;
  bool everyone_;  ///< the origins of `*` are named back, with credentials
  bool any_method_ = false;
  bool any_header_ = false;
  std::string methods_;
  std::string headers_;
  std::string exposed_;
  std::string max_age_;  ///< seconds; empty: not told

  /// What a response to each of `exact_` says, to one of `patterns_` (less the origin), to everybody, to nobody.
  std::vector<FieldBlock> of_exact_;
  FieldBlock of_pattern_;
  FieldBlock of_any_;
  FieldBlock of_none_;
};

}  // namespace edge::runtime
