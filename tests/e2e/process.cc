#include "tests/e2e/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace edge::test {
namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

Process::Process(std::vector<std::string> words, std::string log) : log_(std::move(log)) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  if (::posix_spawn(&pid_, words.front().c_str(), &files, nullptr, arguments.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&files);
}

Process::~Process() { kill(); }

std::string Process::log() const {
  std::ifstream in(log_);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool Process::running() {
  if (pid_ <= 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

std::string Process::after(const std::string& mark) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    const bool alive = running();
    const std::string text = log();
    const std::size_t position = text.find(mark);
    const std::size_t line = position == std::string::npos ? position : text.find('\n', position);
    if (line != std::string::npos) return text.substr(position + mark.size(), line - position - mark.size());
    if (!alive) return {};
    std::this_thread::yield();
  }
  return {};
}

void Process::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int Process::stop() {
  if (pid_ <= 0) return -1;
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Answered fetch(int port, const std::string& host, const std::string& path) {
  Answered answered;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{10, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string received;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 4096> piece;
    ssize_t size = 0;
    while ((size = ::recv(fd, piece.data(), piece.size(), 0)) > 0) {
      received.append(piece.data(), static_cast<std::size_t>(size));
    }
  }
  ::close(fd);
  const std::size_t head = received.find("\r\n\r\n");
  if (!received.starts_with("HTTP/1.1 ") || head == std::string::npos) return answered;
  answered.status = std::atoi(received.c_str() + 9);
  answered.body = received.substr(head + 4);
  return answered;
}

}  // namespace edge::test
