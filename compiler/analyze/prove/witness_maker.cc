#include "compiler/analyze/prove/witness_maker.h"

#include <algorithm>
#include <array>

#include "compiler/expr/regex_sample.h"

namespace edge::compiler::analyze {
namespace {

using program::Op;

constexpr std::size_t kSamples = 12;
/// A segment that no sensible rule names.
constexpr const char* kOddSegment = "/~w";

bool below(std::string_view prefix, std::string_view path) {
  return path.starts_with('/') && path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/');
}

IpAddress neighbour(IpAddress address, int step) {
  for (std::size_t i = 16; i-- > 0;) {
    address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] + step);
    if (address.bytes[i] != (step > 0 ? 0 : 0xff)) break;
  }
  return address;
}

IpAddress last_of(const Cidr& cidr) {
  IpAddress address = cidr.address;
  for (unsigned bit = cidr.prefix_length; bit < 128; ++bit) {
    address.bytes[bit / 8] = static_cast<std::uint8_t>(address.bytes[bit / 8] | 0x80 >> bit % 8);
  }
  return address;
}

}  // namespace

IpAddress after(const Cidr& cidr) { return neighbour(last_of(cidr), 1); }

WitnessMaker::WitnessMaker(const LinkedConfig& config, const ir::Host& host, const Matcher& matcher)
    : host_(host), matcher_(matcher), samples_(host.regexes.size()) {
  const LinkedListener& listener = config.listeners[host.listener];
  // A host without a name of its own is reached by the listener's names.
  HostPattern pattern = host.pattern;
  if (pattern.any() && !listener.hostnames.empty()) pattern = listener.hostnames.front().value;
  base_.host = pattern.any() ? "any.example" : (pattern.wildcard() ? "w." : "") + std::string(pattern.domain());
  base_.port = listener.port;
}

Witness WitnessMaker::plain(std::string_view path) const {
  Witness witness = base_;
  witness.path = path;
  return witness;
}

const std::vector<std::string>& WitnessMaker::samples(std::uint32_t regex) const {
  auto& kept = samples_[regex];
  if (!kept) {
    kept.emplace();
    const expr::ParsedRegex parsed = expr::parse_regex(host_.regexes[regex].pattern);
    if (parsed.regex) *kept = expr::sample_matches(parsed.regex->root, kSamples);
  }
  return *kept;
}

std::vector<std::string> WitnessMaker::paths(const CandidatePath& candidate_path, const Literals& literals) const {
  const std::string base(candidate_path.path);
  if (candidate_path.path_class == PathClass::kExact) return {base};
  std::vector<std::string> found;
  const auto offer = [&](std::string path) {
    if (!path.starts_with('/')) path.insert(0, "/");
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(std::move(path));
  };
  for (const Literal& literal : literals) {
    const ir::Node& node = host_.nodes[literal.node];
    const bool on_path =
        node.op == Op::kRegex ? host_.regexes[node.regex].slot == program::kSlotPath : node.slot == program::kSlotPath;
    if (!literal.holds || !on_path) continue;
    if (node.op == Op::kEquals) offer(node.text);
    if (node.op == Op::kPathPrefix) {
      offer(node.text);
      offer(node.text + kOddSegment);
    }
    if (node.op == Op::kContains) {
      offer(base + (node.text.starts_with('/') ? "" : "/") + node.text);
      if (found.size() > 1) offer(found[found.size() - 2] + "/" + node.text);
    }
    if (node.op == Op::kRegex) {
      for (const std::string& sample : samples(node.regex)) {
        if (candidate_path.path_class == PathClass::kPrefix)
          offer(base + (sample.starts_with('/') ? "" : "/") + sample);
        offer(sample);
      }
    }
  }
  offer(base.empty() ? "/" : base);
  offer(base + kOddSegment);
  offer(base + kOddSegment + kOddSegment);
  offer(base + "/");
  std::erase_if(found, [&](const std::string& path) {
    if (!is_normal_path(path)) return true;
    return candidate_path.path_class == PathClass::kPrefix && !below(candidate_path.path, path);
  });
  return found;
}

bool WitnessMaker::holds(const ir::Node& node, std::string_view value) const {
  switch (node.op) {
    case Op::kPresent:
      return true;
    case Op::kEquals:
      return value == node.text;
    case Op::kPathPrefix:
      return below(node.text, value);
    case Op::kContains:
      return value.find(node.text) != std::string_view::npos;
    case Op::kRegex:
      return matcher_(host_.regexes[node.regex].pattern, value);
    default:
      return false;
  }
}

bool WitnessMaker::path_fits(const std::string& path, const Literals& literals) const {
  return std::all_of(literals.begin(), literals.end(), [&](const Literal& literal) {
    const ir::Node& node = host_.nodes[literal.node];
    if (node.op == Op::kSourceIn || node.op == Op::kFalse) return true;
    const std::uint32_t slot = node.op == Op::kRegex ? host_.regexes[node.regex].slot : node.slot;
    return slot != program::kSlotPath || holds(node, path) == literal.holds;
  });
}

std::optional<std::string> WitnessMaker::slot_value(std::uint32_t slot, const Literals& literals, bool& absent) const {
  std::vector<std::string> candidates;
  bool wanted = slot == program::kSlotMethod;
  bool constrained = wanted;
  absent = false;
  std::vector<Literal> own;
  for (const Literal& literal : literals) {
    const ir::Node& node = host_.nodes[literal.node];
    if (node.op == Op::kSourceIn || node.op == Op::kFalse) continue;
    const std::uint32_t subject = node.op == Op::kRegex ? host_.regexes[node.regex].slot : node.slot;
    if (subject != slot) continue;
    own.push_back(literal);
    constrained = true;
    wanted = wanted || literal.holds;
    if (!literal.holds) continue;
    if (node.op == Op::kEquals) candidates.push_back(node.text);
    if (node.op == Op::kRegex) {
      const auto& more = samples(node.regex);
      candidates.insert(candidates.end(), more.begin(), more.end());
    }
  }
  // Nothing has to hold: an absent field fails every condition.
  if (!constrained || !wanted) {
    absent = true;
    return std::nullopt;
  }
  if (slot == program::kSlotMethod) candidates.insert(candidates.end(), {"GET", "POST", "PUT", "DELETE", "PATCH"});
  for (const char* fresh : {"w", "w1", "w2", "w3", "w4", "w5", "w6", "w7"}) candidates.emplace_back(fresh);
  for (std::string& candidate : candidates) {
    const bool fits = std::all_of(own.begin(), own.end(), [&](const Literal& literal) {
      return holds(host_.nodes[literal.node], candidate) == literal.holds;
    });
    if (fits) return std::move(candidate);
  }
  return std::nullopt;
}

std::optional<IpAddress> WitnessMaker::source(const Literals& literals) const {
  std::vector<IpAddress> candidates = {IpAddress{}, *parse_ip("192.0.2.1"), *parse_ip("2001:db8::1")};
  std::vector<std::pair<const Cidr*, bool>> blocks;
  for (const Literal& literal : literals) {
    const ir::Node& node = host_.nodes[literal.node];
    if (node.op != Op::kSourceIn) continue;
    blocks.emplace_back(&node.cidr, literal.holds);
    candidates.push_back(neighbour(node.cidr.address, 1));
    candidates.push_back(node.cidr.address);
    candidates.push_back(last_of(node.cidr));
    candidates.push_back(neighbour(node.cidr.address, -1));
    candidates.push_back(after(node.cidr));
  }
  for (const IpAddress& candidate : candidates) {
    const bool fits = std::all_of(blocks.begin(), blocks.end(), [&candidate](const auto& block) {
      return block.first->contains(candidate) == block.second;
    });
    if (fits) return candidate;
  }
  return std::nullopt;
}

void WitnessMaker::set_slot(Witness& witness, std::uint32_t slot, std::optional<std::string> value) const {
  if (slot == program::kSlotMethod) {
    witness.method = value.value_or("GET");
    return;
  }
  if (slot < program::kFirstHostSlot) return;
  const ir::Slot& own = host_.slots[slot - program::kFirstHostSlot];
  if (own.kind == program::SlotKind::kHeader) {
    std::erase_if(witness.headers, [&own](const auto& header) { return header.first == own.name; });
    if (value) witness.headers.emplace_back(own.name, std::move(*value));
    return;
  }
  // The query is rebuilt without the key.
  const std::string key = query_encoded(own.name);
  std::string query;
  for (std::size_t begin = 0; begin < witness.query.size();) {
    const std::size_t end = std::min(witness.query.find('&', begin), witness.query.size());
    const std::string pair = witness.query.substr(begin, end - begin);
    if (pair.substr(0, pair.find('=')) != key) query += (query.empty() ? "" : "&") + pair;
    begin = end + 1;
  }
  if (value) query += (query.empty() ? "" : "&") + key + "=" + query_encoded(*value);
  witness.query = std::move(query);
}

std::optional<Witness> WitnessMaker::fill(const Literals& literals) const {
  Witness witness = base_;
  std::vector<std::uint32_t> done;
  for (const Literal& literal : literals) {
    const ir::Node& node = host_.nodes[literal.node];
    if (node.op == Op::kSourceIn || node.op == Op::kFalse) continue;
    const std::uint32_t slot = node.op == Op::kRegex ? host_.regexes[node.regex].slot : node.slot;
    if (slot == program::kSlotPath || std::find(done.begin(), done.end(), slot) != done.end()) continue;
    done.push_back(slot);
    bool absent = false;
    std::optional<std::string> value = slot_value(slot, literals, absent);
    if (!value && !absent) return std::nullopt;
    set_slot(witness, slot, std::move(value));
  }
  const auto address = source(literals);
  if (!address) return std::nullopt;
  witness.source = *address;
  return witness;
}

}  // namespace edge::compiler::analyze
