// edge-regexc: compiles patterns with Hyperscan, apart from the process that asks, under limits of its own. Reads
// frames from descriptor 0 and writes answers to it (regex_protocol.h); ends when the other side closes.
//
//   edge-regexc CPU_SECONDS_A_SET MEMORY_BYTES | --version
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <hs/hs_compile.h>
#include <hs/hs_runtime.h>
#include <unistd.h>

#include "compiler/emit/regex_protocol.h"
#include "program/version.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EDGE_SHADOW_MEMORY 1  // reserves terabytes of addresses: a bound on them would end the worker at once
#endif
#endif

namespace {

using namespace edge::compiler::emit;

bool read_all(char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = read(0, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(0, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool write_frame(std::string_view frame) {
  std::string head;
  append_u32(head, static_cast<std::uint32_t>(frame.size()));
  return write_all(head) && write_all(frame);
}

/// The CPU limit counts from the start of the process: each set gets its seconds on top of what was used.
void allow_cpu(unsigned seconds) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto used = static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
  const rlimit limit{used + 1 + seconds, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
}

void limit_process(rlim_t memory) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_FSIZE, &none);
#ifndef EDGE_SHADOW_MEMORY
  const rlimit bytes{memory, memory};
  setrlimit(RLIMIT_AS, &bytes);
#else
  (void)memory;
#endif
}

std::string compile(const std::vector<std::string>& patterns) {
  std::vector<const char*> texts;
  // Every match sets a bit, so the first of each pattern is enough. A pattern that matches nothing at all (`.*`) is a
  // pattern like others.
  const std::vector<unsigned> flags(patterns.size(), HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY);
  std::vector<unsigned> ids;
  for (const std::string& pattern : patterns) {
    if (pattern.find('\0') != std::string::npos) {
      return encode_fault(RegexReply::kPatternFault, static_cast<std::uint32_t>(ids.size()),
                          "A NUL byte cannot stand in a pattern.");
    }
    ids.push_back(static_cast<unsigned>(ids.size()));
    texts.push_back(pattern.c_str());
  }
  // The generic platform: the database runs on any x86-64 CPU, and its bytes do not depend on this one.
  hs_platform_info platform{};
  platform.tune = HS_TUNE_FAMILY_GENERIC;
  hs_database_t* database = nullptr;
  hs_compile_error_t* fault = nullptr;
  const hs_error_t error = hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(texts.size()),
                                            HS_MODE_BLOCK, &platform, &database, &fault);
  if (error != HS_SUCCESS) {
    const int expression = fault == nullptr ? -1 : fault->expression;
    const std::string message = fault == nullptr ? "Hyperscan failed." : fault->message;
    hs_free_compile_error(fault);
    if (expression < 0) return encode_fault(RegexReply::kSetFault, 0, message);
    return encode_fault(RegexReply::kPatternFault, static_cast<std::uint32_t>(expression), message);
  }
  char* bytes = nullptr;
  std::size_t size = 0;
  const hs_error_t serialised = hs_serialize_database(database, &bytes, &size);
  hs_free_database(database);
  if (serialised != HS_SUCCESS) return encode_fault(RegexReply::kSetFault, 0, "The database cannot be serialised.");
  std::string reply(1, static_cast<char>(RegexReply::kDatabase));
  reply.append(bytes, size);
  std::free(bytes);
  return reply;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    return std::fputs(edge::program::version_text("edge-regexc").c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1
                                                                                                                  : 0;
  }
  if (argc != 3) {
    std::fputs("usage: edge-regexc CPU_SECONDS_A_SET MEMORY_BYTES | --version (run by the compiler, not by hand)\n",
               stderr);
    return 2;
  }
  const auto cpu_seconds = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
  limit_process(std::strtoull(argv[2], nullptr, 10));
  std::string frame;
  for (;;) {
    char head[4];
    if (!read_all(head, sizeof head)) return 0;
    const std::uint32_t size = read_u32(head);
    if (size > kMaxRequestFrame) return 1;
    frame.resize(size);
    if (!read_all(frame.data(), size)) return 1;
    const auto patterns = decode_patterns(frame);
    if (!patterns) return 1;
    allow_cpu(cpu_seconds);
    const std::string reply = compile(*patterns);
    if (reply.size() > kMaxReplyFrame) {
      if (!write_frame(encode_fault(RegexReply::kSetFault, 0, "The database is too large."))) return 1;
    } else if (!write_frame(reply)) {
      return 1;
    }
  }
}
