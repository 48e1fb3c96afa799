#include "runtime/shape/heads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/field_name.h"
#include "base/text/ascii.h"
#include "runtime/shape/compressible.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::HeadFields;
using net::http1::HeadWriter;
using net::http1::KnownField;
using program::FieldEdits;

constexpr std::string_view kSwitch = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

constexpr std::uint64_t bit(KnownField field) { return std::uint64_t{1} << static_cast<unsigned>(field); }

// Copies all fields but hop-by-hop ones, those in `skipped`, and those that `drops` names, which is asked only where
// there is something to drop. Runs of lines that stay are copied as one.
template <typename Drops>
void copy_fields_but(const HeadFields& fields, std::uint64_t skipped, bool some_drop, Drops drops, HeadWriter& out) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool stays =
        !fields.hop_by_hop(i) && (skipped & bit(fields.known(i))) == 0 && !(some_drop && drops(fields[i].name));
    if (stays) continue;
    if (run < i) out.lines(fields.lines(run, i));
    run = i + 1;
  }
  if (run < fields.size()) out.lines(fields.lines(run, fields.size()));
}

// The same, dropping what an edit drops or a policy replaces.
void copy_fields(const HeadFields& fields, std::uint64_t skipped, const FieldEdits& edits, const AddedFields* added,
                 HeadWriter& out) {
  const bool replaced = added != nullptr && !added->none();
  const auto drops = [&](std::string_view name) { return edits.drops(name) || (replaced && added->replaces(name)); };
  copy_fields_but(fields, skipped, !edits.none() || replaced, drops, out);
}

// What speaks of the bytes that came: ranges, digests (RFC 9530).
constexpr std::array<std::string_view, 5> kOfTheBytes = {"accept-ranges", "content-digest", "content-md5", "digest",
                                                         "repr-digest"};
// What would have a part stand for the whole.
constexpr std::array<std::string_view, 3> kOfTheWhole = {"etag", "expires", "last-modified"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view one) { return equals_ignoring_case(name, one); });
}

void copy_changed_fields(const ReturnedHead& from, std::uint64_t skipped, HeadWriter& out) {
  const HeadFields& fields = from.head.fields;
  const BodyChange& change = *from.change;
  if (change.reframed || !change.coding.empty()) skipped |= bit(KnownField::kContentLength);
  if (change.cut) skipped |= bit(KnownField::kCacheControl);
  const bool retagged = change.weak_validator && !change.cut && !from.edits.drops("etag");
  const auto drops = [&](std::string_view name) {
    if (from.edits.drops(name) || from.added.replaces(name)) return true;
    if ((!change.coding.empty() || change.cut) && among(kOfTheBytes, name)) return true;
    if (change.cut && among(kOfTheWhole, name)) return true;
    return change.weak_validator && equals_ignoring_case(name, "etag");
  };
  copy_fields_but(fields, skipped, true, drops, out);
  for (std::size_t i = 0; i < fields.size() && retagged; ++i) {
    if (!equals_ignoring_case(fields[i].name, "etag")) continue;
    out.lines(fields[i].value.starts_with('"') ? "ETag: W/" : "ETag: ");
    out.lines(fields[i].value);
    out.lines("\r\n");
  }
  if (!change.coding.empty()) out.field("Content-Encoding", change.coding);
  if (change.varies && !varies_by_encoding(fields)) out.field("Vary", "Accept-Encoding");
  if (change.length) out.field("Content-Length", *change.length);
  if (change.cut) {
    out.field("Cache-Control", "no-store");
    out.field("X-Edge-Reason", kResponseCut);
  }
  out.lines(change.extra);
}

// All values of a list field in one line, then ours.
void write_forwarded_for(const ForwardedHead& from, HeadWriter& out) {
  const HeadFields& fields = from.head.fields;
  if (!from.peer_trusted || !fields.has(KnownField::kXForwardedFor)) {
    out.field("X-Forwarded-For", from.peer);
    return;
  }
  if (!fields.repeated(KnownField::kXForwardedFor)) {
    out.field_appended("X-Forwarded-For", fields.value(KnownField::kXForwardedFor), from.peer);
    return;
  }
  out.lines("X-Forwarded-For: ");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kXForwardedFor) continue;
    out.lines(fields[i].value);
    out.lines(", ");
  }
  out.lines(from.peer);
  out.lines("\r\n");
}

bool names_websocket(const HeadFields& fields) {
  return !fields.repeated(KnownField::kUpgrade) &&
         equals_ignoring_case(fields.value(KnownField::kUpgrade), "websocket");
}

// Without it the Upgrade field says what could be spoken, not what is (RFC 9110 §7.8).
bool lists_upgrade(const HeadFields& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kConnection) continue;
    for (std::string_view rest = fields[i].value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string_view option = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      while (!option.empty() && (option.front() == ' ' || option.front() == '\t')) option.remove_prefix(1);
      while (!option.empty() && (option.back() == ' ' || option.back() == '\t')) option.remove_suffix(1);
      if (equals_ignoring_case(option, "upgrade")) return true;
    }
  }
  return false;
}

// A length has no place where no body can be (RFC 9110 §8.6): some client may wait for one.
std::uint64_t never_announced(std::uint16_t status) {
  return status < 200 || status == 204 ? bit(KnownField::kContentLength) : 0;
}

// X-Forwarded-* but for those that are known, of which write_request_head says itself what becomes of them.
bool is_other_forwarded(std::string_view name) {
  return is_forwarded_field(name) && net::http1::recognise_field(name) == KnownField::kOther;
}

// A filter or a policy that has a word on a field has the last.
trace::TraceFields decided_by_others(const ForwardedHead& from) {
  if (from.edits.none() && from.identity == nullptr) return 0;
  return trace::trace_fields([&](std::string_view name) {
    return from.edits.names(name) || (from.identity != nullptr && from.identity->drops(name));
  });
}

}  // namespace

std::optional<std::uint64_t> max_forwards(const net::http1::RequestHead& head) {
  const HeadFields& fields = head.fields;
  if (head.method != net::http1::Method::kOptions || !fields.has(KnownField::kMaxForwards) ||
      fields.repeated(KnownField::kMaxForwards)) {
    return std::nullopt;
  }
  const std::string_view text = fields.value(KnownField::kMaxForwards);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

bool asks_for_websocket(const net::http1::RequestHead& head) {
  return head.upgrade && head.minor != 0 && head.method == net::http1::Method::kGet &&
         head.body.kind == BodyKind::kNone && names_websocket(head.fields);
}

bool switches_to_websocket(const net::http1::ResponseHead& head) {
  return head.status == 101 && names_websocket(head.fields) && lists_upgrade(head.fields);
}

void write_request_head(const ForwardedHead& from, HeadWriter& out) {
  const HeadFields& fields = from.head.fields;
  out.request_line(from.head.method_text, from.path, from.head.has_query, from.head.query);

  // A client's certificate is told by who had its handshake, which are we: whatever was said of one before is not so.
  std::uint64_t skipped = bit(KnownField::kXForwardedFor) | bit(KnownField::kXRequestId) |
                          bit(KnownField::kXForwardedClientCert) | bit(KnownField::kXSslClientVerify);
  // The absolute form's authority stands for the Host field (RFC 9112 §3.2.2).
  const bool own_host = !from.host.empty() || from.head.form == net::http1::TargetForm::kAbsolute;
  if (own_host) {
    skipped |= bit(KnownField::kHost);
    out.field("Host", from.host.empty() ? from.head.host : from.host);
  } else if (!fields.has(KnownField::kHost)) {
    out.field("Host", std::string_view{});
  }
  const std::optional<std::uint64_t> forwards = max_forwards(from.head);
  if (forwards) skipped |= bit(KnownField::kMaxForwards);
  if (!from.head.expect_continue || from.unframed) skipped |= bit(KnownField::kExpect);
  if (from.unframed) skipped |= bit(KnownField::kContentLength);
  if (!from.peer_trusted) {
    // Who is not trusted may not say where a request comes from, in whatever field a backend would believe (*safe*).
    skipped |= bit(KnownField::kXForwardedProto) | bit(KnownField::kXForwardedHost) | bit(KnownField::kXForwardedPort) |
               bit(KnownField::kForwarded) | bit(KnownField::kXRealIp);
  }
  const bool told_by_stranger = !from.peer_trusted && fields.has_other_forwarded();
  if (from.identity == nullptr && from.trace == nullptr && !told_by_stranger) [[likely]] {
    copy_fields(fields, skipped, from.edits, nullptr, out);
  } else {
    const auto drops = [&](std::string_view name) {
      return from.edits.drops(name) || (from.identity != nullptr && from.identity->drops(name)) ||
             (from.trace != nullptr && trace::tells_of_trace(name)) || (told_by_stranger && is_other_forwarded(name));
    };
    copy_fields_but(fields, skipped, true, drops, out);
  }

  const bool edited = !from.edits.none();
  if (forwards && *forwards != 0 && !(edited && from.edits.names("max-forwards"))) {
    out.field("Max-Forwards", *forwards - 1);
  }
  if (!edited || !from.edits.names("x-forwarded-for")) write_forwarded_for(from, out);
  const bool keeps_proto = from.peer_trusted && fields.has(KnownField::kXForwardedProto);
  if (!keeps_proto && !(edited && from.edits.names("x-forwarded-proto"))) out.field("X-Forwarded-Proto", from.scheme);
  const bool keeps_host = from.peer_trusted && fields.has(KnownField::kXForwardedHost);
  if (!keeps_host && !from.head.host.empty() && !(edited && from.edits.names("x-forwarded-host"))) {
    out.field("X-Forwarded-Host", from.head.host);
  }
  if (!edited || !from.edits.names("x-request-id")) out.field("X-Request-ID", from.request_id);
  if (from.trace != nullptr) from.trace->write(decided_by_others(from), out);
  out.field("Via", via_name(from.http, from.head.minor));
  const bool chunked = from.head.body.kind == BodyKind::kChunked && !from.unframed;
  if (chunked) out.lines("Transfer-Encoding: chunked\r\n");
  if (from.websocket) out.lines(kSwitch);
  if (from.identity != nullptr) from.identity->write(out, from.edits);
  from.edits.write(out);
  if (!from.unframed) out.finish();
}

void finish_request_head(std::optional<std::uint64_t> length, HeadWriter& out) {
  if (length) {
    out.field("Content-Length", *length);
  } else {
    out.lines("Transfer-Encoding: chunked\r\n");
  }
  out.finish();
}

void write_response_head(const ReturnedHead& from, HeadWriter& out) {
  const HeadFields& fields = from.head.fields;
  out.status_line(from.head.status, from.head.reason);
  if (from.change == nullptr) {
    copy_fields(fields, never_announced(from.head.status), from.edits, &from.added, out);
  } else {
    copy_changed_fields(from, never_announced(from.head.status), out);
  }
  if (!fields.has(KnownField::kDate)) out.field("Date", from.date);
  out.field("Via", via_name(from.http, from.head.minor));
  if (from.body == BodyOut::kChunked) out.lines("Transfer-Encoding: chunked\r\n");
  if (!from.connection.empty()) out.field("Connection", from.connection);
  if (from.varies_by_accept && !from.edits.drops("vary")) out.field("Vary", "Accept");
  if (from.head.status == 101) out.lines(kSwitch);
  from.edits.write(out);
  if (!from.added.none()) from.added.write(out, &from.edits);
  out.finish();
}

void write_interim_head(const net::http1::ResponseHead& head, HeadWriter& out) {
  static const program::SectionView kNoSection;
  out.status_line(head.status, head.reason);
  copy_fields(head.fields, never_announced(head.status), FieldEdits(kNoSection, {}, program::Side::kResponse, {}),
              nullptr, out);
  out.finish();
}

}  // namespace edge::runtime
