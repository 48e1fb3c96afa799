#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

struct Pass {
  void (*run)(ir::Host&);
  bool on_predicates;  ///< has nothing to do in a host without predicates, which most are
};

constexpr Pass kPasses[] = {
    {fold_known_paths, true}, {flatten, true}, {fold_constants, true}, {drop_shadowed, false}, {number, true},
};

}  // namespace

void optimize(ir::Host& host) {
  const bool predicates = !host.nodes.empty();
  for (const Pass& pass : kPasses) {
    if (predicates || !pass.on_predicates) pass.run(host);
  }
}

}  // namespace edge::compiler::opt
