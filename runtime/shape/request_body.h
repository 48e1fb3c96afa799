// The body of a request: how it comes, what it is held to, and where it lies when it is buffered.
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
  /// It comes from a client, who has to keep pace. Not so for a copy, nor for a message of gRPC's streams: they may
  /// rest, and the server may speak first; over HTTP/2 they keep no connection from others.
  bool measured = true;
  const program::ClientLimitsRecord* limits = &program::kUsualClientLimits;
  /// The body, whole, where the rule buffers requests and there is one.
  std::unique_ptr<Spool> buffered;
  /// Of the buffered body, as lines.
  std::string trailers;
  /// The head to send, which then no longer stands in the thread's scratch.
  net::Buffer head;
  /// Who gets a copy of it.
  MirrorFeeds mirrors;

  bool none() const {
    using net::http1::BodyKind;
    return framing.kind == BodyKind::kNone || (framing.kind == BodyKind::kLength && framing.length == 0);
  }
  /// All of it is still at hand after it was sent.
  bool replayable() const { return buffered != nullptr || none(); }
  program::ClientLimitsRecord pace() const {
    program::ClientLimitsRecord bounds = *limits;
    if (!measured) bounds.min_body_rate = 0;
    return bounds;
  }
};

}  // namespace edge::runtime
