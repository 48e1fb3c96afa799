#include "compiler/ir/dump.h"

#include <string_view>

#include "program/claim_field.h"

namespace edge::compiler::ir {
namespace {

using program::Op;

std::string in_quotes(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      ((result += "\\x") += kHex[byte >> 4]) += kHex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string slot_text(const Host& host, std::uint32_t slot) {
  if (slot == program::kSlotMethod) return "method";
  if (slot == program::kSlotPath) return "path";
  const Slot& own = host.slots[slot - program::kFirstHostSlot];
  return own.kind == program::SlotKind::kHeader ? program::field_text(own.name) : "query:" + own.name;
}

/// Of a claim's element, whose name says all of the condition.
bool is_item(const Host& host, std::uint32_t slot) {
  if (slot < program::kFirstHostSlot) return false;
  const auto claim = program::read_claim_field(host.slots[slot - program::kFirstHostSlot].name);
  return claim && claim->item;
}

std::string leaf_text(const Host& host, const Node& node, bool negated) {
  const std::string_view not_ = negated ? "NOT " : "";
  switch (node.op) {
    case Op::kEquals:
      if (node.slot == program::kSlotPath) return std::string(not_) + "path exact " + in_quotes(node.text);
      return slot_text(host, node.slot) + (negated ? " != " : " == ") + in_quotes(node.text);
    case Op::kPresent:
      return std::string(not_) + slot_text(host, node.slot) + (is_item(host, node.slot) ? "" : " present");
    case Op::kPathPrefix:
      return std::string(not_) + "path prefix " + in_quotes(node.text.empty() ? "/" : node.text);
    case Op::kContains:
      return std::string(not_) + slot_text(host, node.slot) + " contains " + in_quotes(node.text);
    case Op::kSourceIn:
      return std::string(not_) + "source_ip in " + in_quotes(to_string(node.cidr));
    case Op::kRegex: {
      const Regex& regex = host.regexes[node.regex];
      return std::string(not_) + slot_text(host, regex.slot) + " matches " + in_quotes(regex.pattern);
    }
    default:
      return std::string(not_) + "false";
  }
}

std::string node_text(const Host& host, std::uint32_t index, bool nested) {
  const Node& node = host.nodes[index];
  if (node.op == Op::kNot) {
    const Node& operand = host.nodes[node.operands.front()];
    if (operand.op != Op::kAnd && operand.op != Op::kOr) return leaf_text(host, operand, true);
    return "NOT " + node_text(host, node.operands.front(), true);
  }
  if (node.op != Op::kAnd && node.op != Op::kOr) return leaf_text(host, node, false);
  std::string text = nested ? "(" : "";
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (i > 0) text += node.op == Op::kAnd ? " AND " : " OR ";
    text += node_text(host, node.operands[i], true);
  }
  return text + (nested ? ")" : "");
}

void dump_group(const LinkedConfig& config, const Host& host, const std::string& title, const Group& group,
                std::string& text) {
  if (group.empty()) return;
  text += "  " + title + "\n";
  for (const Candidate& candidate : group) {
    text += "    " + candidate_text(config, candidate);
    if (candidate.predicate != kAlways) text += " when " + node_text(host, candidate.predicate, false);
    text += '\n';
  }
}

}  // namespace

std::string predicate_text(const Host& host, std::uint32_t predicate) {
  return predicate == kAlways ? "always" : node_text(host, predicate, false);
}

std::string candidate_text(const LinkedConfig& config, const Candidate& candidate) {
  const Identity& identity = config.routes[candidate.route].identity;
  return identity.name_space + "/" + identity.name + " rules[" + std::to_string(candidate.rule) + "].matches[" +
         std::to_string(candidate.match) + "]";
}

std::string dump(const LinkedConfig& config, const Host& host) {
  const LinkedListener& listener = config.listeners[host.listener];
  const Identity& gateway = config.gateways[listener.gateway].identity;
  std::string text = "host " + (host.pattern.any() ? "(every host)" : host.pattern.text()) + " on " +
                     gateway.name_space + "/" + gateway.name + " " + listener.name + "\n";
  for (const auto& [path, group] : host.exact) dump_group(config, host, "exact " + in_quotes(path), group, text);
  dump_group(config, host, "regex before prefixes", host.early_regex, text);
  for (auto it = host.prefix.rbegin(); it != host.prefix.rend(); ++it) {
    dump_group(config, host, "prefix " + in_quotes(it->first.empty() ? "/" : it->first), it->second, text);
  }
  dump_group(config, host, "regex", host.regex, text);
  dump_group(config, host, "any path", host.any, text);
  for (std::size_t i = 0; i < host.regexes.size(); ++i) {
    const Regex& regex = host.regexes[i];
    text +=
        "  pattern " + std::to_string(i) + " of " + slot_text(host, regex.slot) + " " + in_quotes(regex.pattern) + "\n";
  }
  for (const Shadowed& shadowed : host.shadowed) {
    text += "  shadowed " + candidate_text(config, shadowed.loser) + " by " + candidate_text(config, shadowed.winner) +
            "\n";
  }
  for (const Candidate& candidate : host.impossible) {
    text += "  impossible " + candidate_text(config, candidate) + "\n";
  }
  return text;
}

}  // namespace edge::compiler::ir
