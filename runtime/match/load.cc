#include "runtime/match/load.h"

#include <algorithm>
#include <optional>

#include "base/os/background_work.h"
#include "base/os/huge_pages.h"
#include "program/format/records.h"
#include "runtime/match/cpu.h"
#include "runtime/match/native_library.h"
#include "runtime/match/regex_set.h"

namespace edge::runtime {
namespace {

using program::HostHeader;
using program::NodeRecord;
using program::Op;
using program::Section;
using program::SectionKind;
using program::SectionView;

/// Shards of code to open from which a thread takes away more than it costs.
constexpr std::size_t kWorthAThread = 4;

/// The sections of one kind: they stand together, ascending by id.
std::span<const Section> sections_of(const program::ProgramView& view, SectionKind kind) {
  const auto all = view.sections();
  const auto [first, last] = std::equal_range(all.begin(), all.end(), Section{kind, 0, {}, {}},
                                              [](const Section& a, const Section& b) { return a.kind < b.kind; });
  return {first, last};
}

/// Position of `id` in ascending ids; their size when it is not there.
std::size_t position(const std::vector<std::uint64_t>& ids, std::uint64_t id) {
  const auto found = std::lower_bound(ids.begin(), ids.end(), id);
  return found != ids.end() && *found == id ? static_cast<std::size_t>(found - ids.begin()) : ids.size();
}

NameLookup lookup_of(const SectionView& section, const program::NameTable& table) {
  NameLookup lookup;
  lookup.section = section.bytes().data();
  lookup.fallback = table.fallback;
  if (table.slots.count == 0) return lookup;
  lookup.slots = section.array(table.slots).data();
  lookup.entries = section.array(table.entries).data();
  lookup.mask = table.slots.count - 1;
  lookup.max_labels = table.max_labels;
  return lookup;
}

Error data_loss(const std::string& what) { return {ErrorCode::kDataLoss, what}; }

/// Bits of the regex sets that each node asks for; operands come before the nodes that use them.
void collect_group_sets(const SectionView& host, std::vector<std::uint64_t>& node_sets,
                        std::vector<std::uint64_t>& group_sets) {
  const auto& header = host.header<HostHeader>();
  const auto nodes = host.array(header.nodes);
  const auto operands = host.array(header.operands);
  const auto sets = host.array(header.regex_sets);
  node_sets.assign(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeRecord& node = nodes[i];
    if (node.op == Op::kRegex) {
      const auto after = std::upper_bound(sets.begin(), sets.end(), node.a,
                                          [](std::uint32_t bit, const auto& set) { return bit < set.first; });
      const auto set = static_cast<std::size_t>(after - sets.begin()) - 1;
      node_sets[i] = std::uint64_t{1} << std::min<std::size_t>(set, 63);
    } else if (node.op == Op::kNot) {
      node_sets[i] = node_sets[node.a];
    } else if (node.op == Op::kAnd || node.op == Op::kOr) {
      for (const std::uint32_t operand : operands.subspan(node.a, node.b)) node_sets[i] |= node_sets[operand];
    }
  }
  const auto candidates = host.array(header.candidates);
  for (const program::GroupRecord& group : host.array(header.groups)) {
    std::uint64_t asked = 0;
    for (const auto& candidate : candidates.subspan(group.first, group.count)) {
      if (candidate.predicate != program::kNone) asked |= node_sets[candidate.predicate];
    }
    group_sets.push_back(asked);
  }
}

std::vector<std::string> patterns_of(const SectionView& host, const program::RegexSetRecord& set) {
  std::vector<std::string> patterns;
  for (const program::RegexRecord& regex : host.array(host.header<HostHeader>().regexes).subspan(set.first, set.count))
    patterns.emplace_back(host.string(regex.pattern));
  return patterns;
}

HostPaths paths_of(const LoadedHost& host) {
  const auto& header = *host.header;
  HostPaths paths;
  paths.actions = host.view.array(header.actions).data();
  paths.prefix_depths = header.prefix_depths;
  if (header.paths.count == 0) return paths;
  paths.records = reinterpret_cast<const std::byte*>(host.view.array(header.paths).data());
  paths.places = header.paths.count / header.path_stride;
  paths.width = static_cast<std::uint8_t>(header.path_stride * 4);
  paths.ascends = header.max_probe != 1;
  const auto displacements = host.view.array(header.path_displacements);
  paths.far = displacements.size() > HostPaths::kNearDisplacements;
  if (paths.far) return paths;
  paths.near_mask = static_cast<std::uint8_t>(displacements.size() - 1);
  std::ranges::copy(displacements, paths.near.begin());
  return paths;
}

}  // namespace

struct LoadedProgram::Impl {
  struct Shard {
    std::uint64_t id;
    program::Hash hash;
    std::shared_ptr<const NativeLibrary> library;
  };

  std::vector<Shard> shards;
  std::vector<std::uint64_t> regex_ids;
  std::vector<program::Hash> regex_hashes;
  std::unique_ptr<RegexSet[]> regex_sets;
  std::vector<std::uint64_t> host_ids;
  std::vector<LoadedHost> hosts;  ///< one for each of these, as are paths; both empty once all is loaded
  std::vector<HostPaths> paths;
  std::vector<RegexSet*> host_regex_sets;
  std::vector<std::uint64_t> group_sets;
  std::vector<LoadedHost> listener_hosts;  ///< side by side: no lookup waits for a pointer to one
  std::vector<HostPaths> host_paths;       ///< one for each of these

  Status open_shards(std::span<const Section> sections, const Impl* previous);
  Status take_regex_sets(const program::ProgramView& view, const Impl* previous);
  Status load_hosts(const program::ProgramView& view, MatchRoom& room);
  Status load_host(const Section& section, LoadedHost& host, std::vector<std::uint64_t>& node_sets);
  Status attach_code();
};

Status LoadedProgram::Impl::open_shards(std::span<const Section> sections, const Impl* previous) {
  shards.reserve(sections.size());
  for (const Section& section : sections) {
    Shard shard{section.id, section.hash, nullptr};
    if (previous != nullptr) {
      const auto known = std::find_if(previous->shards.begin(), previous->shards.end(),
                                      [&](const Shard& other) { return other.hash == section.hash; });
      if (known != previous->shards.end()) shard.library = known->library;
    }
    if (shard.library == nullptr) {
      auto opened = NativeLibrary::open(section.view.bytes());
      if (!opened.ok()) return opened.error();
      shard.library = std::move(opened).value();
    }
    shards.push_back(std::move(shard));
  }
  return {};
}

Status LoadedProgram::Impl::take_regex_sets(const program::ProgramView& view, const Impl* previous) {
  const auto sections = sections_of(view, SectionKind::kRegex);
  regex_sets = std::make_unique<RegexSet[]>(sections.size());
  regex_ids.reserve(sections.size());
  regex_hashes.reserve(sections.size());
  std::size_t before = 0;  // both programs ascend by id: one walk finds what they share
  for (std::size_t i = 0; i < sections.size(); ++i) {
    fetch_ahead(sections, i);
    const Section& section = sections[i];
    regex_ids.push_back(section.id);
    regex_hashes.push_back(section.hash);
    if (!regex_sets[i].assign(section.view.bytes(), section.hash, static_cast<std::uint32_t>(i))) {
      return data_loss("regex section: no database of this version of Hyperscan");
    }
    if (previous == nullptr) continue;
    while (before < previous->regex_ids.size() && previous->regex_ids[before] < section.id) ++before;
    if (before < previous->regex_ids.size() && previous->regex_ids[before] == section.id &&
        previous->regex_hashes[before] == section.hash) {
      regex_sets[i].share(previous->regex_sets[before]);
    }
  }
  return {};
}

Status LoadedProgram::Impl::load_hosts(const program::ProgramView& view, MatchRoom& room) {
  const auto sections = sections_of(view, SectionKind::kHost);
  std::size_t set_count = 0;
  std::size_t group_count = 0;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    fetch_ahead(sections, i);
    const auto& header = sections[i].view.header<HostHeader>();
    room.slots = std::max<std::size_t>(room.slots, program::kFirstHostSlot + header.slots.count);
    room.regexes = std::max<std::size_t>(room.regexes, header.regexes.count);
    set_count += header.regex_sets.count;
    if (header.regexes.count > 0) group_count += header.groups.count;
  }
  room.regex_sets = regex_ids.size();
  hosts.resize(sections.size());
  paths.reserve(sections.size());
  host_ids.reserve(sections.size());
  host_regex_sets.reserve(set_count);  // hosts point into both: they must not move
  group_sets.reserve(group_count);
  std::vector<std::uint64_t> node_sets;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    fetch_ahead(sections, i);
    host_ids.push_back(sections[i].id);
    if (Status loaded = load_host(sections[i], hosts[i], node_sets); !loaded.ok()) return loaded;
    paths.push_back(paths_of(hosts[i]));
  }
  return {};
}

Status LoadedProgram::Impl::load_host(const Section& section, LoadedHost& host, std::vector<std::uint64_t>& node_sets) {
  const auto& header = section.view.header<HostHeader>();
  host.header = &header;
  host.view = section.view;
  host.far_displacements = section.view.array(header.path_displacements).data();
  host.far_mask = header.path_displacements.count - 1;
  host.root_prefix = header.root_prefix;
  host.early_regex = header.early_regex;
  host.regex = header.regex;
  host.any_path = header.any_path;
  host.routes = section.view.array(header.routes).data();
  host.treatments = section.view.array(header.treatments).data();
  for (const program::SlotRecord& slot : section.view.array(header.slots)) {
    if (slot.kind == program::SlotKind::kHeader) {
      host.header_lengths |= std::uint64_t{1} << (slot.name.size % 64);
    } else {
      host.has_query_slots = true;
    }
  }
  if (header.regexes.count > 0) {
    host.regex_sets = host_regex_sets.data() + host_regex_sets.size();
    for (const program::RegexSetRecord& set : section.view.array(header.regex_sets)) {
      const std::size_t at = position(regex_ids, set.section_id);
      if (at == regex_ids.size()) return data_loss("a host names a regex section that is missing");
      host_regex_sets.push_back(&regex_sets[at]);
      if (regex_sets[at].lacks_patterns()) regex_sets[at].put_patterns(patterns_of(section.view, set));
    }
    host.group_sets = group_sets.data() + group_sets.size();
    collect_group_sets(section.view, node_sets, group_sets);
  }
  return {};
}

Status LoadedProgram::Impl::attach_code() {
  if (shards.empty()) return {};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    LoadedHost& host = hosts[i];
    if (host.header->native_shard == program::kNone) continue;
    const auto shard = std::ranges::lower_bound(shards, host.header->native_shard, {}, &Shard::id);
    if (shard != shards.end() && shard->id == host.header->native_shard)
      host.native = shard->library->find(host_ids[i]);
    const auto groups = host.header->groups.count;
    if (host.native == nullptr || host.native->function_count != groups ||
        (groups > 0 && host.native->functions == nullptr)) {
      return data_loss("native section: its functions are not those of the host's groups");
    }
  }
  return {};
}

LoadedProgram::LoadedProgram() : impl_(std::make_unique<Impl>()) {}
LoadedProgram::~LoadedProgram() = default;

Status LoadedProgram::load_listeners(const SectionView& policies) {
  const SectionView& section = listeners_section_;
  const auto& header = section.header<program::ListenersHeader>();
  const auto records = section.array(header.listeners);
  std::size_t entries = 0;
  for (const program::ListenerRecord& record : records) entries += record.host_entries.count;
  impl_->listener_hosts.reserve(entries);  // listeners point into both
  impl_->host_paths.reserve(entries);
  for (const program::ListenerRecord& record : records) {
    LoadedListener listener;
    listener.record = &record;
    listener.gateway = &section.array(header.gateways)[record.gateway];
    listener.compression = program::optional_of(section, listener.gateway->compression);
    listener.cache = program::optional_of(section, listener.gateway->cache);
    listener.tracing = program::optional_of(section, listener.gateway->tracing);
    if (const auto* limits = program::optional_of(section, listener.gateway->limits)) listener.limits = limits;
    listener.entries = section.array(record.host_entries);
    listener.host_names = lookup_of(section, record.hosts);
    const std::size_t first = impl_->listener_hosts.size();
    for (const program::HostEntry& entry : listener.entries) {
      const std::size_t at = position(impl_->host_ids, entry.host_id);
      if (at == impl_->host_ids.size()) return data_loss("a listener names a host section that is missing");
      impl_->listener_hosts.push_back(impl_->hosts[at]);
      impl_->host_paths.push_back(impl_->paths[at]);
    }
    listener.hosts = std::span(impl_->listener_hosts).subspan(first);
    listener.host_paths = std::span(impl_->host_paths).subspan(first);
    const auto index = static_cast<std::uint32_t>(listeners_.size());
    if (const auto* claims = program::find_listener_claims(policies, index)) {
      listener.token_policy = program::find_policy(policies, claims->policy)->settings;
    }
    listener.acts_before_rule = record.scheme_redirect.count != 0 || listener.token_policy != program::kNone;
    listeners_.push_back(listener);
  }
  return {};
}

Result<std::shared_ptr<const LoadedProgram>> LoadedProgram::load(program::ProgramView view,
                                                                 const program::VerifyKey* key,
                                                                 std::shared_ptr<const LoadedProgram> previous) {
  if (key != nullptr) {
    if (Status verified = key->verify(view); !verified.ok()) return verified.error();
  }
  const std::shared_ptr<LoadedProgram> loaded(new LoadedProgram);
  Impl& impl = *loaded->impl_;
  const Impl* const before = previous == nullptr ? nullptr : previous->impl_.get();
  Status opened;
  const auto open = [&] {
    if (view.abi_version() == program::kAbiVersion && runs_here(view.target()))
      opened = impl.open_shards(sections_of(view, SectionKind::kNative), before);
  };
  // Mapping code waits for the kernel: in a first load about as long as all the rest takes.
  std::optional<BackgroundWork> opening;
  if (before == nullptr && sections_of(view, SectionKind::kNative).size() >= kWorthAThread) {
    opening.emplace(open);
  } else {
    open();
  }
  if (Status taken = impl.take_regex_sets(view, before); !taken.ok()) return taken.error();
  if (Status hosts = impl.load_hosts(view, loaded->room_); !hosts.ok()) return hosts.error();
  opening.reset();
  if (!opened.ok()) return opened.error();
  if (Status attached = impl.attach_code(); !attached.ok()) return attached.error();

  prefer_huge_pages(view.bytes().data(), view.bytes().size());
  loaded->listeners_section_ = view.listeners().view;
  loaded->backends_section_ = view.backends().view;
  const SectionView& section = loaded->listeners_section_;
  const auto& header = section.header<program::ListenersHeader>();
  loaded->binds_ = section.array(header.binds);
  loaded->backends_ =
      loaded->backends_section_.array(loaded->backends_section_.header<program::BackendsHeader>().backends);
  for (const program::BindRecord& bind : loaded->binds_) {
    loaded->bind_names_.push_back(lookup_of(section, bind.listeners));
  }
  if (Status listeners = loaded->load_listeners(view.policies().view); !listeners.ok()) return listeners.error();
  impl.hosts = {};
  impl.paths = {};
  loaded->view_ = std::move(view);
  return std::shared_ptr<const LoadedProgram>(loaded);
}

std::span<const LoadedHost> LoadedProgram::hosts() const { return impl_->listener_hosts; }

bool LoadedProgram::has_native_code() const { return !impl_->shards.empty(); }

std::uint32_t LoadedProgram::backend_index(std::uint64_t backend_id) const {
  const auto found = std::lower_bound(backends_.begin(), backends_.end(), backend_id,
                                      [](const auto& backend, std::uint64_t id) { return backend.id < id; });
  if (found == backends_.end() || found->id != backend_id) return program::kNone;
  return static_cast<std::uint32_t>(found - backends_.begin());
}

}  // namespace edge::runtime
