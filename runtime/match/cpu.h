// Whether this machine can run the native code of a program's target.
#pragma once

#include "program/format/format.h"

namespace edge::runtime {

inline bool runs_here(program::Target target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (target) {
    case program::Target::kX8664:
      return true;
    case program::Target::kX8664V2:
      return __builtin_cpu_supports("x86-64-v2");
    case program::Target::kX8664V3:
      return __builtin_cpu_supports("x86-64-v3");
    default:
      return false;
  }
#elif defined(__aarch64__)
  return target == program::Target::kAarch64;
#else
  return false;
#endif
}

}  // namespace edge::runtime
