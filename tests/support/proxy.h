// The whole product in process: YAML through the compiler into a program, served by the runtime on ports of the
// system's choice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/session/server.h"

namespace edge::test {

struct Compiled {
  std::shared_ptr<const runtime::LoadedProgram> program;
  program::EndpointSet endpoints;
};

/// The error holds the rendered diagnostics. Warnings pass.
Result<Compiled> compile_text(const std::string& name, const std::string& yaml);

/// Lines that begin with `@` stand for resources that most cases want, in the namespace `default`:
/// `@gateway [spec line]`, `@backend NAME [spec line]` (with its Service and EndpointSlice on 127.0.0.1 at the port
/// that `ports` gives), `@service NAME` (the last two alone), `@route BACKEND [rule line]` (host-less, prefix `/`).
/// `${NAME}` is replaced by the port of NAME.
std::string expand_config(const std::string& text, const std::map<std::string, std::uint16_t>& ports);

}  // namespace edge::test
