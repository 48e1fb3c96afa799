// Whether compression applies to a response (rule D6), whatever the client accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http1/head.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::runtime {

/// Returns whether a response may be compressed, by status, fields and type. `length` of the body, nullopt while
/// unknown; for a HEAD that of the same GET.
bool compressible(const net::http1::ResponseHead& head, std::optional<std::uint64_t> length,
                  const program::CompressionRecord& settings, const program::SectionView& section);

/// Returns whether responses to this request may be compressed at all: with the setting against it, not where another
/// site may have caused the request to be sent with the user's credentials (BREACH).
bool compressed_for(const net::http1::HeadFields& request, program::CompressedFor requests);

/// Returns the length that the head declares, also where no body follows.
std::optional<std::uint64_t> declared_length(const net::http1::ResponseHead& head);

/// Returns whether Cache-Control has `no-transform` (RFC 9110 §7.7).
bool no_transform(const net::http1::HeadFields& fields);

/// Returns whether the response is an event stream, whose events must be sent at once.
bool is_event_stream(const net::http1::HeadFields& fields);

/// Returns whether Vary contains Accept-Encoding or `*`.
bool varies_by_encoding(const net::http1::HeadFields& fields);

}  // namespace edge::runtime
