#include "base/diagnostics.h"
#include "compiler/compile.h"
#include "program/read.h"
#include "tests/support/proxy.h"

namespace edge::test {

Result<Compiled> compile_text(const std::string& name, const std::string& yaml) {
  SourceMap sources;
  sources.add(name, yaml);
  Diagnostics diagnostics;
  const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics);
  compiler::Compiler compiler{compiler::CompileOptions{}};
  const std::optional<compiler::Artifact> artifact = compiler.compile(config, diagnostics);
  diagnostics.finish(sources);
  if (!artifact || !diagnostics.ok()) {
    std::string text = "the configuration does not compile:\n";
    for (const Diagnostic& diagnostic : diagnostics.all()) text += render(diagnostic, sources, Colour::kNo);
    return Error{ErrorCode::kInvalidArgument, text};
  }
  Result<program::ProgramView> view = program::read(artifact->bytes);
  if (!view) return view.error();
  auto loaded = runtime::LoadedProgram::load(*view, nullptr);
  if (!loaded) return loaded.error();
  return Compiled{*loaded, config.endpoints, config.secrets};
}

}  // namespace edge::test
