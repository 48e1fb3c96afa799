// Request smuggling: thousands of messages whose framing is stated twice, or oddly, are sent through the server. What
// comes out behind it must read as the same requests to backends of very different habits: one that believes lengths,
// one that believes codings, one that takes LF for a line end, one that unfolds lines.
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <strings.h>
#include <unistd.h>

#include "tests/support/connection.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

/// How a careless backend reads.
struct Habit {
  std::string name;
  bool coding_wins = true;
  bool last_length_wins = false;
  bool line_feed_ends_line = false;
  bool unfolds = false;
  bool blank_before_colon = false;
  /// Any Transfer-Encoding that has `chunked` somewhere.
  bool coding_by_substring = false;
};

const std::vector<Habit>& habits() {
  static const std::vector<Habit> all = {{.name = "strict"},
                                         {.name = "length wins", .coding_wins = false},
                                         {.name = "last length wins", .coding_wins = false, .last_length_wins = true},
                                         {.name = "lf", .line_feed_ends_line = true},
                                         {.name = "unfolds", .unfolds = true},
                                         {.name = "blank before colon", .blank_before_colon = true},
                                         {.name = "substring", .coding_by_substring = true},
                                         {.name = "all of it",
                                          .line_feed_ends_line = true,
                                          .unfolds = true,
                                          .blank_before_colon = true,
                                          .coding_by_substring = true}};
  return all;
}

/// Reads requests as `habit` does and returns their first lines; what does not parse ends the list with an error.
class SloppyReader {
 public:
  SloppyReader(std::string_view bytes, const Habit& habit) : rest_(bytes), habit_(habit) {}

  std::vector<std::string> requests() {
    std::vector<std::string> out;
    while (!rest_.empty()) {
      std::string first;
      if (!line(first)) return error(out, "torn head");
      out.push_back(first);
      if (!fields()) return error(out, "torn fields");
      if (!body()) return error(out, "torn body");
    }
    return out;
  }

 private:
  static std::vector<std::string> error(std::vector<std::string> out, const char* why) {
    out.emplace_back(why);
    return out;
  }

  bool line(std::string& out) {
    const std::string_view end = habit_.line_feed_ends_line ? "\n" : "\r\n";
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    out = rest_.substr(0, at);
    if (habit_.line_feed_ends_line && out.ends_with('\r')) out.pop_back();
    rest_.remove_prefix(at + end.size());
    return true;
  }

  bool fields() {
    length_.clear();
    has_length_ = has_coding_ = false;
    std::string text;
    while (line(text)) {
      if (text.empty()) return true;
      if (habit_.unfolds && (text[0] == ' ' || text[0] == '\t')) continue;
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos) continue;
      std::string name = text.substr(0, colon);
      while (habit_.blank_before_colon && !name.empty() && name.back() == ' ') name.pop_back();
      const std::size_t value = text.find_first_not_of(" \t", colon + 1);
      field(name, value == std::string::npos ? "" : text.substr(value));
    }
    return false;
  }

  void field(const std::string& name, const std::string& value) {
    if (strcasecmp(name.c_str(), "content-length") == 0 && (!has_length_ || habit_.last_length_wins)) {
      has_length_ = true;
      length_ = value;
    }
    if (strcasecmp(name.c_str(), "transfer-encoding") == 0) {
      has_coding_ = has_coding_ || strcasecmp(value.c_str(), "chunked") == 0 ||
                    (habit_.coding_by_substring && value.find("chunked") != std::string::npos);
    }
  }

  bool body() {
    if (has_coding_ && (habit_.coding_wins || !has_length_)) return chunks();
    if (!has_length_) return true;
    const std::size_t size = std::strtoul(length_.c_str(), nullptr, 10);
    if (size > rest_.size()) return false;
    rest_.remove_prefix(size);
    return true;
  }

  bool chunks() {
    std::string text;
    while (line(text)) {
      const std::size_t size = std::strtoul(text.c_str(), nullptr, 16);
      if (size == 0) {
        while (line(text)) {
          if (text.empty()) return true;
        }
        return false;
      }
      if (size + 2 > rest_.size()) return false;
      rest_.remove_prefix(size + 2);
    }
    return false;
  }

  std::string_view rest_;
  const Habit& habit_;
  std::string length_;
  bool has_length_ = false;
  bool has_coding_ = false;
};

/// Answers whatever comes and keeps the bytes, one string a connection.
class Recorder {
 public:
  Recorder() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 128);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Recorder() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  /// What came since the last call. Connections are closed after each answer, so that one message is one string.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }

 private:
  void run() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::string got = read_request(fd);
      {
        const std::lock_guard lock(mutex_);
        seen_.push_back(got);
      }
      constexpr std::string_view kAnswer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
      ::send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
      ::close(fd);
    }
  }

  /// Until the strict reader has a whole request, or the proxy gives up.
  static std::string read_request(int fd) {
    std::string got;
    for (;;) {
      char bytes[4096];
      const ssize_t size = ::recv(fd, bytes, sizeof(bytes), 0);
      if (size <= 0) return got;
      got.append(bytes, static_cast<std::size_t>(size));
      const std::vector<std::string> requests = SloppyReader(got, habits()[0]).requests();
      if (!requests.back().starts_with("torn")) return got;
    }
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> seen_;
};

const std::vector<std::string>& length_lines() {
  static const std::vector<std::string> all = {"",
                                               "Content-Length: 5\r\n",
                                               "Content-Length: 0\r\n",
                                               "Content-Length: 60\r\n",
                                               "Content-Length : 5\r\n",
                                               "Content-Length:\t5 \r\n",
                                               " Content-Length: 5\r\n",
                                               "X: y\r\n Content-Length: 5\r\n",
                                               "Content-Length: +5\r\n",
                                               "Content-Length: 5, 5\r\n",
                                               "Content-Length: 5\r\nContent-Length: 5\r\n",
                                               "Content-Length: 0\r\nContent-Length: 60\r\n",
                                               "Content-Length: 0x5\r\n",
                                               "Content-Length: 5abc\r\n",
                                               "Content-Length: 5 0\r\n",
                                               "Content-Length: 18446744073709551621\r\n",
                                               "Content_Length: 5\r\n",
                                               "X: y\nContent-Length: 5\r\n",
                                               "X: y\rContent-Length: 5\r\n",
                                               std::string("Content-Length: 5\0\r\n", 20),
                                               std::string("Content-Length\0: 5\r\n", 20),
                                               "Connection: Content-Length\r\nContent-Length: 60\r\n"};
  return all;
}

const std::vector<std::string>& coding_lines() {
  static const std::vector<std::string> all = {"",
                                               "Transfer-Encoding: chunked\r\n",
                                               "transfer-encoding:CHUNKED\r\n",
                                               "Transfer-Encoding:\tchunked\t\r\n",
                                               "Transfer-Encoding : chunked\r\n",
                                               "Transfer-Encoding\t: chunked\r\n",
                                               " Transfer-Encoding: chunked\r\n",
                                               "X: y\r\n Transfer-Encoding: chunked\r\n",
                                               "Transfer-Encoding:\r\n chunked\r\n",
                                               "Transfer-Encoding:\n chunked\r\n",
                                               "X: y\nTransfer-Encoding: chunked\r\n",
                                               "X: y\rTransfer-Encoding: chunked\r\n",
                                               "Transfer-Encoding: \vchunked\r\n",
                                               "Transfer-Encoding: xchunked\r\n",
                                               "Transfer-Encoding: chunked-not\r\n",
                                               "Transfer-Encoding: chunked, identity\r\n",
                                               "Transfer-Encoding: identity, chunked\r\n",
                                               "Transfer-Encoding: identity\r\n",
                                               "Transfer-Encoding: gzip, chunked\r\n",
                                               "Transfer-Encoding: chunked;a=b\r\n",
                                               "Transfer-Encoding: \"chunked\"\r\n",
                                               "Transfer-Encoding: ,chunked\r\n",
                                               "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                                               "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
                                               "Transfer_Encoding: chunked\r\n",
                                               std::string("Transfer-Encoding: chunked\0\r\n", 29),
                                               "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n"};
  return all;
}

const std::vector<std::string>& bodies() {
  static const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
  static const std::vector<std::string> all = {"0\r\n\r\n" + hidden,
                                               "5\r\nhello\r\n0\r\n\r\n" + hidden,
                                               "0\r\nContent-Length: 5\r\n\r\n" + hidden,
                                               "5 \r\nhello\r\n0\r\n\r\n" + hidden,
                                               "5\nhello\n0\n\n" + hidden,
                                               "5;\n" + hidden + "\r\nhello\r\n0\r\n\r\n",
                                               "0x5\r\nhello\r\n0\r\n\r\n" + hidden,
                                               "0\r\n" + hidden};
  return all;
}

class Desync : public testing::Test {
 protected:
  void SetUp() override {
    const std::string config = expand_config("@gateway\n@backend a\n@route a\n", {{"a", recorder_.port()}});
    const Result<Compiled> compiled = compile_text("desync", config);
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    runtime::ServerOptions options;
    options.threads = 1;
    options.ephemeral_ports = true;
    auto server = runtime::Server::start(options);
    ASSERT_TRUE(server.ok()) << server.error().text;
    server_ = std::move(server.value());
    server_->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server_->install(compiled->program).ok());
  }

  /// Sends, ends the client's side, waits for the end.
  std::string exchange(const std::string& message) {
    const Deadline deadline{std::chrono::steady_clock::now() + std::chrono::seconds(120)};
    const Result<int> fd = Connection::dial(server_->addresses().front().port);
    EXPECT_TRUE(fd.ok());
    if (!fd) return {};
    Connection client(*fd, deadline);
    // The server may have refused already.
    (void)client.send(message);
    client.shutdown();
    const Result<std::string> answer = client.receive_all();
    EXPECT_TRUE(answer.ok()) << message;
    return answer ? *answer : std::string();
  }

  void expect_one_meaning(const std::string& message) {
    exchange(message);
    for (const std::string& got : recorder_.take()) {
      ++forwarded_;
      const std::vector<std::string> strict = SloppyReader(got, habits()[0]).requests();
      // A torn body is one request that will never be complete; more than one would be a hidden one.
      EXPECT_LE(strict.size(), 2u) << message << "\n--- became\n" << got;
      for (const Habit& habit : habits()) {
        EXPECT_EQ(SloppyReader(got, habit).requests(), strict) << habit.name << "\n"
                                                               << message << "\n--- became\n"
                                                               << got;
      }
    }
  }

  Recorder recorder_;
  /// Requests that went through: the test must not pass because everything is refused.
  int forwarded_ = 0;
  std::unique_ptr<runtime::Server> server_;
};

TEST_F(Desync, EveryBackendReadsTheSameRequests) {
  for (const std::string& length : length_lines()) {
    for (const std::string& coding : coding_lines()) {
      for (const bool length_first : {true, false}) {
        const std::string head = "POST /seen HTTP/1.1\r\nHost: h\r\n" +
                                 (length_first ? length + coding : coding + length) + "X-Last: 1\r\n\r\n";
        for (const std::string& body : bodies()) expect_one_meaning(head + body);
        if (HasFailure()) return;
        if (length.empty() || coding.empty()) break;  // the order changes nothing
      }
    }
  }
  EXPECT_GT(forwarded_, 200);
}

TEST_F(Desync, AmbiguousFramingReachesNobody) {
  for (const std::string& length : length_lines()) {
    for (const std::string& coding : coding_lines()) {
      // Names with an underscore are other fields; both of one kind are refused by more than one rule.
      const auto plain = [](const std::string& line) { return line.empty() || line.find('_') != std::string::npos; };
      if (plain(length) || plain(coding)) continue;
      const std::string answer = exchange("POST /seen HTTP/1.1\r\nHost: h\r\n" + length + coding + "\r\n0\r\n\r\n");
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 501 "))
          << length << coding << answer;
      EXPECT_TRUE(recorder_.take().empty()) << length << coding;
    }
  }
}

}  // namespace
}  // namespace edge::test
