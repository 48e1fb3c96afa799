// JSON from strangers, read strictly (RFC 8259, I-JSON of RFC 7493): no member twice, UTF-8 throughout, bounds on size,
// depth and count. What tokens, key sets and documents of identity providers are read with.
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
  /// Of all kinds, at all depths.
  std::size_t values = 4096;
  /// Of one object. Doubles are looked for by comparing each with each.
  std::size_t members = 256;
};

class Json {
 public:
  /// kInteger: written without fraction and exponent, and within 64 bits; every other number is kFraction.
  enum class Kind : std::uint8_t { kNull, kBoolean, kInteger, kFraction, kString, kArray, kObject };
  struct Member;

  Kind kind() const { return kind_; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }

  /// Each is nullopt, or empty, for another kind: nothing is converted.
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  /// Of both kinds of numbers.
  std::optional<double> number() const;
  std::span<const Json> items() const { return items_; }
  std::span<const Member> members() const;

  /// The member of the name; null when there is none, or when this is no object.
  const Json* find(std::string_view name) const;
  /// Its text; nullopt also when it is none.
  std::optional<std::string_view> text_of(std::string_view name) const;
  /// The member of the name, else what the name says as a path of names with dots between: `realm_access.roles`.
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

/// One value and nothing after it. The error quotes nothing of the text.
Result<Json> read_json(std::string_view text, const JsonBounds& bounds = {});

}  // namespace edge::runtime::auth
