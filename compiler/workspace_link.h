// The linked configuration of a Workspace, of which parts are linked again while the rest stays.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/translate/translate.h"
#include "compiler/workspace_resources.h"
#include "program/read.h"

namespace edge::compiler {

/// Routes, backends and policies keep their indices in the vectors of the configuration; a removed one leaves an entry
/// without a name. So an edit changes no index. Not thread-safe.
class WorkspaceLink {
 public:
  using Names = WorkspaceResources::Names;
  using Touched = WorkspaceResources::Touched;

  struct Change {
    bool nothing = false;               ///< no program depends on what was touched
    bool whole = false;                 ///< anything may have changed
    bool settings = false;              ///< of gateways or listeners: any host may change, though no route does
    std::vector<std::uint32_t> routes;  ///< unless `whole`: their indices
    std::size_t routes_linked = 0;
  };
  /// Links what depends on the touched names.
  Change update(WorkspaceResources& resources, const Touched& touched);
  /// Computes endpoints and secrets, which statuses() and report() then include.
  void add_values(WorkspaceResources& resources);
  /// Resets everything.
  void clear() { *this = {}; }

  const LinkedConfig& config() const { return config_; }
  std::vector<ResourceStatus> statuses() const;
  void report(Diagnostics& diagnostics) const;

 private:
  /// Findings of linking about the routes of one name and their policies.
  struct Found {
    std::vector<Diagnostic> said;
    std::vector<ResourceStatus> statuses;
  };
  /// Maps indices of a separately linked part to indices here.
  struct PartIndexes {
    std::vector<std::uint32_t> backends;
    std::vector<std::uint32_t> policies;
  };
  using IndexByName = std::unordered_map<std::string, std::uint32_t>;
  using Owners = std::unordered_map<std::string, std::string>;

  std::optional<Names> depending_on(WorkspaceResources& resources, const Touched& touched) const;
  Change link_whole(WorkspaceResources& resources);
  std::optional<Change> link_part(WorkspaceResources& resources, const Names& names);
  Names with_found_translated(Names names) const;
  translate::KeptTranslation kept_without(const WorkspaceResources& resources, const Names& names) const;
  bool needs_all_names(const WorkspaceResources& resources, const LinkedConfig& part, const Names& names) const;
  void keep_found(const Owners& owners, const Diagnostics& said, std::vector<ResourceStatus> statuses);
  PartIndexes take_shared(LinkedConfig& part, const Owners& owners, const Names& names);
  std::vector<std::uint32_t> take_routes(std::vector<LinkedRoute>& routes, const PartIndexes& indexes,
                                         const Names& names);

  LinkedConfig config_;
  bool linked_ = false;
  program::Hash world_{};
  program::Hash settings_{};
  translate::KeptTranslation kept_;
  IndexByName routes_;  ///< by `Kind ns/name`
  /// Routes in routes_ made from an Ingress, by the Ingress: one per host.
  std::unordered_map<std::string, std::set<std::string>> of_ingresses_;
  IndexByName backends_;  ///< by `ns/name`
  std::vector<std::uint32_t> free_routes_, free_backends_, free_policies_;
  IndexByName policies_;  ///< by `Kind ns/name`
  /// The route that a policy is linked with, by the policy's `Kind ns/name`; missing: it is linked with everything
  /// else.
  std::unordered_map<std::string, std::string> routes_of_policies_;
  std::map<std::string, Found> found_;  ///< by `Kind ns/name` of the route
  Found found_of_others_;
  Diagnostics said_of_values_;  ///< the statuses are in config_
};

}  // namespace edge::compiler
