// The whole product in process: YAML through the compiler into a program, served by the runtime on ports of the
// system's choice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/session/server.h"
#include "tests/support/tls_end.h"

namespace edge::test {

/// What a case is played over: plain text, TLS of the client, TLS on both sides.
enum class Over { kPlain, kTls, kTlsBothWays };

struct Compiled {
  std::shared_ptr<const runtime::LoadedProgram> program;
  program::EndpointSet endpoints;
  program::SecretSet secrets;
};

/// The error holds the rendered diagnostics. Warnings pass.
Result<Compiled> compile_text(const std::string& name, const std::string& yaml);

/// Lines that begin with `@` stand for resources that most cases want, in the namespace `default`:
/// `@gateway [spec line]`, `@backend NAME [spec line]` (with its Service and EndpointSlice on 127.0.0.1 at the port
/// that `ports` gives), `@service NAME` (the last two alone), `@route BACKEND [rule line]` (host-less, prefix `/`).
/// `@certificate NAME` and `@authority NAME` are Secrets with a certificate for kTestHost and the names below it, and
/// with who issued it. `${NAME}` is replaced by the port of NAME, `${url:NAME}` by the origin that the proxy calls it
/// by.
///
/// Over TLS `@gateway` is one of HTTPS, and `@backend` is called over TLS.
std::string expand_config(const std::string& text, const std::map<std::string, std::uint16_t>& ports,
                          Over over = Over::kPlain);

/// A client that asks for `host` and checks it, by ALPN for `protocol` where it is given; and an upstream whose
/// certificate is for kTestHost.
std::shared_ptr<const TlsSide> test_client(const std::string& host, const std::string& protocol = {});
std::shared_ptr<const TlsSide> test_upstream();
/// PEM of who has issued their certificates.
const std::string& test_authority_pem();
inline constexpr std::string_view kTestHost = "example.com";

}  // namespace edge::test
