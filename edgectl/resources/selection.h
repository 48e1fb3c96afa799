// Selects objects from a command line: `routes`, `gateways,routes`, `route cart pay`, `route/cart backend/pay`, `edge`
// for all own kinds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// Objects of one type: these, or all where none is named.
struct Selection {
  Type type;
  std::vector<std::string> names{};
};

/// Parses TYPE and NAME of `arguments`. nullopt: stderr says why, and `exit` is the exit code.
std::optional<std::vector<Selection>> select(std::string_view command, Cluster& cluster,
                                             const cli::Arguments& arguments, int& exit);

/// One object each: the same where every type has names. nullopt as above.
struct Chosen {
  Type type;
  std::string name;
};
std::optional<std::vector<Chosen>> choose(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                                          int& exit);

/// `gateway` is the product's own kind. Reports on stderr that Gateway API has Gateways too: with the selected names,
/// or any if all are selected.
void tell_of_other_gateways(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                            const std::vector<Selection>& selections);

/// Returns the namespace for a type: the command's, none for cluster-scoped kinds or with `--all-namespaces`.
std::string place_of(const Type& type, Cluster& cluster, const cli::Arguments& arguments);

}  // namespace edge::edgectl
