"""A web server on loopback that tests put files on; it counts what it is asked."""

import base64
import ssl
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer:
    """Serves `files` by path: bytes, or a function of the request's handler that answers by itself."""

    def __init__(self, certificate=None):
        self.files, self.asked, self.headers = {}, Counter(), []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.asked[self.path] += 1
                outer.headers.append(dict(self.headers))
                found = outer.files.get(self.path)
                if callable(found):
                    found(self)
                elif found is None:
                    self.send_error(404)
                else:
                    answer(self, found)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self._server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def answer(handler, content, status=200, length=None, **headers):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(content) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)
    if length is not None:
        handler.close_connection = True


def redirect(to):
    return lambda handler: answer(handler, b"", 302, Location=to)


def cut(content, promised):
    """Promise more bytes than there are."""
    return lambda handler: answer(handler, content, length=promised)


def slow(seconds):
    return lambda handler: time.sleep(seconds)


def guarded(content, user, password):
    """Answer only to a user."""
    wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def respond(handler):
        is_known = handler.headers.get("Authorization") == wanted
        answer(handler, content if is_known else b"who are you?", 200 if is_known else 401)

    return respond
