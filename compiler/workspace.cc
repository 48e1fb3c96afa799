#include "compiler/workspace.h"

#include <chrono>
#include <utility>

#include <malloc.h>

#include "compiler/compile.h"
#include "compiler/workspace_link.h"
#include "compiler/workspace_resources.h"

namespace edge::compiler {

using Clock = std::chrono::steady_clock;

namespace {

/// So many documents at once leave pages full of holes where YAML was read, of which the stages to come use few.
constexpr std::size_t kManyDocuments = 1000;

}  // namespace

struct Workspace::State {
  explicit State(CompileOptions options) : compiler(std::move(options)) {}

  WorkspaceResources resources;
  WorkspaceLink link;
  Compiler compiler;
  Diagnostics compile_said;
  std::vector<ResourceStatus> compile_statuses;
  WorkspaceStats stats;
};

Workspace::Workspace(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
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
  state.stats.routes_linked = change.routes_linked;
  state.stats.linked_whole = change.whole;
  if (edits.size() >= kManyDocuments) ::malloc_trim(0);
  state.stats.link = Clock::now() - decoded;

  state.compile_said = Diagnostics();
  // A whole compile looks at every host, and lowers those that are made from something else now.
  auto artifact = change.whole || change.settings
                      ? state.compiler.compile(state.link.config(), state.compile_said)
                      : state.compiler.recompile(state.link.config(), change.routes, state.compile_said);
  if (artifact) state.compile_statuses = artifact->statuses;
  return artifact;
}

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
