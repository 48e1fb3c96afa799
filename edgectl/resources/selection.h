// Which objects a command line names: `routes`, `gateways,routes`, `route cart pay`, `route/cart backend/pay`, `edge`
// for every own kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// Of one type: these, or all where none is named.
struct Selection {
  Type type;
  std::vector<std::string> names{};
};

/// TYPE and NAME of `arguments`. nullopt: stderr says why, and `exit` how to end.
std::optional<std::vector<Selection>> select(std::string_view command, Cluster& cluster,
                                             const cli::Arguments& arguments, int& exit);

/// One object each: the same where every type has names. nullopt as above.
struct Chosen {
  Type type;
  std::string name;
};
std::optional<std::vector<Chosen>> choose(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                                          int& exit);

/// `gateway` means our own kind. Tells on stderr that Gateway API has Gateways too: of the names that are selected, or
/// any where all are.
void tell_of_other_gateways(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                            const std::vector<Selection>& selections);

/// Where objects of the type are: the command's namespace, none for kinds without or with `--all-namespaces`.
std::string place_of(const Type& type, Cluster& cluster, const cli::Arguments& arguments);

}  // namespace edge::edgectl
