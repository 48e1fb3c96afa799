// Serialises a value for hashing: every field of every struct in it, so that fields added later are included
// automatically. Positions in files are excluded.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/fields.h"
#include "base/hostname.h"
#include "base/source.h"
#include "program/sha256.h"

namespace edge::compiler {

/// Unambiguous: variable-length parts are preceded by their length. Other struct layouts give other bytes.
class Fingerprint {
 public:
  template <typename T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, Span> || std::is_same_v<T, std::monostate>) {
      return;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text(value);
    } else if constexpr (std::is_same_v<T, HostPattern>) {
      text(value.text());
    } else if constexpr (std::ranges::range<T>) {
      add(std::ranges::size(value));
      for (const auto& item : value) add(item);
    } else {
      compound(value);
    }
  }

  /// Returns the hash of everything added, and starts over.
  program::Hash take() {
    const program::Hash hash = program::sha256(std::as_bytes(std::span(bytes_)));
    bytes_.clear();
    return hash;
  }

 private:
  void text(std::string_view value) {
    add(value.size());
    bytes_.append(value);
  }

  template <typename T>
  void compound(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <typename Rep, typename Period>
  void compound(const std::chrono::duration<Rep, Period>& value) {
    add(value.count());
  }
  template <typename... T>
  void compound(const std::variant<T...>& value) {
    add(value.index());
    std::visit([this](const auto& held) { add(held); }, value);
  }
  template <typename A, typename B>
  void compound(const std::pair<A, B>& value) {
    add(value.first);
    add(value.second);
  }
  template <typename T>
    requires std::is_aggregate_v<T>
  void compound(const T& value) {
    std::apply([&](const auto&... field) { (add(field), ...); }, fields_of(value));
  }

  std::string bytes_;
};

}  // namespace edge::compiler
