// Exports the spans of this process by its flags.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "metrics/exposition.h"
#include "runtime/observe/trace/span_exporter.h"

namespace edge::agent {

struct SpanExportOptions {
  /// `http://`, `https://`, `grpc://` or `grpcs://` with host and port; empty: spans are not exported.
  std::string endpoint;
  /// Sent with every message; values may be credentials.
  runtime::trace::SenderFields fields{};
  std::string service = "edge-proxy";
  std::string instance{};
  /// PEM of additional CAs.
  std::string authorities{};
  std::function<void(const std::string&)> tell{};
};

std::vector<cli::Flag> span_export_flags();
/// Reads the flags. kInvalidArgument names the flag; values of headers are not quoted.
Result<SpanExportOptions> span_export_options(const cli::Arguments& arguments);

/// Writes the metrics of the export.
void write_span_metrics(metrics::Exposition& out, const runtime::trace::SpanCounts& counts);

/// Starts the export; null without an endpoint. The endpoint need not be reachable.
Result<std::unique_ptr<runtime::trace::SpanExporter>> start_span_export(
    const SpanExportOptions& options, std::shared_ptr<runtime::trace::SpanBuffers> buffers);

}  // namespace edge::agent
