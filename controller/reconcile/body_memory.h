// The values of ConfigMaps that policies name as bodies: what the compiler is given of a ConfigMap. The other values
// are no configuration, and change without anything being compiled.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "program/read.h"

namespace edge::controller {

/// Not thread-safe. Objects are named by ResourceId::text().
class BodyMemory {
 public:
  /// A version of a ProxyPolicy that may be compiled: the values that any version of it names are given from now on, so
  /// that an older one can stand in for it.
  void name_bodies(const std::string& policy, std::string_view document);
  /// A ConfigMap as the cluster has it. \returns what is compiled: values that no policy names are empty.
  std::string put(const std::string& map, std::string document);
  void remove(const std::string& object);
  /// The documents of ConfigMaps that are others now, by name. Empties the list.
  std::map<std::string, std::string> take_changed();

 private:
  /// A ConfigMap and its key.
  using Body = std::pair<std::string, std::string>;
  struct Map {
    std::string document;
    program::Hash compiled{};  ///< of what was returned last
  };
  std::string with_named(const std::string& map, const std::string& document) const;

  std::map<std::string, std::set<Body>> policies_;  ///< that name some
  std::map<Body, std::size_t> named_;               ///< by how many policies
  std::map<std::string, Map> maps_;
  std::set<std::string> changed_;
};

}  // namespace edge::controller
