#include "compiler/workspace.h"

#include <chrono>
#include <set>
#include <utility>

#include <malloc.h>

#include "compiler/compile.h"
#include "compiler/link/linked_config.h"
#include "compiler/workspace_link.h"
#include "compiler/workspace_resources.h"

namespace edge::compiler {

using Clock = std::chrono::steady_clock;

namespace {

/// So many documents at once leave pages full of holes where YAML was read, of which the stages to come use few.
constexpr std::size_t kManyDocuments = 1000;

}  // namespace

struct Workspace::State {
  State(CompileOptions with, ValuesSource position)
      : resources(with.certificate_directories), options(std::move(with)), compiler(options), values(position) {}

  std::optional<Artifact> compile(const WorkspaceLink::Change& change);
  std::optional<Artifact> compile_groups(const std::vector<std::string>& groups);
  void say_of_group(const Diagnostics& said);

  WorkspaceResources resources;
  WorkspaceLink link;
  CompileOptions options;
  Compiler compiler;
  std::map<std::string, Compiler> group_compilers;
  std::map<std::string, GroupProgram> group_programs;
  ValuesSource values;
  std::optional<Artifact> last;  ///< of these documents, but for those that are being applied
  Diagnostics compile_said;
  std::vector<ResourceStatus> compile_statuses;
  WorkspaceStats stats;
};

Workspace::Workspace(CompileOptions options, ValuesSource values)
    : state_(std::make_unique<State>(std::move(options), values)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::optional<Artifact> Workspace::apply(const std::vector<DocumentEdit>& edits) {
  State& state = *state_;
  state.stats = {};
  const Clock::time_point start = Clock::now();
  WorkspaceResources::Touched touched;
  for (const DocumentEdit& edit : edits) {
    state.resources.put(edit.document, edit.text, touched);
    if (edit.text) ++state.stats.documents_decoded;
  }
  const Clock::time_point decoded = Clock::now();
  state.stats.decode = decoded - start;
  const WorkspaceLink::Change change = state.link.update(state.resources, touched);
  if (state.values == ValuesSource::kDocuments) state.link.add_values(state.resources);
  state.stats.routes_linked = change.routes_linked;
  state.stats.linked_whole = change.whole;
  if (edits.size() >= kManyDocuments) ::malloc_trim(0);
  state.stats.link = Clock::now() - decoded;

  if (state.last && change.nothing && !state.last->lacks_databases) {
    CompileStats stats;
    stats.hosts = state.last->stats.hosts;
    stats.cache_fault = state.last->stats.cache_fault;
    state.last->stats = std::move(stats);
    return state.last;
  }
  state.stats.compiled = true;
  state.compile_said = Diagnostics();
  state.last = state.compile(change);
  if (state.last) state.compile_statuses = state.last->statuses;
  return state.last;
}

std::optional<Artifact> Workspace::State::compile(const WorkspaceLink::Change& change) {
  const LinkedConfig& config = link.config();
  const std::vector<std::string> groups = agent_groups(config);
  if (!groups.empty()) return compile_groups(groups);
  // What was compiled last may have been the part that is for all.
  const bool was_part = !group_programs.empty();
  group_programs.clear();
  group_compilers.clear();
  // A whole compile looks at every host, and lowers those that are made from something else now.
  return change.whole || change.settings || was_part ? compiler.compile(config, compile_said)
                                                     : compiler.recompile(config, change.routes, compile_said);
}

std::optional<Artifact> Workspace::State::compile_groups(const std::vector<std::string>& groups) {
  // Whatever fails, the next compile is whole.
  std::map<std::string, GroupProgram> made;
  for (const std::string& name : groups) made[name] = {};
  group_programs = made;
  auto artifact = compiler.compile(config_of_group(link.config(), {}), compile_said);
  if (!artifact) return std::nullopt;
  std::erase_if(group_compilers, [&](const auto& known) { return !made.contains(known.first); });
  for (auto& [name, program] : made) {
    Diagnostics said;
    Compiler& of_group = group_compilers.try_emplace(name, options).first->second;
    auto part = of_group.compile(config_of_group(link.config(), name), said);
    say_of_group(said);
    if (!part) return std::nullopt;
    program = {std::move(part->bytes), part->hash};
    artifact->lacks_databases |= part->lacks_databases;
    artifact->statuses.insert(artifact->statuses.end(), part->statuses.begin(), part->statuses.end());
  }
  group_programs = std::move(made);
  return artifact;
}

/// What stands in the programs of several groups is told once.
void Workspace::State::say_of_group(const Diagnostics& said) {
  std::set<std::string> known;
  for (const Diagnostic& diagnostic : compile_said.all()) known.insert(diagnostic.resource);
  for (const Diagnostic& diagnostic : said.all()) {
    if (!known.contains(diagnostic.resource)) compile_said.add(diagnostic);
  }
}

const std::map<std::string, GroupProgram>& Workspace::group_programs() const { return state_->group_programs; }

const WorkspaceStats& Workspace::stats() const { return state_->stats; }
const program::EndpointSet& Workspace::endpoints() const { return state_->link.config().endpoints; }

const program::SecretSet& Workspace::secrets() const { return state_->link.config().secrets; }
const LinkedConfig& Workspace::config() const { return state_->link.config(); }
std::vector<ResourceStatus> Workspace::statuses() const {
  std::vector<ResourceStatus> all = state_->link.statuses();
  all.insert(all.end(), state_->compile_statuses.begin(), state_->compile_statuses.end());
  sort_and_merge(all);
  return all;
}
const std::string& Workspace::document(std::uint32_t number) const { return state_->resources.document(number); }

Diagnostics Workspace::diagnostics_of_linking() const {
  Diagnostics said;
  state_->link.report(said);
  return said;
}

Diagnostics Workspace::diagnostics() {
  State& state = *state_;
  Diagnostics all;
  state.resources.report(all);
  state.resources.with_all([&](const model::ResourceSet& resources) { lint_resources(resources, all); });
  state.link.report(all);
  all.append(state.compile_said);
  return all;
}

}  // namespace edge::compiler
