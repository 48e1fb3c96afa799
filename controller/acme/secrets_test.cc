#include "controller/acme/secrets.h"

#include <gtest/gtest.h>

namespace edge::controller::acme {
namespace {

constexpr std::int64_t kToday = 1'700'000'000;

SecretText bare_certificate() {
  return {.name_space = "shop", .name = "acme.a.test", .role = "certificate", .data = {}};
}

TEST(Secrets, WhenACertificateWasRevokedIsCarriedOnAndNeverIsToCome) {
  SecretText text = bare_certificate();
  EXPECT_EQ(last_revoked(read_secret(write_secret(text)), kToday), 0);
  text.replaced_revoked = kToday - 5;
  EXPECT_EQ(last_revoked(read_secret(write_secret(text)), kToday), kToday - 5);
  EXPECT_EQ(last_revoked(read_secret(write_secret(text)), kToday - 10), kToday - 10) << "a clock that was set back";
  text.data[std::string(kRevokedKey)] = std::to_string(kToday - 3);
  EXPECT_EQ(last_revoked(read_secret(write_secret(text)), kToday), kToday - 3);
  for (const char* const unreadable : {"", "x", "-1", "99999999999999999999"}) {
    text.data[std::string(kRevokedKey)] = unreadable;
    EXPECT_EQ(last_revoked(read_secret(write_secret(text)), kToday), kToday) << unreadable;
  }
}

TEST(Secrets, AnnotationsThatAreNotWrittenAreNotThere) {
  const std::string plain = write_secret(bare_certificate());
  EXPECT_EQ(plain.find("annotations"), std::string::npos) << plain;
  SecretText text = bare_certificate();
  text.controller_class = "example.com/other";
  text.fault = R"({"text":"full"})";
  const SecretView view = read_secret(write_secret(text, "7"));
  EXPECT_EQ(view.controller_class, text.controller_class);
  EXPECT_EQ(view.fault, text.fault);
}

}  // namespace
}  // namespace edge::controller::acme
