// How messages of spans reach a collector. There are two ways: OTLP over HTTP (http_sender.h) and over gRPC.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::trace {

/// Names and values of fields (or metadata) that go with every message: credentials. Never told to anybody else.
using SenderFields = std::vector<std::pair<std::string, std::string>>;

struct Sent {
  enum class How : std::uint8_t {
    kTaken,
    kRefused,  ///< and would be again
    kLater,    ///< nobody took it now
  };
  How how = How::kLater;
  /// kTaken: as many spans were not (partial success).
  std::uint64_t rejected = 0;
  /// kLater: what the collector asks for; 0: it does not say.
  std::chrono::nanoseconds after{};
  /// Why not, in words.
  std::string why{};
};

/// In two pieces, so that nobody has to join them: a request of the collector is one behind the other.
struct Message {
  std::string_view head;
  std::string_view spans;
  std::size_t size() const { return head.size() + spans.size(); }
};

class SpanSender {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~SpanSender() = default;
  /// Blocks, until `until` at the most. From one thread.
  virtual Sent send(const Message& message, Time until) = 0;
  /// Breaks a `send` off that is under way. From any thread.
  virtual void cancel() = 0;
};

}  // namespace edge::runtime::trace
