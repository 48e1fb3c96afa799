#include "controller/traces/otlp/export_request.h"

#include <optional>

#include "base/text/protobuf_reader.h"
#include "base/text/protobuf_writer.h"

namespace edge::otlp {
namespace {

const Error kMalformed{ErrorCode::kInvalidArgument, "the message is no ExportTraceServiceRequest"};

/// Walks the three levels of the message: resource, scope, span.
class RequestReader {
 public:
  RequestReader(const std::function<void(const Taken&)>& take, const Limits& limits) : take_(take), limits_(limits) {}

  bool read(std::string_view bytes) {
    return each(bytes, 1, [&](std::string_view part) { return resource_spans(part); });
  }
  const Reading& reading() const { return reading_; }

 private:
  /// Every field of `number` in turn. \returns false when the message is malformed.
  template <typename Each>
  static bool each(std::string_view bytes, std::uint32_t number, const Each& visit) {
    ProtobufReader fields(bytes);
    while (const auto field = fields.next()) {
      if (field->number == number && (!field->is_bytes || !visit(field->bytes))) return false;
    }
    return !fields.malformed();
  }
  /// ResourceSpans: 1 resource, 2 of each scope; the resource may stand behind them.
  bool resource_spans(std::string_view bytes) {
    std::string_view resource;
    const auto note = [&](std::string_view part) {
      resource = part;
      return true;
    };
    if (!each(bytes, 1, note)) return false;
    // Once for all its scopes: there may be as many of them as the message has bytes.
    std::optional<Source> source = read_source(resource, limits_);
    return each(bytes, 2, [&](std::string_view part) { return scope_spans(source, resource, part); });
  }
  /// ScopeSpans: 1 scope, 2 spans.
  bool scope_spans(std::optional<Source>& source, std::string_view resource, std::string_view bytes) {
    std::string_view scope;
    const auto note = [&](std::string_view part) {
      scope = part;
      return true;
    };
    if (!each(bytes, 1, note)) return false;
    const bool fine = source && read_scope(scope, *source, limits_);
    return each(bytes, 2, [&](std::string_view span) {
      this->span(fine ? &*source : nullptr, resource, scope, span);
      return true;
    });
  }
  /// `source`: null where its resource or scope is refused.
  void span(const Source* source, std::string_view resource, std::string_view scope, std::string_view bytes) {
    const bool room = source != nullptr && reading_.taken + reading_.refused < limits_.requests_spans;
    const std::optional<Span> span = room ? read_span(bytes, limits_) : std::nullopt;
    if (!span) {
      ++reading_.refused;
      return;
    }
    ++reading_.taken;
    take_({.span = *span, .bytes = bytes, .source = *source, .resource = resource, .scope = scope});
  }

  const std::function<void(const Taken&)>& take_;
  const Limits& limits_;
  Reading reading_;
};

}  // namespace

Result<Reading> read_request(std::string_view bytes, const std::function<void(const Taken&)>& take,
                             const Limits& limits) {
  RequestReader reader(take, limits);
  if (!reader.read(bytes)) return kMalformed;
  return reader.reading();
}

std::string response(std::uint64_t refused, std::string_view why) {
  ProtobufWriter out;
  if (refused != 0) {
    // ExportTracePartialSuccess: 1 rejected_spans, 2 error_message.
    const auto partial = out.message(1);
    out.number(1, refused);
    out.text(2, why);
  }
  return out.take();
}

}  // namespace edge::otlp
