"""A Maven repository on the loopback address that serves what a test puts in, as badly as it asks."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Repository:
    """Serves bytes by path; remembers every request as (path, Range header)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.honours_ranges = True
        self.breaks_off_after: list[int] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/maven2"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        repository = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                path = self.path.removeprefix("/maven2/")
                repository.requests.append((path, wanted))
                if path not in repository.files:
                    self.send_error(404)
                    return
                content, start = repository.files[path], 0
                if wanted and repository.honours_ranges:
                    start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                else:
                    self.send_response(200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                sent = content[start:]
                if repository.breaks_off_after:
                    sent = sent[: repository.breaks_off_after.pop(0)]
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
