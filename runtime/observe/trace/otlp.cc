#include "runtime/observe/trace/otlp.h"

#include <algorithm>

#include "base/text/protobuf_reader.h"
#include "base/text/protobuf_writer.h"
#include "runtime/observe/trace/span_text.h"

namespace edge::runtime::trace {
namespace {

constexpr std::string_view kScopeName = "edge-proxy";
/// Of what a collector says.
constexpr std::size_t kMaxWords = 200;

std::string sized(unsigned field, std::string_view bytes) {
  ProtobufWriter out;
  out.text(field, bytes);
  return out.take();
}

/// Tag and size of a field whose bytes follow.
std::string head_of(unsigned field, std::size_t size) {
  std::string head(1, static_cast<char>(field << 3 | 2));
  for (; size >= 0x80; size >>= 7) head += static_cast<char>(size | 0x80);
  return head + static_cast<char>(size);
}

}  // namespace

MessageFrame::MessageFrame(const Resource& resource) {
  ProtobufWriter attributes;
  for (const auto& [name, value] : resource) {
    const auto pair = attributes.message(1);
    attributes.text(1, name);
    const auto any = attributes.message(2);
    attributes.text(1, value);
  }
  resource_ = sized(1, attributes.take());
  ProtobufWriter scope;
  scope.text(1, kScopeName);
  scope.text(2, EDGE_VERSION);
  scope_ = sized(1, scope.take());
}

std::string MessageFrame::head(std::size_t spans) const {
  const std::string inner = head_of(2, scope_.size() + spans);
  const std::string outer = head_of(1, resource_.size() + inner.size() + scope_.size() + spans);
  return outer + resource_ + inner + scope_;
}

PartialSuccess read_answer(std::string_view message) {
  PartialSuccess success;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number != 1 || !field->is_bytes) continue;
    ProtobufReader partial(field->bytes);
    while (const auto inner = partial.next()) {
      if (inner->number == 1 && !inner->is_bytes) success.rejected = inner->value;
      if (inner->number == 2 && inner->is_bytes) success.why = inner->bytes.substr(0, kMaxWords);
    }
  }
  return success;
}

}  // namespace edge::runtime::trace
