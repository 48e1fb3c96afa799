// Receives spans: OTLP over HTTP (POST /v1/traces, protobuf or JSON, gzip or plain) and over gRPC (one unary call on
// the same port). Valid spans of a request are accepted, others are reported as partial success
// (opentelemetry.io/docs/specs/otlp, "Partial Success").
#pragma once

#include <cstddef>
#include <string_view>

#include "controller/traces/otlp/span.h"
#include "controller/traces/trace_writer.h"
#include "net/server/message.h"

namespace edge::traces {

struct ReceiverLimits {
  std::size_t body = std::size_t{4} << 20;       ///< as received; for JSON, which needs more memory when parsed, after
                                                 ///< decompression too
  std::size_t unpacked = std::size_t{16} << 20;  ///< for compressed protobuf
  otlp::Limits spans{};
};

/// Not thread-safe.
class Receiver {
 public:
  Receiver(TraceWriter& writer, ReceiverLimits limits) : writer_(writer), limits_(limits) {}

  net::server::Reply answer(const net::server::Request& request);

 private:
  struct IngestResult;
  IngestResult take(std::string_view body, bool json);
  static Result<std::string> unpacked(std::string_view body, std::string_view coding, std::size_t limit);
  net::server::Reply answer_http(const net::server::Request& request);
  net::server::Reply answer_grpc(const net::server::Request& request);
  net::server::Reply http_fault(int status, std::string_view text, bool json);
  net::server::Reply grpc_fault(ErrorCode code, std::string_view text);

  TraceWriter& writer_;
  ReceiverLimits limits_;
};

}  // namespace edge::traces
