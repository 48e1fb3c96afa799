#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/node_set.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

using program::Op;

/// Whether every path below `outer` (whole segments, no trailing slash) includes `path`.
bool covers(std::string_view outer, std::string_view path) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/');
}

bool on_path(const ir::Node& node) {
  return (node.op == Op::kEquals || node.op == Op::kContains) ? node.slot == program::kSlotPath
                                                              : node.op == Op::kPathPrefix;
}

/// What a condition is for requests whose path is `path`.
std::optional<bool> at_exact(const ir::Node& node, std::string_view path) {
  switch (node.op) {
    case Op::kEquals:
      return node.text == path;
    case Op::kPathPrefix:
      return covers(node.text, path);
    default:
      return path.find(node.text) != std::string_view::npos;
  }
}

/// What a condition is for requests whose path lies below `prefix`; nullopt when it depends on the rest.
std::optional<bool> below(const ir::Node& node, std::string_view prefix) {
  switch (node.op) {
    case Op::kEquals:
      return covers(prefix, node.text) ? std::nullopt : std::optional(false);
    case Op::kPathPrefix:
      if (covers(node.text, prefix)) return true;
      return covers(prefix, node.text) ? std::nullopt : std::optional(false);
    default:
      return prefix.find(node.text) != std::string_view::npos ? std::optional(true) : std::nullopt;
  }
}

class PathFolder {
 public:
  explicit PathFolder(ir::Host& host) : host_(host), uses_path_(host.nodes.size()) {
    for (std::size_t i = 0; i < host.nodes.size(); ++i) {
      const ir::Node& node = host.nodes[i];
      bool uses = on_path(node);
      for (const std::uint32_t operand : node.operands) uses = uses || uses_path_[operand];
      uses_path_[i] = uses;
      any_ = any_ || uses;
      nodes_.add(node);
    }
  }

  bool any() const { return any_; }

  template <typename Decide>
  void fold(ir::Group& group, Decide decide) {
    for (ir::Candidate& candidate : group) {
      if (candidate.predicate == ir::kAlways || !uses_path_[candidate.predicate]) continue;
      candidate.predicate = rewrite(candidate.predicate, decide);
    }
  }

  void finish() { host_.nodes = nodes_.take(); }

 private:
  template <typename Decide>
  std::uint32_t rewrite(std::uint32_t index, Decide decide) {
    if (!uses_path_[index]) return index;
    ir::Node node = host_.nodes[index];
    if (on_path(node)) {
      const std::optional<bool> known = decide(node);
      return known ? nodes_.add(*known ? ir::true_node() : ir::false_node()) : index;
    }
    for (std::uint32_t& operand : node.operands) operand = rewrite(operand, decide);
    return nodes_.add(std::move(node));
  }

  ir::Host& host_;
  std::vector<bool> uses_path_;
  ir::NodeSet nodes_;
  bool any_ = false;
};

}  // namespace

void fold_known_paths(ir::Host& host) {
  PathFolder folder(host);
  if (!folder.any()) return;
  for (auto& [path, group] : host.exact) {
    folder.fold(group, [&path](const ir::Node& node) { return at_exact(node, path); });
  }
  for (auto& [prefix, group] : host.prefix) {
    folder.fold(group, [&prefix](const ir::Node& node) { return below(node, prefix); });
  }
  folder.finish();
}

}  // namespace edge::compiler::opt
