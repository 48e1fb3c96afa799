#include "runtime/shape/cache/directives.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "runtime/shape/cache/structured.h"

namespace edge::runtime::cache {
namespace {

using net::http1::HeadFields;
using net::http1::is_class;
using net::http1::KnownField;
using net::http1::kTokenChar;

/// More in one field is no message that anybody sends.
constexpr std::size_t kMaxDirectives = 64;

struct Directive {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
  bool quoted = false;

  bool is(std::string_view lower) const { return equals_ignoring_case(name, lower); }
};

/// Parses cache-directive = token [ "=" ( token / quoted-string ) ], in a list (§5.2, RFC 9110 §5.6.1).
class DirectiveReader {
 public:
  explicit DirectiveReader(std::string_view text) : rest_(text) {}

  /// False at the end, and at the first fault.
  bool next(Directive& out) {
    while (!rest_.empty() && (rest_.front() == ',' || is_blank(rest_.front()))) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    out = {};
    out.name = token();
    if (out.name.empty() || ++count_ > kMaxDirectives) return fault();
    if (!rest_.empty() && rest_.front() == '=') {
      rest_.remove_prefix(1);
      out.has_value = true;
      out.quoted = !rest_.empty() && rest_.front() == '"';
      if (out.quoted ? !quoted_string(out.value) : (out.value = token()).empty()) return fault();
    }
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    return rest_.empty() || rest_.front() == ',' || fault();
  }
  bool failed() const { return failed_; }

 private:
  bool fault() {
    failed_ = true;
    rest_ = {};
    return false;
  }
  std::string_view token() {
    const auto end = std::find_if(rest_.begin(), rest_.end(), [](char c) { return !is_class(c, kTokenChar); });
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }
  /// No directive has a use for `\`: what holds one is a fault rather than unescaped.
  bool quoted_string(std::string_view& out) {
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return out.find('\\') == std::string_view::npos;
  }

  std::string_view rest_;
  std::size_t count_ = 0;
  bool failed_ = false;
};

/// The value of a directive that holds seconds. One that is no number, or contradicts an earlier one, gives nothing to
/// live on (§4.2.1).
void set_seconds(std::optional<Seconds>& to, const Directive& from) {
  const Seconds value = parse_delta(from.value).value_or(0);
  to = to && *to != value ? 0 : value;
}

void take(RequestDirectives& to, const Directive& from) {
  if (from.is("no-cache")) {
    to.no_cache = true;
  } else if (from.is("no-store")) {
    to.no_store = true;
  } else if (from.is("only-if-cached")) {
    to.only_if_cached = true;
  } else if (from.is("max-age")) {
    set_seconds(to.max_age, from);
  } else if (from.is("max-stale")) {
    to.max_stale = from.has_value ? parse_delta(from.value).value_or(0) : kLongest;
  } else if (from.is("min-fresh")) {
    // A bad number asks for what nothing can give.
    to.min_fresh = parse_delta(from.value).value_or(kLongest);
  }
}

/// `name` alone, or `name="field, field"`. A list that is none, or one too many, counts as none at all: the stricter.
void take_qualified(ResponseDirectives& to, bool& plain, const Directive& from) {
  if (!from.has_value || trim_blanks(from.value).empty() || to.field_list_count == ResponseDirectives::kMaxLists) {
    plain = true;
  } else {
    to.field_lists[to.field_list_count++] = from.value;
  }
}

void take(ResponseDirectives& to, const Directive& from) {
  if (from.is("no-store")) {
    to.no_store = true;
  } else if (from.is("no-cache")) {
    take_qualified(to, to.no_cache, from);
  } else if (from.is("private")) {
    take_qualified(to, to.is_private, from);
  } else if (from.is("public")) {
    to.is_public = true;
  } else if (from.is("must-revalidate")) {
    to.must_revalidate = true;
  } else if (from.is("proxy-revalidate")) {
    to.proxy_revalidate = true;
  } else if (from.is("must-understand")) {
    to.must_understand = true;
  } else if (from.is("max-age")) {
    set_seconds(to.max_age, from);
  } else if (from.is("s-maxage")) {
    set_seconds(to.s_maxage, from);
  } else if (from.is("stale-while-revalidate")) {
    set_seconds(to.stale_while_revalidate, from);
  } else if (from.is("stale-if-error")) {
    set_seconds(to.stale_if_error, from);
  }
}

// A value of another type is not to be coerced (RFC 9213 §2.1): it gives nothing to live on, and what forbids stands.
void set_seconds(std::optional<Seconds>& to, const StructuredMember& from) {
  const bool sound = from.type == StructuredMember::Type::kInteger && from.integer >= 0;
  to = sound ? std::min(from.integer, kLongest) : 0;
}

// Of a name that stands twice the last counts (RFC 8941 §3.2).
void take(ResponseDirectives& to, const StructuredMember& from) {
  using Type = StructuredMember::Type;
  const bool on = from.type != Type::kBoolean || from.boolean;
  const auto qualified = [&](bool& plain) {
    // An escape is no part of a field's name.
    const bool list = from.type == Type::kString && from.string.find('\\') == std::string_view::npos;
    if (list) {
      take_qualified(to, plain, {.name = from.name, .value = from.string, .has_value = true, .quoted = true});
    } else {
      plain = on;
    }
  };
  if (from.name == "no-store") {
    to.no_store = on;
  } else if (from.name == "no-cache") {
    qualified(to.no_cache);
  } else if (from.name == "private") {
    qualified(to.is_private);
  } else if (from.name == "must-revalidate") {
    to.must_revalidate = on;
  } else if (from.name == "proxy-revalidate") {
    to.proxy_revalidate = on;
  } else if (from.name == "public") {
    to.is_public = from.type == Type::kBoolean && from.boolean;
  } else if (from.name == "must-understand") {
    to.must_understand = from.type == Type::kBoolean && from.boolean;
  } else if (from.name == "max-age") {
    set_seconds(to.max_age, from);
  } else if (from.name == "s-maxage") {
    set_seconds(to.s_maxage, from);
  } else if (from.name == "stale-while-revalidate") {
    set_seconds(to.stale_while_revalidate, from);
  } else if (from.name == "stale-if-error") {
    set_seconds(to.stale_if_error, from);
  }
}

/// All lines together; nullopt where there is none, or nothing in it, or a fault anywhere (RFC 9213 §2.1).
std::optional<ResponseDirectives> read_targeted(const HeadFields& fields) {
  ResponseDirectives directives;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kOther || !equals_ignoring_case(fields[i].name, "cdn-cache-control")) continue;
    StructuredDictionary reader(fields[i].value);
    for (StructuredMember member; reader.next(member);) {
      directives.targeted = true;
      take(directives, member);
    }
    if (reader.failed()) return std::nullopt;
  }
  if (!directives.targeted) return std::nullopt;
  return directives;
}

/// \returns false when a line was at fault.
template <typename Directives>
bool read_all(const HeadFields& fields, Directives& to) {
  if (!fields.has(KnownField::kCacheControl)) return true;
  bool sound = true;
  for (auto i = static_cast<std::size_t>(fields.index(KnownField::kCacheControl)); i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kCacheControl) continue;
    DirectiveReader reader(fields[i].value);
    for (Directive directive; reader.next(directive);) take(to, directive);
    sound = sound && !reader.failed();
  }
  return sound;
}

}  // namespace

RequestDirectives read_request_directives(const HeadFields& fields) {
  RequestDirectives directives;
  // What a client garbled asks for the more careful thing.
  if (!read_all(fields, directives)) directives.no_cache = true;
  if (fields.has(KnownField::kCacheControl)) return directives;
  for (const Field& field : fields.all()) {
    if (equals_ignoring_case(field.name, "pragma") && list_has(field.value, "no-cache")) directives.no_cache = true;
  }
  return directives;
}

ResponseDirectives read_response_directives(const HeadFields& fields) {
  if (const auto targeted = read_targeted(fields)) return *targeted;
  ResponseDirectives directives;
  if (!read_all(fields, directives)) directives.no_store = true;
  return directives;
}

bool list_has(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (equals_ignoring_case(next_part(list, ','), name)) return true;
  }
  return false;
}

std::optional<Seconds> parse_delta(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Seconds value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min(value * 10 + (c - '0'), kLongest);
  }
  return value;
}

}  // namespace edge::runtime::cache
