#include "compiler/compile.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "compiler/cache/compiled_hosts.h"
#include "compiler/cache/regex_sets.h"
#include "compiler/cache/served_hosts.h"
#include "compiler/checked_routes.h"
#include "compiler/emit/tables.h"
#include "compiler/host_shards.h"
#include "compiler/host_tables.h"
#include "compiler/ir/lower.h"
#include "compiler/link/backends/values.h"
#include "compiler/link/defaults.h"
#include "compiler/link/link.h"
#include "compiler/lint/lint.h"
#include "compiler/model/decode.h"
#include "compiler/opt/passes.h"
#include "compiler/translate/translate.h"
#include "program/write.h"

namespace edge::compiler {

// ---- read, decode, translate, lint, link --------------------------------------------------------------------------

namespace {

model::ResourceSet translated(model::ResourceSet resources, Diagnostics& diagnostics,
                              translate::KeptTranslation* kept = nullptr) {
  translate::append(translate::translate(resources, link::kDefaults.controller_class, diagnostics, kept), resources);
  return resources;
}

}  // namespace

LinkedConfig read_config(const SourceMap& sources, Diagnostics& diagnostics, std::string_view controller_class,
                         std::optional<std::vector<std::string>> certificate_directories) {
  model::ResourceSet resources = model::decode_all(sources, diagnostics);  // read, decode
  resources.certificate_directories = std::move(certificate_directories);
  translate::serve_class(controller_class, link::kDefaults.controller_class, resources);
  resources = translated(std::move(resources), diagnostics);  // translate
  lint::lint_all(resources, diagnostics);                     // lint
  return link::link(std::move(resources), diagnostics);       // link
}

LinkedConfig link_resources(model::ResourceSet resources, Diagnostics& diagnostics, translate::KeptTranslation& kept) {
  resources = translated(std::move(resources), diagnostics, &kept);
  return link::link_names(resources, diagnostics);
}

void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics) {
  link::add_values(resources, config, diagnostics);
}

void lint_resources(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  if (resources.api_gateways.empty() && resources.api_routes.empty() && resources.ingresses.empty()) {
    return lint::lint_all(resources, diagnostics);
  }
  // What translating has to say is told where it is linked.
  Diagnostics unheard(0);
  lint::lint_all(translated(resources, unheard), diagnostics);
}

// ---- lower, optimize, emit, prove, assemble, sign -----------------------------------------------------------------

namespace {

using program::HostHeader;
using program::SectionKind;
using program::SectionView;
using Keys = ServedHosts::Keys;

/// Replaces `blob` when the bytes differ.
void replace(program::BlobPtr& blob, std::vector<std::byte> bytes) {
  if (blob != nullptr && blob->bytes == bytes) return;
  blob = program::make_blob(std::move(bytes));
}

std::optional<DiskCache> open_cache(const CompileOptions& options, std::string& fault) {
  if (options.cache_dir.empty()) return std::nullopt;
  auto cache = DiskCache::open(options.cache_dir, options.cache_bytes);
  if (cache) return std::move(*cache);
  fault = cache.error().text;
  return std::nullopt;
}

RegexQueueOptions queue_options(const CompileOptions& options) {
  return {options.regex_worker, options.cache_dir, options.cache_bytes, options.databases_progressed};
}

std::nullopt_t report_fault(const std::string& stage, const Error& error, Diagnostics& diagnostics) {
  Diagnostic diagnostic{.code = DiagnosticCode::kCompilerFault};
  diagnostic.message = stage + ": " + error.text;
  diagnostic.notes.emplace_back("no program is made, since nothing could vouch for it");
  diagnostics.add(std::move(diagnostic));
  return std::nullopt;
}

}  // namespace

struct Compiler::State {
  explicit State(CompileOptions given)
      : options(std::move(given)),
        kept(open_cache(options, cache_fault)),
        regexes(options.databases, kept ? &*kept : nullptr, queue_options(options)),
        tables(routes, served, regexes, stats),
        shards(hosts, options.target, kept ? &*kept : nullptr) {}

  /// Hosts to be made anew.
  struct Stale {
    Keys hosts;
    bool others = false;  ///< hosts came or went
  };

  std::optional<Artifact> compile(const LinkedConfig& config, const std::vector<std::uint32_t>* changed,
                                  Diagnostics& diagnostics);
  std::optional<Artifact> stages(const LinkedConfig& config, Stale stale, Diagnostics& diagnostics);
  Stale stale_hosts(const LinkedConfig& config, const std::vector<std::uint32_t>* changed);
  Keys with_other_inputs(const LinkedConfig& config, const Keys& touched, bool trusted);
  std::vector<std::byte> assemble();
  std::set<std::uint64_t> regex_sets() const;
  bool lacks_databases() const;
  Keys with_sets(const LinkedConfig& config, const std::set<std::uint64_t>& sets) const;
  std::vector<ResourceStatus> statuses(const LinkedConfig& config) const;

  CompileOptions options;
  std::string cache_fault;
  std::optional<DiskCache> kept;
  CompileStats stats;
  CheckedRoutes routes;
  ServedHosts served;
  CompiledHosts hosts;
  RegexSets regexes;
  HostTables tables;
  HostShards shards;
  program::BlobPtr listeners;
  program::BlobPtr backends;
  program::BlobPtr policies;
  bool succeeded = false;
  std::optional<program::ProgramView> last;
};

/// Every stage, over the hosts that are stale; the sections of the others are taken as they are.
std::optional<Artifact> Compiler::State::stages(const LinkedConfig& config, Stale stale, Diagnostics& diagnostics) {
  auto works = tables.make(config, std::move(stale.hosts), [&](HostWork& work) {
    {
      const StageTimer timer(stats.lower);
      work.host = ir::lower_host(config, routes.prepared(), *work.key, *work.routes);  // lower
      opt::optimize(work.host);                                                        // optimize
    }
    const StageTimer timer(stats.emit);
    work.bytes = emit::emit_host(config, work.host, program::kNone);  // emit: tables
    ++stats.hosts_lowered;
  });
  if (!works) return report_fault("regular expressions", works.error(), diagnostics);
  {
    const StageTimer timer(stats.emit);
    shards.take(*works);
    if (stale.others) replace(listeners, emit::emit_listeners(config, served.in_order()));
    replace(backends, emit::emit_backends(config));
    replace(policies, emit::emit_policies(config));
  }
  {
    const StageTimer timer(stats.native);
    const auto built = shards.build();  // emit: native code
    if (!built) return report_fault("native code", built.error(), diagnostics);
    stats.native_shards_built = built->built;
    stats.native_shards_from_disk = built->from_disk;
  }
  if (options.prove) {
    const StageTimer timer(stats.prove);
    const auto proved = prove_hosts(config, *works, hosts, shards, regexes);  // prove
    if (!proved) return report_fault("native code", proved.error(), diagnostics);
    if (!*proved) return std::nullopt;
  }
  // Ids are hashes of names. Were two equal, one host would be served by the other's routes.
  if (hosts.size() != served.all().size())
    return report_fault("host ids", {ErrorCode::kInternal, "two hosts have the same id"}, diagnostics);
  Artifact artifact;
  {
    const StageTimer timer(stats.assemble);
    std::vector<std::byte> bytes = assemble();  // assemble
    if (options.key != nullptr) {
      if (Status status = options.key->sign(bytes); !status)  // sign
        return report_fault("signature", status.error(), diagnostics);
    }
    artifact.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    // Nothing leaves that a reader would refuse. Sections that it has seen cost a comparison.
    auto view = program::read(artifact.bytes, last ? &*last : nullptr);
    if (!view) return report_fault("program", view.error(), diagnostics);
    artifact.hash = view->hash();
    last = std::move(*view);
  }
  artifact.lacks_databases = lacks_databases();
  artifact.statuses = statuses(config);
  stats.hosts = hosts.size();
  stats.cache_fault = cache_fault;
  artifact.stats = stats;
  return artifact;
}

std::vector<std::byte> Compiler::State::assemble() {
  std::vector<program::SectionRef> sections;
  // In the order of the file: thousands are not to be sorted anew.
  sections.reserve(hosts.size() + 3);
  sections.push_back({SectionKind::kListeners, 0, listeners.get()});
  for (const auto* host : hosts.in_order())
    sections.push_back({SectionKind::kHost, host->first, host->second.section.get()});
  const std::map<std::uint32_t, program::BlobPtr> codes = shards.blobs();
  for (const auto& [shard, blob] : codes) sections.push_back({SectionKind::kNative, shard, blob.get()});
  const std::set<std::uint64_t> sets = regex_sets();
  std::vector<program::BlobPtr> databases;
  for (const std::uint64_t set : sets) {
    databases.push_back(regexes.database(set));
    sections.push_back({SectionKind::kRegex, set, databases.back().get()});
  }
  sections.push_back({SectionKind::kBackends, 0, backends.get()});
  sections.push_back({SectionKind::kPolicies, 0, policies.get()});
  regexes.keep(sets);
  return program::assemble_in_order(options.target, sections);
}

/// The sets of patterns that any host searches with.
std::set<std::uint64_t> Compiler::State::regex_sets() const {
  std::set<std::uint64_t> sets;
  for (const std::uint64_t id : hosts.with_patterns()) {
    const SectionView view(hosts.at(id).section->bytes);
    for (const auto& set : view.array(view.header<HostHeader>().regex_sets)) sets.insert(set.section_id);
  }
  return sets;
}

bool Compiler::State::lacks_databases() const {
  return std::ranges::any_of(regex_sets(), [this](std::uint64_t set) { return regexes.lacks_database(set); });
}

/// The hosts that search with any of `sets`.
Keys Compiler::State::with_sets(const LinkedConfig& config, const std::set<std::uint64_t>& sets) const {
  Keys keys;
  if (sets.empty()) return keys;
  std::unordered_set<std::uint64_t> ids;
  for (const std::uint64_t id : hosts.with_patterns()) {
    const SectionView view(hosts.at(id).section->bytes);
    const auto records = view.array(view.header<HostHeader>().regex_sets);
    if (std::ranges::any_of(records, [&](const auto& set) { return sets.contains(set.section_id); })) ids.insert(id);
  }
  for (const auto& [key, routes_of] : served.all())
    if (ids.contains(ir::host_id(config, key.listener, key.pattern))) keys.insert(keys.end(), key);
  return keys;
}

/// Of routes that are left out, and of all hosts; these by their ids, so that of two that say the same of a route
/// always the same one is told.
std::vector<ResourceStatus> Compiler::State::statuses(const LinkedConfig& config) const {
  std::vector<ResourceStatus> all = routes.statuses(config);
  for (const std::uint64_t id : hosts.remarkable())
    all.insert(all.end(), hosts.at(id).shadowed.begin(), hosts.at(id).shadowed.end());
  sort_and_merge(all);
  return all;
}

// ---- What is made anew --------------------------------------------------------------------------------------------

/// `changed`: the routes that were replaced since the last compile; null: any may have been.
std::optional<Artifact> Compiler::State::compile(const LinkedConfig& config, const std::vector<std::uint32_t>* changed,
                                                 Diagnostics& diagnostics) {
  stats = {};
  Stale stale = stale_hosts(config, succeeded ? changed : nullptr);
  succeeded = false;
  auto artifact = stages(config, std::move(stale), diagnostics);
  succeeded = artifact.has_value();
  routes.report(diagnostics);
  for (const std::uint64_t id : hosts.remarkable())
    for (const Diagnostic& remark : hosts.at(id).remarks) diagnostics.add(remark);
  return artifact;
}

Compiler::State::Stale Compiler::State::stale_hosts(const LinkedConfig& config,
                                                    const std::vector<std::uint32_t>* changed) {
  const StageTimer timer(stats.lower);
  const bool trusted = succeeded && routes.refused().empty();
  const std::set<std::uint64_t> made = regexes.take_made();
  if (changed != nullptr) {
    for (const std::uint32_t route : *changed) routes.check(config, route);
    const ServedHosts::Moved moved = served.move(config, *changed);
    for (const ir::HostKey& key : moved.gone) hosts.erase(ir::host_id(config, key.listener, key.pattern));
    Keys stale = with_other_inputs(config, moved.touched, trusted);
    stale.merge(with_sets(config, made));
    return {std::move(stale), moved.added || !moved.gone.empty()};
  }
  routes.check_all(config);
  served.collect(config);
  Keys all;
  std::unordered_set<std::uint64_t> ids;
  for (const auto& [key, routes_of] : served.all()) {
    all.insert(all.end(), key);
    ids.insert(ir::host_id(config, key.listener, key.pattern));
  }
  hosts.erase_all_but(ids);
  Keys stale = with_other_inputs(config, all, trusted);
  stale.merge(with_sets(config, made));
  return {std::move(stale), true};
}

/// Those of `touched` whose inputs are not what they were. A host of which there was something to say is stale, too:
/// what is said points into the texts as they are today.
Keys Compiler::State::with_other_inputs(const LinkedConfig& config, const Keys& touched, bool trusted) {
  Keys stale;
  for (const ir::HostKey& key : touched) {
    const std::uint64_t id = ir::host_id(config, key.listener, key.pattern);
    const program::Hash inputs = host_inputs(config, key, served.at(key).second);
    const program::Hash before = hosts.set_inputs(id, inputs);
    if (!trusted || inputs != before || !hosts.at(id).remarks.empty()) stale.insert(stale.end(), key);
  }
  return stale;
}

Compiler::Compiler(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

std::optional<Artifact> Compiler::compile(const LinkedConfig& config, Diagnostics& diagnostics) {
  if (has_overlaps(config)) return state_->compile(config_without_overlaps(config), nullptr, diagnostics);
  return state_->compile(config, nullptr, diagnostics);
}

std::optional<Artifact> Compiler::recompile(const LinkedConfig& config, const std::vector<std::uint32_t>& routes,
                                            Diagnostics& diagnostics) {
  return state_->compile(config, &routes, diagnostics);
}

}  // namespace edge::compiler
