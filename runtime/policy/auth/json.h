// Strict parser for untrusted JSON (RFC 8259, I-JSON of RFC 7493): no duplicate members, valid UTF-8, limits on size,
// depth and count. Used for tokens, key sets and documents of identity providers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::runtime::auth {

struct JsonBounds {
  std::size_t bytes = std::size_t{64} << 10;
  std::size_t depth = 16;
  /// Values of all kinds, at all depths.
  std::size_t values = 4096;
  /// Members of one object. Duplicates are found by comparing each with each.
  std::size_t members = 256;
};

class Json {
 public:
  /// kInteger: without fraction and exponent, and within 64 bits; every other number is kFraction.
  enum class Kind : std::uint8_t { kNull, kBoolean, kInteger, kFraction, kString, kArray, kObject };
  struct Member;

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }

  /// Each returns nullopt, or empty, for another kind: nothing is converted.
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  /// For both kinds of numbers.
  std::optional<double> number() const;
  std::span<const Json> items() const { return items_; }
  std::span<const Member> members() const;

  /// Returns the member of the name; null when there is none, or this is not an object.
  const Json* find(std::string_view name) const;
  /// Returns the member's text; nullopt also when it is not a string.
  std::optional<std::string_view> text_of(std::string_view name) const;
  /// Returns the member of the name, else the one that the name gives as a dotted path: `realm_access.roles`.
  const Json* find_path(std::string_view path) const;

 private:
  friend class JsonReader;
  Kind kind_ = Kind::kNull;
  std::int64_t integer_ = 0;
  double fraction_ = 0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

struct Json::Member {
  std::string name;
  Json value;
};

inline std::span<const Json::Member> Json::members() const { return members_; }

/// Parses one value with nothing after it. The error quotes nothing of the text.
Result<Json> read_json(std::string_view text, const JsonBounds& bounds = {});

}  // namespace edge::runtime::auth
