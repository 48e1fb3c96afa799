#include <vector>

#include "compiler/ir/node_set.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

/// A shared node of more operands is left apart: to splice it into each of its users would multiply it.
constexpr std::size_t kMaxSpliced = 16;

}  // namespace

void flatten(ir::Host& host) {
  ir::NodeSet nodes;
  std::vector<std::uint32_t> moved(host.nodes.size());
  for (std::size_t i = 0; i < host.nodes.size(); ++i) {
    ir::Node node = host.nodes[i];
    std::vector<std::uint32_t> operands;
    for (const std::uint32_t operand : node.operands) {
      const ir::Node& inner = nodes[moved[operand]];
      const bool chain = node.op != program::Op::kNot && inner.op == node.op && inner.operands.size() <= kMaxSpliced;
      if (chain) {
        operands.insert(operands.end(), inner.operands.begin(), inner.operands.end());
      } else {
        operands.push_back(moved[operand]);
      }
    }
    node.operands = std::move(operands);
    moved[i] = nodes.add(std::move(node));
  }
  ir::for_each_group(host, [&moved](ir::Group& group, const std::string*) {
    for (ir::Candidate& candidate : group) {
      if (candidate.predicate != ir::kAlways) candidate.predicate = moved[candidate.predicate];
    }
  });
  host.nodes = nodes.take();
}

}  // namespace edge::compiler::opt
