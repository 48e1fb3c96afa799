// What `-f` and PATH name: configuration or one program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/source.h"
#include "cli/flags.h"
#include "compiler/compile.h"

namespace edge::edgectl {

/// Whether it names a program rather than configuration; by content, not by name.
bool is_program(const std::string& path);

/// A configuration with everything that was said about it.
struct Compiled {
  SourceMap sources;
  Diagnostics diagnostics;
  compiler::LinkedConfig config;  ///< less its endpoints and secrets
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  std::optional<compiler::Artifact> artifact;
};

/// --controller-class, of every command that compiles.
cli::Flag controller_class_flag();
/// PATH...: what is named as `-f` names it.
cli::Positional paths_argument(std::string_view help);
/// What `-f` and PATH name, in this order.
std::vector<std::string> paths_of(const cli::Arguments& arguments);

/// How configuration is compiled.
struct Compiling {
  program::Target target = program::Target::kX8664V2;
  std::string controller_class = {};  ///< empty: the default one
};
/// For `target`, with the class of `controller_class_flag`.
Compiling compiling_for(program::Target target, const cli::Arguments& arguments);

/// Reads and compiles. An Error means that the paths could not be read; faults in them are diagnostics.
Result<std::unique_ptr<Compiled>> compile_paths(const std::vector<std::string>& paths, compiler::CompileOptions options,
                                                std::string_view controller_class);

/// The two halves of it: the texts, to which others may be added, and what is made of them.
Result<std::unique_ptr<Compiled>> read_paths(const std::vector<std::string>& paths);
void compile_sources(Compiled& compiled, compiler::CompileOptions options, std::string_view controller_class);

/// A program from a .edgeprog or from configuration, which is compiled as `how` says. `faults` tells whether the
/// configuration had errors; they were printed to stderr, and the program is what works without them. Error: neither.
struct ReadProgram {
  program::ProgramView view;
  bool faults = false;
  SourceMap sources = {};                              ///< the texts that were read
  std::optional<program::EndpointSet> endpoints = {};  ///< of configuration; a .edgeprog holds none
};
Result<ReadProgram> program_of(const std::vector<std::string>& paths, const Compiling& how);
/// What compile_sources made, as a program; its errors go to stderr.
Result<ReadProgram> program_of(Compiled& compiled);
/// The same where tests stand beside the configuration, or beside a .edgeprog.
Result<ReadProgram> program_with_tests(const std::vector<std::string>& paths, const Compiling& how);

}  // namespace edge::edgectl
