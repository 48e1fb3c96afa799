// Which content codings a client accepts (RFC 9110 §12.5.3), and which of the supported ones is chosen for it (rule
// D6).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "net/http1/head.h"
#include "program/format/format.h"

namespace edge::runtime {

/// The parsed content of all Accept-Encoding fields of a request. Unsupported codings are ignored.
class AcceptedCodings {
 public:
  static AcceptedCodings of(const net::http1::HeadFields& fields);
  /// Parses the value of one more field.
  void add(std::string_view value);

  /// Returns the client's weight for a coding in thousandths, from its name or from `*`; 0: not acceptable.
  int weight(program::ContentCoding coding) const;
  /// Returns the client's weight for an uncoded body if it names `identity`, else 0: any accepted coding is then
  /// preferred.
  int identity_weight() const { return named_[kIdentity] > 0 ? named_[kIdentity] : 0; }

 private:
  enum Name : std::uint8_t { kGzip, kBrotli, kIdentity, kAny, kNames };
  /// -1: not named.
  std::array<std::int16_t, kNames> named_ = {-1, -1, -1, -1};
};

/// Returns the first algorithm of the list that the client accepts and does not weigh lower than an uncoded body.
std::optional<program::ContentCoding> choose_coding(std::span<const program::ContentCoding> algorithms,
                                                    const AcceptedCodings& accepted);

}  // namespace edge::runtime
