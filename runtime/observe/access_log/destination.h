// Where a request went, as lines of the access log tell it: gateway, listener, route, rule and backend. The same for
// every request to one rule and backend, so that it is written once for a program, and copied into entry and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "program/format/file.h"

namespace edge::runtime {

/// Empty where there is none.
struct DestinationNames {
  std::string_view gateway_space{};
  std::string_view gateway{};
  std::string_view listener{};
  std::string_view route_space{};
  std::string_view route{};
  std::uint32_t rule = program::kNone;
  std::string_view backend_space{};
  std::string_view backend{};
};

/// Members of a line in JSON, as they stand in it, with a comma before each. A byte that would have to be escaped,
/// which no resource's name has, becomes `?`, so that the same text serves every format.
std::string destination_text(const DestinationNames& names);

/// The value of one of the members, `namespace/name` of most. Empty: it is not there.
std::string_view destination_member(std::string_view destination, std::string_view key);

/// The places of one program that one thread has come to.
class DestinationTexts {
 public:
  /// By what a place is told apart within the program: addresses of its records, null where there is none.
  struct Key {
    const void* listener = nullptr;  ///< or the gateway's, where no listener took it
    const void* action = nullptr;
    const void* backend = nullptr;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// `names_of()` gives the names of a place that was not met before. The text stays until the next call.
  template <typename NamesOf>
  std::string_view text(const Key& key, NamesOf names_of) {
    const auto known = texts_.find(key);
    if (known != texts_.end()) [[likely]]
      return known->second;
    return add(key, names_of());
  }

 private:
  /// More are forgotten together, and written anew.
  static constexpr std::size_t kMost = 16384;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  std::string_view add(const Key& key, const DestinationNames& names);

  std::unordered_map<Key, std::string, Hash> texts_;
};

}  // namespace edge::runtime
