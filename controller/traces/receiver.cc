#include "controller/traces/receiver.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/protobuf_writer.h"
#include "controller/traces/otlp/export_request.h"
#include "net/server/gzip.h"

namespace edge::traces {
namespace {

using net::server::Reply;
using net::server::Request;

constexpr std::string_view kHttpPath = "/v1/traces";
constexpr std::string_view kGrpcPath = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
constexpr const char* kOtlpJson = "application/json";
constexpr const char* kProtobuf = "application/x-protobuf";
constexpr const char* kGrpc = "application/grpc";
/// Before each message of gRPC: whether it is compressed, and its size.
constexpr std::size_t kGrpcHead = 5;
/// So much of a request is handed to the writer at a time: spans may share a resource that each holds a copy of.
constexpr std::size_t kOfferBytes = std::size_t{1} << 20;

std::string_view media_type(std::string_view content_type) {
  return trim_blanks(content_type.substr(0, content_type.find(';')));
}

IncomingSpan incoming(const otlp::Taken& taken, std::shared_ptr<const IncomingSource> source) {
  // Times are the sender's, and SQLite's numbers are signed.
  const auto micros = [](std::uint64_t nanos) { return static_cast<std::int64_t>(nanos / otlp::kNanosInMicro); };
  return {.trace = taken.span.trace,
          .id = taken.span.id,
          .kind = taken.span.kind,
          .start_us = micros(taken.span.start_ns),
          .duration_us = micros(taken.span.duration_ns()),
          .name = taken.span.name,
          .bytes = std::string(taken.bytes),
          .source = std::move(source)};
}

std::string grpc_message(std::string_view message) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift & 0xff);
  return out.append(message);
}

/// One message and nothing behind it. \returns false when the bytes are something else.
bool read_grpc_message(std::string_view body, std::string_view& message, bool& compressed) {
  if (body.size() < kGrpcHead || static_cast<unsigned char>(body[0]) > 1) return false;
  std::size_t size = 0;
  for (std::size_t i = 1; i < kGrpcHead; ++i) size = size << 8 | static_cast<unsigned char>(body[i]);
  compressed = body[0] == 1;
  message = body.substr(kGrpcHead);
  return message.size() == size;
}

}  // namespace

struct Receiver::IngestResult {
  Status status{};
  std::uint64_t refused = 0;
  std::string why{};
};

Receiver::IngestResult Receiver::take(std::string_view body, bool json) {
  std::string converted;
  if (json) {
    Result<std::string> read = otlp::request_from_json(body);
    if (!read) return {.status = read.error()};
    converted = std::move(*read);
    body = converted;
  }
  std::vector<IncomingSpan> spans;
  std::size_t bytes = 0;
  std::uint64_t dropped = 0;
  std::shared_ptr<const IncomingSource> source;
  const auto reading = otlp::read_request(
      body,
      [&](const otlp::Taken& taken) {
        const bool same = source && source->resource == taken.resource && source->scope == taken.scope;
        if (!same) {
          source = std::make_shared<const IncomingSource>(
              IncomingSource{taken.source.service, std::string(taken.resource), std::string(taken.scope)});
        }
        spans.push_back(incoming(taken, source));
        if (!same) spans.back().source_bytes = sizeof(IncomingSource) + source->resource.size() + source->scope.size();
        bytes += spans.back().size();
        if (bytes < kOfferBytes) return;
        dropped += writer_.offer(std::exchange(spans, {}));
        bytes = 0;
      },
      limits_.spans);
  if (!reading) return {.status = reading.error()};
  dropped += writer_.offer(std::move(spans));
  writer_.count_refused(reading->refused);
  IngestResult outcome{.refused = reading->refused + dropped};
  if (reading->refused != 0) outcome.why = "spans are malformed or over a limit";
  if (dropped != 0) outcome.why = "the store cannot write as fast as spans come";
  return outcome;
}

Result<std::string> Receiver::unpacked(std::string_view body, std::string_view coding, std::size_t limit) {
  if (!equals_ignoring_case(coding, "gzip")) {
    return Error{ErrorCode::kUnimplemented, "the only coding that is understood is gzip"};
  }
  return net::server::decompress(body, limit);
}

Reply Receiver::answer(const Request& request) {
  Reply reply =
      media_type(request.field("content-type")).starts_with(kGrpc) ? answer_grpc(request) : answer_http(request);
  return reply;
}

// ---- HTTP -----------------------------------------------------------------------------------------------------------

Reply Receiver::http_fault(int status, std::string_view text, bool json) {
  writer_.count_refused_request();
  Reply reply{.status = status, .content_type = json ? kOtlpJson : kProtobuf};
  if (status == 405) reply.fields.emplace_back("Allow", "POST");
  // google.rpc.Status: 2 message.
  ProtobufWriter out;
  out.text(2, text);
  reply.body = json ? nlohmann::json{{"message", text}}.dump() : out.take();
  return reply;
}

Reply Receiver::answer_http(const Request& request) {
  const std::string_view type = media_type(request.field("content-type"));
  const bool json = equals_ignoring_case(type, kOtlpJson);
  if (request.path != kHttpPath) return http_fault(404, "spans are posted to /v1/traces", json);
  if (request.method != "POST") return http_fault(405, "spans are posted", json);
  if (!json && !equals_ignoring_case(type, kProtobuf)) {
    return http_fault(415, "the content type is application/x-protobuf or application/json", json);
  }
  std::string_view body = request.body;
  std::string inflated;
  const std::string_view coding = request.field("content-encoding");
  if (!coding.empty() && !equals_ignoring_case(coding, "identity")) {
    Result<std::string> result = unpacked(body, coding, json ? limits_.body : limits_.unpacked);
    if (!result) {
      const ErrorCode code = result.error().code;
      const int status = code == ErrorCode::kUnimplemented ? 415 : code == ErrorCode::kResourceExhausted ? 413 : 400;
      return http_fault(status, result.error().text, json);
    }
    inflated = std::move(*result);
    body = inflated;
  }
  const IngestResult outcome = take(body, json);
  if (!outcome.status) return http_fault(400, outcome.status.error().text, json);
  return {
      .content_type = json ? kOtlpJson : kProtobuf,
      .body = json ? otlp::response_json(outcome.refused, outcome.why) : otlp::response(outcome.refused, outcome.why)};
}

// ---- gRPC -----------------------------------------------------------------------------------------------------------

Reply Receiver::grpc_fault(ErrorCode code, std::string_view text) {
  writer_.count_refused_request();
  // Without a message the status stands in the head: "Trailers-Only". Our texts need no percent-encoding.
  return {.content_type = kGrpc,
          .fields = {{"grpc-status", std::to_string(static_cast<int>(code))}, {"grpc-message", std::string(text)}}};
}

Reply Receiver::answer_grpc(const Request& request) {
  if (request.path != kGrpcPath) return grpc_fault(ErrorCode::kUnimplemented, "there is no such method here");
  std::string_view message;
  bool compressed = false;
  if (request.method != "POST" || !read_grpc_message(request.body, message, compressed)) {
    return grpc_fault(ErrorCode::kInvalidArgument, "the body is not one message of gRPC");
  }
  std::string inflated;
  if (compressed) {
    Result<std::string> result = unpacked(message, request.field("grpc-encoding"), limits_.unpacked);
    if (!result) return grpc_fault(result.error().code, result.error().text);
    inflated = std::move(*result);
    message = inflated;
  }
  const IngestResult outcome = take(message, /*json=*/false);
  if (!outcome.status) return grpc_fault(outcome.status.error().code, outcome.status.error().text);
  return {.content_type = kGrpc,
          .body = grpc_message(otlp::response(outcome.refused, outcome.why)),
          .trailers = {{"grpc-status", "0"}}};
}

}  // namespace edge::traces
