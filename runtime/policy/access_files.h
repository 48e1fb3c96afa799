// What an agent has of its own for IPAccess policies: lists of addresses in files, and databases of countries and
// autonomous systems.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runtime/policy/address_set.h"
#include "runtime/policy/geo_database.h"

namespace edge::runtime {

/// Immutable once given to a server.
struct AccessFiles {
  /// By name of the file. Null: it cannot be used, and neither can policies that name it; as with one that is missing.
  std::map<std::string, std::shared_ptr<const AddressSet>, std::less<>> lists;
  /// Null: there is none that can be used.
  std::shared_ptr<const GeoDatabase> countries;
  std::shared_ptr<const GeoDatabase> systems;
};

}  // namespace edge::runtime
