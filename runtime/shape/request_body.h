// The body of a request: its framing, its limits, and its bytes when it is buffered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/buffer.h"
#include "net/http1/head.h"
#include "program/format/format.h"
#include "runtime/shape/mirror_feed.h"
#include "runtime/shape/spool.h"

namespace edge::runtime {

struct RequestBody {
  net::http1::Body framing;
  /// The client waits for `100 Continue`.
  bool expect_continue = false;
  /// Whether the minimum data rate applies: the body comes from a client. Not so for mirrored copies and gRPC streams:
  /// those may be idle, the server may send first, and over HTTP/2 they block no other request.
  bool measured = true;
  const program::ClientLimitsRecord* limits = &program::kUsualClientLimits;
  /// The complete body, where the rule buffers requests and the request has one.
  std::unique_ptr<Spool> buffered;
  /// Trailer fields of the buffered body, as lines.
  std::string trailers;
  /// The head to send, once it is no longer in the thread's scratch.
  net::Buffer head;
  /// The mirrored copies that get the body too.
  MirrorFeeds mirrors;

  bool none() const {
    using net::http1::BodyKind;
    return framing.kind == BodyKind::kNone || (framing.kind == BodyKind::kLength && framing.length == 0);
  }
  /// Whether the whole body is still available after it was sent, for a retry.
  bool replayable() const { return buffered != nullptr || none(); }
  program::ClientLimitsRecord pace() const {
    program::ClientLimitsRecord bounds = *limits;
    if (!measured) bounds.min_body_rate = 0;
    return bounds;
  }
};

}  // namespace edge::runtime
