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

void plan_coding(const net::http1::RequestHead& head, const program::CompressionRecord& compression,
                 const program::SectionView& section, ResponseRules& response) {
  if (no_transform(head.fields)) return;
  response.compression = &compression;
  response.compression_section = &section;
  if (compressed_for(head.fields, compression.compressed_for)) {
    response.coding = choose_coding(section.array(compression.algorithms), AcceptedCodings::of(head.fields));
  }
}

void plan_bodies(const net::http1::RequestHead& head, const ShapingSettings& settings, RequestBody& request,
                 ResponseRules& response) {
  const program::TreatmentRecord& treatment = settings.treatment;
  if (settings.compression != nullptr) plan_coding(head, *settings.compression, settings.section, response);
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
