#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "compiler/emit/regex.h"
#include "compiler/emit/tables.h"
#include "compiler/link/policies/effective_policies.h"
#include "program/evaluate/path_table.h"
#include "program/filter_table.h"
#include "program/section_builder.h"

namespace edge::compiler::emit {
namespace {

using program::ActionRecord;
using program::ArrayRef;
using program::BackendRefRecord;
using program::FilterOp;
using program::FilterRecord;
using program::HostHeader;
using program::kNone;
using program::NodeRecord;
using program::Op;
using program::SplitRecord;
using program::Target32;
using program::TreatmentRecord;

/// What a rewritten prefix replaces: the bytes of the path that the match named.
std::uint32_t matched_length(const PathMatch& path, const Filter& filter) {
  switch (path.type) {
    case PathMatch::Type::kExact:
      return static_cast<std::uint32_t>(path.value->size());
    // `/` is the empty prefix: its slash belongs to the rest of the path.
    case PathMatch::Type::kPrefix:
      return *path.value == "/" ? 0 : static_cast<std::uint32_t>(path.value->size());
    case PathMatch::Type::kRegex:
      return filter.prefix;
    case PathMatch::Type::kNone:
      return 0;
  }
  return 0;
}

/// The weights, halved until their sum fits: proportions stay, and no weight above zero becomes zero.
std::vector<std::uint32_t> bounded_weights(const std::vector<WeightedBackend>& backends) {
  std::vector<std::uint32_t> weights;
  std::uint64_t sum = 0;
  for (const WeightedBackend& backend : backends) sum += weights.emplace_back(backend.weight);
  while (sum > std::numeric_limits<std::uint32_t>::max()) {
    sum = 0;
    for (std::uint32_t& weight : weights) sum += weight = weight > 1 ? weight / 2 : weight;
  }
  return weights;
}

template <typename Item>
void append_bytes(std::string& key, const std::vector<Item>& items) {
  const std::size_t count = items.size();
  key.append(reinterpret_cast<const char*>(&count), sizeof count);
  key.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item));
}

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

/// A TreatmentRecord with the texts it refers to, before they have offsets. Records with equal bytes are stored once.
struct Treatment {
  TreatmentRecord record{};
  std::vector<FilterRecord> filters;
  std::vector<std::uint64_t> policies;
  std::vector<program::MirrorRecord> mirrors;

  std::string key() const {
    std::string key = bytes_of(record);
    append_bytes(key, filters);
    append_bytes(key, policies);
    append_bytes(key, mirrors);
    return key;
  }
};

/// A SplitRecord with its backends, before they have offsets.
struct Backends {
  SplitRecord record{};
  std::vector<BackendRefRecord> refs;
  std::vector<std::uint32_t> treatments;

  std::string key() const {
    std::string key = bytes_of(record);
    append_bytes(key, refs);
    append_bytes(key, treatments);
    return key;
  }
};

/// Numbers values by their bytes, in the order of first use.
template <typename Value>
class Distinct {
 public:
  std::uint32_t put(Value value) {
    const auto [known, added] = numbers_.try_emplace(value.key(), static_cast<std::uint32_t>(values_.size()));
    if (added) values_.push_back(std::move(value));
    return known->second;
  }
  const std::vector<Value>& values() const { return values_; }
  std::vector<Value>& values() { return values_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Value> values_;
};

class HostEmitter {
 public:
  HostEmitter(const LinkedConfig& config, const ir::Host& host)
      : config_(config), host_(host), builder_(sizeof(HostHeader), size_hint(host)) {}

  std::vector<std::byte> run(std::uint32_t shard) && {
    HostHeader header{};
    header.host_id = host_.id;
    header.native_shard = shard;
    header.pattern = builder_.string(host_.pattern.text());
    emit_paths(header);
    emit_predicates(header);
    emit_regexes(header);
    emit_treatments(header);
    return std::move(builder_).finish(header);
  }

 private:
  static std::size_t size_hint(const ir::Host& host) {
    return 128 * (host.exact.size() + host.prefix.size() + host.early_regex.size() + host.regex.size() +
                  host.any.size()) +
           32 * host.nodes.size() + 64 * host.regexes.size() + 256;
  }

  // ---- Paths and groups -------------------------------------------------------------------------------------------

  void emit_paths(HostHeader& header) {
    program::PathTableBuilder paths;
    header.root_prefix = kNone;
    auto exact = host_.exact.begin();
    auto prefix = host_.prefix.begin();
    if (prefix != host_.prefix.end() && prefix->first.empty()) header.root_prefix = target(prefix++->second);
    while (exact != host_.exact.end() || prefix != host_.prefix.end()) {
      const bool take_exact =
          prefix == host_.prefix.end() || (exact != host_.exact.end() && exact->first <= prefix->first);
      const bool take_prefix =
          exact == host_.exact.end() || (prefix != host_.prefix.end() && prefix->first <= exact->first);
      const std::string_view path = take_exact ? exact->first : prefix->first;
      const Target32 on_exact = take_exact ? target(exact++->second) : kNone;
      const Target32 on_prefix = take_prefix ? target(prefix++->second) : kNone;
      paths.add(path, on_exact, on_prefix);
    }
    header.early_regex = target(host_.early_regex);
    header.regex = target(host_.regex);
    header.any_path = target(host_.any);

    paths.store(builder_, header);
    header.groups = builder_.array(groups_);
    header.candidates = builder_.array(candidates_);
  }

  Target32 target(const ir::Group& group) {
    if (group.empty()) return kNone;
    if (group.front().predicate == ir::kAlways) return program::kActionBit | action(group.front());
    groups_.push_back({static_cast<std::uint32_t>(candidates_.size()), static_cast<std::uint32_t>(group.size())});
    for (const ir::Candidate& candidate : group) candidates_.push_back({candidate.predicate, action(candidate)});
    return static_cast<Target32>(groups_.size() - 1);
  }

  // ---- Predicates ---------------------------------------------------------------------------------------------------

  void emit_predicates(HostHeader& header) {
    std::vector<NodeRecord> nodes;
    std::vector<std::uint32_t> operands;
    std::vector<program::CidrRecord> cidrs;
    nodes.reserve(host_.nodes.size());
    for (const ir::Node& node : host_.nodes) nodes.push_back(node_record(node, operands, cidrs));

    std::vector<program::SlotRecord> slots;
    slots.reserve(host_.slots.size());
    for (const ir::Slot& slot : host_.slots) slots.push_back({slot.kind, builder_.string(slot.name)});

    header.nodes = builder_.array(nodes);
    header.operands = builder_.array(operands);
    header.slots = builder_.array(slots);
    header.cidrs = builder_.array(cidrs);
  }

  NodeRecord node_record(const ir::Node& node, std::vector<std::uint32_t>& operands,
                         std::vector<program::CidrRecord>& cidrs) {
    NodeRecord record{node.op, 0, 0, 0, 0};
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        record.a = static_cast<std::uint32_t>(operands.size());
        record.b = static_cast<std::uint32_t>(node.operands.size());
        operands.insert(operands.end(), node.operands.begin(), node.operands.end());
        break;
      case Op::kNot:
        record.a = node.operands.front();
        break;
      case Op::kPresent:
        record.slot = static_cast<std::uint16_t>(node.slot);
        break;
      case Op::kEquals:
      case Op::kPathPrefix:
      case Op::kContains: {
        const program::StringRef text = builder_.string(node.text);
        record.slot = static_cast<std::uint16_t>(node.slot);
        record.a = text.offset;
        record.b = text.size;
        break;
      }
      case Op::kSourceIn: {
        program::CidrRecord& cidr = cidrs.emplace_back();
        std::memcpy(cidr.address, node.cidr.address.bytes.data(), sizeof cidr.address);
        cidr.prefix_length = node.cidr.prefix_length;
        record.a = static_cast<std::uint32_t>(cidrs.size() - 1);
        break;
      }
      case Op::kRegex:
        record.a = node.regex;
        break;
      case Op::kFalse:
        break;
    }
    return record;
  }

  /// The sets of a subject: the patterns of one slot stand side by side.
  void emit_regexes(HostHeader& header) {
    std::vector<program::RegexRecord> regexes;
    std::vector<program::RegexSetRecord> sets;
    for (std::size_t first = 0; first < host_.regexes.size();) {
      const std::uint32_t slot = host_.regexes[first].slot;
      std::vector<std::string> patterns;
      for (std::size_t i = first; i < host_.regexes.size() && host_.regexes[i].slot == slot; ++i) {
        patterns.push_back(host_.regexes[i].pattern);
        regexes.push_back({builder_.string(patterns.back()), slot});
      }
      auto next = patterns.begin();
      for (const std::size_t size : regex_set_sizes(patterns)) {
        const auto end = next + static_cast<std::ptrdiff_t>(size);
        sets.push_back(
            {regex_set_id({next, end}), slot, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(size), 0});
        next = end;
        first += size;
      }
    }
    header.regexes = builder_.array(regexes);
    header.regex_sets = builder_.array(sets);
  }

  // ---- Actions and treatments ---------------------------------------------------------------------------------------

  std::uint32_t action(const ir::Candidate& candidate) {
    const LinkedRule& rule = config_.routes[candidate.route].rules[candidate.rule];
    const std::uint32_t usual = treatment(candidate, rule.filters);
    actions_.push_back({route(candidate.route), candidate.rule, candidate.match, usual, split(candidate, usual)});
    return static_cast<std::uint32_t>(actions_.size() - 1);
  }

  std::uint32_t route(std::uint32_t index) {
    const auto [known, added] = route_records_.try_emplace(index, static_cast<std::uint32_t>(routes_.size()));
    if (added) {
      const Identity& identity = config_.routes[index].identity;
      routes_.push_back({builder_.string(identity.name), name_space(identity.name_space)});
    }
    return known->second;
  }

  std::uint32_t name_space(std::string_view name) {
    const program::StringRef ref = builder_.string(name);
    // Interned: equal names stand at one place.
    const auto [known, added] =
        namespace_records_.try_emplace(ref.offset, static_cast<std::uint32_t>(namespaces_.size()));
    if (added) namespaces_.push_back(ref);
    return known->second;
  }

  /// Of limits that are 0 where there is none.
  static void bound(std::uint64_t& limit, std::uint64_t other) {
    if (other != 0 && (limit == 0 || other < limit)) limit = other;
  }

  std::uint32_t treatment(const ir::Candidate& candidate, const std::vector<Filter>& filters) {
    const LinkedRoute& linked = config_.routes[candidate.route];
    const LinkedRule& rule = linked.rules[candidate.rule];
    Treatment treatment;
    std::uint64_t max_body = rule.max_request_body.value_or(config_.listeners[host_.listener].max_request_body);
    for (const Filter& filter : filters)
      treatment.filters.push_back(filter_record(filter, rule.matches[candidate.match].path));
    bool replaces_errors = false;
    for (const std::uint32_t policy : link::policies_on(config_, host_.listener, linked, rule)) {
      const Identity& identity = config_.policies[policy].identity;
      replaces_errors |= link::replaces_backend_errors(config_.policies[policy]);
      treatment.policies.push_back(stable_id("ProxyPolicy", identity.name_space, identity.name));
      const auto* filter = std::get_if<RequestFilterSettings>(&config_.policies[policy].settings);
      if (filter != nullptr && !filter->shadow) bound(max_body, filter->max_body_size);
    }
    for (const Mirror& mirror : rule.mirrors) {
      if (mirror.backend && mirror.share.numerator > 0) treatment.mirrors.push_back(mirror_record(mirror));
    }

    const bool denied = link::denied_on(config_, host_.listener, linked, rule);
    TreatmentRecord& record = treatment.record;
    record.request_timeout_ns = static_cast<std::uint64_t>(rule.request_timeout.count());
    record.idle_timeout_ns = static_cast<std::uint64_t>(rule.idle_timeout.count());
    record.min_grpc_timeout_ns = static_cast<std::uint64_t>(rule.min_grpc_timeout.count());
    record.max_request_body = max_body;
    record.max_buffer = rule.max_buffer;
    record.flags = (rule.buffer_request ? program::kBufferRequest : 0u) |
                   (rule.buffer_response ? program::kBufferResponse : 0u) | (denied ? program::kDenied : 0u) |
                   (replaces_errors ? program::kReplacesErrors : 0u) |
                   (std::ranges::any_of(filters, program::keeps_sessions, &Filter::op) ? program::kPersists : 0u);
    constexpr std::uint16_t kMost = program::kRetriesOfBackend - 1;
    record.max_retries = rule.retry ? std::min(rule.retry->max_retries, kMost) : program::kRetriesOfBackend;
    record.retry_on = rule.retry ? rule.retry->retry_on : 0;
    record.try_timeout_ns = rule.retry ? static_cast<std::uint64_t>(rule.retry->try_timeout.count()) : 0;
    return treatments_.put(std::move(treatment));
  }

  /// Rule D3: `X-Canary` goes to the lowest weight, zero included, the first of equals.
  /// `usual`: the treatment of requests to backends without filters of their own.
  std::uint32_t split(const ir::Candidate& candidate, std::uint32_t usual) {
    const LinkedRule& rule = config_.routes[candidate.route].rules[candidate.rule];
    if (rule.backends.empty()) return kNone;
    const std::vector<std::uint32_t> weights = bounded_weights(rule.backends);
    Backends backends;
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      const std::optional<std::uint32_t>& backend = rule.backends[i].backend;
      backends.refs.push_back(BackendRefRecord::of(backend ? called_id(*backend) : 0, weights[i]));
      backends.record.total_weight += weights[i];
      if (weights[i] < weights[backends.record.canary]) backends.record.canary = i;
    }
    if (!config_.gateways[config_.listeners[host_.listener].gateway].canary_by_header) backends.record.canary = kNone;
    const auto has_own = [](const WeightedBackend& backend) { return backend.filters.has_value(); };
    // The runtime looks for a session only where there are treatments.
    const bool persists = std::ranges::any_of(rule.filters, program::keeps_sessions, &Filter::op);
    if (persists || std::any_of(rule.backends.begin(), rule.backends.end(), has_own)) {
      for (const WeightedBackend& backend : rule.backends) {
        backends.treatments.push_back(backend.filters ? treatment(candidate, *backend.filters) : usual);
      }
    }
    // Numbers of runs, until the refs have a place: emit_treatments makes them what a reader expects.
    return backends_.put(std::move(backends));
  }

  /// MirrorRecord::details as if there were no other filters.
  program::MirrorRecord mirror_record(const Mirror& mirror) {
    const bool fraction = mirror.share.denominator != 100;
    program::MirrorRecord record{called_id(*mirror.backend), mirror.share.numerator, 0};
    if (fraction) record.share |= program::kMirrorFractionBit;
    if (!fraction && mirror.host.empty()) return record;
    const FilterRecord details{program::FilterOp::kRewriteHost, fraction ? mirror.share.denominator : 0,
                               builder_.string(""), builder_.string(mirror.host)};
    // Interned: equal texts stand at one place.
    const auto [known, added] = mirror_details_.try_emplace({details.value.offset, details.detail},
                                                            static_cast<std::uint32_t>(mirror_filters_.size() + 1));
    if (added) mirror_filters_.push_back(details);
    record.details = known->second;
    return record;
  }

  std::uint64_t called_id(std::uint32_t index) const {
    return backend_id(variant_for(config_.gateways[config_.listeners[host_.listener].gateway], index));
  }

  std::uint64_t backend_id(std::uint32_t index) const {
    const Identity& identity = config_.backends[index].identity;
    return stable_id("ProxyBackend", identity.name_space, identity.name);
  }

  FilterRecord filter_record(const Filter& filter, const PathMatch& path) {
    FilterRecord record{filter.op, 0, builder_.string(filter.name), builder_.string(filter.value)};
    switch (row_of(filter.op).detail) {
      case program::Detail::kNone:
        break;
      case program::Detail::kPrefix:
        record.detail = matched_length(path, filter);
        break;
      case program::Detail::kRedirect:
        record.detail = program::redirect_detail(filter.status, filter.port);
        break;
      case program::Detail::kSeconds:
        record.detail = filter.seconds;
        break;
      case program::Detail::kMilliseconds:
        record.detail = filter.milliseconds;
        break;
      case program::Detail::kStatus:
        record.detail = filter.status;
        break;
    }
    return record;
  }

  void emit_treatments(HostHeader& header) {
    std::vector<TreatmentRecord> treatments;
    std::uint32_t filters = 0;
    for (const Treatment& treatment : treatments_.values()) {
      treatments.push_back(treatment.record);
      filters += static_cast<std::uint32_t>(treatment.filters.size());
    }
    // What mirrors name stands behind the filters of treatments.
    for (Treatment& treatment : treatments_.values()) {
      for (program::MirrorRecord& mirror : treatment.mirrors) {
        if (mirror.details != 0) mirror.details += filters;
      }
    }
    header.filters = emit_run(treatments_, &Treatment::filters, treatments, &TreatmentRecord::filters, mirror_filters_);
    header.policy_refs = emit_run(treatments_, &Treatment::policies, treatments, &TreatmentRecord::policies);
    header.mirrors = emit_run(treatments_, &Treatment::mirrors, treatments, &TreatmentRecord::mirrors);
    header.treatments = builder_.array(treatments);
    std::vector<SplitRecord> all;
    for (const Backends& backends : backends_.values()) all.push_back(backends.record);
    header.backend_refs = emit_run(backends_, &Backends::refs, all, &SplitRecord::backends);
    header.split_treatments = emit_run(backends_, &Backends::treatments, all, &SplitRecord::treatments);

    // A single backend that is treated as its rule says needs no record of its own.
    std::vector<SplitRecord> splits;
    std::vector<std::uint32_t> numbers;
    for (const SplitRecord& split : all) {
      // Of one of weight 0 the record says whether `X-Canary` reaches it.
      const bool single =
          split.backends.count == 1 && split.treatments.count == 0 && (split.total_weight > 0 || split.canary != kNone);
      const auto first = (split.backends.offset - header.backend_refs.offset) / sizeof(BackendRefRecord);
      numbers.push_back(single ? program::kSingleBackendBit | static_cast<std::uint32_t>(first)
                               : static_cast<std::uint32_t>(splits.size()));
      if (!single) splits.push_back(split);
    }
    header.splits = builder_.array(splits);
    for (ActionRecord& action : actions_)
      if (action.split != kNone) action.split = numbers[action.split];
    header.actions = builder_.array(actions_);
    header.routes = builder_.array(routes_);
    header.namespaces = builder_.array(namespaces_);
  }

  /// Stores one sort of runs of all values in one array, which it returns, and has `records`, one a value, refer to it.
  /// `rest` stands behind them.
  template <typename Value, typename Record, typename Item>
  ArrayRef<Item> emit_run(const Distinct<Value>& values, std::vector<Item> Value::* run, std::vector<Record>& records,
                          ArrayRef<Item> Record::* ref, const std::vector<Item>& rest = {}) {
    std::vector<Item> items;
    for (const Value& value : values.values()) items.insert(items.end(), (value.*run).begin(), (value.*run).end());
    items.insert(items.end(), rest.begin(), rest.end());
    const ArrayRef<Item> array = builder_.array(items);
    std::uint32_t at = array.offset;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::size_t count = (values.values()[i].*run).size();
      records[i].*ref = {at, static_cast<std::uint32_t>(count)};
      at += static_cast<std::uint32_t>(count * sizeof(Item));
    }
    return array;
  }

  const LinkedConfig& config_;
  const ir::Host& host_;
  program::SectionBuilder builder_;
  std::vector<program::GroupRecord> groups_;
  std::vector<program::CandidateRecord> candidates_;
  std::vector<ActionRecord> actions_;
  std::vector<program::RouteRecord> routes_;
  std::unordered_map<std::uint32_t, std::uint32_t> route_records_;
  std::vector<program::StringRef> namespaces_;
  std::unordered_map<std::uint32_t, std::uint32_t> namespace_records_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> mirror_details_;
  std::vector<FilterRecord> mirror_filters_;
  Distinct<Treatment> treatments_;
  Distinct<Backends> backends_;
};

}  // namespace

std::vector<std::byte> emit_host(const LinkedConfig& config, const ir::Host& host, std::uint32_t shard) {
  return HostEmitter(config, host).run(shard);
}

}  // namespace edge::compiler::emit
