# SPDX-License-Identifier: MIT
"""
A server of a fixed capacity, which stalls for a time and works off what queued, whether or not anybody still waits.

    capacity_origin.py CAPACITY_PER_S LATENCY_MS BEGIN_MS STALL_AT_MS STALL_MS

BEGIN_MS is an instant of CLOCK_MONOTONIC; the stall begins STALL_AT_MS later. Prints its port at once; when its input
ends it prints for each request when it came, in ms since BEGIN_MS.
"""

import asyncio
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Queue:
    """When requests are done that are done one after the other."""

    def __init__(self, capacity_per_s, stall_from, stall_to):
        self.each_s = 1 / capacity_per_s
        self.stall_from, self.stall_to = stall_from, stall_to
        self.free_at = 0

    def take(self, now):
        """The instant at which a request that comes now is done."""
        begin = max(now, self.free_at)
        if self.stall_from <= begin < self.stall_to:
            begin = self.stall_to
        self.free_at = begin + self.each_s
        if begin < self.stall_from < self.free_at:
            self.free_at += self.stall_to - self.stall_from
        return self.free_at


class Connection(asyncio.Protocol):
    def __init__(self, loop, queue, latency_s, arrivals):
        self.loop, self.queue, self.latency_s, self.arrivals = loop, queue, latency_s, arrivals
        self.rest = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for _ in requests:
            now = time.monotonic()
            self.arrivals.append(now)
            done = self.queue.take(now) + self.latency_s
            self.loop.call_later(done - now, self.answer)

    def answer(self):
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


async def serve(capacity_per_s, latency_ms, begin_ms, stall_at_ms, stall_ms):
    loop = asyncio.get_running_loop()
    begin_s = begin_ms / 1000
    stall_from = begin_s + stall_at_ms / 1000
    queue = Queue(capacity_per_s, stall_from, stall_from + stall_ms / 1000)
    arrivals = []
    server = await loop.create_server(lambda: Connection(loop, queue, latency_ms / 1000, arrivals), "127.0.0.1", 0,
                                      backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    for arrival in arrivals:
        print(int((arrival - begin_s) * 1000))


if __name__ == "__main__":
    asyncio.run(serve(*map(int, sys.argv[1:])))
