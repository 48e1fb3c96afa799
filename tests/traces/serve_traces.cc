// The trace store as a process of its own, for peers that send to it: prints where it takes spans and where it is
// asked, and ends with its standard input.
#include <cstdio>

#include "controller/traces/trace_server.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: serve_traces DIRECTORY\n", stderr);
    return 2;
  }
  edge::traces::TraceServerOptions options;
  options.data_dir = argv[1];
  options.otlp = options.queries = edge::traces::TraceListen();
  const auto server = edge::traces::TraceServer::start(options);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().text.c_str());
    return 1;
  }
  std::printf("%s\n%s\n", (*server)->otlp_url().c_str(), (*server)->query_url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
