// The values of a decoded resource as text, whatever their types: two resources that read alike have the same one.
// Places in the source are left out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <boost/pfr.hpp>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/source.h"
#include "compiler/model/metadata.h"

namespace edge::test {

inline void put(const Span&, std::string&) {}
inline void put(const std::string& value, std::string& out) { out += '"' + value + '"'; }
inline void put(const HostPattern& value, std::string& out) { put(value.text(), out); }
inline void put(const IpAddress& value, std::string& out) { put(to_string(value), out); }
/// The name alone: the rest is no field of the kind, and some of it sums up the whole text.
inline void put(const compiler::model::Metadata& value, std::string& out) { put(value.text(), out); }
inline void put(std::monostate, std::string& out) { out += "nothing"; }

// Declared before any is used: of standard types no other way leads here.
template <typename T>
void put(const T& value, std::string& out);
template <typename T>
void put(const std::optional<T>& value, std::string& out);
template <typename T>
void put(const std::vector<T>& values, std::string& out);
template <typename... T>
void put(const std::variant<T...>& value, std::string& out);
template <typename R, typename P>
void put(const std::chrono::duration<R, P>& value, std::string& out);
template <typename T>
void put(const std::shared_ptr<const T>& value, std::string& out);

template <typename T>
void put(const Located<T>& value, std::string& out) {
  put(value.value, out);
}
template <typename T>
void put(const std::optional<T>& value, std::string& out) {
  if (!value) {
    out += '-';
  } else {
    put(*value, out);
  }
}
template <typename T>
void put(const std::vector<T>& values, std::string& out) {
  out += '[';
  for (const T& value : values) {
    put(value, out);
    out += ' ';
  }
  out += ']';
}
template <typename... T>
void put(const std::variant<T...>& value, std::string& out) {
  out += std::to_string(value.index()) + ":";
  std::visit([&](const auto& held) { put(held, out); }, value);
}
template <typename R, typename P>
void put(const std::chrono::duration<R, P>& value, std::string& out) {
  out += std::to_string(value.count());
}

template <typename T>
void put(const std::shared_ptr<const T>& value, std::string& out) {
  if (value == nullptr) {
    out += '-';
  } else {
    put(*value, out);
  }
}

/// Numbers, enumerations, and structs field by field.
template <typename T>
void put(const T& value, std::string& out) {
  if constexpr (std::is_enum_v<T>) {
    out += std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    out += std::to_string(value);
  } else {
    out += '{';
    boost::pfr::for_each_field(value, [&](const auto& field) {
      put(field, out);
      out += ' ';
    });
    out += '}';
  }
}

template <typename T>
std::string fingerprint(const T& value) {
  std::string out;
  put(value, out);
  return out;
}

}  // namespace edge::test
