// What a field of a resource is, as plain tables: type, format, bounds, default. One source for validation, CRD
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
  kAny,          ///< not looked into
};

/// What a string (or each string of a list) must look like.
enum class Format : std::uint8_t {
  kNone,
  kName,            ///< RFC 1123 subdomain: metadata.name and references
  kNamespace,       ///< RFC 1123 label
  kNamespacedName,  ///< `name` or `namespace/name`
  kLabel,           ///< RFC 1123 label: names of listeners and ports
  kHostname,        ///< name or `*.name`
  kCidr,
  kIp,
  kDuration,
  kSize,  ///< size string; a number of bytes is taken too
  kTimestamp,
  kUrl,          ///< http or https, absolute
  kPath,         ///< begins with `/`
  kHeaderName,   ///< token of RFC 9110 §5.6.2
  kHeaderValue,  ///< no control bytes
  kMethod,       ///< token
  kRateLimitKey,
  kPercent,         ///< `0.5%`
  kCountOrPercent,  ///< of kIntOrString: the text is a whole percentage
  kHostPort,
  kEndpointAddress,
  kWireGuardKey,  ///< 32 bytes in base64
  kFilePath,      ///< absolute, without `.`, `..` and `:`
  kBgpCommunity,  ///< RFC 1997 `1:2`, RFC 8092 `1:2:3`, or a well-known name
  kBgpPassword,   ///< of RFC 2385: printable ASCII without `"`, at most 80 bytes
};

struct Object;

/// Group of every own kind; the CMake option EDGE_API_GROUP is the one place that spells it.
inline constexpr std::string_view kApiGroup = EDGE_API_GROUP;
/// The values of a field that names this group.
inline constexpr std::string_view kOwnGroup[] = {kApiGroup};

inline constexpr std::int64_t kNoMinimum = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNoMaximum = std::numeric_limits<std::int64_t>::max();

struct Field {
  std::string_view name;
  Type type = Type::kString;
  /// One sentence for documentation and CRDs.
  std::string_view text{};
  Format format = Format::kNone;
  /// Of lists: the type of their entries, of which format, values, bounds and object speak too.
  Type item = Type::kString;
  const Object* object = nullptr;
  /// Of strings and whole numbers: all that are taken.
  std::span<const std::string_view> values{};
  std::int64_t minimum = kNoMinimum;
  std::int64_t maximum = kNoMaximum;
  /// Of lists: entries.
  std::uint32_t most = 100'000;
  bool required = false;
  /// As it would be written, lists in flow style; empty: none. What holds is compiler/link/defaults.cc, and a test
  /// compares them.
  std::string_view default_value{};
  /// Path of a second place where the same setting may be written. The two are read into one; both with different
  /// values are an error, so a cluster must not fill in the default of either.
  std::string_view other_form{};
  /// In an object with a field `type`: this field is required with that value of it, and refused with every other.
  std::string_view goes_with{};
  /// Of lists of objects: the field that tells entries apart.
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

/// What holds between the fields of one object, in CEL (`x-kubernetes-validations`), where a structural schema cannot
/// say it. The decoder asks the same; tests/crds holds the two together.
struct Rule {
  std::string_view expression;  ///< true: the object is well; `self` is the object, defaults filled in
  std::string_view text;        ///< what an API server answers when it is not
};

struct Object {
  std::span<const Field> fields;
  /// Others' kinds have fields that nothing here is about; those are passed over.
  bool open = false;
  /// Others' kinds gain fields: one that is not known here is a warning.
  bool lenient = false;
  std::span<const Rule> rules{};
};

// How the tables below are written.
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
