// What one random case does: clients with their requests, and what each side does wrong with them. A plan is data, so
// that a case that fails can be run again with less and less in it, and printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace edge::test {

enum class ClientFault : std::uint8_t {
  kNone,
  kResetInHead,
  kStallInHead,
  kResetInBody,
  kStallInBody,
  kHalfClose,    ///< closes its sending side after the request, and reads on
  kByteByByte,   ///< the head, a byte a call
  kGarbage,      ///< sends what is no request
  kLeaves,       ///< resets before the answer
  kStopsReading  ///< after the answer's head
};

enum class UpstreamFault : std::uint8_t {
  kNone,
  kResetAtOnce,
  kCloseAtOnce,
  kResetInHead,
  kGarbageHead,
  kStallInHead,
  kResetInBody,
  kCloseInBody,
  kStallInBody,
  kByteByByte,   ///< the head, a byte a call
  kSaysMore,     ///< bytes after the response's end
  kHalfClose,    ///< closes its sending side after the response, and reads on
  kAnswersEarly  ///< before the request's body, of which it reads nothing
};

enum class Framing : std::uint8_t { kLength, kChunked, kUntilClose };

struct RequestPlan {
  std::uint32_t id = 0;
  bool post = false;
  bool pipelined = false;  ///< sent without waiting for the answer to the one before
  bool request_chunked = false;
  std::uint32_t request_size = 0;
  ClientFault client = ClientFault::kNone;
  UpstreamFault upstream = UpstreamFault::kNone;
  Framing framing = Framing::kLength;
  std::uint32_t response_size = 0;
};

/// One client: its requests in order, on one connection as long as that lasts.
using ClientPlan = std::vector<RequestPlan>;
using Plan = std::vector<ClientPlan>;

Plan random_plan(std::mt19937_64& random, std::uint32_t& next_id);
/// Plans with a little less in them, the least first.
std::vector<Plan> smaller(const Plan& plan);
std::string to_string(const Plan& plan);

/// The body of request or response `id`: no two are alike, and every part tells whose it is.
std::string body_of(std::string_view side, std::uint32_t id, std::size_t size);

/// What the upstream has to know, in a header field.
std::string upstream_part(const RequestPlan& request);
bool read_upstream_part(const std::string& text, RequestPlan& request);

}  // namespace edge::test
