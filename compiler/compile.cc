#include "compiler/compile.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/analyze/prove/prove.h"
#include "compiler/analyze/prove/prove_report.h"
#include "compiler/compile_hosts.h"
#include "compiler/compile_limits.h"
#include "compiler/compile_native.h"
#include "compiler/compile_refusals.h"
#include "compiler/compile_regex.h"
#include "compiler/compiled_hosts.h"
#include "compiler/emit/tables.h"
#include "compiler/ir/lower.h"
#include "compiler/opt/passes.h"
#include "program/write.h"

namespace edge::compiler {
namespace {

using program::HostHeader;
using program::kNone;
using program::SectionKind;
using program::SectionView;
using Keys = ServedHosts::Keys;

/// Adds the time until its end to one field of the stats.
class Timer {
 public:
  explicit Timer(std::chrono::nanoseconds& total) : total_(total), start_(Clock::now()) {}
  ~Timer() { total_ += Clock::now() - start_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds& total_;
  Clock::time_point start_;
};

/// A host on its way through the stages.
struct Work {
  const ir::HostKey* key;
  const std::vector<std::uint32_t>* routes;
  ir::Host host;
  std::vector<std::byte> bytes;

  SectionView view() const { return SectionView(bytes); }
};

std::uint32_t shard_of(std::uint64_t host_id, const CompiledHost& host, std::uint32_t shards) {
  return host.code == nullptr || shards == 0 ? kNone : static_cast<std::uint32_t>(host_id & (shards - 1));
}

void set_shard(std::vector<std::byte>& section, std::uint32_t shard) {
  std::memcpy(section.data() + offsetof(HostHeader, native_shard), &shard, sizeof shard);
}

/// Replaces `blob` when the bytes differ. \returns whether they did.
bool replace(program::BlobPtr& blob, std::vector<std::byte> bytes) {
  if (blob != nullptr && blob->bytes == bytes) return false;
  blob = program::make_blob(std::move(bytes));
  return true;
}

std::optional<DiskCache> open_cache(const CompileOptions& options, std::string& fault) {
  if (options.cache_dir.empty()) return std::nullopt;
  auto cache = DiskCache::open(options.cache_dir, options.cache_bytes);
  if (cache) return std::move(*cache);
  fault = cache.error().text;
  return std::nullopt;
}

/// Of a route that is left out, for its first error.
std::optional<ResourceStatus> refused_status(const LinkedRoute& route, const std::vector<Diagnostic>& remarks) {
  const auto error = std::ranges::find(remarks, Severity::kError, &Diagnostic::severity);
  if (error == remarks.end()) return std::nullopt;
  ResourceStatus status;
  status.kind = route.identity.kind;
  status.name_space = route.identity.name_space;
  status.name = route.identity.name;
  // Gateway API has no word for a route whose fields are at fault.
  const std::string_view why = status.kind == "ProxyRoute" ? reason::kInvalid : reason::kUnsupportedValue;
  set_condition(status.conditions, {std::string(condition::kAccepted), ConditionStatus::kFalse, std::string(why),
                                    error->field.empty() ? error->message : error->field + ": " + error->message});
  return status;
}

void report_fault(const std::string& stage, const Error& error, Diagnostics& diagnostics) {
  Diagnostic diagnostic{.code = DiagnosticCode::kCompilerFault};
  diagnostic.message = stage + ": " + error.text;
  diagnostic.notes.emplace_back("no program is made, since nothing could vouch for it");
  diagnostics.add(std::move(diagnostic));
}

}  // namespace

struct Compiler::State {
  explicit State(CompileOptions given)
      : options(std::move(given)),
        kept(open_cache(options, cache_fault)),
        regexes(options.regex_worker, kept ? &*kept : nullptr),
        natives(options.target, kept ? &*kept : nullptr) {}

  bool makes_code() const { return options.target != program::Target::kTablesOnly; }

  Keys stale_hosts(const LinkedConfig& config, const Keys& touched, bool trusted);
  std::optional<Artifact> run(const LinkedConfig& config, Keys stale, Diagnostics& diagnostics);
  std::optional<Artifact> stages(const LinkedConfig& config, Keys stale, Diagnostics& diagnostics);
  void prepare(const LinkedConfig& config, std::uint32_t route);
  void refuse(RouteRefusal refusal);
  bool pardon(const LinkedConfig& config, const Keys& keys);
  std::vector<Work> lower(const LinkedConfig& config, const Keys& stale);
  void lower(const LinkedConfig& config, Work& work);
  bool judge(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics);
  void bound(const LinkedConfig& config, std::vector<Work>& works);
  std::vector<Work*> lower_again(const LinkedConfig& config, const std::set<std::uint32_t>& routes,
                                 std::vector<Work>& works);
  bool compile_patterns(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics);
  void settle_sections(std::vector<Work>& works);
  void settle_shards(const std::vector<Work>& works);
  bool build_native(Diagnostics& diagnostics);
  bool prove(const LinkedConfig& config, const std::vector<Work>& works, Diagnostics& diagnostics);
  void emit_shared(const LinkedConfig& config, bool hosts_changed);
  std::vector<ResourceStatus> statuses(const LinkedConfig& config) const;
  std::set<std::uint64_t> regex_sets() const;
  std::optional<Artifact> assemble(const LinkedConfig& config, Diagnostics& diagnostics);

  CompileOptions options;
  std::string cache_fault;
  std::optional<DiskCache> kept;
  RegexSets regexes;
  NativeShards natives;
  ir::PreparedRoutes prepared;
  ServedHosts served;
  CompiledHosts hosts;
  /// Routes that were refused for what they are together with others: a set of patterns, a host's size.
  std::set<std::uint32_t> refused;
  /// What was said of single routes.
  std::map<std::uint32_t, std::vector<Diagnostic>> route_remarks;
  bool succeeded = false;
  std::uint32_t shards = 0;
  program::BlobPtr listeners;
  program::BlobPtr backends;
  program::BlobPtr policies;
  std::optional<program::ProgramView> last;
  CompileStats stats;
};

// ---- The stages ---------------------------------------------------------------------------------------------------

/// Brings the hosts that are stale up to date, and makes the program of them and of those that are not.
std::optional<Artifact> Compiler::State::run(const LinkedConfig& config, Keys stale, Diagnostics& diagnostics) {
  succeeded = false;
  auto artifact = stages(config, std::move(stale), diagnostics);
  succeeded = artifact.has_value();
  for (const auto& [route, remarks] : route_remarks)
    for (const Diagnostic& remark : remarks) diagnostics.add(remark);
  for (const std::uint64_t id : hosts.remarkable())
    for (const Diagnostic& remark : hosts.at(id).remarks) diagnostics.add(remark);
  return artifact;
}

std::optional<Artifact> Compiler::State::stages(const LinkedConfig& config, Keys stale, Diagnostics& diagnostics) {
  // Whether a route is refused depends on the routes that share hosts with it, so those are judged together.
  if (!refused.empty()) {
    Keys together = served.together(stale);
    if (pardon(config, together)) stale = std::move(together);
  }
  const std::size_t refused_before = refused.size();
  std::vector<Work> works = lower(config, stale);
  if (!judge(config, works, diagnostics)) return std::nullopt;
  if (refused.size() != refused_before) {
    // A route that is refused now leaves hosts that were not at work, too.
    Keys together = served.together(stale);
    if (together.size() != stale.size()) {
      pardon(config, together);
      works = lower(config, together);
      if (!judge(config, works, diagnostics)) return std::nullopt;
    }
  }
  settle_sections(works);
  if (!build_native(diagnostics)) return std::nullopt;
  if (options.prove && !prove(config, works, diagnostics)) return std::nullopt;
  return assemble(config, diagnostics);
}

void Compiler::State::prepare(const LinkedConfig& config, std::uint32_t route) {
  Diagnostics found;
  prepared.prepare_one(config, route, found);
  if (found.all().empty()) {
    route_remarks.erase(route);
  } else {
    route_remarks[route] = found.all();
  }
}

void Compiler::State::refuse(RouteRefusal refusal) {
  refused.insert(refusal.route);
  prepared.refuse(refusal.route);
  route_remarks[refusal.route].push_back(std::move(refusal.diagnostic));
}

/// Gives the refused routes of these hosts another chance. \returns whether there were any.
bool Compiler::State::pardon(const LinkedConfig& config, const Keys& keys) {
  std::set<std::uint32_t> routes;
  for (const ir::HostKey& key : keys) {
    for (const std::uint32_t route : served.at(key).second) {
      if (refused.contains(route)) routes.insert(route);
    }
  }
  for (const std::uint32_t route : routes) {
    refused.erase(route);
    prepare(config, route);
  }
  return !routes.empty();
}

std::vector<Work> Compiler::State::lower(const LinkedConfig& config, const Keys& stale) {
  std::vector<Work> works;
  works.reserve(stale.size());
  for (const ir::HostKey& key : stale) {
    const auto& [host, routes] = served.at(key);
    lower(config, works.emplace_back(Work{&host, &routes, {}, {}}));
  }
  return works;
}

void Compiler::State::lower(const LinkedConfig& config, Work& work) {
  {
    const Timer timer(stats.lower);
    work.host = ir::lower_host(config, prepared, *work.key, *work.routes);
    opt::optimize(work.host);
  }
  const Timer timer(stats.emit);
  work.bytes = emit::emit_host(config, work.host, kNone);
  ++stats.hosts_lowered;
}

/// Refuses the routes that cannot be served together with the others of their hosts.
bool Compiler::State::judge(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics) {
  bound(config, works);
  return compile_patterns(config, works, diagnostics);
}

/// Refuses the routes that make a host too large; their hosts are lowered again.
void Compiler::State::bound(const LinkedConfig& config, std::vector<Work>& works) {
  std::set<std::uint32_t> over;
  for (const Work& work : works) {
    for (RouteRefusal& refusal : routes_over_limit(config, work.host, kMaxHostSlots)) {
      over.insert(refusal.route);
      refuse(std::move(refusal));
    }
  }
  if (!over.empty()) lower_again(config, over, works);
}

std::vector<Work*> Compiler::State::lower_again(const LinkedConfig& config, const std::set<std::uint32_t>& routes,
                                                std::vector<Work>& works) {
  std::vector<Work*> touched;
  for (Work& work : works) {
    const bool serves = std::ranges::any_of(
        routes, [&](std::uint32_t route) { return std::ranges::binary_search(*work.routes, route); });
    if (!serves) continue;
    lower(config, work);
    touched.push_back(&work);
  }
  return touched;
}

/// Until no pattern is at fault: those that are take their routes with them, and the hosts of these are lowered again.
bool Compiler::State::compile_patterns(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics) {
  std::vector<SectionView> views;
  for (const Work& work : works) views.push_back(work.view());
  while (!views.empty()) {
    std::vector<RegexSets::Refusal> refusals;
    {
      const Timer timer(stats.regex);
      RegexSets::Counts counts;
      auto result = regexes.compile(views, counts);
      stats.regex_sets_built += counts.built;
      stats.regex_sets_from_disk += counts.from_disk;
      if (!result) return report_fault("regular expressions", result.error(), diagnostics), false;
      refusals = std::move(*result);
    }
    if (refusals.empty()) return true;
    std::set<std::uint32_t> routes;
    for (const Work& work : works) {
      for (RouteRefusal& refusal : routes_refused(config, work.host, work.view(), refusals)) {
        routes.insert(refusal.route);
        refuse(std::move(refusal));
      }
    }
    views.clear();
    for (const Work* work : lower_again(config, routes, works)) views.push_back(work->view());
  }
  return true;
}

/// Chooses the shards, and keeps the sections that are what they were.
void Compiler::State::settle_sections(std::vector<Work>& works) {
  const Timer timer(stats.emit);
  for (const Work& work : works) {
    hosts.set_code(work.host.id, makes_code() ? code_source(work.view()) : nullptr,
                   conditional_candidates(work.view()));
  }
  settle_shards(works);
  for (Work& work : works) {
    const CompiledHost& host = hosts.at(work.host.id);
    set_shard(work.bytes, shard_of(work.host.id, host, shards));
    program::BlobPtr section = host.section;
    if (replace(section, std::move(work.bytes))) hosts.set_section(work.host.id, std::move(section));
  }
}

/// A host with code says which shard holds it, so that a new number of shards moves those that are not at work, too.
void Compiler::State::settle_shards(const std::vector<Work>& works) {
  const std::uint32_t before = std::exchange(shards, makes_code() ? shard_count(hosts.conditional()) : 0);
  if (shards == before) return;
  std::unordered_set<std::uint64_t> at_work;
  for (const Work& work : works) at_work.insert(work.host.id);
  for (const std::uint64_t id : hosts.with_code()) {
    if (at_work.contains(id)) continue;
    std::vector<std::byte> bytes = hosts.at(id).section->bytes;
    set_shard(bytes, shard_of(id, hosts.at(id), shards));
    hosts.set_section(id, program::make_blob(std::move(bytes)));
  }
}

bool Compiler::State::build_native(Diagnostics& diagnostics) {
  const Timer timer(stats.native);
  std::map<std::uint32_t, std::vector<NativeShards::Member>> members;
  for (const std::uint64_t id : hosts.with_code()) {
    const CompiledHost& host = hosts.at(id);
    members[shard_of(id, host, shards)].push_back({id, SectionView(host.section->bytes), host.code});
  }
  auto counts = natives.update(std::move(members));
  if (!counts) return report_fault("native code", counts.error(), diagnostics), false;
  stats.native_shards_built = counts->built;
  stats.native_shards_from_disk = counts->from_disk;
  return true;
}

bool Compiler::State::prove(const LinkedConfig& config, const std::vector<Work>& works, Diagnostics& diagnostics) {
  const Timer timer(stats.prove);
  std::optional<Error> fault;
  analyze::Engines engines;
  engines.native = [&](std::uint64_t host_id) -> const program::NativeHost* {
    const std::uint32_t shard = shard_of(host_id, hosts.at(host_id), shards);
    if (shard == kNone) return nullptr;
    auto native = natives.find(shard, host_id);
    if (native) return *native;
    fault = native.error();
    return nullptr;
  };
  engines.regex = [&](std::uint64_t set_id, std::size_t patterns, std::string_view subject) {
    return regexes.scan(set_id, patterns, subject);
  };

  bool proved = true;
  for (const Work& work : works) {
    Diagnostics found;
    std::vector<analyze::Shadowing> shadowed;
    analyze::prove_host(config, work.host, SectionView(hosts.at(work.host.id).section->bytes), engines, found,
                        &shadowed);
    proved &= found.ok();
    hosts.set_proof(work.host.id, found.all(), analyze::shadow_statuses(config, shadowed));
  }
  regexes.close_scanners();
  if (fault) report_fault("native code", *fault, diagnostics);
  return proved && !fault;
}

/// The sections that are no host's.
void Compiler::State::emit_shared(const LinkedConfig& config, bool hosts_changed) {
  const Timer timer(stats.emit);
  if (hosts_changed) replace(listeners, emit::emit_listeners(config, served.in_order()));
  replace(backends, emit::emit_backends(config));
  replace(policies, emit::emit_policies(config));
}

/// Of routes that are left out, and of all hosts; these by their ids, so that of two that say the same of a route
/// always the same one is told.
std::vector<ResourceStatus> Compiler::State::statuses(const LinkedConfig& config) const {
  std::vector<ResourceStatus> all;
  for (const auto& [route, remarks] : route_remarks)
    if (auto status = refused_status(config.routes[route], remarks)) all.push_back(*std::move(status));
  for (const std::uint64_t id : hosts.remarkable())
    all.insert(all.end(), hosts.at(id).shadowed.begin(), hosts.at(id).shadowed.end());
  sort_and_merge(all);
  return all;
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

std::optional<Artifact> Compiler::State::assemble(const LinkedConfig& config, Diagnostics& diagnostics) {
  // Ids are hashes of names. Were two equal, one host would be served by the other's routes.
  if (hosts.size() != served.all().size())
    return report_fault("host ids", {ErrorCode::kInternal, "two hosts have the same id"}, diagnostics), std::nullopt;
  Artifact artifact;
  {
    const Timer timer(stats.assemble);
    std::vector<program::SectionRef> sections;
    // In the order of the file: thousands are not to be sorted anew.
    sections.reserve(hosts.size() + 3);
    sections.push_back({SectionKind::kListeners, 0, listeners.get()});
    for (const auto* host : hosts.in_order())
      sections.push_back({SectionKind::kHost, host->first, host->second.section.get()});
    const std::map<std::uint32_t, program::BlobPtr> codes = natives.blobs();
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

    std::vector<std::byte> bytes = program::assemble_in_order(options.target, sections);
    if (options.key != nullptr) {
      if (Status status = options.key->sign(bytes); !status)
        return report_fault("signature", status.error(), diagnostics), std::nullopt;
    }
    artifact.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));

    // Nothing leaves that a reader would refuse. Sections that it has seen cost a comparison.
    auto view = program::read(artifact.bytes, last ? &*last : nullptr);
    if (!view) return report_fault("program", view.error(), diagnostics), std::nullopt;
    artifact.hash = view->hash();
    last = std::move(*view);
  }
  artifact.statuses = statuses(config);
  stats.hosts = hosts.size();
  stats.cache_fault = cache_fault;
  artifact.stats = stats;
  return artifact;
}

// ---- The two ways in ----------------------------------------------------------------------------------------------

Compiler::Compiler(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

/// Those of `touched` whose inputs are not what they were. A host of which there was something to say is stale, too:
/// what is said points into the texts as they are today.
Keys Compiler::State::stale_hosts(const LinkedConfig& config, const Keys& touched, bool trusted) {
  Keys stale;
  for (const ir::HostKey& key : touched) {
    const std::uint64_t id = ir::host_id(config, key.listener, key.pattern);
    const program::Hash inputs = host_inputs(config, key, served.at(key).second);
    const program::Hash before = hosts.set_inputs(id, inputs);
    if (!trusted || inputs != before || !hosts.at(id).remarks.empty()) stale.insert(stale.end(), key);
  }
  return stale;
}

std::optional<Artifact> Compiler::compile(const LinkedConfig& config, Diagnostics& diagnostics) {
  State& state = *state_;
  const bool trusted = state.succeeded && state.refused.empty();
  state.stats = {};
  Keys stale;
  {
    const Timer timer(state.stats.lower);
    state.refused.clear();
    state.route_remarks.clear();
    for (std::uint32_t route = 0; route < config.routes.size(); ++route) state.prepare(config, route);
    state.served.collect(config);
    Keys all;
    std::unordered_set<std::uint64_t> ids;
    for (const auto& [key, routes] : state.served.all()) {
      all.insert(all.end(), key);
      ids.insert(ir::host_id(config, key.listener, key.pattern));
    }
    state.hosts.erase_all_but(ids);
    stale = state.stale_hosts(config, all, trusted);
  }
  state.emit_shared(config, true);
  return state.run(config, std::move(stale), diagnostics);
}

std::optional<Artifact> Compiler::recompile(const LinkedConfig& config, const std::vector<std::uint32_t>& routes,
                                            Diagnostics& diagnostics) {
  State& state = *state_;
  if (!state.succeeded) return compile(config, diagnostics);
  state.stats = {};
  ServedHosts::Moved moved;
  Keys stale;
  {
    const Timer timer(state.stats.lower);
    const bool trusted = state.refused.empty();
    for (const std::uint32_t route : routes) {
      state.refused.erase(route);
      state.prepare(config, route);
    }
    moved = state.served.move(config, routes);
    for (const ir::HostKey& key : moved.gone) state.hosts.erase(ir::host_id(config, key.listener, key.pattern));
    stale = state.stale_hosts(config, moved.touched, trusted);
  }
  state.emit_shared(config, moved.added || !moved.gone.empty());
  return state.run(config, std::move(stale), diagnostics);
}

}  // namespace edge::compiler
