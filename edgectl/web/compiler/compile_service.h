// The compiler's process: `web-compiler`, which the dashboard's server runs of its own executable. Compiling loads LLVM
// and takes memory by the size of the configuration; here it ends with the process, and a fault of it takes nobody
// along.
//
// A message (frames.h) is a line of JSON, {call, parameters, controllerClass, changes}, and the texts of the changes.
// The reply's first byte is an ErrorCode, 0 without one; then follows the call's JSON, or the error's text.
#pragma once

#include <optional>

namespace edge::edgectl::web {

/// The first word of its command line; the server's end of the connection is kCompilerSocket.
inline constexpr const char* kCompilerWord = "web-compiler";
inline constexpr int kCompilerSocket = 3;

/// To be called first in main(). Serves until the server closes the connection where the command line asks for it, and
/// returns the exit code; nullopt: it does not.
std::optional<int> serve_compiler(int argc, const char* const* argv);

}  // namespace edge::edgectl::web
