// SPDX-License-Identifier: Apache-2.0
#include "asking.hpp"
#include "catch.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "model/address.hpp"
#include "model/service.hpp"

#include <cstdlib>
#include <filesystem>

using namespace cudal1;
using namespace served;
using Status = model::Reply::Status;

namespace {

// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::unique_ptr<model::Model> opened(const std::string& name, const std::string& url = "") {
  model::Settings settings;
  settings.base_url = url;
  return model::open(name, settings, model::providers());
}

}  // namespace

TEST_CASE("addresses are read, and those that would end in a log with a secret are refused") {
  const auto address = model::parse_address("https://Host.example:8443/v1/");
  CHECK(address.url("/x") == "https://Host.example:8443/v1/x");
  CHECK(model::parse_address("http://[::1]:80/").url("/x") == "http://[::1]:80/x");
  for (const char* bad : {"", "gpu:8000", "ftp://host", "http://", "http://host:99999", "http://host/?key=secret", "http://host/#x"})
    CHECK_THROWS_AS(model::parse_address(bad), base::Error);
  CHECK_THROWS_WITH(model::parse_address("http://me:secret@host/"), !containing("secret"));
  CHECK_THROWS_WITH(model::parse_address("http://host/?key=secret"), !containing("secret"));
}

TEST_CASE("this machine is known by all its names, and no other is taken for it") {
  for (const char* here : {"http://localhost:1", "http://LOCALHOST", "http://a.localhost", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]"})
    CHECK(model::parse_address(here).loopback());
  for (const char* there : {"http://example.com", "http://127.0.0.1.example.com", "http://128.0.0.1", "http://0.0.0.0", "http://[::2]", "http://localhost.example.com", "http://10.0.0.1"})
    CHECK_FALSE(model::parse_address(there).loopback());
}

TEST_CASE("a provider's usual key goes to its own service and to where its own variable says, nowhere else") {
  const Server server({answer(all_spoken()[0].said("text", "stop"))});
  const Variable key("OPENAI_API_KEY", "sk-planted-0123456789");
  opened("openai/m", server.url())->answer(question(), {});
  CHECK_FALSE(server.requests()[0].headers.contains("authorization"));
  const Variable base("OPENAI_BASE_URL", server.url() + "/v1");
  opened("openai/m")->answer(question(), {});
  CHECK(server.requests()[1].headers.at("authorization") == "Bearer sk-planted-0123456789");
  const Variable organisation("OPENAI_ORG_ID", "org-1");
  opened("compat/m", server.url())->answer(question(), {});
  CHECK_FALSE(server.requests()[2].headers.contains("authorization"));
  CHECK_FALSE(server.requests()[2].headers.contains("openai-organization"));
}

TEST_CASE("a key that is missing or malformed is said before anything is sent") {
  for (const char* name : {"openai/m", "anthropic/m", "deepseek/m", "openrouter/v/m", "gemini/m"})
    try {
      opened(name);
      FAIL("no key was asked for");
    } catch (const base::Error& error) {
      CHECK(error.fault() == base::Fault::credentials);
      CHECK_THAT(error.what(), containing("_API_KEY") && containing("--key-command"));
    }
  for (const std::string bad : {"two words", "line\nbreak", "ümlaut"}) {
    const Variable key("OPENAI_API_KEY", bad);
    CHECK_THROWS_WITH(opened("openai/m"), containing("OPENAI_API_KEY holds no key") && !containing(bad));
  }
  CHECK_THROWS_WITH(opened("vllm/m"), containing("--base-url"));
  CHECK_NOTHROW(opened("ollama/m"));
}

TEST_CASE("a program can give the key, and what it prints is never shown") {
  const base::TemporaryFolder folder;
  const auto program = [&](const std::string& text) {
    const auto path = folder.path() / "key";
    base::write_file(path, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return std::vector<std::string>{path.string(), "an argument"};
  };
  const Server server({answer(all_spoken()[0].said("text", "stop"))});
  model::Settings settings;
  settings.base_url = server.url();
  settings.key_command = program("echo \"  sk-of-$#  \"");
  model::open("openai/m", settings, model::providers())->answer(question(), {});
  CHECK(server.requests()[0].headers.at("authorization") == "Bearer sk-of-1");
  for (const std::string bad : {"echo sk-secret; exit 3", "echo sk-secret and more", "echo sk-secret >&2; exit 1", "true"}) {
    settings.key_command = program(bad);
    CHECK_THROWS_WITH(model::open("openai/m", settings, model::providers()), containing("--key-command") && !containing("sk-secret"));
  }
}

TEST_CASE("a model is remote exactly when its source leaves this machine") {
  model::Settings settings;
  settings.with_keys = false;
  const auto remote = [&](const std::string& name, const std::string& url) {
    settings.base_url = url;
    return model::open(name, settings, model::providers())->remote();
  };
  CHECK(remote("openai/m", ""));
  CHECK(remote("anthropic/m", ""));
  CHECK(remote("vllm/m", "http://10.0.0.7:8000"));
  CHECK_FALSE(remote("vllm/m", "http://127.0.0.1:8000"));
  CHECK_FALSE(remote("openai/m", "http://localhost:8000"));
  CHECK_FALSE(remote("ollama/m", ""));
  CHECK(remote("ollama/m", "http://gpu-box:11434"));
}

TEST_CASE("a proxy is passed by for this machine and used for others") {
  const Server proxy({answer(all_spoken()[0].said("from the proxy", "stop"))}), server({answer(all_spoken()[0].said("direct", "stop"))});
  const Variable lower("http_proxy", proxy.url()), all("ALL_PROXY", proxy.url());
  Desk desk;
  CHECK(ask(server, "compat/m", desk).text == "direct");
  CHECK(proxy.requests().empty());
  desk.settings.base_url = "http://model.invalid/v1";
  CHECK(model::open("compat/m", desk.settings, model::providers())->answer(question(), {}).text == "from the proxy");
  CHECK(proxy.requests()[0].line == "POST http://model.invalid/v1/chat/completions HTTP/1.1");
  const Variable none("no_proxy", "model.invalid");
  CHECK(model::open("compat/m", desk.settings, model::providers())->answer(question(), {}).status == Status::unreachable);
  CHECK(proxy.requests().size() == 1);
}
