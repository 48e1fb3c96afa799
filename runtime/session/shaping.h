// What is done to the bodies of one exchange on their way; all off for most.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/buffer.h"
#include "program/format.h"
#include "runtime/session/mirror_feed.h"
#include "runtime/shape/response_tee.h"
#include "runtime/shape/spool.h"

namespace edge::runtime {

/// A response that is kept back until its upstream has ended (rule D7).
struct HeldResponse {
  HeldResponse(SpoolSpace& space, std::uint64_t limit) : space(space), limit(limit) {}

  /// Begins anew, for another try.
  void begin(std::string_view text) {
    head.release();
    head.append(text);
    body = std::make_unique<Spool>(space, limit);
    trailers.clear();
    cut = false;
  }

  SpoolSpace& space;
  std::uint64_t limit;
  net::Buffer head;
  std::unique_ptr<Spool> body;
  std::string trailers;
  /// It was larger than it may be: the rest was not read.
  bool cut = false;
};

struct Shaping {
  /// Whether a response may go another way than straight to the client.
  bool response() const { return compression != nullptr || tee != nullptr || held != nullptr; }

  /// Others than the two peers may hold it up: who reads along, a disk.
  bool waits_for_others() const { return tee != nullptr || held != nullptr || request != nullptr; }

  /// The gateway's, null when it has none, or the request forbids it.
  const program::CompressionRecord* compression = nullptr;
  /// The one that this client takes (rule D6).
  std::optional<program::ContentCoding> coding;
  /// Whoever wants to see the response as it came, or to answer in its place. Outlives the exchange.
  ResponseTee* tee = nullptr;
  /// Set where the rule buffers responses.
  std::unique_ptr<HeldResponse> held;
  /// The request's body, whole, where the rule buffers requests and there is one.
  std::unique_ptr<Spool> request;
  std::string request_trailers;
  /// The head to send, which then no longer stands in the thread's scratch.
  net::Buffer request_head;
  /// Who gets a copy of the request's body.
  MirrorFeeds mirrors;
  bool mirrored = false;
};

}  // namespace edge::runtime
