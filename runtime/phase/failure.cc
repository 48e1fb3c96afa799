#include "runtime/phase/failure.h"

namespace edge::runtime {

FailureAnswer answer_for(FailureKind kind) {
  switch (kind) {
    case FailureKind::kNoEndpoint:
      return {503, "no-endpoint", "No endpoint of the backend is available."};
    case FailureKind::kNoHealthyEndpoint:
      return {503, "no-healthy-endpoint", "Every endpoint of the backend is unhealthy."};
    case FailureKind::kCircuitOpen:
      return {503, "circuit-open", "The backend failed too often, and rests for a while."};
    case FailureKind::kOverloaded:
      return {503, "overloaded", "The backend has as many connections as it may have, and its queue is full."};
    case FailureKind::kConnectFailed:
      return {502, "connect-failed", "The backend cannot be reached."};
    case FailureKind::kTlsFailed:
      return {502, "tls-failed", "No trusted connection to the backend can be made."};
    case FailureKind::kTryTimeout:
      return {504, "try-timeout", "The backend did not answer in the time of one try."};
    case FailureKind::kUpstreamRefused:
      return {503, "upstream-refused", "The backend refused to process the request."};
    case FailureKind::kUpstreamReset:
      return {502, "upstream-reset", "The backend closed the connection before it answered."};
    case FailureKind::kBadResponse:
    case FailureKind::kTruncated:
      return {502, "bad-response", "The backend's answer is malformed."};
    case FailureKind::kRequestTimeout:
    case FailureKind::kUpstreamStalled:
      return {504, "request-timeout", "The backend did not answer in time."};
    case FailureKind::kClientStalled:
      return {408, "body-timeout", "The request's body did not come in time."};
    case FailureKind::kBodyTooSlow:
      return {408, "body-too-slow", "The request's body comes too slowly."};
    case FailureKind::kBadBody:
      return {400, "bad-chunk", "The chunked body is malformed."};
    case FailureKind::kTooLarge:
      return {413, "body-too-large", "The request's body is larger than allowed."};
    case FailureKind::kNotCached:
      return {504, "not-cached", "Only a cached answer was asked for, and there is none."};
    case FailureKind::kNoSpool:
      return {503, "buffer-unavailable", "There is no room to hold the body."};
    case FailureKind::kNone:
    case FailureKind::kRetriedAnswer:
    case FailureKind::kClientGone:
    case FailureKind::kCancelled:
      break;
  }
  return {0, {}, {}};
}

std::string_view loss_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kClientGone:
      return "client-gone";
    case FailureKind::kClientStalled:
      return "client-stalled";
    case FailureKind::kCancelled:
      return "cancelled";
    case FailureKind::kTruncated:
      return "truncated";
    case FailureKind::kUpstreamStalled:
      return "upstream-stalled";
    default:
      return answer_for(kind).reason;
  }
}

}  // namespace edge::runtime
