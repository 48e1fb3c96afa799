#include "compiler/compile.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/analyze/prove.h"
#include "compiler/compile_limits.h"
#include "compiler/compile_native.h"
#include "compiler/compile_regex.h"
#include "compiler/emit/tables.h"
#include "compiler/ir/lower.h"
#include "program/write.h"

namespace edge::compiler {
namespace {

using program::HostHeader;
using program::kNone;
using program::SectionKind;
using program::SectionView;

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

/// What is kept of a host between compiles.
struct HostState {
  program::BlobPtr section;
  CodeSource code;
  std::size_t conditional = 0;
  bool proved = false;
  /// The proof had something to say: it is run again, so that it says so of today's places in the files.
  bool remarks = false;
};

/// A host on its way through the stages.
struct Work {
  const ir::HostKey* key;
  const std::vector<std::uint32_t>* routes;
  ir::Host host;
  std::vector<std::byte> bytes;

  SectionView view() const { return SectionView(bytes); }
};

std::uint32_t shard_of(std::uint64_t host_id, const HostState& host, std::uint32_t shards) {
  return host.code == nullptr || shards == 0 ? kNone : static_cast<std::uint32_t>(host_id & (shards - 1));
}

void set_shard(std::vector<std::byte>& section, std::uint32_t shard) {
  std::memcpy(section.data() + offsetof(HostHeader, native_shard), &shard, sizeof shard);
}

bool same_bytes(const program::BlobPtr& blob, const std::vector<std::byte>& bytes) {
  return blob != nullptr && blob->bytes.size() == bytes.size() &&
         std::memcmp(blob->bytes.data(), bytes.data(), bytes.size()) == 0;
}

void report_fault(const std::string& stage, const Error& error, Diagnostics& diagnostics) {
  Diagnostic diagnostic{.code = DiagnosticCode::kCompilerFault};
  diagnostic.message = stage + ": " + error.text;
  diagnostic.notes.emplace_back("no program is made, since nothing could vouch for it");
  diagnostics.add(std::move(diagnostic));
}

// ---- Patterns that Hyperscan refuses --------------------------------------------------------------------------------

bool uses_regex(const ir::Host& host, std::uint32_t node, std::uint32_t regex) {
  if (node == ir::kAlways) return false;
  const ir::Node& record = host.nodes[node];
  if (record.op == program::Op::kRegex) return record.regex == regex;
  return std::ranges::any_of(record.operands, [&](std::uint32_t operand) { return uses_regex(host, operand, regex); });
}

template <typename Visit>
void for_each_candidate(const ir::Host& host, Visit visit) {
  for (const auto* groups : {&host.exact, &host.prefix})
    for (const auto& [path, group] : *groups) std::ranges::for_each(group, visit);
  std::ranges::for_each(host.regex, visit);
  std::ranges::for_each(host.any, visit);
}

/// The field that a candidate's pattern on `slot` was written in.
const Located<std::string>* pattern_field(const ir::Host& host, const RuleMatch& match, std::uint32_t slot) {
  if (slot == program::kSlotPath) return match.path.type == PathMatch::Type::kRegex ? &match.path.value : nullptr;
  const ir::Slot& named = host.slots[slot - program::kFirstHostSlot];
  for (const FieldMatch& field : named.kind == program::SlotKind::kHeader ? match.headers : match.query)
    if (field.type == MatchType::kRegex && field.name.value == named.name) return &field.value;
  return nullptr;
}

void report_refusal(const LinkedConfig& config, const ir::Host& host, const ir::Candidate& candidate,
                    std::uint32_t slot, const std::string& message, Diagnostics& diagnostics) {
  const LinkedRoute& route = config.routes[candidate.route];
  const RuleMatch& match = route.rules[candidate.rule].matches[candidate.match];
  const Located<std::string>* const field = pattern_field(host, match, slot);
  Diagnostic diagnostic{.code = DiagnosticCode::kRegexSyntax};
  diagnostic.resource = route.identity.text();
  diagnostic.field =
      "spec.rules[" + std::to_string(candidate.rule) + "].matches[" + std::to_string(candidate.match) + "]";
  diagnostic.span = field != nullptr ? field->span : match.span;
  diagnostic.message = "the pattern cannot be compiled: " + message;
  diagnostic.notes.emplace_back("the whole route is left out: a route is never widened by a fault in it");
  diagnostics.add(std::move(diagnostic));
}

}  // namespace

struct Compiler::State {
  explicit State(CompileOptions given)
      : options(std::move(given)), regexes(options.regex_worker), natives(options.target) {}

  bool makes_code() const { return options.target != program::Target::kTablesOnly; }

  bool move_route(const LinkedConfig& config, std::uint32_t route, std::vector<Work>& works);
  std::optional<Artifact> run(const LinkedConfig& config, std::vector<Work> works, Diagnostics& diagnostics);
  void lower(const LinkedConfig& config, Work& work);
  void bound(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics);
  std::vector<Work*> lower_again(const LinkedConfig& config, const std::set<std::uint32_t>& routes,
                                 std::vector<Work>& works);
  bool compile_patterns(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics);
  std::set<std::uint32_t> refuse_routes(const LinkedConfig& config, const std::vector<Work>& works,
                                        const std::vector<RegexSets::Refusal>& refusals, Diagnostics& diagnostics);
  void settle_sections(std::vector<Work>& works);
  bool build_native(Diagnostics& diagnostics);
  bool prove(const LinkedConfig& config, const std::vector<Work>& works, Diagnostics& diagnostics);
  std::optional<Artifact> assemble(Diagnostics& diagnostics);

  CompileOptions options;
  RegexSets regexes;
  NativeShards natives;
  ir::PreparedRoutes prepared;
  ir::HostRoutes routes_of_host;
  std::unordered_map<std::uint64_t, HostState> hosts;
  /// Routes were refused for what they are together with others (a set of patterns, a host's size), so the next edit
  /// starts over.
  bool refused = false;
  bool succeeded = false;
  std::uint32_t shards = 0;
  program::BlobPtr listeners;
  program::BlobPtr backends;
  std::optional<program::ProgramView> last;
  CompileStats stats;
};

// ---- The stages ---------------------------------------------------------------------------------------------------

std::optional<Artifact> Compiler::State::run(const LinkedConfig& config, std::vector<Work> works,
                                             Diagnostics& diagnostics) {
  succeeded = false;
  for (Work& work : works) lower(config, work);
  bound(config, works, diagnostics);
  if (!compile_patterns(config, works, diagnostics)) return std::nullopt;
  settle_sections(works);
  if (!build_native(diagnostics)) return std::nullopt;
  if (options.prove && !prove(config, works, diagnostics)) return std::nullopt;
  auto artifact = assemble(diagnostics);
  succeeded = artifact.has_value();
  return artifact;
}

void Compiler::State::lower(const LinkedConfig& config, Work& work) {
  {
    const Timer timer(stats.lower);
    work.host = ir::lower_host(config, prepared, *work.key, *work.routes);
  }
  const Timer timer(stats.emit);
  work.bytes = emit::emit_host(config, work.host, kNone);
  ++stats.hosts_lowered;
}

/// Refuses the routes that make a host too large; their hosts are lowered again.
void Compiler::State::bound(const LinkedConfig& config, std::vector<Work>& works, Diagnostics& diagnostics) {
  std::set<std::uint32_t> over;
  for (const Work& work : works) {
    const auto routes = routes_over_limit(config, work.host, kMaxHostSlots, diagnostics);
    over.insert(routes.begin(), routes.end());
  }
  if (over.empty()) return;
  refused = true;
  for (const std::uint32_t route : over) prepared.refuse(route);
  lower_again(config, over, works);
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
      auto result = regexes.compile(views, stats.regex_sets_built);
      if (!result) return report_fault("regular expressions", result.error(), diagnostics), false;
      refusals = std::move(*result);
    }
    if (refusals.empty()) return true;
    refused = true;
    const std::set<std::uint32_t> routes = refuse_routes(config, works, refusals, diagnostics);
    views.clear();
    for (const Work* work : lower_again(config, routes, works)) views.push_back(work->view());
  }
  return true;
}

std::set<std::uint32_t> Compiler::State::refuse_routes(const LinkedConfig& config, const std::vector<Work>& works,
                                                       const std::vector<RegexSets::Refusal>& refusals,
                                                       Diagnostics& diagnostics) {
  std::set<std::uint32_t> routes;
  for (const Work& work : works) {
    const SectionView view = work.view();
    for (const auto& set : view.array(view.header<HostHeader>().regex_sets)) {
      for (const RegexSets::Refusal& refusal : refusals) {
        if (refusal.set_id != set.section_id) continue;
        for_each_candidate(work.host, [&](const ir::Candidate& candidate) {
          if (!uses_regex(work.host, candidate.predicate, set.first + refusal.pattern)) return;
          report_refusal(config, work.host, candidate, set.slot, refusal.message, diagnostics);
          routes.insert(candidate.route);
        });
      }
    }
  }
  for (const std::uint32_t route : routes) prepared.refuse(route);
  return routes;
}

/// Chooses the shards, and keeps the sections that are what they were.
void Compiler::State::settle_sections(std::vector<Work>& works) {
  const Timer timer(stats.emit);
  for (const Work& work : works) {
    HostState& host = hosts[work.host.id];
    host.conditional = conditional_candidates(work.view());
    host.code = makes_code() ? code_source(work.view()) : nullptr;
  }
  std::size_t conditional = 0;
  for (const auto& [id, host] : hosts) conditional += host.conditional;
  const std::uint32_t before = std::exchange(shards, makes_code() ? shard_count(conditional) : 0);

  if (shards != before) {
    std::unordered_set<std::uint64_t> at_work;
    for (const Work& work : works) at_work.insert(work.host.id);
    for (auto& [id, host] : hosts) {
      if (host.code == nullptr || at_work.contains(id)) continue;
      std::vector<std::byte> bytes = host.section->bytes;
      set_shard(bytes, shard_of(id, host, shards));
      host.section = program::make_blob(std::move(bytes));
    }
  }

  for (Work& work : works) {
    HostState& host = hosts[work.host.id];
    set_shard(work.bytes, shard_of(work.host.id, host, shards));
    if (same_bytes(host.section, work.bytes)) continue;
    host.section = program::make_blob(std::move(work.bytes));
    host.proved = false;
  }
}

bool Compiler::State::build_native(Diagnostics& diagnostics) {
  const Timer timer(stats.native);
  std::map<std::uint32_t, std::vector<NativeShards::Member>> members;
  for (const auto& [id, host] : hosts) {
    if (host.code != nullptr)
      members[shard_of(id, host, shards)].push_back({id, SectionView(host.section->bytes), host.code});
  }
  auto built = natives.update(std::move(members));
  if (!built) return report_fault("native code", built.error(), diagnostics), false;
  stats.native_shards_built = *built;
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
    HostState& host = hosts.at(work.host.id);
    if (host.proved && !host.remarks) continue;
    Diagnostics found;
    analyze::prove_host(config, work.host, SectionView(host.section->bytes), engines, found);
    host.proved = found.ok() && !fault;
    host.remarks = !found.all().empty();
    proved &= host.proved;
    for (const Diagnostic& diagnostic : found.all()) diagnostics.add(diagnostic);
  }
  regexes.close_scanners();
  if (fault) report_fault("native code", *fault, diagnostics);
  return proved && !fault;
}

std::optional<Artifact> Compiler::State::assemble(Diagnostics& diagnostics) {
  // Ids are hashes of names. Were two equal, one host would be served by the other's routes.
  if (hosts.size() != routes_of_host.size())
    return report_fault("host ids", {ErrorCode::kInternal, "two hosts have the same id"}, diagnostics), std::nullopt;
  Artifact artifact;
  {
    const Timer timer(stats.assemble);
    std::vector<program::SectionInput> sections;
    sections.reserve(hosts.size() + 2);
    sections.push_back({SectionKind::kListeners, 0, listeners});
    sections.push_back({SectionKind::kBackends, 0, backends});
    std::unordered_set<std::uint64_t> sets;
    for (const auto& [id, host] : hosts) {
      sections.push_back({SectionKind::kHost, id, host.section});
      const SectionView view(host.section->bytes);
      for (const auto& set : view.array(view.header<HostHeader>().regex_sets))
        if (sets.insert(set.section_id).second)
          sections.push_back({SectionKind::kRegex, set.section_id, regexes.database(set.section_id)});
    }
    for (auto& [shard, blob] : natives.blobs()) sections.push_back({SectionKind::kNative, shard, std::move(blob)});
    // Refused sets stay known until a compile without any: each may have cost its time limit.
    if (!refused) regexes.keep(sets);

    std::vector<std::byte> bytes = program::assemble(options.target, std::move(sections));
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
  stats.hosts = hosts.size();
  artifact.stats = stats;
  return artifact;
}

// ---- The two ways in ----------------------------------------------------------------------------------------------

Compiler::Compiler(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

std::optional<Artifact> Compiler::compile(const LinkedConfig& config, Diagnostics& diagnostics) {
  State& state = *state_;
  state.stats = {};
  state.refused = false;
  std::vector<Work> works;
  {
    const Timer timer(state.stats.lower);
    state.prepared.prepare(config, diagnostics);
    state.routes_of_host = ir::collect_hosts(config);
    works.reserve(state.routes_of_host.size());
    std::unordered_set<std::uint64_t> ids;
    for (const auto& [key, routes] : state.routes_of_host) {
      works.push_back({&key, &routes, {}, {}});
      ids.insert(ir::host_id(config, key.listener, key.pattern));
    }
    std::erase_if(state.hosts, [&](const auto& host) { return !ids.contains(host.first); });
  }
  {
    const Timer timer(state.stats.emit);
    state.listeners = program::make_blob(emit::emit_listeners(config, state.routes_of_host));
    state.backends = program::make_blob(emit::emit_backends(config));
  }
  return state.run(config, std::move(works), diagnostics);
}

/// Moves a changed route to the hosts that it serves now. Its hosts of before and after go to `works`.
/// \returns whether a host came or went.
bool Compiler::State::move_route(const LinkedConfig& config, std::uint32_t route, std::vector<Work>& works) {
  bool hosts_changed = false;
  const std::vector<ir::HostKey> now = ir::hosts_of(config, config.routes[route]);
  for (auto host = routes_of_host.begin(); host != routes_of_host.end();) {
    auto& [key, routes] = *host;
    const auto at = std::ranges::lower_bound(routes, route);
    if (at == routes.end() || *at != route || std::binary_search(now.begin(), now.end(), key)) {
      ++host;
      continue;
    }
    routes.erase(at);
    if (routes.empty()) {
      hosts_changed = true;
      hosts.erase(ir::host_id(config, key.listener, key.pattern));
      host = routes_of_host.erase(host);
    } else {
      works.push_back({&key, &routes, {}, {}});
      ++host;
    }
  }
  for (const ir::HostKey& key : now) {
    const auto [host, added] = routes_of_host.try_emplace(key);
    hosts_changed |= added;
    auto& routes = host->second;
    const auto at = std::ranges::lower_bound(routes, route);
    if (at == routes.end() || *at != route) routes.insert(at, route);
    works.push_back({&host->first, &routes, {}, {}});
  }
  return hosts_changed;
}

std::optional<Artifact> Compiler::recompile(const LinkedConfig& config, std::uint32_t route, Diagnostics& diagnostics) {
  State& state = *state_;
  if (!state.succeeded || state.refused) return compile(config, diagnostics);
  state.stats = {};
  std::vector<Work> works;
  bool hosts_changed = false;
  {
    const Timer timer(state.stats.lower);
    state.prepared.prepare_one(config, route, diagnostics);
    hosts_changed = state.move_route(config, route, works);
  }
  if (hosts_changed) {
    const Timer timer(state.stats.emit);
    state.listeners = program::make_blob(emit::emit_listeners(config, state.routes_of_host));
  }
  auto artifact = state.run(config, std::move(works), diagnostics);
  // A route that was refused now may serve hosts that were not at work: those need lowering too.
  if (state.refused) return compile(config, diagnostics);
  return artifact;
}

}  // namespace edge::compiler
