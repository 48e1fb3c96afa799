// What went wrong in one exchange. Decides the answer, whether a retry is safe, and the log's reason.
#pragma once

#include <cstdint>
#include <string_view>

namespace edge::runtime {

enum class Origin : std::uint8_t { kNone, kClient, kUpstream, kProxy };

enum class FailureKind : std::uint8_t {
  kNone,
  kNoEndpoint,
  kNoHealthyEndpoint,
  kCircuitOpen,
  kOverloaded,
  kConnectFailed,
  kTlsFailed,        ///< no handshake, or none that shows the endpoint to be the one that is meant
  kUpstreamReset,    ///< gone before the response head was complete
  kBadResponse,      ///< a response that RFC 9112 forbids
  kRetriedAnswer,    ///< answered so that it is tried once more; nothing was sent on
  kTryTimeout,       ///< one try took too long
  kUpstreamRefused,  ///< an HTTP/2 peer did not process it (RFC 9113 §8.7)
  kTruncated,        ///< gone within the response's body
  kRequestTimeout,   ///< the whole request took too long
  kUpstreamStalled,  ///< nothing came, or nothing was taken, for too long
  kClientStalled,
  kBodyTooSlow,  ///< the request's body comes with less than the least rate
  kClientGone,
  kBadBody,    ///< chunked coding at fault
  kTooLarge,   ///< a chunked body grew over the limit
  kNotCached,  ///< the client wants nothing that is not in the cache
  kNoSpool,    ///< a body that was to be held could not be
  kCancelled,
};

struct Failure {
  Origin origin = Origin::kNone;
  FailureKind kind = FailureKind::kNone;
  /// Nothing of the request can have had an effect, or it may have it twice, and all of it is still at hand.
  bool replayable = false;

  explicit operator bool() const { return kind != FailureKind::kNone; }
};

/// The answer for a failure before the response head; 0: none can be given, the connection is just closed.
struct FailureAnswer {
  int status;
  std::string_view reason;
  std::string_view text;
};
FailureAnswer answer_for(FailureKind kind);
/// Why an exchange was broken off that cannot be answered, or was before; the log's word.
std::string_view loss_of(FailureKind kind);

}  // namespace edge::runtime
