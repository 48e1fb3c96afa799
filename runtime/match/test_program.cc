#include "runtime/match/test_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <hs/hs_compile.h>
#include <hs/hs_runtime.h>

#include "base/hostname.h"
#include "base/ip.h"
#include "program/evaluate/abi.h"
#include "program/evaluate/lookup.h"
#include "program/evaluate/path_table.h"
#include "program/section_builder.h"

namespace edge::runtime {
namespace {

using program::kNone;
using program::NodeRecord;
using program::Op;

std::vector<std::byte> database_of(const std::vector<std::string>& patterns) {
  std::vector<const char*> texts;
  std::vector<unsigned> ids;
  const std::vector<unsigned> flags(patterns.size(), HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY);
  for (const std::string& pattern : patterns) {
    ids.push_back(static_cast<unsigned>(ids.size()));
    texts.push_back(pattern.c_str());
  }
  hs_platform_info platform{};
  hs_database_t* database = nullptr;
  hs_compile_error_t* fault = nullptr;
  if (hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(texts.size()), HS_MODE_BLOCK,
                       &platform, &database, &fault) != HS_SUCCESS) {
    std::abort();
  }
  char* bytes = nullptr;
  std::size_t size = 0;
  if (hs_serialize_database(database, &bytes, &size) != HS_SUCCESS) std::abort();
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> result(first, first + size);
  std::free(bytes);
  hs_free_database(database);
  return result;
}

}  // namespace

std::uint32_t TestHost::slot(program::SlotKind kind, std::string name) {
  slots_.emplace_back(kind, std::move(name));
  return program::kFirstHostSlot + static_cast<std::uint32_t>(slots_.size()) - 1;
}

std::uint32_t TestHost::regex(std::string pattern, std::uint32_t slot) {
  regexes_.push_back({std::move(pattern), slot});
  return static_cast<std::uint32_t>(regexes_.size()) - 1;
}

std::uint32_t TestHost::node(Op op, std::uint32_t slot, std::string text) {
  nodes_.push_back({NodeRecord{op, 0, static_cast<std::uint16_t>(slot), 0, 0}, std::move(text), op != Op::kPresent});
  return static_cast<std::uint32_t>(nodes_.size()) - 1;
}

std::uint32_t TestHost::node(Op op, std::uint32_t a) {
  nodes_.push_back({NodeRecord{op, 0, 0, a, 0}, {}, false});
  return static_cast<std::uint32_t>(nodes_.size()) - 1;
}

std::uint32_t TestHost::node(Op op, const std::vector<std::uint32_t>& operands) {
  nodes_.push_back(
      {NodeRecord{op, 0, 0, static_cast<std::uint32_t>(operands_.size()), static_cast<std::uint32_t>(operands.size())},
       {},
       false});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return static_cast<std::uint32_t>(nodes_.size()) - 1;
}

std::uint32_t TestHost::source_in(const char* cidr) {
  const Cidr parsed = *parse_cidr(cidr);
  program::CidrRecord record{};
  std::memcpy(record.address, parsed.address.bytes.data(), 16);
  record.prefix_length = parsed.prefix_length;
  cidrs_.push_back(record);
  return node(Op::kSourceIn, static_cast<std::uint32_t>(cidrs_.size()) - 1);
}

program::Target32 TestHost::action() { return program::kActionBit | actions_++; }

program::Target32 TestHost::group(const std::vector<std::uint32_t>& predicates) {
  groups_.push_back({static_cast<std::uint32_t>(candidates_.size()), static_cast<std::uint32_t>(predicates.size())});
  for (const std::uint32_t predicate : predicates) candidates_.push_back({predicate, actions_++});
  return static_cast<std::uint32_t>(groups_.size()) - 1;
}

void TestHost::prefix(const std::string& path, program::Target32 target) {
  if (path == "/") {
    root_ = target;
  } else {
    paths_.try_emplace(path, kNone, kNone).first->second.second = target;
  }
}

void TestHost::write_nodes(program::SectionBuilder& builder, program::HostHeader& header) const {
  std::vector<NodeRecord> nodes;
  for (const Node& node : nodes_) {
    NodeRecord record = node.record;
    if (node.has_text) {
      const program::StringRef text = builder.string(node.text);
      record.a = text.offset;
      record.b = text.size;
    }
    nodes.push_back(record);
  }
  header.nodes = builder.array(nodes);
}

void TestHost::write_regexes(program::SectionBuilder& builder, std::uint64_t id, program::HostHeader& header,
                             std::map<std::uint64_t, std::vector<std::string>>& sets) const {
  std::vector<program::RegexRecord> regexes;
  std::vector<program::RegexSetRecord> records;
  for (const Regex& regex : regexes_) {
    const auto first = static_cast<std::uint32_t>(regexes.size());
    regexes.push_back({builder.string(regex.pattern), regex.slot});
    if (records.empty() || records.back().slot != regex.slot) {
      records.push_back({id * 1000 + records.size(), regex.slot, first, 0, 0});
    }
    ++records.back().count;
    sets[records.back().section_id].push_back(regex.pattern);
  }
  header.regexes = builder.array(regexes);
  header.regex_sets = builder.array(records);
}

std::vector<std::byte> TestHost::section(std::uint64_t id, std::uint32_t shard,
                                         std::map<std::uint64_t, std::vector<std::string>>& sets) const {
  program::SectionBuilder builder(sizeof(program::HostHeader));
  program::HostHeader header{};
  header.host_id = id;
  header.pattern = builder.string(pattern_);
  header.native_shard = shard;
  program::PathTableBuilder paths;
  for (const auto& [path, targets] : paths_) paths.add(path, targets.first, targets.second);
  paths.store(builder, header);
  header.root_prefix = root_;
  header.early_regex = early_regex_target_;
  header.regex = regex_target_;
  header.any_path = any_;
  header.groups = builder.array(groups_);
  header.candidates = builder.array(candidates_);
  write_nodes(builder, header);
  header.operands = builder.array(operands_);
  std::vector<program::SlotRecord> slots;
  for (const auto& [kind, name] : slots_) slots.push_back({kind, builder.string(name)});
  header.slots = builder.array(slots);
  header.cidrs = builder.array(cidrs_);
  write_regexes(builder, id, header, sets);
  std::vector<program::ActionRecord> actions;
  std::vector<program::RouteRecord> routes;
  for (std::uint32_t i = 0; i < actions_; ++i) {
    actions.push_back({i, 0, 0, 0, kNone});
    routes.push_back({builder.string("r" + std::to_string(i)), 0});
  }
  header.actions = builder.array(actions);
  header.routes = builder.array(routes);
  header.namespaces = builder.array(std::vector{builder.string("test")});
  header.treatments = builder.array(std::vector<program::TreatmentRecord>{program::TreatmentRecord{}});
  header.backend_refs = builder.array(std::vector<program::BackendRefRecord>{});
  header.filters = builder.array(std::vector<program::FilterRecord>{});
  return std::move(builder).finish(header);
}

TestHost& TestProgram::add(std::string pattern) {
  return *hosts_.emplace_back(std::make_unique<TestHost>(std::move(pattern)));
}

namespace {

struct Named {
  HostPattern pattern;
  std::uint64_t id;
};

/// The most specific first.
std::vector<Named> in_order(const std::vector<std::unique_ptr<TestHost>>& hosts) {
  std::vector<Named> named;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string& pattern = hosts[i]->pattern();
    named.push_back({pattern.empty() ? HostPattern() : *HostPattern::parse(pattern), i + 1});
  }
  std::ranges::sort(named, HostPattern::more_specific, &Named::pattern);
  return named;
}

}  // namespace

std::vector<std::byte> TestProgram::listeners() const {
  const std::vector<Named> named = in_order(hosts_);
  program::SectionBuilder builder(sizeof(program::ListenersHeader));
  program::ListenersHeader header{};
  program::GatewayRecord gateway{};
  gateway.name = builder.string("gateway");
  program::BindRecord bind{};
  bind.protocol = program::Protocol::kHttp;
  bind.any_address = 1;
  bind.listeners.fallback = 0;
  program::ListenerRecord listener{};
  listener.protocol = program::Protocol::kHttp;
  listener.name = builder.string("http");
  listener.hosts.fallback = kNone;

  std::vector<program::HostEntry> entries;
  std::map<std::string, program::NameEntry> names;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const HostPattern& pattern = named[i].pattern;
    program::HostEntry entry{named[i].id, builder.string(pattern.text()), kNone, 0};
    for (std::size_t j = i + 1; j < named.size() && entry.next == kNone; ++j) {
      if (HostPattern::intersect(pattern, named[j].pattern) == pattern) entry.next = static_cast<std::uint32_t>(j);
    }
    entries.push_back(entry);
    const auto index = static_cast<std::uint32_t>(i);
    if (pattern.any()) {
      listener.hosts.fallback = index;
      continue;
    }
    const std::string domain(pattern.domain());
    program::NameEntry& name =
        names.try_emplace(domain, program::NameEntry{builder.string(domain), kNone, kNone}).first->second;
    (pattern.wildcard() ? name.wildcard : name.exact) = index;
    const auto labels = static_cast<std::uint32_t>(std::count(domain.begin(), domain.end(), '.') + 1);
    listener.hosts.max_labels = std::max(listener.hosts.max_labels, labels);
  }
  std::vector<program::NameEntry> name_entries;
  std::vector<std::uint64_t> hashes;
  for (const auto& [name, entry] : names) {
    name_entries.push_back(entry);
    hashes.push_back(program::name_hash(name));
  }
  listener.hosts.slots = builder.array(program::build_slots(hashes).slots);
  listener.hosts.entries = builder.array(name_entries);
  const auto entries_ref = builder.array(entries);
  listener.host_entries = {entries_ref.offset, entries_ref.count};
  header.gateways = builder.array(std::vector{gateway});
  header.binds = builder.array(std::vector{bind});
  header.listeners = builder.array(std::vector{listener});
  return std::move(builder).finish(header);
}

std::shared_ptr<std::vector<std::byte>> TestProgram::assemble(Damage damage) const {
  using program::SectionKind;
  std::vector<program::SectionInput> sections;
  sections.push_back({SectionKind::kListeners, 0, program::make_blob(listeners())});
  std::map<std::uint64_t, std::vector<std::string>> sets;
  const std::uint32_t shard = native_.empty() ? kNone : 0;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    sections.push_back({SectionKind::kHost, i + 1, program::make_blob(hosts_[i]->section(i + 1, shard, sets))});
  }
  if (!native_.empty()) sections.push_back({SectionKind::kNative, 0, program::make_blob(native_)});
  for (const auto& [id, patterns] : sets) {
    std::vector<std::byte> database = database_of(patterns);
    if (damage != nullptr) damage(database);
    sections.push_back({SectionKind::kRegex, id, program::make_blob(std::move(database))});
  }
  program::SectionBuilder builder(sizeof(program::BackendsHeader));
  program::BackendsHeader backends{};
  backends.backends = builder.array(std::vector<program::BackendRecord>{});
  sections.push_back({SectionKind::kBackends, 0, program::make_blob(std::move(builder).finish(backends))});
  program::SectionBuilder policies(sizeof(program::PoliciesHeader));
  sections.push_back(
      {SectionKind::kPolicies, 0, program::make_blob(std::move(policies).finish(program::PoliciesHeader{}))});
  return std::make_shared<std::vector<std::byte>>(program::assemble(target_, std::move(sections)));
}

program::ProgramView TestProgram::read(Damage damage) const {
  auto view = program::read(assemble(damage));
  if (!view.ok()) {
    std::fprintf(stderr, "test program: %s\n", view.error().text.c_str());
    std::abort();
  }
  return *view;
}

}  // namespace edge::runtime
