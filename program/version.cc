#include "program/version.h"

#include "program/evaluate/abi.h"
#include "program/format/format.h"

namespace edge::program {

std::string_view commit() { return EDGE_COMMIT; }

std::string version_text(std::string_view program) {
  return std::string(program) + " " EDGE_VERSION " (commit " EDGE_COMMIT ")\nprogram format " +
         std::to_string(kFormatVersion) + ", native interface " + std::to_string(kAbiVersion) +
         "\nAPI group " EDGE_API_GROUP "\n";
}

}  // namespace edge::program
