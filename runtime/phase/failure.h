// What failed in one exchange. Decides the answer, whether a retry is safe, and the log's reason.
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
  kTlsFailed,        ///< the handshake failed, or did not authenticate the endpoint
  kUpstreamReset,    ///< the connection ended before the response head was complete
  kBadResponse,      ///< a response that RFC 9112 forbids
  kRetriedAnswer,    ///< a response with a status to retry on; none of it was forwarded
  kTryTimeout,       ///< one try timed out
  kUpstreamRefused,  ///< an HTTP/2 peer did not process it (RFC 9113 §8.7)
  kTruncated,        ///< the connection ended within the response's body
  kRequestTimeout,   ///< the whole request timed out
  kUpstreamStalled,  ///< no data arrived, or none was accepted, for too long
  kClientStalled,
  kBodyTooSlow,  ///< the request's body arrives below the minimum rate
  kClientGone,
  kBadBody,    ///< invalid chunked coding
  kTooLarge,   ///< a chunked body exceeded the limit
  kNotCached,  ///< the client wants only a stored response, and there is none
  kNoSpool,    ///< a body that had to be buffered could not be
  kCancelled,
};

struct Failure {
  Origin origin = Origin::kNone;
  FailureKind kind = FailureKind::kNone;
  /// The request cannot have had an effect, or it is idempotent, and all of it is still available.
  bool replayable = false;

  explicit operator bool() const { return kind != FailureKind::kNone; }
};

/// The answer for a failure before the response head; 0: none is possible, the connection is just closed.
struct FailureAnswer {
  int status;
  std::string_view reason;
  std::string_view text;
};
FailureAnswer answer_for(FailureKind kind);
/// Returns the access log's reason for an exchange that ended without an answer, or after its beginning.
std::string_view loss_of(FailureKind kind);

}  // namespace edge::runtime
