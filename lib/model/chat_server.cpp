// SPDX-License-Identifier: Apache-2.0
#include "model/chat_server.hpp"

#include "model/address.hpp"
#include "model/chat.hpp"
#include "model/service.hpp"

#include <fmt/format.h>

namespace cudal1::model {

namespace {

// At an address that somebody named, the server may be any of these; its host tells the public ones.
const ChatServer& server_at(const Address& address, const ChatServer& named) {
  if (!named.address.empty() && parse_address(named.address).host == address.host) return named;
  for (const auto& server : chat_servers())
    if (!server.address.empty() && parse_address(server.address).host == address.host) return server;
  return named.address.empty() ? named : chat_servers().back();
}

// With or without /v1, or with the whole path of a request.
void complete_path(Address& address, const ChatServer& server) {
  constexpr std::string_view end = "/chat/completions";
  if (address.path.ends_with(end)) address.path.resize(address.path.size() - end.size());
  else if (address.path.empty()) address.path = server.address.empty() ? "/v1" : parse_address(server.address).path;
}

}  // namespace

const std::vector<ChatServer>& chat_servers() {
  using Effort = ChatServer::Effort;
  static const std::vector<ChatServer> list = {
      {"openai/", "openai/MODEL asks OpenAI, or with --base-url any service with its Chat Completions", "https://api.openai.com/v1",
       {"OPENAI_BASE_URL", "OPENAI_API_BASE"}, {"OPENAI_API_KEY"}, "max_completion_tokens", "developer", Effort::field, false, true},
      {"deepseek/", "deepseek/MODEL asks DeepSeek", "https://api.deepseek.com", {"DEEPSEEK_BASE_URL"}, {"DEEPSEEK_API_KEY"},
       "max_tokens", "system", Effort::thinking},
      {"openrouter/", "openrouter/VENDOR/MODEL asks OpenRouter", "https://openrouter.ai/api/v1", {"OPENROUTER_BASE_URL"},
       {"OPENROUTER_API_KEY", "OPENROUTER_KEY"}, "max_tokens", "system", Effort::object, true},
      {"gemini/", "gemini/MODEL asks Google's Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", {"GEMINI_BASE_URL"},
       {"GEMINI_API_KEY"}},
      {"vllm/", "vllm/MODEL asks a vLLM server at --base-url", "", {"VLLM_BASE_URL"}, {"VLLM_API_KEY"}},
      {"llamacpp/", "llamacpp/MODEL asks a llama.cpp server at --base-url", "", {"LLAMACPP_BASE_URL"}, {"LLAMACPP_API_KEY"}},
      {"compat/", "compat/MODEL asks any other Chat Completions service at --base-url", "", {}, {}},
  };
  return list;
}

std::unique_ptr<Model> open_chat(const ChatServer& named, const std::string& name, const Settings& settings) {
  ServiceOptions options;
  options.name = named.prefix + name;
  options.place = find_place(named.prefix, named.address, named.address_variables, named.key_variables, settings);
  const auto& server = server_at(options.place.address, named);
  complete_path(options.place.address, server);
  if (options.place.address.loopback() && options.place.address.port == "11434")
    settings.note(fmt::format("{}: Ollama's /v1 cuts long prompts without a word; ollama/{} does not", options.name, name));
  options.reports_cost = server.asks_for_cost;
  options.dialect = chat_dialect(server, name, settings);
  return open_service(std::move(options), settings);
}

}  // namespace cudal1::model
