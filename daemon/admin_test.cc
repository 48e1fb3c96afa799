#include "daemon/admin.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::daemon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::optional<AdminReply> answer(const AdminRequest& request) {
  if (request.path == "/often") return text_reply(429, "too often\n");
  if (request.path != "/x") return std::nullopt;
  return text_reply(request.method == "GET" || request.method == "HEAD" ? 200 : 405, "body\n");
}

class AdminTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = AdminServer::start({{*parse_listen_address("127.0.0.1:0"), at_once(&answer)}});
    ASSERT_TRUE(server.ok());
    server_ = std::move(*server);
  }

  /// Sends `text`, closes the sending side, and gives back everything that came.
  std::string talk(const std::string& text) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->addresses()[0].port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    ::shutdown(fd, SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(fd);
    return answer;
  }

  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminTest, AnswersGetAndHead) {
  const std::string got = talk("GET /x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, testing::EndsWith("\r\n\r\nbody\n"));
  const std::string head = talk("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
}

TEST_F(AdminTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(talk("GET /nope HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(talk("DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 405"));
}

TEST_F(AdminTest, KeepsAliveAndSurvivesGarbage) {
  const std::string two = talk("GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(two.find("HTTP/1.1 200", 5), std::string::npos);
  EXPECT_THAT(talk(std::string("\0\x01\xff garbage\r\n\r\n", 15)), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(talk("GET /x HTTP/1.1\r\nA: " + std::string(20'000, 'a')), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(talk("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(AdminTest, LeavesRoomForOthersThanWhoHoldsAllThatItMay) {
  const auto connect_from = [&](const char* source) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, source, &address.sin_addr), 1);
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    address.sin_port = htons(server_->addresses()[0].port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  };
  std::vector<int> held;
  for (int i = 0; i < 100; ++i) held.push_back(connect_from("127.0.0.2"));
  const std::string request = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const int other = connect_from("127.0.0.3");
  EXPECT_EQ(::send(other, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char buffer[64] = {};
  EXPECT_GT(::recv(other, buffer, sizeof(buffer) - 1, 0), 0);
  EXPECT_THAT(std::string(buffer), StartsWith("HTTP/1.1 200 OK\r\n"));
  ::close(other);
  for (const int fd : held) ::close(fd);
}

// Who asks too often is told so late, and others are answered meanwhile: that it is not too early is all that can be
// said on a machine that is busy.
TEST_F(AdminTest, HoldsBackWhoAsksTooOften) {
  const auto began = std::chrono::steady_clock::now();
  auto refused = std::async(std::launch::async, [&] { return talk("GET /often HTTP/1.1\r\nHost: a\r\n\r\n"); });
  EXPECT_THAT(talk("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(refused.get(), StartsWith("HTTP/1.1 429"));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(500));
}

TEST(ListenAddress, IsReadAndPrinted) {
  for (const char* text : {"127.0.0.1:9090", "[::1]:0", "[::]:65535"}) {
    const auto listen = parse_listen_address(text);
    ASSERT_TRUE(listen) << text;
    EXPECT_EQ(to_string(*listen), text);
  }
  EXPECT_EQ(to_string(*parse_listen_address(":80")), "[::]:80");
  for (const char* text :
       {"", "80", "a:80", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80", "1.2.3.4:8 "}) {
    EXPECT_FALSE(parse_listen_address(text)) << text;
  }
}

TEST(Admin, SaysWhichAddressIsTakenAndWhatChoosesIt) {
  auto first = AdminServer::start({{*parse_listen_address("127.0.0.1:0"), at_once(&answer)}});
  ASSERT_TRUE(first.ok());
  auto second = AdminServer::start({{(*first)->addresses()[0], at_once(&answer), "--metrics-listen"}});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().text,
            "cannot listen on " + to_string((*first)->addresses()[0]) + " (--metrics-listen): port is in use");
}

}  // namespace
}  // namespace edge::daemon
