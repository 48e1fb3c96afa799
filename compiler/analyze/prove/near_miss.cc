// Generates requests that fail one condition: where engines that differ would disagree.
#include <algorithm>

#include "compiler/analyze/prove/witness_maker.h"

namespace edge::compiler::analyze {

using program::Op;

void WitnessMaker::break_slot(const Witness& witness, const Literal& literal, std::vector<Witness>& out) const {
  const ir::Node& node = host_.nodes[literal.node];
  const std::uint32_t slot = node.op == Op::kRegex ? host_.regexes[node.regex].slot : node.slot;
  const auto with = [&](std::optional<std::string> value) {
    Witness near = witness;
    if (slot == program::kSlotPath) {
      if (!value || !value->starts_with('/') || !is_normal_path(*value)) return;
      near.path = std::move(*value);
    } else {
      set_slot(near, slot, std::move(value));
    }
    out.push_back(std::move(near));
  };
  if (node.op == Op::kEquals) {
    if (!literal.holds) return with(node.text);
    with(node.text + "x");
    if (!node.text.empty()) with(node.text.substr(0, node.text.size() - 1));
    return with(std::nullopt);
  }
  if (node.op == Op::kPresent) return with(literal.holds ? std::nullopt : std::optional<std::string>("w"));
  if (node.op == Op::kPathPrefix) return with(literal.holds ? node.text + "x" : node.text + "/~w");
  if (node.op == Op::kContains) return with(literal.holds ? "/" : "/" + node.text);
  if (node.op != Op::kRegex) return;
  // A subject that matches, with one byte gone, added or changed: the engines must draw the border alike.
  const auto& found = samples(node.regex);
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 2); ++i) {
    const std::string& sample = found[i];
    with(sample);
    with(sample + "x");
    with("/x" + sample);
    if (sample.empty()) continue;
    with(sample.substr(0, sample.size() - 1));
    std::string changed = sample;
    changed[sample.size() / 2] = changed[sample.size() / 2] == '~' ? '_' : '~';
    with(std::move(changed));
    if (slot != program::kSlotPath) with(sample + "\n");
  }
}

std::vector<Witness> WitnessMaker::near_misses(const Witness& witness, const CandidatePath& candidate_path,
                                               const Literals& literals) const {
  std::vector<Witness> out;
  for (const Literal& literal : literals) {
    const ir::Node& node = host_.nodes[literal.node];
    if (node.op == Op::kSourceIn) {
      Witness near = witness;
      near.source = literal.holds ? after(node.cidr) : node.cidr.address;
      out.push_back(std::move(near));
    } else if (node.op != Op::kFalse) {
      break_slot(witness, literal, out);
    }
  }
  if (candidate_path.path_class == PathClass::kExact || candidate_path.path_class == PathClass::kPrefix) {
    Witness longer = witness;
    longer.path += "x";
    out.push_back(std::move(longer));
  }
  return out;
}

}  // namespace edge::compiler::analyze
