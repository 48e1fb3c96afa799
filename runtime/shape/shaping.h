// Plans how the bodies of one exchange are handled, from the request and its rule. Most are forwarded unchanged.
#pragma once

#include <cstdint>

#include "net/http1/head.h"
#include "program/format/format.h"
#include "program/read.h"
#include "runtime/shape/request_body.h"
#include "runtime/shape/response_rules.h"

namespace edge::runtime {

/// Returns the largest request body allowed, in bytes; 0: unlimited.
std::uint64_t body_limit(const program::TreatmentRecord& treatment);

struct ShapingSettings {
  const program::TreatmentRecord& treatment;
  /// The gateway's compression settings, null when it does not compress; and the section that they are in.
  const program::CompressionRecord* compression;
  const program::SectionView& section;
  SpoolSpace& spools;
};
/// Sets which coding this client's response gets, unless the request forbids any change. `section`: that of
/// `compression`.
void plan_coding(const net::http1::RequestHead& head, const program::CompressionRecord& compression,
                 const program::SectionView& section, ResponseRules& response);

void plan_bodies(const net::http1::RequestHead& head, const ShapingSettings& settings, RequestBody& request,
                 ResponseRules& response);

}  // namespace edge::runtime
