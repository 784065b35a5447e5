# SPDX-License-Identifier: MIT
"""The picture of scripts/storm: load and successes over time, as SVG 1.1."""

COLOURS = ["#777777", "#c8321e", "#1e5fc8"]
WIDTH, PLOT_HEIGHT, LEFT, RIGHT, TOP, GAP = 900, 180, 70, 20, 50, 55
TICKS = 4


class Plot:
    """One diagram. series: {way: values per second, one for each bin}."""

    def __init__(self, title, series, top, bin_ms, end_ms):
        self.title, self.series, self.top, self.bin_ms, self.end_ms = title, series, top, bin_ms, end_ms
        most = max(max(values) for values in series.values())
        self.most = next(step * 10**power for power in range(9) for step in (1, 2, 5) if step * 10**power >= most)

    def x(self, ms):
        return LEFT + (WIDTH - LEFT - RIGHT) * min(ms, self.end_ms) / self.end_ms

    def y(self, value):
        return self.top + PLOT_HEIGHT * (1 - value / self.most)

    def draw(self, outage):
        begin, end = map(self.x, outage)
        yield (f'<rect x="{begin:.1f}" y="{self.top}" width="{end - begin:.1f}" height="{PLOT_HEIGHT}" '
               'fill="#f4e3c1"/>')
        yield text(LEFT, self.top - 8, "start", self.title)
        for tick in range(TICKS + 1):
            value = self.most * tick / TICKS
            yield f'<path d="M{LEFT} {self.y(value):.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
            yield text(LEFT - 8, self.y(value) + 4, "end", f"{value:g}")
        for ms in range(0, self.end_ms + 1, 10000):
            yield text(self.x(ms), self.top + PLOT_HEIGHT + 16, "middle", f"{ms // 1000} s")
        for colour, values in zip(COLOURS, self.series.values()):
            points = " ".join(f"{self.x((i + 0.5) * self.bin_ms):.1f},{self.y(value):.1f}"
                              for i, value in enumerate(values) if i * self.bin_ms < self.end_ms)
            yield f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>'

    def draw_level(self, value):
        if value <= self.most:
            yield (f'<path d="M{LEFT} {self.y(value):.1f}H{WIDTH - RIGHT}" stroke="#000000" stroke-dasharray="6 4"/>')


def text(x, y, anchor, words):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def legend(ways):
    for number, way in enumerate(ways):
        x = LEFT + 130 * number
        yield f'<path d="M{x} 18h24" stroke="{COLOURS[number]}" stroke-width="3"/>'
        yield text(x + 30, 22, "start", way)


def draw(results, bin_ms, outage, end_ms, capacity_per_s):
    """results: {title: {way: [(requests, ended, succeeded), …]}}. Returns the picture."""
    lines, top = list(legend(next(iter(results.values())))), TOP + 20
    for title, ways in results.items():
        for column, what in [(0, "requests per second at the server (dashed: its capacity)"),
                             (2, "operations per second that succeed")]:
            series = {way: [row[column] * 1000 / bin_ms for row in bins] for way, bins in ways.items()}
            plot = Plot(f"{title}: {what}", series, top, bin_ms, end_ms)
            lines += plot.draw(outage)
            if column == 0:
                lines += plot.draw_level(capacity_per_s)
            top += PLOT_HEIGHT + GAP
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}" '
            'font-family="sans-serif" font-size="12">')
    return "\n".join([head, f'<rect width="{WIDTH}" height="{top}" fill="white"/>', *lines, "</svg>", ""])
