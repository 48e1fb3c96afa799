// Which content codings a client takes (RFC 9110 §12.5.3), and which of ours is used for it (rule D6).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "net/http1/head.h"
#include "program/format/format.h"

namespace edge::runtime {

/// The content of all Accept-Encoding fields of a request. Codings that we do not make are passed over.
class AcceptedCodings {
 public:
  static AcceptedCodings of(const net::http1::HeadFields& fields);
  /// Reads one more field's value.
  void add(std::string_view value);

  /// The weight that a coding was given, in thousandths, by its name or by `*`; 0: not acceptable.
  int weight(program::ContentCoding coding) const;
  /// The weight of a body as it is where the client names one, else 0: then anything that it takes is better.
  int identity_weight() const { return named_[kIdentity] > 0 ? named_[kIdentity] : 0; }

 private:
  enum Name : std::uint8_t { kGzip, kBrotli, kIdentity, kAny, kNames };
  /// -1: not named.
  std::array<std::int16_t, kNames> named_ = {-1, -1, -1, -1};
};

/// The first algorithm of the list that the client takes, and likes no less than a body that is not coded.
std::optional<program::ContentCoding> choose_coding(std::span<const program::ContentCoding> algorithms,
                                                    const AcceptedCodings& accepted);

}  // namespace edge::runtime
