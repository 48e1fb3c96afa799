// Whether a response is one that compression is for (rule D6), whatever the client takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http1/head.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::runtime {

/// By status, fields and type. `length` of the body, nullopt while it is not known; a HEAD's is the one that a GET
/// would have.
bool compressible(const net::http1::ResponseHead& head, std::optional<std::uint64_t> length,
                  const program::CompressionRecord& settings, const program::SectionView& section);

/// Whether a response to this request may be compressed at all: not where another site may have had it sent with the
/// user's credentials, and the settings ask for that.
bool compressed_for(const net::http1::HeadFields& request, program::CompressedFor requests);

/// The length that the head tells, also where no body follows.
std::optional<std::uint64_t> declared_length(const net::http1::ResponseHead& head);

/// `Cache-Control: no-transform` (RFC 9110 §7.7).
bool no_transform(const net::http1::HeadFields& fields);

/// A stream of events: each is wanted at once.
bool is_event_stream(const net::http1::HeadFields& fields);

/// Whether Vary names Accept-Encoding, or everything.
bool varies_by_encoding(const net::http1::HeadFields& fields);

}  // namespace edge::runtime
