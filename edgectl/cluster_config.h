// Uses a cluster's objects as configuration, in addition to files or instead of them.
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

/// The operand for the cluster.
inline constexpr std::string_view kClusterOperand = "@cluster";

/// Returns `ProxyRoute shop/api` and so on for all resources in the texts.
std::set<std::string> resources_in(const SourceMap& sources);

/// Adds a text for each kind that the compiler reads, with the cluster's objects except `resources`: as if the files
/// had been applied. Kinds that the cluster does not serve are skipped.
kube::Failure add_cluster(Cluster& cluster, const std::set<std::string>& resources, SourceMap& sources);

/// Returns the diagnostics of the first `files` texts, or of resources in them.
Diagnostics findings_of_files(const Diagnostics& all, std::uint32_t files, const std::set<std::string>& resources);

/// Returns the program that the cluster's configuration compiles to, or would with these files applied. On failure sets
/// `exit`; stderr says why.
std::optional<ReadProgram> program_of_cluster(std::string_view command, const cli::Arguments& arguments,
                                              const std::vector<std::string>& files, const Compiling& how, int& exit);

/// Objects that a cluster is about to have: JSON, in place of those of their names; and those that it will not have.
struct Upcoming {
  std::vector<std::string> objects{};
  std::set<std::string> gone{};  ///< as resource_key has them
};
std::string resource_key(const std::string& kind, const std::string& name_space, const std::string& name);

/// Returns the program that a cluster's configuration compiles to with `upcoming` applied.
std::optional<ReadProgram> program_of_upcoming(std::string_view command, Cluster& cluster, const Upcoming& upcoming,
                                               const Compiling& how, int& exit);

/// Returns the program that agents of a spoke are given (resources/spoke.h).
std::optional<ReadProgram> program_of_spoke(std::string_view command, const cli::Arguments& arguments, int& exit);

/// Returns the program for a command: from `paths`, or without any from the connected edge, which is the cluster's
/// compiled configuration, or, where no cluster is configured, the program of the agent on this machine. On failure
/// sets `exit`; stderr says why.
std::optional<ReadProgram> program_of_paths_or_edge(std::string_view command, const cli::Arguments& arguments,
                                                    const std::vector<std::string>& paths, const Compiling& how,
                                                    int& exit);

}  // namespace edge::edgectl
