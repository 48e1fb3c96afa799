// Interprets predicates. The runtime uses this for programs without native code: nothing here allocates.
#include <algorithm>
#include <cstring>

#include "program/evaluate/evaluate.h"

namespace edge::program {
namespace {

std::string_view text_of(const SlotValue& value) { return {value.data, value.size}; }

bool in_block(const CidrRecord& block, const std::uint8_t* address) {
  const std::size_t bytes = block.prefix_length / 8;
  if (std::memcmp(block.address, address, bytes) != 0) return false;
  const unsigned bits = block.prefix_length % 8;
  return bits == 0 || ((block.address[bytes] ^ address[bytes]) >> (8 - bits)) == 0;
}

/// Whole segments: `/api` holds for `/api` and `/api/x`, not for `/apiv2`.
bool has_path_prefix(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool leaf_holds(const SectionView& host, const NodeRecord& node, const MatchInput& input) {
  switch (node.op) {
    case Op::kPresent:
      return input.slots[node.slot].data != nullptr;
    case Op::kEquals: {
      const SlotValue& value = input.slots[node.slot];
      return value.data != nullptr && text_of(value) == host.string(node.a, node.b);
    }
    case Op::kPathPrefix:
      return has_path_prefix(text_of(input.slots[kSlotPath]), host.string(node.a, node.b));
    case Op::kContains: {
      const SlotValue& value = input.slots[node.slot];
      return value.data != nullptr && text_of(value).find(host.string(node.a, node.b)) != std::string_view::npos;
    }
    case Op::kSourceIn:
      return in_block(host.array(host.header<HostHeader>().cidrs)[node.a], input.source);
    case Op::kRegex:
      return input.regex_hits != nullptr && (input.regex_hits[node.a / 64] >> (node.a % 64) & 1) != 0;
    default:
      return false;
  }
}

}  // namespace

bool holds(const SectionView& host, std::uint32_t node, const MatchInput& input, std::uint32_t* failed) {
  if (node == kNone) return true;
  const auto& header = host.header<HostHeader>();
  const NodeRecord& record = host.array(header.nodes)[node];
  const auto operands = [&] { return host.array(header.operands).subspan(record.a, record.b); };
  bool result = false;
  switch (record.op) {
    case Op::kAnd:
      // An AND fails by the operand that fails first: `failed` is told by it.
      return std::ranges::all_of(operands(),
                                 [&](std::uint32_t operand) { return holds(host, operand, input, failed); });
    case Op::kOr:
      result = std::ranges::any_of(operands(), [&](std::uint32_t operand) { return holds(host, operand, input); });
      break;
    case Op::kNot:
      result = !holds(host, record.a, input);
      break;
    default:
      result = leaf_holds(host, record, input);
  }
  if (!result && failed != nullptr) *failed = node;
  return result;
}

std::uint32_t decide_group(const SectionView& host, const GroupRecord& group, const MatchInput& input) {
  const auto candidates = host.array(host.header<HostHeader>().candidates).subspan(group.first, group.count);
  for (std::uint32_t i = 0; i < candidates.size(); ++i)
    if (holds(host, candidates[i].predicate, input)) return i;
  return kNoCandidate;
}

}  // namespace edge::program
