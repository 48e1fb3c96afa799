#include <cstdio>

#include "edgectl/commands.h"
#include "program/abi.h"
#include "program/format.h"

namespace edge::edgectl {

int version(const cli::Arguments&) {
  std::printf("edgectl %s\nprogram format %u, native interface %u\nAPI group %s\n", EDGE_VERSION,
              program::kFormatVersion, program::kAbiVersion, EDGE_API_GROUP);
  return cli::kExitOk;
}

}  // namespace edge::edgectl
