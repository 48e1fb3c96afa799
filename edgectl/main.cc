// edgectl: the commands are in commands/, their table in commands.cc.
#include <csignal>

#include "edgectl/commands.h"
#include "edgectl/web/compiler/compile_service.h"

int main(int argc, char** argv) {
  // `edgectl … | head` ends by a failed write, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto code = edge::edgectl::web::serve_compiler(argc, argv)) return *code;
  return edge::cli::run(edge::edgectl::table(), argc, argv);
}
