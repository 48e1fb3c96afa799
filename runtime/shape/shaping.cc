#include "runtime/shape/shaping.h"

#include <algorithm>

#include "runtime/shape/accept_encoding.h"
#include "runtime/shape/compressible.h"

namespace edge::runtime {

using net::http1::BodyKind;

std::uint64_t body_limit(const program::TreatmentRecord& treatment) {
  const std::uint64_t limit = treatment.max_request_body;
  if ((treatment.flags & program::kBufferRequest) == 0 || treatment.max_buffer == 0) return limit;
  return limit == 0 ? treatment.max_buffer : std::min(limit, treatment.max_buffer);
}

void plan_bodies(const net::http1::RequestHead& head, const ShapingSettings& settings, RequestBody& request,
                 ResponseRules& response) {
  const program::TreatmentRecord& treatment = settings.treatment;
  const program::CompressionRecord* compression = settings.compression;
  if (compression != nullptr && !no_transform(head.fields)) {
    response.compression = compression;
    response.compression_section = &settings.section;
    const auto algorithms = settings.section.array(compression->algorithms);
    if (compressed_for(head.fields, compression->compressed_for)) {
      response.coding = choose_coding(algorithms, AcceptedCodings::of(head.fields));
    }
  }
  // What follows an Upgrade is no body.
  if ((treatment.flags & program::kBufferResponse) != 0 && !head.upgrade) {
    response.buffered = std::make_unique<BufferedResponse>(settings.spools, treatment.max_buffer);
  }
  const bool has_body = head.body.kind == BodyKind::kChunked || head.body.length != 0;
  if ((treatment.flags & program::kBufferRequest) != 0 && has_body) {
    request.buffered = std::make_unique<Spool>(settings.spools, body_limit(treatment));
  }
}

}  // namespace edge::runtime
