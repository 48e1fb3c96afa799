// What spans of requests that go the same way say alike: method, status, gateway, route, backend and so on, composed
// for OTLP once and copied from then on. Of one thread and one program, whose names stand in it.
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
  /// By what ways are told apart: addresses of the program's records, null where there is none.
  struct Way {
    const void* listener = nullptr;
    const void* action = nullptr;
    const void* backend = nullptr;
    int status = 0;
    std::uint16_t port = 0;
    net::http1::Method method = net::http1::Method::kOther;
    /// As in ClientConnection, and of HTTP/1.
    std::uint8_t http = 0;
    std::uint8_t minor = 0;
    bool secure = false;
    friend bool operator==(const Way&, const Way&) = default;
  };
  struct Texts {
    /// Of the span; empty where it depends on more.
    std::string name;
    /// As Attributes::bytes.
    std::string attributes;
  };

  /// `compose()` gives the Texts of a way that is not here. They are good until the next call.
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
  /// Ways that meet in one place put each other out, which costs time and never memory: about 300 KB when all are
  /// taken.
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
