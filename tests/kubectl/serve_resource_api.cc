// The embedded resource API alone, for tests that drive it from outside: `serve_resource_api DATA_DIR [PORT]`. Says its
// address once it listens, and ends with its standard input or by SIGTERM.
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "controller/resource_api/http/resource_api_server.h"
#include "net/socket.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: serve_resource_api DATA_DIR [PORT]\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int ended = ::signalfd(-1, &signals, SFD_CLOEXEC);
  edge::net::ignore_sigpipe();

  edge::resource_api::http::ResourceApiOptions options;
  options.data_dir = argv[1];
  options.port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 0);
  options.log = edge::Logger([](edge::LogLevel, const std::string& text, const edge::LogFields& fields) {
    std::string line = text;
    for (const edge::LogField& field : fields) line += " " + field.key + "=" + field.value;
    std::fprintf(stderr, "%s\n", line.c_str());
  });
  auto server = edge::resource_api::http::ResourceApiServer::start(std::move(options));
  if (!server) {
    std::fprintf(stderr, "serve_resource_api: %s\n", server.error().text.c_str());
    return 1;
  }
  std::printf("%s\n", (*server)->url().c_str());
  std::fflush(stdout);
  pollfd waits[] = {{ended, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0) {
  }
  return 0;
}
