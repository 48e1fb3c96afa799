#include "program/cpu.h"

#include <array>
#include <utility>

namespace edge::program {
namespace {

constexpr std::array<std::pair<Target, std::string_view>, 5> kNames = {{{Target::kTablesOnly, "any"},
                                                                        {Target::kX8664, "x86-64"},
                                                                        {Target::kX8664V2, "x86-64-v2"},
                                                                        {Target::kX8664V3, "x86-64-v3"},
                                                                        {Target::kAarch64, "aarch64"}}};

}  // namespace

std::string_view to_string(Target target) {
  for (const auto& [known, name] : kNames) {
    if (known == target) return name;
  }
  return "unknown";
}

std::optional<Target> parse_target(std::string_view text) {
  for (const auto& [known, name] : kNames) {
    if (name == text) return known;
  }
  return std::nullopt;
}

Target this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3")) return Target::kX8664V3;
  if (__builtin_cpu_supports("x86-64-v2")) return Target::kX8664V2;
  return Target::kX8664;
#else
  return Target::kAarch64;
#endif
}

bool runs_on(Target target, Target cpu) {
  return target == Target::kTablesOnly || (target == Target::kAarch64) == (cpu == Target::kAarch64);
}

}  // namespace edge::program
