// What a cluster holds as configuration, beside files or instead of them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "edgectl/input.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// The operand that means the cluster.
inline constexpr std::string_view kClusterOperand = "@cluster";

/// `ProxyRoute shop/api` of everything that the texts hold.
std::set<std::string> resources_in(const SourceMap& sources);

/// Adds a text for each kind that the compiler reads, with the cluster's objects less those that `resources` names: as
/// if the files had been applied. A kind that the cluster does not serve has none.
kube::Failure add_cluster(Cluster& cluster, const std::set<std::string>& resources, SourceMap& sources);

/// What is said of the first `files` texts, or of the resources in them.
Diagnostics findings_of_files(const Diagnostics& all, std::uint32_t files, const std::set<std::string>& resources);

/// The program that the cluster's configuration makes, or would make with these files applied. `exit` where there is
/// none; stderr says why.
std::optional<ReadProgram> program_of_cluster(std::string_view command, const cli::Arguments& arguments,
                                              const std::vector<std::string>& files, const Compiling& how, int& exit);

/// The program that a command is about: of `paths`, or without any the one of the connected edge, which is what the
/// cluster's configuration makes, or where no cluster is configured what the agent of this machine runs. `exit` where
/// there is none; stderr says why.
std::optional<ReadProgram> program_of_paths_or_edge(std::string_view command, const cli::Arguments& arguments,
                                                    const std::vector<std::string>& paths, const Compiling& how,
                                                    int& exit);

}  // namespace edge::edgectl
