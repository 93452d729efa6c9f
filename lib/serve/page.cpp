// SPDX-License-Identifier: Apache-2.0
#include "serve/page.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "serve/port.hpp"
#include "serve/server.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>

namespace cudal1::serve {

namespace {

// Takes a new page's body in place of the old one's, where it stands and with what was open.
constexpr const char* redraw = R"(<script>
new EventSource("/events").onmessage = async () => {
  const open = new Set([...document.querySelectorAll("details[open]")].map(each => each.id));
  const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
  page.querySelectorAll("script").forEach(each => each.remove());
  document.body.replaceChildren(...page.body.childNodes);
  document.querySelectorAll("details").forEach(each => each.open = open.has(each.id));
};
</script>
)";

constexpr std::chrono::milliseconds tick{500};

std::string text_of(const std::function<std::string()>& give) {
  try {
    return give();
  } catch (const base::Error& error) {
    std::string escaped;
    for (const char* c = error.what(); *c != 0; ++c) escaped += *c == '<' ? "&lt;" : *c == '&' ? "&amp;" : std::string(1, *c);
    return fmt::format("<!doctype html>\n<html lang=\"en\"><title>cudal1</title>\n<body><p>{}</p>\n</body></html>\n", escaped);
  }
}

}  // namespace

struct PageServer::State {
  explicit State(Page given) : page(std::move(given)) {}

  Page page;
  httplib::Server http;
  int port = 0;
  std::atomic<bool> ended = false;

  void events(httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    response.set_chunked_content_provider("text/event-stream", [this, last = page.version(), quiet = 0](std::size_t, httplib::DataSink& sink) mutable {
      std::this_thread::sleep_for(tick);
      if (ended) {
        sink.done();
        return true;
      }
      std::string said;
      if (const std::string now = page.version(); now != last) said = "data: changed\n\n", last = now;
      else if (++quiet % 20 == 0) said = ": still here\n\n";   // finds out whether anybody listens
      return said.empty() || sink.write(said.data(), said.size());
    });
  }
};

PageServer::PageServer(Page page) : state_(std::make_unique<State>(std::move(page))) {
  State& state = *state_;
  if (!is_loopback(state.page.host)) throw base::Error(base::Fault::usage, fmt::format("{} is another machine's address; the page is served to this one, use ssh -L to see it elsewhere", state.page.host));
  state.http.Get("/", [&state](const httplib::Request&, httplib::Response& response) {
    std::string text = text_of(state.page.render);
    const auto end = text.rfind("</html>");
    text.insert(end == std::string::npos ? text.size() : end, redraw);
    response.set_header("Cache-Control", "no-store");
    response.set_content(text, "text/html; charset=utf-8");
  });
  state.http.Get("/events", [&state](const httplib::Request&, httplib::Response& response) { state.events(response); });
  keep_port_alone(state.http);
  const bool bound = state.page.port == 0 ? (state.port = state.http.bind_to_any_port(state.page.host.c_str())) > 0 : state.http.bind_to_port(state.page.host.c_str(), state.page.port);
  if (state.page.port != 0) state.port = state.page.port;
  if (!bound) throw base::Error(base::Fault::usage, fmt::format("port {} cannot be had, or another program has it; --port 0 takes any that is free", state.page.port));
}

PageServer::~PageServer() = default;
int PageServer::port() const { return state_->port; }
void PageServer::run() { state_->http.listen_after_bind(); }
void PageServer::end() {
  state_->ended = true;
  state_->http.stop();
}

}  // namespace cudal1::serve
