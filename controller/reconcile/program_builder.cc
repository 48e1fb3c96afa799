#include "controller/reconcile/program_builder.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "program/sha256.h"
#include "schemas/left_empty.h"

namespace edge::controller {
namespace {

using compiler::DocumentEdit;
using compiler::ResourceStatus;

constexpr std::string_view kRefused = "no program can be made with it";
constexpr std::string_view kUntried =
    "no program can be made with what came together with it, and to try each alone would take too long; it is tried "
    "again once it changes";

constexpr int kMostTrials = 64;
constexpr int kFewestTrials = 16;
constexpr std::size_t kMostCompiledInTrials = 200'000;  ///< resources, once for every run

program::Hash hash_of(std::string_view text) { return program::sha256(std::as_bytes(std::span(text))); }

std::string text_of(const ResourceStatus& status) { return resource_text(status.kind, status.name_space, status.name); }

auto name_of(const ResourceStatus& status) { return std::tie(status.kind, status.name_space, status.name); }

std::vector<DocumentEdit> as_edits(const std::map<std::string, std::optional<std::string>>& texts) {
  std::vector<DocumentEdit> edits;
  for (const auto& [name, text] : texts) edits.push_back({name, text});
  return edits;
}

/// The first error that is told of each of these resources, and how many more there are.
std::map<std::string, std::string> complaints(const Diagnostics& diagnostics, const std::set<std::string>& resources) {
  std::map<std::string, std::string> first;
  std::map<std::string, std::size_t> more;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::kError || !resources.contains(diagnostic.resource)) continue;
    const std::string text =
        diagnostic.field.empty() ? diagnostic.message : diagnostic.field + ": " + diagnostic.message;
    if (!first.emplace(diagnostic.resource, text).second) ++more[diagnostic.resource];
  }
  for (const auto& [resource, count] : more) first[resource] += " (and " + std::to_string(count) + " more)";
  return first;
}

/// `status` with what was said of it in place of the linker's general word. `left_empty`: about a field that is not in
/// the object.
ResourceStatus with_complaint(ResourceStatus status, const std::string& complaint, std::int64_t standing_in,
                              bool left_empty) {
  for (compiler::Condition& condition : status.conditions) {
    if (condition.type != compiler::condition::kAccepted) continue;
    if (!complaint.empty()) condition.message = complaint;
    if (left_empty) {
      condition.message += "; empty is what the annotation " + std::string(schemas::kLastApplied) +
                           " has: apply the file again, or remove the annotation";
    }
    if (standing_in != 0) {
      condition.message += "; generation " + std::to_string(standing_in) + " of it stays in force";
    }
  }
  return status;
}

/// Of a resource with which no program could be vouched for.
ResourceStatus refused_status(const ResourceId& key, std::int64_t generation, std::string_view message) {
  ResourceStatus status{.kind = key.kind, .name_space = key.qualified_namespace(), .name = key.name};
  status.observed_generation = generation;
  compiler::set_condition(status.conditions,
                          {std::string(compiler::condition::kAccepted), compiler::ConditionStatus::kFalse,
                           std::string(compiler::reason::kInvalid), std::string(message)});
  return status;
}

}  // namespace

ProgramBuilder::ProgramBuilder(compiler::CompileOptions compile, StatusBuilderOptions status_options,
                               SoundVersions sound, NodeAddresses node_addresses)
    : values_(node_addresses, compile.certificate_directories.value_or(std::vector<std::string>())),
      workspace_(std::move(compile), compiler::ValuesSource::kElsewhere),
      status_options_(std::move(status_options)),
      sound_(std::move(sound)) {}

std::optional<ReconcileResult> ProgramBuilder::apply(std::vector<ObjectEdit> edits) {
  std::vector<DocumentEdit> documents;
  Tried tried;
  ReconcileResult result;
  // Before ConfigMaps that come with them: values that are named are kept.
  for (const ObjectEdit& edit : edits) {
    if (!BodyMemory::may_name(edit.key.kind) || !edit.object) continue;
    bodies_.name_values(edit.key.text(), NamingVersion::kCurrent, edit.object->document);
  }
  for (ObjectEdit& edit : edits) {
    if (!put_off(edit)) take(std::move(edit), documents, tried, result);
  }
  take_put_off(documents, tried, result);
  add_named_bodies(documents, tried);
  if (documents.empty() && started_) return values_alone(std::move(result));
  add_given_addresses(tried, documents);
  const std::vector<std::string> naming = naming_objects(tried);
  const auto artifact = compile(documents, tried, result);
  name_versions_in_force(naming);
  result.stats = workspace_.stats();
  if (!artifact) {
    if (started_) give_values(result);
    return result;
  }
  started_ = true;
  result.compile = artifact->stats;
  finish(*artifact, tried, result);
  return result;
}

std::optional<ReconcileResult> ProgramBuilder::add_databases() {
  if (!lacks_databases_ || !started_) return std::nullopt;
  ReconcileResult result;
  const std::vector<std::string> naming = naming_objects({});
  auto artifact = run({}, result);
  if (artifact) {
    const std::vector<DocumentEdit> back = settle({}, result);
    if (!back.empty()) artifact = run(back, result);
  } else if (!compiler_failed_) {
    artifact = compile_without(unsettle(), result);
  }
  name_versions_in_force(naming);
  result.stats = workspace_.stats();
  if (!artifact) {
    give_values(result);
    return result;
  }
  result.compile = artifact->stats;
  finish(*artifact, {}, result);
  return result;
}

void ProgramBuilder::remove(const ResourceId& key, std::vector<DocumentEdit>& documents, Tried& tried,
                            ReconcileResult& result) {
  const std::string name = key.text();
  const auto found = objects_.find(name);
  if (found == objects_.end()) return;
  result.cause.add(name, {});
  if (ValueIndex::holds(key.kind)) values_.remove(name);
  if (ValueIndex::leaves_something(key.kind)) documents.push_back({name, std::nullopt});
  tried.erase(name);
  tls_policies_.erase(name);
  if (key.kind == "ProxyVIP") pools_.remove(name);
  bodies_.remove(name);
  ingresses_.erase(name);
  unsettled_.erase(name);
  // Nothing is to stand in for it any more; the list is kept on disk, and would only grow.
  release(name, result);
  note_targets(found->second.object, false);
  objects_.erase(found);
}

void ProgramBuilder::take(ObjectEdit edit, std::vector<DocumentEdit>& documents, Tried& tried,
                          ReconcileResult& result) {
  if (!edit.object) return remove(edit.key, documents, tried, result);
  const std::string name = edit.key.text();
  if (edit.key.kind == "BackendTLSPolicy") tls_policies_.insert(name);
  if (edit.key.kind == "Ingress") ingresses_.insert(name);
  const auto [entry, added] = objects_.try_emplace(name);
  const bool was_there = !added;
  Known& known = entry->second;
  const bool another = was_there && known.object.uid != edit.object->uid;
  std::string text = std::exchange(edit.object->document, {});
  if (edit.key.kind == "ProxyVIP") text = pools_.put(name, std::move(text));
  if (BodyMemory::may_name(edit.key.kind)) bodies_.name_values(name, NamingVersion::kCurrent, text);
  if (edit.key.kind == "ConfigMap") text = bodies_.put(name, std::move(text), edit.object->values_dropped);
  if (ValueIndex::holds(edit.key.kind)) {
    auto left = values_.put(edit.key.kind, name, text);
    text = left ? *std::move(left) : std::string();
  }
  const program::Hash document = hash_of(text);
  const bool same = was_there && known.document == document && !another;
  if (was_there) note_targets(known.object, false);
  known.object = *std::move(edit.object);
  note_targets(known.object, true);
  if (same) {
    stale_statuses_.insert(name);  // its generation may be another
    return;
  }
  if (another) {
    known.sound.clear();
    known.held.reset();
    unsettled_.erase(name);
  }
  const auto kept = sound_.find(name);
  if (kept != sound_.end() && known.sound.empty() && kept->second.uid == known.object.uid) {
    known.sound = kept->second.document;
    if (BodyMemory::may_name(edit.key.kind)) bodies_.name_values(name, NamingVersion::kSound, known.sound);
    known.sound_generation = kept->second.generation;
  }
  known.document = document;
  result.cause.add(name, known.object.changed_by);
  if (!ValueIndex::leaves_something(edit.key.kind)) return;
  // Of two texts in one batch the later holds.
  if (tried.contains(name))
    std::erase_if(documents, [&](const DocumentEdit& present) { return present.document == name; });
  documents.push_back({name, text});
  tried[name] = std::move(text);
}

std::optional<compiler::Artifact> ProgramBuilder::run(const std::vector<DocumentEdit>& documents,
                                                      ReconcileResult& result) {
  ++result.runs;
  auto artifact = workspace_.apply(documents);
  lacks_databases_ = artifact && artifact->lacks_databases;
  compiler_failed_ = false;
  if (!artifact) {
    const Diagnostics said = workspace_.diagnostics();
    compiler_failed_ = std::ranges::any_of(
        said.all(), [](const Diagnostic& diagnostic) { return diagnostic.code == DiagnosticCode::kCompilerFault; });
    for (const Diagnostic& diagnostic : said.all()) {
      if (diagnostic.severity != Severity::kError) continue;
      result.fault = diagnostic.resource + ": " + diagnostic.message;
      break;
    }
    if (result.fault.empty()) result.fault = "no program could be made";
    return std::nullopt;
  }
  note_statuses(workspace_.statuses());
  pools_.note(statuses_);
  return artifact;
}

std::optional<compiler::Artifact> ProgramBuilder::compile(const std::vector<DocumentEdit>& documents,
                                                          const Tried& tried, ReconcileResult& result) {
  auto artifact = run(documents, result);
  // Everything is tried at first: without it agents would close every listener, and the program of before serves on.
  if (!artifact) return started_ ? compile_without(tried, result) : std::nullopt;
  std::vector<DocumentEdit> back = hold_back(tried, result);
  for (DocumentEdit& edit : settle(tried, result)) back.push_back(std::move(edit));
  return back.empty() ? std::move(artifact) : run(back, result);
}

/// With what of `tried` a program can be made with.
std::optional<compiler::Artifact> ProgramBuilder::compile_without(const Tried& tried, ReconcileResult& result) {
  const std::vector<DocumentEdit> back = undo(tried, result);
  if (back.empty()) return std::nullopt;
  auto artifact = run(back, result);
  if (artifact) artifact = try_bystanders(*std::move(artifact), tried, result);
  return artifact ? try_apart(*std::move(artifact), tried, result) : std::nullopt;
}

/// What was sound before, in the place of what was tried.
std::vector<DocumentEdit> ProgramBuilder::as_sound(const Tried& tried) const {
  std::vector<DocumentEdit> back;
  for (const auto& [name, text] : tried) {
    const Known& known = objects_.at(name);
    if (known.sound != text) back.push_back({name, known.sound.empty() ? std::nullopt : std::optional(known.sound)});
  }
  return back;
}

/// Without what was tried last, as far as that can be told: the next best that can be vouched for.
std::vector<DocumentEdit> ProgramBuilder::undo(const Tried& tried, ReconcileResult& result) {
  for (const auto& [name, text] : tried) {
    Known& known = objects_.at(name);
    if (keeps_sound_version(known.object.key.kind)) {
      hold(name, known, refused_status(known.object.key, known.object.generation, kRefused), result);
    } else {
      // It is out, so whoever brings the same text again brings something new.
      known.document = {};
    }
  }
  return as_sound(tried);
}

/// Secrets, Services and the like have no version that stands in for them, and came with what no program can be made
/// with by chance: they are tried once more by themselves. `without` is the program without them.
std::optional<compiler::Artifact> ProgramBuilder::try_bystanders(compiler::Artifact without, const Tried& tried,
                                                                 ReconcileResult& result) {
  std::vector<DocumentEdit> there;
  std::vector<DocumentEdit> gone;
  for (const auto& [name, text] : tried) {
    if (keeps_sound_version(objects_.at(name).object.key.kind)) continue;
    there.push_back({name, text});
    gone.push_back({name, std::nullopt});
  }
  if (there.empty()) return without;
  auto with = run(there, result);
  if (!with) return run(gone, result);
  for (const DocumentEdit& edit : there) objects_.at(edit.document).document = hash_of(*edit.text);
  return with;
}

int ProgramBuilder::most_trials(std::size_t objects) {
  const std::size_t affordable = kMostCompiledInTrials / std::max<std::size_t>(objects, 1);
  return std::clamp(static_cast<int>(std::min<std::size_t>(affordable, kMostTrials)), kFewestTrials, kMostTrials);
}

/// Most of what was held because it came together is sound: halves of it are tried by themselves, and halves of those
/// that fail, so that in the end what no program can be made with is held alone. `without` is the program without them.
std::optional<compiler::Artifact> ProgramBuilder::try_apart(compiler::Artifact without, const Tried& tried,
                                                            ReconcileResult& result) {
  std::vector<Suspects> left(1);
  bool some_left_out = false;
  for (const auto& [name, text] : tried) {
    const Known& known = objects_.at(name);
    if (keeps_sound_version(known.object.key.kind)) {
      left[0].texts.emplace(name, text);
    } else {
      some_left_out |= known.document == program::Hash{};
    }
  }
  if (left[0].texts.empty()) return without;
  // All of them together are known to fail, where nothing that came with them was left out.
  left[0].known_to_fail = !some_left_out;
  std::optional<compiler::Artifact> best = std::move(without);
  const int last = result.runs + most_trials(objects_.size());
  // What failed last is taken back with what is tried next: there is no need of a program without it.
  std::map<std::string, std::optional<std::string>> edits;
  while (!left.empty() && result.runs < last) {
    const Suspects group = std::move(left.back());
    left.pop_back();
    if (!group.known_to_fail) {
      for (const auto& [name, text] : group.texts) edits[name] = text;
      best = run(as_edits(edits), result);
      edits.clear();
    }
    if (!group.known_to_fail && best) {
      for (const auto& [name, text] : group.texts) objects_.at(name).held.reset();
      const std::vector<DocumentEdit> back = hold_back(group.texts, result);
      if (!back.empty()) best = run(back, result);
      if (!best) break;
      if (group.first_half && back.empty()) left.back().known_to_fail = true;
      continue;
    }
    if (!group.known_to_fail) {
      for (DocumentEdit& edit : as_sound(group.texts)) edits[edit.document] = std::move(edit.text);
    }
    if (group.texts.size() == 1) continue;
    const auto middle = std::next(group.texts.begin(), static_cast<std::ptrdiff_t>(group.texts.size() / 2));
    left.push_back({.texts = {middle, group.texts.end()}});
    left.push_back({.texts = {group.texts.begin(), middle}, .first_half = true});
  }
  leave_held(left);
  return best ? std::move(best) : run(as_edits(edits), result);
}

/// There was no more time for these.
void ProgramBuilder::leave_held(const std::vector<Suspects>& untried) {
  for (const Suspects& group : untried) {
    if (group.known_to_fail && group.texts.size() == 1) continue;
    for (const auto& [name, text] : group.texts) {
      Known& known = objects_.at(name);
      known.held =
          std::make_unique<ResourceStatus>(refused_status(known.object.key, known.object.generation, kUntried));
    }
  }
}

std::vector<DocumentEdit> ProgramBuilder::hold_back(const Tried& tried, ReconcileResult& result) {
  std::vector<DocumentEdit> back;
  std::set<std::string> at_fault;
  for (const auto& [name, text] : tried) {
    Known& known = objects_.at(name);
    const ResourceId& key = known.object.key;
    if (!keeps_sound_version(key.kind)) continue;
    const ResourceStatus* status = compiler::find_status(statuses_, key.kind, key.qualified_namespace(), key.name);
    known.complaint.clear();
    if (!is_at_fault(status)) {
      accept(name, known, text, result);
      continue;
    }
    at_fault.insert(name);
    if (known.sound.empty() || known.sound == text) continue;
    hold(name, known, *status, result);
    back.push_back({name, known.sound});
  }
  if (!at_fault.empty()) explain(at_fault);
  return back;
}

void ProgramBuilder::accept(const std::string& document, Known& known, const std::string& text,
                            ReconcileResult& result) {
  if (lacks_databases_) {
    unsettled_.try_emplace(document, SoundBefore{known.sound, known.sound_generation});
  } else {
    unsettled_.erase(document);
  }
  known.sound = text;
  known.sound_generation = known.object.generation;
  known.held.reset();
  release(document, result);
}

/// What was accepted before its patterns were in databases, and is refused with them, never was sound: the version
/// before it is, in its place. Not of `tried`, which hold_back looks at.
std::vector<DocumentEdit> ProgramBuilder::settle(const Tried& tried, ReconcileResult& result) {
  std::vector<DocumentEdit> back;
  std::set<std::string> at_fault;
  for (auto next = unsettled_.begin(); next != unsettled_.end();) {
    const auto one = next++;
    const std::string& name = one->first;
    if (tried.contains(name)) continue;
    Known& known = objects_.at(name);
    const ResourceId& key = known.object.key;
    const ResourceStatus* status = compiler::find_status(statuses_, key.kind, key.qualified_namespace(), key.name);
    if (is_at_fault(status)) {
      at_fault.insert(name);
      known.sound = std::move(one->second.text);
      known.sound_generation = one->second.generation;
      if (!known.held && !known.sound.empty()) hold(name, known, *status, result);
      if (!known.sound.empty()) back.push_back({name, known.sound});
      unsettled_.erase(one);
    } else if (!lacks_databases_) {
      unsettled_.erase(one);
    }
  }
  if (!at_fault.empty()) explain(at_fault);
  return back;
}

/// As settle does with what is at fault, of all. \returns what was accepted.
ProgramBuilder::Tried ProgramBuilder::unsettle() {
  Tried tried;
  for (auto& [name, before] : std::exchange(unsettled_, {})) {
    Known& known = objects_.at(name);
    if (!known.held) tried.emplace(name, known.sound);
    known.sound = before.text;
    known.sound_generation = before.generation;
  }
  return tried;
}

void ProgramBuilder::hold(const std::string& document, Known& known, ResourceStatus status, ReconcileResult& result) {
  known.held = std::make_unique<ResourceStatus>(std::move(status));
  if (known.sound.empty()) return;
  SoundVersion version{known.object.uid, known.sound_generation, known.sound};
  SoundVersion& kept = sound_[document];
  result.sound_versions_changed |= kept != version;
  kept = std::move(version);
}

void ProgramBuilder::release(const std::string& document, ReconcileResult& result) {
  result.sound_versions_changed |= sound_.erase(document) != 0;
}

void ProgramBuilder::explain(const std::set<std::string>& at_fault) {
  for (auto& [resource, text] : complaints(workspace_.diagnostics(), at_fault)) {
    const auto known = objects_.find(resource);
    if (known != objects_.end()) known->second.complaint = text;
  }
}

/// Whose a target is decides whether a policy has a status for it, and that is said by the target.
void ProgramBuilder::note_targets(const ClusterObject& policy, bool there) {
  if (policy.key.kind != "ProxyPolicy") return;
  for (const ResourceId& target : targets_of(policy)) {
    if (there) {
      policies_on_[target.text()].insert(policy.key.text());
    } else if (const auto found = policies_on_.find(target.text()); found != policies_on_.end()) {
      found->second.erase(policy.key.text());
      if (found->second.empty()) policies_on_.erase(found);
    }
  }
}

void ProgramBuilder::note_statuses(std::vector<ResourceStatus> statuses) {
  auto before = statuses_.begin();
  auto now = statuses.begin();
  while (before != statuses_.end() || now != statuses.end()) {
    if (now == statuses.end() || (before != statuses_.end() && name_of(*before) < name_of(*now))) {
      stale_statuses_.insert(text_of(*before++));
    } else if (before == statuses_.end() || name_of(*now) < name_of(*before)) {
      stale_statuses_.insert(text_of(*now++));
    } else {
      if (*before != *now) stale_statuses_.insert(text_of(*now));
      ++before;
      ++now;
    }
  }
  statuses_ = std::move(statuses);
}

void ProgramBuilder::note_unserved() {
  if (ingresses_.empty() && unserved_.empty()) return;
  std::map<std::string, std::string> unserved;
  const Diagnostics diagnostics = workspace_.diagnostics_of_linking();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    // One of another controller's class is a note.
    if (diagnostic.code != DiagnosticCode::kOtherClass || diagnostic.severity != Severity::kWarning) continue;
    if (diagnostic.resource.starts_with("Ingress ")) unserved[diagnostic.resource] = diagnostic.message;
  }
  for (const auto* some : {&unserved_, &unserved}) {
    for (const auto& [name, why] : *some) {
      if (!unserved.contains(name) || !unserved_.contains(name)) stale_statuses_.insert(name);
    }
  }
  unserved_ = std::move(unserved);
}

void ProgramBuilder::finish(const compiler::Artifact& artifact, const Tried& tried, ReconcileResult& result) {
  result.program = artifact.bytes;
  result.hash = artifact.hash;
  result.lacks_databases = artifact.lacks_databases;
  program_ = artifact.bytes;
  group_programs_ = workspace_.group_programs();
  result.group_programs = group_programs_;
  if (wan_ == nullptr || workspace_.stats().linked_whole) {
    wan_ = std::make_shared<const compiler::LinkedWan>(workspace_.config().wan);
  }
  result.wan = wan_;
  values_.follow(workspace_.config());
  (void)values_.take_ordered_changed();
  result.certificates = values_.ordered();
  give_values(result);
  std::map<std::string, program::Hash> group_hashes;
  for (const auto& [group, program] : result.group_programs) group_hashes[group] = program.hash;
  result.program_changed = number_ == 0 || artifact.hash != hash_ || group_hashes != group_hashes_;
  group_hashes_ = std::move(group_hashes);
  if (result.program_changed) ++number_;
  result.number = number_;
  hash_ = artifact.hash;
  note_unserved();
  for (const auto& [name, text] : tried) {
    objects_.at(name).program = number_;
    stale_statuses_.insert(name);
    if (const auto on = policies_on_.find(name); on != policies_on_.end()) {
      stale_statuses_.insert(on->second.begin(), on->second.end());
    }
  }
  // Which gateways lead to their Services, any route may have changed.
  for (const std::string& name : tls_policies_) stale_statuses_.insert(name);
  // Which ProxyBackends other controllers' routes use alone, any route or gateway may have changed.
  if (has_gateways_of_others(workspace_.config(), statuses_)) {
    for (const auto& [name, known] : objects_) {
      if (known.object.key.kind == "ProxyBackend") stale_statuses_.insert(name);
    }
  }
  // What a route is attached to, anything may have changed.
  if (!workspace_.stats().linked_whole) return;
  for (const auto& [name, known] : objects_) {
    if (has_status(known.object.key.kind)) stale_statuses_.insert(name);
  }
}

std::vector<DesiredStatus> ProgramBuilder::build_statuses(std::size_t most) {
  std::vector<DesiredStatus> desired_statuses;
  StatusBuilder builder(status_options_, workspace_.config(), values_.values(), statuses_,
                        [this](const ResourceId& key) -> const ClusterObject* {
                          const auto found = objects_.find(key.text());
                          return found == objects_.end() ? nullptr : &found->second.object;
                        });
  for (; most > 0 && !stale_statuses_.empty(); --most) {
    const auto found = objects_.find(*stale_statuses_.begin());
    stale_statuses_.erase(stale_statuses_.begin());
    if (found == objects_.end() || !has_status(found->second.object.key.kind)) continue;
    if (found->second.object.only_compiled) continue;
    if (auto desired = build_status(builder, found->second)) desired_statuses.push_back(*std::move(desired));
  }
  return desired_statuses;
}

std::optional<DesiredStatus> ProgramBuilder::build_status(StatusBuilder& builder, Known& known) const {
  const ResourceId& key = known.object.key;
  const ResourceStatus* found =
      known.held ? known.held.get() : compiler::find_status(statuses_, key.kind, key.qualified_namespace(), key.name);
  std::optional<ResourceStatus> reported;
  if (is_at_fault(found)) {
    const std::int64_t standing_in = known.held && !known.sound.empty() ? known.sound_generation : 0;
    reported = with_complaint(*found, known.complaint, standing_in, known.object.left_empty);
  } else if (key.kind == "ProxyBackend") {
    for (compiler::Condition& condition : values_.conditions_of({key.qualified_namespace(), key.name})) {
      if (!reported && found != nullptr) reported = *found;
      if (!reported) reported = {.kind = key.kind, .name_space = key.qualified_namespace(), .name = key.name};
      compiler::set_condition(reported->conditions, std::move(condition));
    }
  }
  DesiredStatus desired = builder.build(known.object, reported ? &*reported : nullptr);
  desired.program = known.program;
  if (const auto why = unserved_.find(key.text()); why != unserved_.end() && desired.rejection.empty()) {
    desired.rejection = "NotServed: " + why->second;
  }
  const std::uint64_t said = hash_bytes(desired.program * 2 + (desired.servable ? 1 : 0), desired.status);
  std::uint64_t made = said;
  for (const MadeObject& object : desired.service ? objects_of(*desired.service) : std::vector<MadeObject>()) {
    made = hash_bytes(made, object.text);
  }
  const std::uint64_t hash = hash_bytes(hash_bytes(made, desired.rejection), known.object.uid) ^
                             (static_cast<std::uint64_t>(known.object.generation) << 1);
  if (std::exchange(known.reported, hash) == hash) return std::nullopt;
  return desired;
}

}  // namespace edge::controller
