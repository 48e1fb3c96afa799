// OTLP over gRPC: each message is one unary call of TraceService.Export.
#pragma once

#include <memory>
#include <string>

#include "runtime/observe/trace/span_sender.h"

namespace edge::agent {

struct GrpcCollector {
  std::string address;  ///< `host:port`
  bool secure = false;
  /// PEM of CAs trusted in addition to the system's.
  std::string authorities{};
  runtime::trace::SenderFields fields{};
};

std::unique_ptr<runtime::trace::SpanSender> make_grpc_sender(const GrpcCollector& collector);

}  // namespace edge::agent
