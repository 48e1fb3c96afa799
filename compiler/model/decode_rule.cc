#include "compiler/model/decode_rule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "base/field_name.h"
#include "compiler/model/formats.h"
#include "program/filter_table.h"

namespace edge::compiler::model {
namespace {

ValueType value_type(const Maybe<std::string>& text) {
  if (!text || text->value == "Exact") return ValueType::kExact;
  if (text->value == "Contains") return ValueType::kContains;
  return text->value == "Present" ? ValueType::kPresent : ValueType::kRegex;
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  }
  return text;
}

class RuleReader {
 public:
  explicit RuleReader(Report& report, SelfRedirect self_redirect = SelfRedirect::kRefused)
      : report_(report), self_redirect_(self_redirect) {}

  Match match(const Fields& fields, const RuleLocation& location) {
    Match match{.span = fields.span(), .method = fields.text("method")};
    if (match.method) check_method(*match.method, location);
    if (const Fields path = fields.object("path")) match.path = path_condition(path, location);
    fields.entries("headers", [&](const Fields& entry) {
      match.headers.push_back(value_condition(entry, location, "headers", match.headers.size()));
    });
    fields.entries("queryParams", [&](const Fields& entry) {
      match.query.push_back(value_condition(entry, location, "queryParams", match.query.size()));
    });
    fields.entries("claims", [&](const Fields& entry) {
      match.claims.push_back(value_condition(entry, location, "claims", match.claims.size()));
    });
    return match;
  }

  /// Methods are case-sensitive (RFC 9110 §9.1), so `get` is a method of its own that hardly anybody means.
  void check_method(const Located<std::string>& method, const RuleLocation& location) {
    for (const std::string_view known :
         {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}) {
      if (method.value == known || upper(method.value) != known) continue;
      report_.add(
          {.code = DiagnosticCode::kInvalidValue,
           .severity = Severity::kWarning,
           .field = location.text("method"),
           .span = method.span,
           .message = "methods are case-sensitive: " + in_quotes(method.value) + " is not " + std::string(known),
           .fix = "write `" + std::string(known) + "`"});
    }
  }

  /// Gateway API's defaults: PathPrefix, `/`.
  PathCondition path_condition(const Fields& fields, const RuleLocation& location) {
    PathCondition condition;
    const auto type = fields.text("type");
    if (type && type->value == "Exact") condition.type = PathType::kExact;
    if (type && type->value == "RegularExpression") condition.type = PathType::kRegex;
    if (const auto value = fields.text("value")) {
      condition.value = *value;
    } else if (condition.type == PathType::kPrefix) {
      condition.value = {"/", fields.span()};
    } else {
      report_.fault(DiagnosticCode::kMissingField, fields.span(), location.text("path.value"),
                    "the field `value` is required with type " + type->value);
    }
    if (condition.type != PathType::kRegex && !condition.value.value.empty() && condition.value.value[0] != '/') {
      report_.fault(DiagnosticCode::kInvalidValue, condition.value.span, location.text("path.value"),
                    in_quotes(condition.value.value) + " is no path: a path begins with `/`",
                    "write `/" + clipped(condition.value.value) + "`");
    } else if (condition.value.value.empty() && report_.ok()) {
      report_.fault(DiagnosticCode::kInvalidValue, condition.value.span, location.text("path.value"),
                    "the path's value is empty");
    }
    return condition;
  }

  ValueCondition value_condition(const Fields& fields, const RuleLocation& location, std::string_view list,
                                 std::size_t index) {
    ValueCondition condition{.name = fields.needed_text("name"), .value = {}, .type = value_type(fields.text("type"))};
    const auto value = fields.text("value");
    const auto field = [&](std::string_view name) {
      return location.text(list) + "[" + std::to_string(index) + "]." + std::string(name);
    };
    if (condition.type == ValueType::kPresent) {
      if (value && !value->value.empty()) {
        report_.fault(DiagnosticCode::kExclusiveFields, value->span, field("value"),
                      "type Present tests presence only and takes no value", "leave `value` out, or write type Exact");
      }
    } else if (!value) {
      report_.fault(DiagnosticCode::kMissingField, condition.name.span, field("value"),
                    "the field `value` is required unless the type is Present");
    } else if (condition.type == ValueType::kRegex && value->value.empty()) {
      report_.fault(DiagnosticCode::kInvalidValue, value->span, field("value"), "the regular expression is empty",
                    "write type Present to test presence");
    } else if (condition.type == ValueType::kContains && value->value.empty()) {
      report_.fault(DiagnosticCode::kInvalidValue, value->span, field("value"), "no element of a claim is empty");
    } else {
      condition.value = *value;
    }
    if (condition.name.value.empty() && report_.ok()) {
      report_.fault(DiagnosticCode::kInvalidValue, condition.name.span, field("name"), "the name is empty");
    }
    return condition;
  }

  HeaderModifier modifier(const Fields& fields, const RuleLocation& location, std::string_view key) {
    HeaderModifier modifier{
        .set = name_values(fields, "set"), .add = name_values(fields, "add"), .remove = fields.strings("remove")};
    const auto check = [&](const Located<std::string>& name) {
      if (!program::is_reserved_field(name.value)) return;
      if (same_field(name.value, "host")) {
        report_.fault(DiagnosticCode::kInvalidValue, name.span, location.text(key),
                      "the header `Host` cannot be changed by a header filter", "use URLRewrite with `hostname`");
      } else {
        report_.fault(
            DiagnosticCode::kInvalidValue, name.span, location.text(key),
            "the header " + in_quotes(name.value) + " frames the message or belongs to one hop: no filter changes it");
      }
    };
    for (const NameValue& header : modifier.set) check(header.name);
    for (const NameValue& header : modifier.add) check(header.name);
    for (const Located<std::string>& name : modifier.remove) check(name);
    return modifier;
  }

  std::optional<PathChange> path_change(const Fields& fields, const RuleLocation& location, std::string_view key) {
    if (!fields) return std::nullopt;
    PathChange change;
    const bool prefix = fields.needed_text("type").value == "ReplacePrefixMatch";
    change.type = prefix ? PathChangeType::kPrefix : PathChangeType::kFull;
    const std::string_view own = prefix ? "replacePrefixMatch" : "replaceFullPath";
    const std::string_view other = prefix ? "replaceFullPath" : "replacePrefixMatch";
    const std::string field = location.text(std::string(key) + ".path." + std::string(own));
    if (const auto wrong = fields.text(other)) {
      report_.fault(DiagnosticCode::kExclusiveFields, wrong->span, field,
                    "`" + std::string(other) + "` does not go with this type", "write `" + std::string(own) + "`");
    }
    if (const auto value = fields.text(own)) {
      change.value = *value;
    } else {
      report_.fault(DiagnosticCode::kMissingField, fields.span(), field,
                    "the field `" + std::string(own) + "` is required with this type");
    }
    const bool may_be_empty = prefix;
    if (!change.value.value.empty() ? change.value.value[0] != '/' : !may_be_empty && report_.ok()) {
      report_.fault(DiagnosticCode::kInvalidValue, change.value.span, field, "a path begins with `/`");
    }
    return change;
  }

  std::optional<program::MirrorShare> mirror_share(const Fields& mirror, const RuleLocation& location,
                                                   FilledPercent filled) {
    const auto percent = mirror.integer("percent");
    const Fields fraction = mirror.object("fraction");
    // What is out of range has been reported by its table.
    const auto count = [](std::int64_t value) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
    };
    if (!fraction) {
      if (!percent) return std::nullopt;
      return program::MirrorShare{count(percent->value), 100};
    }
    if (percent && (filled == FilledPercent::kExcluded || percent->value != 100)) {
      report_.fault(DiagnosticCode::kExclusiveFields, fraction.span(), location.text("requestMirror.fraction"),
                    "`percent` and `fraction` exclude each other");
    }
    const Located<std::int64_t> numerator = fraction.needed_integer("numerator");
    const auto denominator = fraction.integer("denominator");
    const program::MirrorShare share{count(numerator.value), denominator ? count(denominator->value) : 100};
    if (share.numerator > share.denominator) {
      report_.fault(DiagnosticCode::kInvalidValue, numerator.span, location.text("requestMirror.fraction.numerator"),
                    "`numerator` is larger than `denominator`, " + std::to_string(share.denominator));
    }
    return share;
  }

  Filter filter(const Fields& fields, const RuleLocation& location) {
    Filter filter{.span = fields.span()};
    const auto type = fields.needed_text("type");
    std::string_view key;
    for (const program::FilterTypeRow& row : program::kFilterTypes) {
      if (row.name == type.value) {
        filter.type = row.type;
        key = row.field;
        if (!fields.node(key)) {
          report_.fault(DiagnosticCode::kMissingField, type.span, location.text(key),
                        "the field `" + std::string(key) + "` is required with type " + type.value);
        }
      } else if (const yaml::Node other = fields.node(row.field)) {
        report_.fault(DiagnosticCode::kExclusiveFields, other.key_span(), location.text(row.field),
                      "`" + std::string(row.field) + "` does not go with type " + type.value);
      }
    }
    settings(fields.object(key), location, key, filter);
    return filter;
  }

  void settings(const Fields& own, const RuleLocation& location, std::string_view key, Filter& filter) {
    if (!own) return;
    switch (filter.type) {
      case FilterType::kRequestHeaders:
      case FilterType::kResponseHeaders:
        filter.headers = modifier(own, location, key);
        return;
      case FilterType::kRewrite:
      case FilterType::kRedirect:
        filter.hostname = own.hostname("hostname");
        filter.scheme = own.text("scheme");
        filter.port = own.integer("port");
        filter.status = own.integer("statusCode");
        filter.path = path_change(own.object("path"), location, key);
        break;
      case FilterType::kMirror:
        filter.mirror = own.object("backendRef").reference();
        filter.share = mirror_share(own, location, FilledPercent::kPasses);
        return;
      case FilterType::kCors:
      case FilterType::kExternalAuth:
      case FilterType::kExtension:
        return;
    }
    if (filter.hostname && filter.hostname->value.wildcard()) {
      report_.fault(DiagnosticCode::kInvalidValue, filter.hostname->span, location.text(std::string(key) + ".hostname"),
                    "a wildcard is no host to send a request to");
    }
    const bool redirect = filter.type == FilterType::kRedirect && self_redirect_ == SelfRedirect::kRefused;
    if (redirect && !filter.scheme && !filter.hostname && !filter.port && !filter.path) {
      report_.fault(DiagnosticCode::kMissingField, own.span(), location.text(key),
                    "the redirect changes nothing, so it would never end",
                    "give `scheme`, `hostname`, `port` or `path`");
    }
  }

  void check_filters(const Rule& rule, const RuleLocation& location) {
    std::array<const Filter*, program::kFilterTypes.size()> last{};
    const auto last_of = [&](FilterType type) -> const Filter*& { return last[static_cast<std::size_t>(type)]; };
    for (const Filter& filter : rule.filters) {
      const Filter*& earlier = last_of(filter.type);
      if (earlier != nullptr && row_of(filter.type).once) {
        conflict(filter, *earlier, location, "a rule has at most one filter of this type");
      }
      earlier = &filter;
    }
    for (const program::FilterTypeRow& row : program::kFilterTypes) {
      const Filter* const one = last_of(row.type);
      const Filter* const other = row.excludes && *row.excludes < row.type ? last_of(*row.excludes) : nullptr;
      if (one == nullptr || other == nullptr) continue;
      conflict(*one, *other, location,
               std::string(row.name) + " and " + std::string(row_of(*row.excludes).name) +
                   " exclude each other in one rule");
    }
    const Filter* const redirect = last_of(FilterType::kRedirect);
    if (redirect != nullptr && !rule.backends.empty()) {
      report_.add({.code = DiagnosticCode::kExclusiveFields,
                   .severity = Severity::kWarning,
                   .field = location.text("filters"),
                   .span = redirect->span,
                   .message = "the redirect answers every request, so that the rule's backends get none",
                   .labels = {{rule.backends[0].backend.name.span, "never reached"}},
                   .fix = "leave the backends out"});
    }
  }

  void conflict(const Filter& later, const Filter& earlier, const RuleLocation& location, std::string message) {
    report_.add({.code = DiagnosticCode::kExclusiveFields,
                 .field = location.text("filters"),
                 .span = later.span,
                 .message = std::move(message),
                 .labels = {{earlier.span, "the other is here"}}});
  }

 private:
  Report& report_;
  SelfRedirect self_redirect_;
};

/// Cookies that the proxy sets for logins.
constexpr std::string_view kLoginCookies[] = {"edge_session", "edge_login", "__Host-edge_session", "__Host-edge_login"};
/// Seconds of a duration travel in 32 bits, and browsers bound a cookie's age (RFC 6265bis §5.5).
constexpr std::chrono::nanoseconds kLongestSession = std::chrono::hours(24 * 400);

class PersistenceReader {
 public:
  PersistenceReader(const Fields& fields, const RuleLocation& location, Report& report)
      : fields_(fields), location_(location), report_(report) {}

  SessionPersistence read() {
    const auto type = fields_.text("type");
    const Fields cookie = fields_.object("cookieConfig");
    const auto lifetime = cookie.text("lifetimeType");
    SessionPersistence out{.span = fields_.span(),
                           .name = fields_.text("sessionName"),
                           .by_header = type && type->value == "Header",
                           .absolute_timeout = fields_.duration("absoluteTimeout"),
                           .idle_timeout = fields_.duration("idleTimeout"),
                           .permanent = lifetime && lifetime->value == "Permanent",
                           .path = cookie.text("path")};
    if (out.by_header && cookie) {
      report_.fault(DiagnosticCode::kExclusiveFields, cookie.span(), field("cookieConfig"),
                    "`cookieConfig` does not go with type Header");
    }
    if (out.permanent && !out.absolute_timeout) {
      report_.fault(DiagnosticCode::kMissingField, lifetime->span, field("absoluteTimeout"),
                    "the field `absoluteTimeout` is required with lifetimeType Permanent");
    }
    if (out.name) check_name(*out.name, out.by_header);
    check_time(out.absolute_timeout, "absoluteTimeout");
    check_time(out.idle_timeout, "idleTimeout");
    if (out.path && !is_cookie_path(out.path->value)) {
      report_.fault(DiagnosticCode::kInvalidValue, out.path->span, field("cookieConfig.path"),
                    in_quotes(out.path->value) + " is no path that a cookie can have");
    }
    return out;
  }

 private:
  std::string field(std::string_view name) const { return location_.text("sessionPersistence." + std::string(name)); }

  void check_name(const Located<std::string>& name, bool by_header) {
    const auto starts = [&](std::string_view prefix) { return name.value.starts_with(prefix); };
    if (by_header && (program::is_reserved_field(name.value) || same_field(name.value, "cookie") ||
                      same_field(name.value, "set-cookie"))) {
      report_.fault(DiagnosticCode::kInvalidValue, name.span, field("sessionName"),
                    "the header " + in_quotes(name.value) + " has a meaning of its own");
    } else if (!by_header && std::any_of(std::begin(kLoginCookies), std::end(kLoginCookies), starts)) {
      report_.fault(DiagnosticCode::kInvalidValue, name.span, field("sessionName"),
                    "cookies with names such as " + in_quotes(name.value) + " are those of logins");
    }
  }

  void check_time(const Maybe<std::chrono::nanoseconds>& time, std::string_view name) {
    if (!time || (time->value >= std::chrono::seconds(1) && time->value <= kLongestSession)) return;
    report_.fault(DiagnosticCode::kInvalidValue, time->span, field(name), "a session lasts from 1s to 9600h");
  }

  const Fields& fields_;
  const RuleLocation& location_;
  Report& report_;
};

}  // namespace

Match decode_match(const Fields& fields, const RuleLocation& location, Report& report) {
  return RuleReader(report).match(fields, location);
}
std::optional<SessionPersistence> decode_persistence(const Fields& fields, const RuleLocation& location,
                                                     Report& report) {
  if (!fields) return std::nullopt;
  return PersistenceReader(fields, location, report).read();
}
Filter decode_filter(const Fields& fields, const RuleLocation& location, SelfRedirect self_redirect, Report& report) {
  return RuleReader(report, self_redirect).filter(fields, location);
}
std::optional<program::MirrorShare> decode_mirror_share(const Fields& mirror, const RuleLocation& location,
                                                        FilledPercent filled, Report& report) {
  return RuleReader(report).mirror_share(mirror, location, filled);
}
ValueCondition decode_header_match(const Fields& fields, const RuleLocation& location, std::size_t index,
                                   Report& report) {
  return RuleReader(report).value_condition(fields, location, "headers", index);
}
void check_filters(const Rule& rule, const RuleLocation& location, Report& report) {
  RuleReader(report).check_filters(rule, location);
}

}  // namespace edge::compiler::model
