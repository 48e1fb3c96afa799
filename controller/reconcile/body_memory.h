// The values of ConfigMaps that are named: bodies and lists of networks by policies, authorities by Gateways and
// BackendTLSPolicies. They are what the compiler is given of a ConfigMap. The other values are no configuration, and
// change without anything being compiled.
//
// Whoever may create ConfigMaps decides how many values there are (decisions 0521 and 0552): those that nothing names
// are kept up to a bound over all, and are to be asked for again when one is named that was not kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "program/read.h"

namespace edge::controller {

/// Bytes of all values that nothing names, and of ConfigMaps that wait to be compiled.
inline constexpr std::size_t kMostKeptValues = std::size_t{64} << 20;

/// Versions of an object that may be compiled at the same time, in place of each other.
enum class NamingVersion : std::uint8_t {
  kCurrent,  ///< the cluster's
  kSound,    ///< the last that was accepted
  kBefore,   ///< the one before it, while databases are missing
};

/// Not thread-safe. Objects are named by ResourceId::text().
class BodyMemory {
 public:
  explicit BodyMemory(std::size_t most_kept = kMostKeptValues) : most_kept_(most_kept) {}

  /// Whether objects of the kind can name values.
  static bool may_name(std::string_view kind);
  /// What this version of an object names from now on, in place of what it named before. Empty: nothing.
  void name_values(const std::string& object, NamingVersion version, std::string_view document);
  /// A ConfigMap as the cluster has it, or without its values (drop_values). \returns what is compiled: without the
  /// values that nothing names.
  std::string put(const std::string& map, std::string document, bool values_dropped = false);
  void remove(const std::string& object);
  /// The documents of ConfigMaps that are others now, by name. Empties the list.
  std::map<std::string, std::string> take_changed();
  /// ConfigMaps of which a value is named that was not kept: to be put again. Empties the list.
  std::set<std::string> take_wanted() { return std::exchange(wanted_, {}); }
  /// Whether the current version of the object names a value of a ConfigMap that is wanted, and was not put since.
  bool awaits_values(const std::string& object) const;

  /// Bytes of the values that nothing names.
  std::size_t kept() const { return kept_; }

 private:
  /// A ConfigMap and its key.
  using Body = std::pair<std::string, std::string>;
  using Bodies = std::set<Body>;
  struct Map {
    std::string frame;  ///< the document without its values
    /// By the document's list, and key.
    std::map<std::pair<std::string, std::string>, std::string> values{};
    std::size_t unnamed = 0;   ///< bytes of those that nothing names
    std::uint64_t put = 0;     ///< the how manieth of all
    bool dropped = false;      ///< some are not among `values`
    bool wanted = false;       ///< since it was put
    program::Hash compiled{};  ///< of what was returned last
    bool has(const std::string& key) const;
  };

  void count(const Bodies& bodies, bool named);
  void weigh(const std::string& name, Map& map);
  void bound();
  void want_missing(const std::string& name, Map& map);
  std::string compiled(const std::string& name, const Map& map) const;

  std::size_t most_kept_;
  std::map<std::string, std::array<Bodies, 3>> named_by_;  ///< objects that name some
  std::map<Body, std::size_t> named_;                      ///< by how many versions of objects
  std::map<std::string, Map> maps_;
  std::map<std::uint64_t, std::string> by_age_;  ///< of maps_ those with values that nobody names, by `put`
  std::size_t kept_ = 0;                         ///< the sum of `unnamed`
  std::uint64_t puts_ = 0;
  std::set<std::string> changed_;
  std::set<std::string> wanted_;
};

}  // namespace edge::controller
