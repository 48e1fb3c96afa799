#include "runtime/shape/cache/key.h"

#include <algorithm>
#include <array>

#include "base/field_name.h"
#include "base/hostname.h"
#include "base/path.h"
#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "runtime/shape/cache/directives.h"

namespace edge::runtime::cache {
namespace {

using net::http1::all_of_class;
using net::http1::HeadFields;
using net::http1::known_field_name;
using net::http1::KnownField;
using net::http1::kTokenChar;

constexpr std::size_t kMaxVaryNames = 16;
constexpr std::size_t kMaxSelection = 4096;
constexpr std::size_t kMaxReference = 8192;
/// Stands in no field, host, path or name.
constexpr char kEnd = '\n';

/// All values of a field as one, blanks around members aside (§4.1). Where a quoted string may hold a comma only whole
/// lines are trimmed. A field that is absent differs from an empty one.
void append_values(const HeadFields& fields, std::string_view name, std::string& to) {
  char separator = ':';
  for (const Field& field : fields.all()) {
    if (!equals_ignoring_case(field.name, name)) continue;
    if (field.value.find('"') != std::string_view::npos) {
      to += separator;
      to += trim_blanks(field.value);
      separator = ',';
      continue;
    }
    std::string_view rest = field.value;
    do {
      to += separator;
      to += next_part(rest, ',');
      separator = ',';
    } while (!rest.empty());
  }
}

/// What stands before the next `,` or `;` that is in no quoted string; `rest` loses both, or becomes empty.
std::string_view next_pair(std::string_view& rest) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size() && (quoted || (rest[end] != ',' && rest[end] != ';')); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (rest[end] == '\\' && quoted && end + 1 < rest.size()) ++end;
  }
  const std::string_view pair = trim_blanks(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return pair;
}

/// Forwarded (RFC 7239 §4) but for whom and by whom, which differ from client to client.
void append_forwarded(std::string_view value, std::string& to) {
  while (!value.empty()) {
    const std::string_view pair = next_pair(value);
    if (starts_with_ignoring_case(pair, "for=") || starts_with_ignoring_case(pair, "by=")) continue;
    to.append(pair).append(1, ';');
  }
}

/// Whether a field is one of those, beside the known ones, in which proxies tell of the URI that the client sent.
bool tells_of_target(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kNames = {"x-forwarded-path",   "x-forwarded-prefix",
                                                             "x-forwarded-scheme", "x-forwarded-server",
                                                             "x-forwarded-ssl",    "x-forwarded-uri"};
  return std::ranges::any_of(kNames, [&](std::string_view one) { return same_field(one, name); });
}

/// Splits `authority` off what stands behind `//`.
std::string_view take_authority(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  return authority;
}

bool same_host(std::string_view authority, std::string_view host) {
  char buffer[256];
  const auto canonical = canonical_host(authority, buffer);
  return canonical && *canonical == host;
}

/// Takes `scheme:` off, when there is one.
std::string_view take_scheme(std::string_view& rest) {
  const std::size_t colon = rest.find_first_of(":/?#");
  if (colon == std::string_view::npos || rest[colon] != ':') return {};
  const std::string_view scheme = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  return scheme;
}

}  // namespace

std::string target_text(const Target& target) {
  std::string text;
  text.reserve(target.scheme.size() + target.host.size() + target.path.size() + target.query.size() + 3);
  text.append(target.scheme).append(1, kEnd).append(target.host).append(1, kEnd).append(target.path);
  if (target.has_query) text.append(1, '?').append(target.query);
  return text;
}

Key make_key(const Target& target, const Way& way) {
  Key key{target_text(target), {}};
  std::string& text = key.way;
  constexpr std::size_t kNumbers = 64;
  text.reserve(way.name_space.size() + way.route.size() + way.host.size() + way.path.size() + way.origin.size() +
               kNumbers);
  text.append(way.name_space).append(1, '/').append(way.route).append(1, kEnd);
  text.append(std::to_string(way.rule)).append(1, kEnd).append(std::to_string(way.backend)).append(1, kEnd);
  text.append(std::to_string(way.position)).append(1, kEnd);
  text.append(way.host).append(1, kEnd).append(way.path).append(1, kEnd).append(way.origin);
  return key;
}

std::string forwarded_origin(const net::http1::RequestHead& head, bool peer_trusted, std::string_view host) {
  const HeadFields& fields = head.fields;
  const bool reported = peer_trusted && fields.has(KnownField::kXForwardedHost);
  std::string text;
  if (!reported && head.host != host) text = head.host;
  for (std::size_t i = 0; i < fields.size() && peer_trusted; ++i) {
    switch (fields.known(i)) {
      case KnownField::kXForwardedHost:
      case KnownField::kXForwardedProto:
      case KnownField::kXForwardedPort:
        text.append(1, kEnd).append(known_field_name(fields.known(i))).append(1, ':').append(fields[i].value);
        break;
      case KnownField::kForwarded:
        text.append(1, kEnd);
        append_forwarded(fields[i].value, text);
        break;
      case KnownField::kOther:
        if (!fields.has_other_forwarded() || !tells_of_target(fields[i].name)) break;
        text.append(1, kEnd).append(folded_field_name(fields[i].name)).append(1, ':').append(fields[i].value);
        break;
      default:
        break;
    }
  }
  return text;
}

Target target_of(const Key& key) {
  std::string_view rest = key.target;
  const auto take = [&rest](std::size_t end) {
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
  };
  Target target;
  target.scheme = take(rest.find(kEnd));
  target.host = take(rest.find(kEnd));
  target.has_query = rest.find('?') != std::string_view::npos;
  target.path = take(rest.find('?'));
  target.query = rest;
  return target;
}

std::string_view route_of(const Key& key) { return std::string_view(key.way).substr(0, key.way.find(kEnd)); }

std::optional<std::string> same_origin_target(const Target& base, std::string_view reference) {
  if (reference.empty() || reference.size() > kMaxReference) return std::nullopt;
  std::string_view rest = reference.substr(0, reference.find('#'));
  const std::string_view scheme = take_scheme(rest);
  if (!scheme.empty() && !equals_ignoring_case(scheme, base.scheme)) return std::nullopt;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    if (!same_host(take_authority(rest), base.host)) return std::nullopt;
  } else if (!scheme.empty()) {
    return std::nullopt;
  }
  const std::size_t question = rest.find('?');
  Target target = base;
  target.has_query = question != std::string_view::npos;
  target.query = target.has_query ? rest.substr(question + 1) : std::string_view();
  std::string path(rest.substr(0, question));
  // A relative reference replaces what stands behind the last slash (RFC 3986 §5.2.3).
  if (path.empty()) {
    path = base.path;
  } else if (path.front() != '/') {
    path.insert(0, base.path.substr(0, base.path.rfind('/') + 1));
  }
  std::string normal(path.size() + 1, '\0');
  const auto normalised = normalise_path(path, normal.data());
  if (!normalised) return std::nullopt;
  target.path = *normalised;
  return target_text(target);
}

std::optional<std::string> selection_of(const HeadFields& response, const HeadFields& request) {
  std::string selection;
  std::size_t names = 0;
  for (const Field& field : response.all()) {
    if (!equals_ignoring_case(field.name, "vary")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::string_view member = next_part(rest, ',');
      if (member.empty()) continue;
      // What is no field's name cannot be compared: it would be read as another's with a value.
      if (++names > kMaxVaryNames || !all_of_class(member, kTokenChar)) return std::nullopt;
      const std::size_t begin = selection.size();
      for (const char c : member) selection += ascii_lower(c);
      const std::string name = selection.substr(begin);
      append_values(request, name, selection);
      selection += kEnd;
      if (selection.size() > kMaxSelection) return std::nullopt;
    }
  }
  return selection;
}

std::string reselect(std::string_view selection, const HeadFields& request) {
  std::string other;
  while (!selection.empty()) {
    const std::string_view line = selection.substr(0, selection.find(kEnd));
    selection.remove_prefix(line.size() + 1);
    // No name holds a colon, so the first one ends it; where there is none the field was absent.
    const std::string_view name = line.substr(0, line.find(':'));
    other += name;
    append_values(request, name, other);
    other += kEnd;
  }
  return other;
}

bool selects(std::string_view selection, const HeadFields& request) {
  return selection.empty() || reselect(selection, request) == selection;
}

}  // namespace edge::runtime::cache
