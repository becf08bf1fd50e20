#include "http/multipart.h"

#include <gtest/gtest.h>

namespace atl::http {
namespace {

constexpr const char* kType = "multipart/form-data; boundary=\"b 1\"";

Result<std::vector<Part>> parse(const std::string& body) { return parse_multipart(kType, body); }

TEST(Multipart, GivesFieldsAndFilesWithTheirBytes) {
  const std::string body =
      "--b 1\r\nContent-Disposition: form-data; name=\"workflow_name\"\r\n\r\nflood\r\n"
      "--b 1\r\ncontent-disposition: form-data; filename=\"a \\\"b\\\".yaml\"; name=yaml\r\n"
      "Content-Type: text/yaml\r\n\r\nline\r\n\r\n--b\r\nmore\r\n"
      "--b 1--\r\n";
  const auto parts = parse(body);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].name, "workflow_name");
  EXPECT_EQ((*parts)[0].body, "flood");
  EXPECT_EQ((*parts)[0].file_name, "");
  EXPECT_EQ((*parts)[1].name, "yaml");
  EXPECT_EQ((*parts)[1].file_name, "a \"b\".yaml");
  EXPECT_EQ((*parts)[1].body, "line\r\n\r\n--b\r\nmore");
}

TEST(Multipart, AnEmptyPartIsEmpty) {
  const auto parts = parse("--b 1\r\nContent-Disposition: form-data; name=x\r\n\r\n\r\n--b 1--");
  ASSERT_TRUE(parts);
  EXPECT_EQ((*parts)[0].body, "");
}

TEST(Multipart, WhatIsNoneIsRefused) {
  const char* head = "--b 1\r\nContent-Disposition: form-data; name=x\r\n";
  for (const std::string body :
       {std::string(), std::string("x"), std::string("--b 1"), std::string("--b 1\r\n"),
        std::string("--b 1x\r\n\r\n\r\n--b 1--"), head + std::string("\r\nhalf"),
        std::string("--b 1\r\nA: b\r\n\r\nx\r\n--b 1--"), std::string(head)}) {
    EXPECT_FALSE(parse(body)) << body;
  }
  EXPECT_FALSE(parse_multipart("multipart/form-data", "--\r\n"));
  EXPECT_TRUE(is_multipart("Multipart/Form-Data ; boundary=x"));
  EXPECT_FALSE(is_multipart("text/plain"));
}

TEST(Multipart, NoMoreThanItsBoundOfParts) {
  std::string body;
  for (int i = 0; i < 65; ++i)
    body += "--b 1\r\nContent-Disposition: form-data; name=x\r\n\r\ny\r\n";
  EXPECT_FALSE(parse(body + "--b 1--"));
}

}  // namespace
}  // namespace atl::http
