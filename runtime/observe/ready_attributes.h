// Caches the span attributes that requests with the same destination and outcome have in common: method, status,
// gateway, route, backend and so on, encoded for OTLP once and copied afterwards. Used by one thread for one program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "net/http1/head.h"

namespace edge::runtime {

class ReadyAttributes {
 public:
  /// The cache key: addresses of the program's records, null where there is none.
  struct Way {
    const void* listener = nullptr;
    const void* action = nullptr;
    const void* backend = nullptr;
    int status = 0;
    std::uint16_t port = 0;
    net::http1::Method method = net::http1::Method::kOther;
    /// As in ClientConnection, and the minor version of HTTP/1.
    std::uint8_t http = 0;
    std::uint8_t minor = 0;
    bool secure = false;
    friend bool operator==(const Way&, const Way&) = default;
  };
  struct Texts {
    /// The span's name; empty where it depends on more than the key.
    std::string name;
    /// As Attributes::bytes.
    std::string attributes;
  };

  /// Returns the texts of a key; `compose()` makes them when they are not cached. Valid until the next call.
  template <typename Compose>
  const Texts& find(const Way& way, Compose compose) {
    if (entries_.empty()) entries_.resize(kEntries);
    Entry& entry = entries_[place_of(way)];
    if (!entry.known || entry.way != way) [[unlikely]] {
      entry.texts = compose();
      entry.way = way;
      entry.known = true;
    }
    return entry.texts;
  }

 private:
  /// A direct-mapped cache: keys that collide replace each other, which costs time but no memory; about 300 KB when
  /// full.
  static constexpr std::size_t kEntries = 512;
  struct Entry {
    Way way;
    Texts texts;
    bool known = false;
  };

  static std::size_t place_of(const Way& way) {
    const auto word = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    const auto rest = static_cast<std::uint64_t>(way.status) << 8 | static_cast<std::uint64_t>(way.method);
    return hash_mix(word(way.action) ^ hash_detail::kMul0, word(way.backend) ^ word(way.listener) << 7 ^ rest << 48) %
           kEntries;
  }

  std::vector<Entry> entries_;
};

}  // namespace edge::runtime
