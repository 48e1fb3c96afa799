// The transport of span messages to a collector: OTLP over HTTP (http_sender.h) or over gRPC.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::trace {

/// Names and values of the fields (or metadata) sent with every message: credentials. Never logged or sent elsewhere.
using SenderFields = std::vector<std::pair<std::string, std::string>>;

struct Sent {
  enum class How : std::uint8_t {
    kTaken,
    kRefused,  ///< rejected; sending again would not help
    kLater,    ///< not accepted now; may be sent again
  };
  How how = How::kLater;
  /// For kTaken: the number of spans rejected (partial success).
  std::uint64_t rejected = 0;
  /// For kLater: the delay that the collector asks for; 0: none stated.
  std::chrono::nanoseconds after{};
  /// The reason, as text.
  std::string why{};
};

/// A message in two parts, to save joining them: the request is their concatenation.
struct Message {
  std::string_view head;
  std::string_view spans;
  std::size_t size() const { return head.size() + spans.size(); }
};

class SpanSender {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~SpanSender() = default;
  /// Sends a message. Blocks, until `until` at most. Called from one thread.
  virtual Sent send(const Message& message, Time until) = 0;
  /// Aborts a `send` in progress. Any thread.
  virtual void cancel() = 0;
};

}  // namespace edge::runtime::trace
