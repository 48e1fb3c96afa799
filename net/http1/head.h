// One parsed HTTP/1 message head: views into the parsed bytes. Everything that later steps need is determined during
// parsing: known fields have numbers, the body's framing is decided, hop-by-hop fields are marked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/field.h"

namespace edge::net::http1 {

/// Fields that the parser recognises. kOther is any other name.
enum class KnownField : std::uint8_t {
  kOther,
#define EDGE_KNOWN_FIELD(id, name, traits) id,
#include "net/http1/known_fields.def"
#undef EDGE_KNOWN_FIELD
};

inline constexpr std::size_t kKnownFieldCount = 1
#define EDGE_KNOWN_FIELD(id, name, traits) +1
#include "net/http1/known_fields.def"
#undef EDGE_KNOWN_FIELD
    ;

/// The lower-case name; empty for kOther.
std::string_view known_field_name(KnownField field);
/// Recognises a name, ignoring case. kOther for everything else.
KnownField recognise_field(std::string_view name);
/// Returns whether intermediaries never forward a field (RFC 9110 §7.6.1), whatever Connection lists.
bool always_hop_by_hop(KnownField field);

/// The field lines of one head, in order.
class HeadFields {
 public:
  /// The most fields of a head, whatever the limits say.
  static constexpr std::size_t kMax = 250;

  std::size_t size() const { return count_; }
  const Field& operator[](std::size_t i) const { return fields_[i]; }
  std::span<const Field> all() const { return {fields_.data(), count_}; }
  KnownField known(std::size_t i) const { return known_[i]; }

  bool has(KnownField field) const { return first_[static_cast<std::size_t>(field)] != 0; }
  /// Returns the index of the first such field, -1 when absent. Not for kOther.
  int index(KnownField field) const { return first_[static_cast<std::size_t>(field)] - 1; }
  /// Returns the value of the first such field, empty when absent. Not for kOther.
  std::string_view value(KnownField field) const {
    const int i = index(field);
    return i < 0 ? std::string_view{} : fields_[static_cast<std::size_t>(i)].value;
  }
  /// Returns whether the field occurs more than once.
  bool repeated(KnownField field) const { return (repeated_ >> static_cast<unsigned>(field) & 1) != 0; }

  /// Returns whether a field must not be forwarded: a hop-by-hop field, one named by a Connection field (RFC 9110
  /// §7.6.1), or one that looks like a known X- field, or X-Forwarded-*, with `_` for `-`. Host, Content-Length,
  /// Authorization, X-Forwarded-* and similar fields are forwarded even when named.
  bool hop_by_hop(std::size_t i) const { return (hop_[i / 64] >> (i % 64) & 1) != 0; }

  /// Returns whether there is a field for which is_forwarded_field holds and which is not known: X-Forwarded-Prefix,
  /// X-Forwarded-Ssl and the like, which some backends believe.
  bool has_other_forwarded() const { return other_forwarded_; }

  /// Returns the raw lines of the fields first..last-1, each with its CRLF: one memcpy forwards a run of fields.
  std::string_view lines(std::size_t first, std::size_t last) const {
    const char* begin = first < count_ ? fields_[first].name.data() : lines_end_;
    const char* end = last < count_ ? fields_[last].name.data() : lines_end_;
    return {begin, static_cast<std::size_t>(end - begin)};
  }

 private:
  friend struct FieldSink;

  std::size_t count_ = 0;
  std::uint64_t repeated_ = 0;
  bool other_forwarded_ = false;
  std::array<std::uint64_t, 4> hop_{};
  const char* lines_end_ = nullptr;
  /// Index + 1; 0: absent.
  std::array<std::uint8_t, kKnownFieldCount> first_{};
  std::array<KnownField, kMax> known_;
  std::array<Field, kMax> fields_;
};
static_assert(kKnownFieldCount <= 64, "HeadFields::repeated_ has one bit a known field");

enum class Method : std::uint8_t { kOther, kGet, kHead, kPost, kPut, kDelete, kOptions, kTrace, kPatch };

/// RFC 9112 §3.2. The authority form is for CONNECT only, which is rejected.
enum class TargetForm : std::uint8_t { kOrigin, kAbsolute, kAsterisk };

/// How a message's body ends (RFC 9112 §6.3).
enum class BodyKind : std::uint8_t {
  kNone,
  kLength,
  kChunked,
  kUntilClose,  ///< responses only
};

struct Body {
  BodyKind kind = BodyKind::kNone;
  /// kLength: its size, 0 allowed.
  std::uint64_t length = 0;
};

/// About 9 KiB: to be stored in a thread's scratch, not in a coroutine frame. Views are valid as long as the parsed
/// bytes; to keep a head across a suspension copy the bytes and parse them again, or write what is to be sent before
/// it.
struct RequestHead {
  Method method = Method::kOther;
  TargetForm form = TargetForm::kOrigin;
  /// 0 or 1.
  std::uint8_t minor = 1;
  /// Whether the client allows reuse of the connection (RFC 9112 §9.3).
  bool keep_alive = true;
  /// `Expect: 100-continue` from an HTTP/1.1 client with a body (RFC 9110 §10.1.1).
  bool expect_continue = false;
  /// An Upgrade field that Connection lists (RFC 9110 §7.8).
  bool upgrade = false;
  /// The target has a `?`, even when the query is empty.
  bool has_query = false;
  /// kNone, kLength or kChunked; a length of 0 is kLength.
  Body body;
  /// Like `target` and `query` also set when a field is invalid; empty when the request line is.
  std::string_view method_text;
  /// The request target as sent.
  std::string_view target;
  /// Raw path: `/...`, or `*`. Not normalised: base/path.h does that, and may reject it.
  std::string_view path;
  /// Raw query without the `?`.
  std::string_view query;
  /// Authority of the absolute form, else the Host field (RFC 9112 §3.2.2); raw. Its characters are checked, its
  /// grammar by canonical_host (base/hostname.h): nullopt there is 400 `bad-host`. Empty: absent.
  std::string_view host;
  HeadFields fields;
};

struct ResponseHead {
  std::uint16_t status = 0;
  /// 0 or 1.
  std::uint8_t minor = 1;
  /// Whether the server allows reuse of the connection after the body: never with kUntilClose.
  bool keep_alive = true;
  Body body;
  std::string_view reason;
  HeadFields fields;
};

}  // namespace edge::net::http1
