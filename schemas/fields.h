// Descriptions of resource fields as plain tables: type, format, limits, default. The single source for validation, CRD
// manifests, documentation and completion.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace edge::schemas {

enum class Type : std::uint8_t {
  kString,
  kInteger,
  kBoolean,
  kObject,
  kList,
  kStringMap,
  kIntOrString,  ///< a port by number or name
  kAny,          ///< not validated
};

/// The format of a string (or of each string of a list).
enum class Format : std::uint8_t {
  kNone,
  kName,            ///< RFC 1123 subdomain: metadata.name and references
  kNamespace,       ///< RFC 1123 label
  kNamespacedName,  ///< `name` or `namespace/name`
  kLabel,           ///< RFC 1123 label: names of listeners and ports
  kLabelValue,      ///< value of a label, not empty
  kHostname,        ///< name or `*.name`
  kCidr,
  kIp,
  kDuration,
  kSize,  ///< size string; a number of bytes is accepted too
  kTimestamp,
  kUrl,          ///< http or https, absolute
  kPath,         ///< begins with `/`
  kHeaderName,   ///< token of RFC 9110 §5.6.2
  kHeaderValue,  ///< no control bytes
  kMethod,       ///< token
  kRateLimitKey,
  kPercent,         ///< `0.5%`
  kCountOrPercent,  ///< for kIntOrString: the text is a whole percentage
  kHostPort,
  kEndpointAddress,
  kWireGuardKey,  ///< 32 bytes in base64
  kFilePath,      ///< absolute, without `.`, `..` and `:`
  kBgpCommunity,  ///< RFC 1997 `1:2`, RFC 8092 `1:2:3`, or a well-known name
  kCountry,       ///< ISO 3166-1 alpha-2: two capital letters
  kBgpPassword,   ///< as RFC 2385: printable ASCII without `"`, at most 80 bytes
  kErrorStatus,   ///< `404`, or `4xx` for a class
  kPage,          ///< body of a response, at most 64 KiB
  kUri,           ///< absolute URI of any scheme (RFC 3986), without blanks; at most 2,048 bytes
  kUriPrefix,     ///< the beginning of one, up to a `/` or `:`
  kEmail,         ///< `local@domain`, printable ASCII; at most 320 bytes
  kPattern,       ///< regular expression of RE2, at most 1 KiB
  kMediaRange,    ///< `type/subtype`, or `type/*`
  kSha256,        ///< 64 hexadecimal digits, or pairs of them with `:` between
};

struct Object;

/// Group of all own kinds; set only by the CMake option EDGE_API_GROUP.
inline constexpr std::string_view kApiGroup = EDGE_API_GROUP;
/// The values of a field that contains this group.
inline constexpr std::string_view kOwnGroup[] = {kApiGroup};

inline constexpr std::int64_t kNoMinimum = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNoMaximum = std::numeric_limits<std::int64_t>::max();

struct Field {
  std::string_view name;
  Type type = Type::kString;
  /// One sentence for documentation and CRDs.
  std::string_view text{};
  Format format = Format::kNone;
  /// For lists: the type of their entries, which format, values, limits and object apply to.
  Type item = Type::kString;
  const Object* object = nullptr;
  /// For strings and integers: the allowed values.
  std::span<const std::string_view> values{};
  std::int64_t minimum = kNoMinimum;
  std::int64_t maximum = kNoMaximum;
  /// For lists: the most entries.
  std::uint32_t most = 100'000;
  bool required = false;
  /// Left out, the field lets more pass than with any value. Nothing (null), an empty list and an empty object are
  /// therefore errors and not as good as left out; a cluster keeps null for the decoder to see (`nullable`), which it
  /// drops from other fields. Has no default.
  bool narrows = false;
  /// As it would be written, lists in flow style; empty: none. The effective value is in compiler/link/defaults.cc, and
  /// a test compares them.
  std::string_view default_value{};
  /// Path of an alternative field for the same setting. The two are read into one; different values in both are an
  /// error, so that a cluster must not fill in the default of either.
  std::string_view other_form{};
  /// In an object with a field `type`: this field is required with that value of it, and rejected with others.
  std::string_view goes_with{};
  /// For lists of objects: the field that identifies entries.
  std::string_view key{};

  constexpr Field as(Format value) const {
    Field copy = *this;
    copy.format = value;
    return copy;
  }
  constexpr Field one_of(std::span<const std::string_view> allowed) const {
    Field copy = *this;
    copy.values = allowed;
    return copy;
  }
  constexpr Field within(std::int64_t low, std::int64_t high) const {
    Field copy = *this;
    copy.minimum = low;
    copy.maximum = high;
    return copy;
  }
  constexpr Field at_most(std::uint32_t entries) const {
    Field copy = *this;
    copy.most = entries;
    return copy;
  }
  constexpr Field needed() const {
    Field copy = *this;
    copy.required = true;
    return copy;
  }
  constexpr Field narrowing() const {
    Field copy = *this;
    copy.narrows = true;
    return copy;
  }
  constexpr Field defaults_to(std::string_view value) const {
    Field copy = *this;
    copy.default_value = value;
    return copy;
  }
  constexpr Field or_as(std::string_view path) const {
    Field copy = *this;
    copy.other_form = path;
    return copy;
  }
  constexpr Field with_type(std::string_view value) const {
    Field copy = *this;
    copy.goes_with = value;
    return copy;
  }
  constexpr Field keyed_by(std::string_view field) const {
    Field copy = *this;
    copy.key = field;
    return copy;
  }
};

/// A rule between the fields of one object, in CEL (`x-kubernetes-validations`), where a structural schema cannot
/// express it. The decoder checks the same; tests/crds compares the two.
struct Rule {
  std::string_view expression;  ///< true: the object is valid; `self` is the object with defaults
  std::string_view text;        ///< the API server's message when it is not
};

struct Object {
  std::span<const Field> fields;
  /// Kinds of others have fields that are irrelevant here; those are ignored.
  bool open = false;
  /// Kinds of others get new fields: an unknown one is a warning.
  bool lenient = false;
  std::span<const Rule> rules{};
};

// Helpers for the tables below.
constexpr Field string(std::string_view name, std::string_view text) { return {.name = name, .text = text}; }
constexpr Field integer(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kInteger, .text = text};
}
constexpr Field boolean(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kBoolean, .text = text};
}
constexpr Field object(std::string_view name, const Object& o, std::string_view text) {
  return {.name = name, .type = Type::kObject, .text = text, .object = &o};
}
constexpr Field strings(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kList, .text = text, .item = Type::kString};
}
constexpr Field integers(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kList, .text = text, .item = Type::kInteger};
}
constexpr Field objects(std::string_view name, const Object& o, std::string_view text) {
  return {.name = name, .type = Type::kList, .text = text, .item = Type::kObject, .object = &o};
}
constexpr Field string_map(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kStringMap, .text = text};
}
constexpr Field anything(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kAny, .text = text};
}
constexpr Field int_or_string(std::string_view name, std::string_view text) {
  return {.name = name, .type = Type::kIntOrString, .text = text};
}

}  // namespace edge::schemas
