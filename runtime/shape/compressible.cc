#include "runtime/shape/compressible.h"

#include <charconv>

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::HeadFields;
using net::http1::KnownField;

/// `*` at the pattern's end stands for anything.
bool covers(std::string_view pattern, std::string_view type) {
  if (!pattern.ends_with('*')) return equals_ignoring_case(type, pattern);
  pattern.remove_suffix(1);
  return starts_with_ignoring_case(type, pattern);
}

std::string_view media_type(const HeadFields& fields) {
  const std::string_view value = fields.value(KnownField::kContentType);
  return trim_blanks(value.substr(0, value.find(';')));
}

/// Calls `each` with the members of a comma-separated list until it returns true.
template <typename Each>
bool any_member(std::string_view list, Each each) {
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    if (each(trim_blanks(list.substr(0, end)))) return true;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return false;
}

// Messages of gRPC have a compression of their own, and a client that knows nothing of Content-Encoding.
bool is_grpc(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  return starts_with_ignoring_case(type, kGrpc);
}

bool excluded(const HeadFields& fields, const program::CompressionRecord& settings,
              const program::SectionView& section) {
  const std::string_view type = media_type(fields);
  const auto among = [&](program::ArrayRef<program::StringRef> patterns) {
    for (const program::StringRef& pattern : section.array(patterns)) {
      if (covers(section.string(pattern), type)) return true;
    }
    return false;
  };
  return is_grpc(type) || (among(settings.exclude_types) && !among(settings.include_types));
}

}  // namespace

bool compressed_for(const HeadFields& request, program::CompressedFor requests) {
  if (requests == program::CompressedFor::kAll) return true;
  if (!request.has(KnownField::kCookie) && !request.has(KnownField::kAuthorization)) return true;
  if (requests == program::CompressedFor::kWithoutCredentials) return false;
  // What the browser itself says (Fetch Metadata); where it says nothing nobody knows.
  for (const Field& field : request.all()) {
    if (equals_ignoring_case(field.name, "sec-fetch-site")) {
      return field.value == "same-origin" || field.value == "none";
    }
  }
  return false;
}

bool no_transform(const HeadFields& fields) {
  if (!fields.has(KnownField::kCacheControl)) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kCacheControl) continue;
    const auto named = [](std::string_view member) { return equals_ignoring_case(member, "no-transform"); };
    if (any_member(fields[i].value, named)) return true;
  }
  return false;
}

bool is_event_stream(const HeadFields& fields) { return equals_ignoring_case(media_type(fields), "text/event-stream"); }

bool varies_by_encoding(const HeadFields& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!equals_ignoring_case(fields[i].name, "vary")) continue;
    const auto named = [](std::string_view member) {
      return member == "*" || equals_ignoring_case(member, "accept-encoding");
    };
    if (any_member(fields[i].value, named)) return true;
  }
  return false;
}

std::optional<std::uint64_t> declared_length(const net::http1::ResponseHead& head) {
  if (head.body.kind == BodyKind::kLength) return head.body.length;
  const std::string_view text = head.fields.value(KnownField::kContentLength);
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

bool compressible(const net::http1::ResponseHead& head, std::optional<std::uint64_t> length,
                  const program::CompressionRecord& settings, const program::SectionView& section) {
  // A part of a representation cannot become a part of another (RFC 9110 §15.3.7).
  if (head.status < 200 || head.status == 204 || head.status == 206 || head.status == 304) return false;
  const HeadFields& fields = head.fields;
  if (fields.has(KnownField::kContentEncoding) || fields.has(KnownField::kContentRange)) return false;
  if (length && (*length < settings.min_size || *length == 0)) return false;
  return !excluded(fields, settings, section) && !no_transform(fields);
}

}  // namespace edge::runtime
