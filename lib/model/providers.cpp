// SPDX-License-Identifier: Apache-2.0
#include "model/providers.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/anthropic.hpp"
#include "model/chat_server.hpp"
#include "model/command.hpp"
#include "model/exchange.hpp"
#include "model/ollama.hpp"
#include "model/replay.hpp"

#include <fmt/format.h>

namespace cudal1::model {

std::vector<Provider> providers() {
  std::vector<Provider> list = {
      {"replay:", "replay:DIR gives the replies of an earlier run, or of a folder of replies, again",
       [](const std::string& rest, const Settings&) { return open_replay(rest); }},
      {"exchange:", "exchange:DIR writes prompts as files and waits for replies beside them",
       [](const std::string& rest, const Settings&) { return open_exchange(rest); }},
      {"cmd:", "cmd:PROGRAM runs a program: prompt on its input, reply on its output",
       [](const std::string& rest, const Settings& settings) {
         return open_command(rest, settings.command_limit, settings.commands);
       }},
      {"anthropic/", "anthropic/MODEL asks Anthropic, or with --base-url another service with its Messages", open_anthropic},
      {"ollama/", "ollama/MODEL asks Ollama on this machine, or where OLLAMA_HOST says", open_ollama},
  };
  for (const auto& server : chat_servers())
    list.push_back({server.prefix, server.summary, [&server](const std::string& rest, const Settings& settings) {
                      return open_chat(server, rest, settings);
                    }});
  return list;
}

std::unique_ptr<Model> open(const std::string& name, const Settings& settings, const std::vector<Provider>& known) {
  std::vector<std::string> prefixes;
  for (const auto& provider : known) {
    const bool whole = !provider.prefix.ends_with('/') && !provider.prefix.ends_with(':');
    if (whole ? name == provider.prefix : name.starts_with(provider.prefix)) {
      std::string rest = name.substr(provider.prefix.size());
      if (!whole && rest.empty())
        throw base::Error(base::Fault::usage,
                          fmt::format("--model {} names nothing after «{}»: {}", name, provider.prefix, provider.summary));
      return provider.open(rest, settings);
    }
    prefixes.push_back(provider.prefix);
  }
  // A model's name without the service that has it.
  for (const auto& [start, service] : {std::pair{"gpt-", "openai/"}, {"o1", "openai/"}, {"o3", "openai/"}, {"o4", "openai/"}, {"claude", "anthropic/"},
                                       {"gemini", "gemini/"}, {"deepseek", "deepseek/"}, {"llama", "ollama/"}, {"qwen", "ollama/"}, {"mistral", "ollama/"}})
    if (name.starts_with(start) && name.find('/') == std::string::npos)
      throw base::Error(base::Fault::usage, fmt::format("no model is called {}; did you mean {}{}?", name, service, name));
  const auto end = name.find_first_of("/:");
  const auto near = base::nearest(end == std::string::npos ? name : name.substr(0, end + 1), prefixes);
  throw base::Error(base::Fault::usage,
                    near ? fmt::format("no model is called {}; did you mean {}…?", name, *near)
                         : fmt::format("no model is called {}; `cudal1 models` lists what there is", name));
}

}  // namespace cudal1::model
