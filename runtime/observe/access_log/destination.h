// Formats where a request went (gateway, listener, route, rule, backend) for lines of the access log. The text is the
// same for every request to one rule and backend, so it is made once for a program and copied into entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "program/format/file.h"
#include "runtime/phase/endpoint_cluster.h"

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

/// Writes the members of a JSON line, with a comma before each. A byte that would have to be escaped, which no
/// resource's name has, becomes `?`, so that the same text serves every format.
std::string destination_text(const DestinationNames& names);

/// Appends the members of the endpoint's cluster, which is not this one, to a text.
void append_cluster(const EndpointCluster& cluster, std::string& destination);

/// Finds the value of one member, `namespace/name` of most. Empty: it is not there.
std::string_view destination_member(std::string_view destination, std::string_view key);

/// Caches the texts of one program's destinations, for one thread.
class DestinationTexts {
 public:
  /// Identifies a destination within the program: addresses of its records, null where there is none.
  struct Key {
    const void* listener = nullptr;  ///< or the gateway's, where no listener took it
    const void* action = nullptr;
    const void* backend = nullptr;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// Returns the text of a destination; `names_of()` gives the names of one that is not cached. Valid until the next
  /// call.
  template <typename NamesOf>
  std::string_view text(const Key& key, NamesOf names_of) {
    const auto known = texts_.find(key);
    if (known != texts_.end()) [[likely]]
      return known->second;
    return add(key, names_of());
  }

 private:
  /// Above this number the cache is emptied.
  static constexpr std::size_t kMost = 16384;
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  std::string_view add(const Key& key, const DestinationNames& names);

  std::unordered_map<Key, std::string, Hash> texts_;
};

}  // namespace edge::runtime
