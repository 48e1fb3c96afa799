// Builds programs and statuses from objects of the cluster, in batches. Without clock, thread or network;
// reconcile_loop.h adds those.
//
//   ClusterObject -> DocumentEdit -> Workspace -> ReconcileResult{program}, statuses
//                 -> ValueIndex                -> ReconcileResult{values}
//
// Endpoints, and Secrets with changed values, bypass the compiler: the program stays the same.
//
// An invalid resource takes nothing away: its last valid version is compiled, so that it is served no wider than
// before, and its status says so (decision 0058).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/workspace.h"
#include "controller/cluster_object.h"
#include "controller/endpoints/value_index.h"
#include "controller/publish/cause.h"
#include "controller/reconcile/body_memory.h"
#include "controller/reconcile/pool_memory.h"
#include "controller/reconcile/sound_versions.h"
#include "controller/status/desired_status.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// A new or changed object; without `object` a deleted one.
struct ObjectEdit {
  ResourceId key;
  std::optional<ClusterObject> object;
};

struct ReconcileResult {
  /// Null: no program could be made; the published one stays in force. `fault` says why.
  std::shared_ptr<const std::vector<std::byte>> program;
  program::Hash hash{};
  /// In addition to `program`: for groups of agents that gateways name.
  std::map<std::string, compiler::GroupProgram> group_programs;
  std::shared_ptr<const compiler::LinkedWan> wan;  ///< another object once it may be another
  program::ValueSet values;      ///< everything that the programs need, or the last values where there are no programs
  bool program_changed = false;  ///< any of the programs
  /// Some patterns have no database yet: a program with all of them follows, for the same resources.
  bool lacks_databases = false;
  bool values_changed = false;
  /// What other clusters are told; nullopt: the same as before.
  std::optional<OwnExports> exports{};
  /// To be ordered from CAs; null where there is no program, or nothing else than before.
  std::shared_ptr<const compiler::OrderedCertificates> certificates{};
  std::uint64_t number = 0;  ///< of the program, from 1
  Cause cause;
  std::string fault;
  bool sound_versions_changed = false;
  std::chrono::nanoseconds waited{};  ///< from the first change of the batch until its beginning
  std::chrono::nanoseconds took{};
  int runs = 0;  ///< of the compiler; more than one where a resource had to be held back, none for values only
  compiler::WorkspaceStats stats;
  compiler::CompileStats compile;  ///< of the last run, where several were needed
};

/// Not thread-safe.
class ProgramBuilder {
 public:
  ProgramBuilder(compiler::CompileOptions compile, StatusBuilderOptions status_options, SoundVersions sound = {},
                 NodeAddresses node_addresses = NodeAddresses::kAllowed);

  /// Certificate files, as in ValueIndex. The next apply() returns what look_at_files() has found.
  bool follows_files() const { return values_.follows_files(); }
  bool look_at_files() { return values_.look_at_files(); }
  std::vector<net::tls::CertificateFiles::Line> take_lines() { return values_.take_lines(); }

  /// Applies a batch. nullopt: neither a program nor its values have changed.
  std::optional<ReconcileResult> apply(std::vector<ObjectEdit> edits);
  /// Makes the program with the databases that the last one lacks. nullopt: it lacks none.
  std::optional<ReconcileResult> add_databases();
  /// Computes the statuses of up to `most` resources whose status may have changed, and returns those that differ from
  /// what was returned before. To be called until `statuses_complete`.
  std::vector<DesiredStatus> build_statuses(std::size_t most);
  bool statuses_complete() const { return stale_statuses_.empty(); }

  /// Objects of which values are needed that were not kept (BodyMemory): they are to be edited anew. Empties the list.
  std::vector<ResourceId> take_wanted();

  const SoundVersions& sound_versions() const { return sound_; }
  std::size_t objects() const { return objects_.size(); }

  /// Returns the limit of compiler runs for finding the resources in a batch that prevent a program. Each failing run
  /// is a full one, so the total time does not grow with the number of objects, except for a minimum.
  static int most_trials(std::size_t objects);

 private:
  struct Known {
    ClusterObject object;      ///< without its document
    program::Hash document{};  ///< of the text; zero: to be processed again, though the text is the same
    /// The text that was last accepted, for kinds that keep one.
    std::string sound;
    std::int64_t sound_generation = 0;
    /// Set while the valid version replaces the cluster's current one: the errors of that.
    std::unique_ptr<compiler::ResourceStatus> held;
    std::string complaint;  ///< the compiler's message about the invalid version
    std::uint64_t program = 0;
    std::uint64_t reported = 0;  ///< hash of the status returned last
  };
  /// The previous valid version, until the patterns of the next one are in databases: Hyperscan may still reject one.
  struct SoundBefore {
    std::string text;
    std::int64_t generation = 0;
  };
  /// Texts being tried, by document.
  using Tried = std::map<std::string, std::string>;
  /// A subset of the resources that failed together, in the search for those that fail alone.
  struct Suspects {
    Tried texts;
    bool known_to_fail = false;
    /// The half that is tried first: if it can be served, the other half is known to fail.
    bool first_half = false;
  };

  void add_given_addresses(const Tried& tried, std::vector<compiler::DocumentEdit>& documents);
  void add_named_bodies(std::vector<compiler::DocumentEdit>& documents, Tried& tried);
  void remove(const ResourceId& key, std::vector<compiler::DocumentEdit>& documents, Tried& tried,
              ReconcileResult& result);
  bool put_off(ObjectEdit& edit);
  void take_put_off(std::vector<compiler::DocumentEdit>& documents, Tried& tried, ReconcileResult& result);
  void take(ObjectEdit edit, std::vector<compiler::DocumentEdit>& documents, Tried& tried, ReconcileResult& result);
  std::optional<compiler::Artifact> compile(const std::vector<compiler::DocumentEdit>& documents, const Tried& tried,
                                            ReconcileResult& result);
  std::optional<compiler::Artifact> compile_without(const Tried& tried, ReconcileResult& result);
  std::optional<compiler::Artifact> run(const std::vector<compiler::DocumentEdit>& documents, ReconcileResult& result);
  std::vector<compiler::DocumentEdit> undo(const Tried& tried, ReconcileResult& result);
  std::optional<compiler::Artifact> try_bystanders(compiler::Artifact without, const Tried& tried,
                                                   ReconcileResult& result);
  std::optional<compiler::Artifact> try_apart(compiler::Artifact without, const Tried& tried, ReconcileResult& result);
  std::vector<compiler::DocumentEdit> as_sound(const Tried& tried) const;
  void leave_held(const std::vector<Suspects>& untried);
  std::vector<compiler::DocumentEdit> hold_back(const Tried& tried, ReconcileResult& result);
  void accept(const std::string& document, Known& known, const std::string& text, ReconcileResult& result);
  std::vector<compiler::DocumentEdit> settle(const Tried& tried, ReconcileResult& result);
  Tried unsettle();
  void hold(const std::string& document, Known& known, compiler::ResourceStatus status, ReconcileResult& result);
  void release(const std::string& document, ReconcileResult& result);
  void explain(const std::set<std::string>& at_fault);
  /// Records which Ingresses no controller serves, and why.
  void note_unserved();
  void note_targets(const ClusterObject& policy, bool there);
  void note_statuses(std::vector<compiler::ResourceStatus> statuses);
  std::vector<std::string> naming_objects(const Tried& tried) const;
  void name_versions_in_force(const std::vector<std::string>& objects);
  std::optional<ReconcileResult> values_alone(ReconcileResult result);
  void give_values(ReconcileResult& result);
  void finish(const compiler::Artifact& artifact, const Tried& tried, ReconcileResult& result);
  std::optional<DesiredStatus> build_status(StatusBuilder& builder, Known& known) const;

  ValueIndex values_;
  compiler::Workspace workspace_;
  StatusBuilderOptions status_options_;
  SoundVersions sound_;
  std::unordered_map<std::string, Known> objects_;  ///< by ResourceId::text(), as documents are named
  std::set<std::string> stale_statuses_;
  std::map<std::string, SoundBefore> unsettled_;  ///< of objects_, while the program lacks databases
  bool lacks_databases_ = false;                  ///< for the last compilation
  bool compiler_failed_ = false;                  ///< likewise: an error that no resource causes
  PoolMemory pools_;
  BodyMemory bodies_;
  std::map<std::string, ObjectEdit> put_off_;  ///< of objects_, until what they name is read again
  std::set<std::string> tls_policies_;         ///< of objects_
  std::set<std::string> ingresses_;            ///< of objects_
  /// ProxyPolicies of objects_ by what they name as target.
  std::unordered_map<std::string, std::set<std::string>> policies_on_;
  std::vector<compiler::ResourceStatus> statuses_;
  std::map<std::string, std::string> unserved_;  ///< Ingresses without an existing class, with the reason
  bool started_ = false;
  std::shared_ptr<const std::vector<std::byte>> program_;  ///< the last that could be made; below, those of groups
  std::map<std::string, compiler::GroupProgram> group_programs_;
  std::shared_ptr<const compiler::LinkedWan> wan_;
  program::Hash hash_{};
  std::map<std::string, program::Hash> group_hashes_;
  std::uint64_t number_ = 0;
};

}  // namespace edge::controller
