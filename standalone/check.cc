#include "standalone/check.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "cli/flags.h"
#include "cli/terminal.h"
#include "compiler/compile.h"
#include "compiler/yaml/read.h"

namespace edge::standalone {
namespace {

std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

int check_files(std::string_view program, const std::vector<std::string>& paths, std::string_view controller_class,
                const std::vector<std::string>& certificate_directories) {
  SourceMap sources;
  if (const Status read = compiler::yaml::read_sources(paths, sources); !read) {
    cli::print_error(program, read.error().text);
    return cli::kExitFindings;
  }
  if (sources.size() == 0) {
    cli::print_error(program, "there is no *.yaml, *.yml or *.json in what --config names");
    return cli::kExitFindings;
  }
  Diagnostics diagnostics;
  const compiler::LinkedConfig config =
      compiler::read_config(sources, diagnostics, controller_class, certificate_directories);
  const bool compiled = compiler::Compiler({}).compile(config, diagnostics).has_value();
  diagnostics.finish(sources);
  const Colour colour = cli::colour_for(stderr);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    cli::write_text(stderr, render(diagnostic, sources, colour) + "\n");
  }
  const bool fine = compiled && diagnostics.ok();
  const bool written = cli::write_text(
      stdout, std::string(fine ? "valid" : "invalid") + ": " + counted(sources.size(), "file") + ", " +
                  counted(diagnostics.errors(), "error") + ", " + counted(diagnostics.warnings(), "warning") + "\n");
  return fine && written ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace edge::standalone
