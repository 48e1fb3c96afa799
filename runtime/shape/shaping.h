// What is done to the bodies of one exchange, as far as the request and its rule tell. Most go as they come.
#pragma once

#include <cstdint>

#include "net/http1/head.h"
#include "program/format/format.h"
#include "program/read.h"
#include "runtime/shape/request_body.h"
#include "runtime/shape/response_rules.h"

namespace edge::runtime {

/// The largest body that a request may have; 0: any.
std::uint64_t body_limit(const program::TreatmentRecord& treatment);

struct ShapingSettings {
  const program::TreatmentRecord& treatment;
  /// The gateway's, and the section that it stands in; null: it does not compress.
  const program::CompressionRecord* compression;
  const program::SectionView& section;
  SpoolSpace& spools;
};
void plan_bodies(const net::http1::RequestHead& head, const ShapingSettings& settings, RequestBody& request,
                 ResponseRules& response);

}  // namespace edge::runtime
