// A handwritten native section, for load_test: host 1 has one group, whose first candidate matches POST.
#include "program/evaluate/abi.h"

namespace {

using edge::program::MatchInput;

std::uint32_t decide(const MatchInput* input) {
  const auto& method = input->slots[edge::program::kSlotMethod];
  return method.size == 4 && method.data[0] == 'P' ? 0 : edge::program::kNoCandidate;
}

constexpr edge::program::GroupFunction kFunctions[] = {decide};
constexpr edge::program::NativeHost kHosts[] = {{1, kFunctions, 1}};

}  // namespace

extern "C" {
extern const edge::program::NativeIndex edge_native_index;
const edge::program::NativeIndex edge_native_index = {edge::program::kAbiVersion, 1, kHosts};
}
