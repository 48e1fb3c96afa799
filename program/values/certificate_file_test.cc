#include "program/values/certificate_file.h"

#include <gtest/gtest.h>

namespace edge::program {
namespace {

TEST(CertificateFile, NamesAreThoseOfFilesOrOfSecrets) {
  const auto files = files_of_secret(file_secret_name("/etc/a b/c.pem", "/k"));
  ASSERT_TRUE(files);
  EXPECT_EQ(files->certificate, "/etc/a b/c.pem");
  EXPECT_EQ(files->key, "/k");
  EXPECT_FALSE(files_of_secret("site"));
  EXPECT_FALSE(files_of_secret("files:/etc/a.pem"));
  EXPECT_EQ(certificate_text("shop", "site"), "secret shop/site");
  EXPECT_EQ(certificate_text("shop", file_secret_name("/c", "/k")), "file /c");
}

TEST(CertificateFile, BelowADirectoryIsNotBesideIt) {
  EXPECT_TRUE(is_below_any("/etc/tls/a.pem", {"/srv", "/etc/tls"}));
  EXPECT_TRUE(is_below_any("/etc/tls/a/b.pem", {"/etc/tls/"}));
  EXPECT_TRUE(is_below_any("/a.pem", {"/"}));
  EXPECT_FALSE(is_below_any("/etc/tls", {"/etc/tls"}));
  EXPECT_FALSE(is_below_any("/etc/tls-other/a.pem", {"/etc/tls"}));
  EXPECT_FALSE(is_below_any("/etc/tls/a.pem", {}));
}

}  // namespace
}  // namespace edge::program
