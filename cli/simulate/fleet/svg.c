/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/report.h"

enum {
	WIDTH = 900,
	HEIGHT = 560,
	LEFT = 70, /* margins of the plots */
	RIGHT = 20,
	TOP = 50,
	PLOT_HEIGHT = 200,
	PLOT_GAP = 50,
	TICKS = 4, /* of the vertical axis */
	TIME_TICKS_MAX = 12
};

static const char *const colours[FLEET_POLICIES] = {
    [FLEET_NO_RETRIES] = "#777777", [FLEET_NAIVE] = "#c8321e", [FLEET_TENACURL] = "#1e5fc8"};

/* One of the two plots: what it counts, where it stands, and its scales. */
struct plot {
	const char *title;
	int64_t (*count)(const struct fleet_bin *bin);
	int top;
	double end_ms;
	double most_per_s;
};

static int64_t count_requests(const struct fleet_bin *bin)
{
	return bin->requests;
}

static int64_t count_succeeded(const struct fleet_bin *bin)
{
	return bin->succeeded;
}

static double x_of(const struct plot *plot, double ms)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (ms < plot->end_ms ? ms : plot->end_ms) / plot->end_ms;
}

static double y_of(const struct plot *plot, double per_s)
{
	return plot->top + PLOT_HEIGHT * (1 - per_s / plot->most_per_s);
}

static double per_s(const struct plot *plot, const struct fleet_bin *bin)
{
	return (double)plot->count(bin) * 1000 / FLEET_BIN_MS;
}

/* The smallest of 1, 2, 5, 10, 20, … times TICKS that is at least that. */
static double rounded_up(double value)
{
	static const double steps[] = {1, 2, 5};

	for (double power = 1;; power *= 10) {
		for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
			if (steps[i] * power * TICKS >= value)
				return steps[i] * power * TICKS;
		}
	}
}

static void set_scales(struct plot *plot, const struct fleet_result *results)
{
	double most = 1;

	plot->end_ms = 1;
	for (int policy = 0; policy < FLEET_POLICIES; policy++) {
		const struct fleet_result *result = &results[policy];

		if ((double)result->elapsed_ms > plot->end_ms)
			plot->end_ms = (double)result->elapsed_ms;
		for (size_t i = 0; i < result->bin_count; i++)
			most = per_s(plot, &result->bins[i]) > most ? per_s(plot, &result->bins[i]) : most;
	}
	plot->most_per_s = rounded_up(most);
}

static void draw_text(FILE *stream, double x, double y, const char *anchor, const char *text)
{
	fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void draw_outages(FILE *stream, const struct fleet_scenario *scenario, const struct plot *plot)
{
	for (size_t i = 0; i < scenario->outage_count; i++) {
		double from = x_of(plot, (double)scenario->outages[i].begin_ms);

		fprintf(stream, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#f4e3c1\"/>\n", from,
		        plot->top, x_of(plot, (double)scenario->outages[i].end_ms) - from, PLOT_HEIGHT);
	}
}

static void draw_axes(FILE *stream, const struct plot *plot)
{
	double step_ms = rounded_up(plot->end_ms / 1000 * TICKS / TIME_TICKS_MAX) / TICKS * 1000;
	char label[32];

	draw_text(stream, LEFT, plot->top - 8, "start", plot->title);
	for (int tick = 0; tick <= TICKS; tick++) {
		double value = plot->most_per_s * tick / TICKS;

		fprintf(stream, "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/>\n", LEFT, y_of(plot, value),
		        WIDTH - RIGHT);
		snprintf(label, sizeof label, "%.0f", value);
		draw_text(stream, LEFT - 8, y_of(plot, value) + 4, "end", label);
	}
	for (double ms = 0; ms <= plot->end_ms; ms += step_ms) {
		snprintf(label, sizeof label, "%.0f s", ms / 1000);
		draw_text(stream, x_of(plot, ms), plot->top + PLOT_HEIGHT + 16, "middle", label);
	}
}

static void draw_line(FILE *stream, const struct plot *plot, const struct fleet_result *result, const char *colour)
{
	size_t count = (size_t)(result->elapsed_ms / FLEET_BIN_MS) + 1;

	fprintf(stream, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour);
	for (size_t i = 0; i < count && i < result->bin_count; i++)
		fprintf(stream, "%.1f,%.1f ", x_of(plot, ((double)i + 0.5) * FLEET_BIN_MS),
		        y_of(plot, per_s(plot, &result->bins[i])));
	fputs("\"/>\n", stream);
}

static void draw_legend(FILE *stream)
{
	for (int policy = 0; policy < FLEET_POLICIES; policy++) {
		int x = LEFT + 130 * policy;

		fprintf(stream, "<path d=\"M%d 18h24\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, colours[policy]);
		draw_text(stream, x + 30, 22, "start", fleet_policy_name((enum fleet_policy)policy));
	}
}

static void draw_capacity(FILE *stream, const struct fleet_scenario *scenario, const struct plot *plot)
{
	if (scenario->capacity_per_s > 0 && (double)scenario->capacity_per_s <= plot->most_per_s)
		fprintf(stream, "<path d=\"M%d %.1fH%d\" stroke=\"#000000\" stroke-dasharray=\"6 4\"/>\n", LEFT,
		        y_of(plot, (double)scenario->capacity_per_s), WIDTH - RIGHT);
}

void fleet_draw_svg(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results)
{
	struct plot plots[] = {
	    {.title = "requests per second at the server (dashed: its capacity)",
	     .count = count_requests,
	     .top = TOP + 20},
	    {.title = "operations per second that succeed",
	     .count = count_succeeded,
	     .top = TOP + 20 + PLOT_HEIGHT + PLOT_GAP},
	};

	fprintf(stream,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
	        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
	        WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	draw_legend(stream);
	for (size_t i = 0; i < sizeof plots / sizeof plots[0]; i++) {
		set_scales(&plots[i], results);
		draw_outages(stream, scenario, &plots[i]);
		draw_axes(stream, &plots[i]);
		if (i == 0)
			draw_capacity(stream, scenario, &plots[i]);
		for (int policy = 0; policy < FLEET_POLICIES; policy++)
			draw_line(stream, &plots[i], &results[policy], colours[policy]);
	}
	fputs("</svg>\n", stream);
}
