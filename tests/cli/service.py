# SPDX-License-Identifier: Apache-2.0
"""A model's service on this machine that says what a test wants, in the words of any of the three protocols."""
import http.server
import json
import threading
import time


def events(*objects, done=""):
    return "".join(f"event: {o.get('type', 'message')}\ndata: {json.dumps(o)}\n\n" for o in objects) + done


def chat(text, finish):
    delta = lambda **members: {"model": "m-1", "choices": [{"index": 0, "delta": members, "finish_reason": None}]}
    return events(delta(role="assistant", content=""), delta(reasoning_content="Tile."), delta(content=text),
                  {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
                  {"choices": [], "usage": {"prompt_tokens": 800, "completion_tokens": 200,
                                            "prompt_tokens_details": {"cached_tokens": 500}}},
                  done="data: [DONE]\n\n")


def message(text, finish):
    reason = {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)
    return events({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 300, "cache_read_input_tokens": 500}}},
                  {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Tile."}},
                  {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}},
                  {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 200}},
                  {"type": "message_stop"})


def lines(text, finish):
    objects = [{"model": "m-1", "message": {"content": "", "thinking": "Tile."}, "done": False},
               {"model": "m-1", "message": {"content": text}, "done": False},
               {"done": True, "done_reason": finish, "prompt_eval_count": 800, "eval_count": 200}]
    return "".join(json.dumps(o) + "\n" for o in objects)


SPOKEN = {"/v1/chat/completions": ("text/event-stream", chat), "/v1/messages": ("text/event-stream", message),
          "/api/chat": ("application/x-ndjson", lines)}


class Say:
    """One answer: a text that ends for a reason, or a status with a body, perhaps late or never."""

    def __init__(self, text="", finish="stop", status=200, body="", headers=(), after=0.0, silent=False):
        self.text, self.finish, self.status, self.body, self.headers = text, finish, status, body, dict(headers)
        self.after, self.silent = after, silent


class Service:
    """The n-th request gets the n-th answer, later ones the last. `watch` is called while each request waits. A GET gets
    the list of models."""

    def __init__(self, *answers, watch=None, context=None):
        self.answers, self.watch, self.requests, self.closing = answers, watch, [], threading.Event()
        self.lock, self.under_way, self.most_under_way = threading.Lock(), 0, 0
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                models = {"/v1/models": {"data": [{"id": "m-1", "max_model_len": 4096}, {"id": "\x1b[31mm-2"}]}}.get(self.path, {})
                body = json.dumps(models).encode()
                self.send_response(200 if models else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with service.lock:
                    answer = service.answers[min(len(service.requests), len(service.answers) - 1)]
                    service.requests.append({"path": self.path, "headers": dict(self.headers), "body": json.loads(body),
                                             "at": time.monotonic(), "others": service.under_way})
                    service.under_way += 1
                    service.most_under_way = max(service.most_under_way, service.under_way)
                try:
                    if service.watch:
                        service.watch()
                    service.closing.wait(600 if answer.silent else answer.after)
                    self.say(answer)
                except OSError:
                    pass  # the client left
                finally:
                    with service.lock:
                        service.under_way -= 1

            def say(self, answer):
                kind, form = SPOKEN.get(self.path, ("text/plain", lambda text, finish: text))
                body = (answer.body or (form(answer.text, answer.finish) if answer.status == 200 else "")).encode()
                self.send_response(answer.status)
                for name, value in {"Content-Type": kind, "Content-Length": len(body), **answer.headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
