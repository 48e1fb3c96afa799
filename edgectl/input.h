// Reads what `-f` and PATH name: configuration or one program.
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
#include "compiler/link/ordered_certificates.h"

namespace edge::edgectl {

/// Returns whether a file is a program rather than configuration; by content, not by name.
bool is_program(const std::string& path);

/// A configuration with its diagnostics.
struct Compiled {
  SourceMap sources;
  Diagnostics diagnostics;
  compiler::LinkedConfig config;  ///< without endpoints and secrets
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  std::optional<compiler::Artifact> artifact;
};

/// --controller-class, for every command that compiles.
cli::Flag controller_class_flag();
/// PATH...: the same as `-f`.
cli::Positional paths_argument(std::string_view help);
/// Returns the values of `-f` and PATH, in this order.
std::vector<std::string> paths_of(const cli::Arguments& arguments);

/// How configuration is compiled.
struct Compiling {
  program::Target target = program::Target::kX8664V2;
  std::string controller_class = {};  ///< empty: the default one
};
/// Returns the settings for `target`, with the class of `controller_class_flag`.
Compiling compiling_for(program::Target target, const cli::Arguments& arguments);

/// Reads and compiles. An Error means that the paths could not be read; errors in them are diagnostics.
Result<std::unique_ptr<Compiled>> compile_paths(const std::vector<std::string>& paths, compiler::CompileOptions options,
                                                std::string_view controller_class);

/// The two parts of it: reading, after which texts may be added, and compiling.
Result<std::unique_ptr<Compiled>> read_paths(const std::vector<std::string>& paths);
void compile_sources(Compiled& compiled, compiler::CompileOptions options, std::string_view controller_class);

/// A program from a .edgeprog or from compiled configuration. `faults`: the configuration had errors; they were printed
/// to stderr, and the program has what works without them. Error: no program.
struct ReadProgram {
  program::ProgramView view;
  bool faults = false;
  SourceMap sources = {};                              ///< the texts read
  std::optional<program::EndpointSet> endpoints = {};  ///< from configuration; a .edgeprog has none
  /// Likewise: names that certificates are ordered for.
  std::optional<compiler::OrderedCertificates> ordered = {};
};
Result<ReadProgram> program_of(const std::vector<std::string>& paths, const Compiling& how);
/// Returns the result of compile_sources as a program; prints its errors to stderr.
Result<ReadProgram> program_of(Compiled& compiled);
/// The same where tests are next to the configuration or the .edgeprog.
Result<ReadProgram> program_with_tests(const std::vector<std::string>& paths, const Compiling& how);

}  // namespace edge::edgectl
