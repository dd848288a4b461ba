// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/cvss.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/mem.h"

enum { VECTOR_TEXT = 512 }; // bytes; a longer text is no vector

struct cvss_metric {
	struct str name;
	const char *values; // a letter each, the worst one first
};

// The index of each metric's value. False: one is missing, is there twice, or has an unknown value.
static bool read_metrics(struct str rest, const struct cvss_metric *metric, size_t count, int value[])
{
	for (size_t i = 0; i < count; i++)
		value[i] = -1;
	while (rest.len) {
		struct str text = str_cut(&rest, '/'), name = str_cut(&text, ':');
		for (size_t i = 0; i < count; i++) {
			if (!str_eq(name, metric[i].name))
				continue;
			const char *found = text.len == 1 ? strchr(metric[i].values, *text.ptr) : NULL;
			if (!found || !*found || value[i] >= 0)
				return false;
			value[i] = (int)(found - metric[i].values);
		}
	}
	for (size_t i = 0; i < count; i++)
		if (value[i] < 0)
			return false;
	return true;
}

// --- version 3 ---

enum { V3_AV, V3_AC, V3_PR, V3_UI, V3_S, V3_C, V3_I, V3_A, V3_COUNT };

// Section 7.4, in the order of the values below. The second row of PR is for a changed scope.
static const double worth_av[] = {0.85, 0.62, 0.55, 0.2}, worth_ac[] = {0.77, 0.44}, worth_ui[] = {0.85, 0.62},
		    worth_impact[] = {0.56, 0.22, 0};
static const double worth_pr[2][3] = {{0.85, 0.62, 0.27}, {0.85, 0.68, 0.5}};

// Roundup() of appendix A of version 3.1, in tenths: floating point must not add one. Version 3.0 has the same meaning.
static int round_up(double score)
{
	long parts = (long)(score * 100000 + 0.5);
	return (int)((parts + 9999) / 10000);
}

static double power(double base, int times)
{
	double result = 1;
	while (times-- > 0)
		result *= base;
	return result;
}

static int score_v3(struct str metrics)
{
	static const struct cvss_metric metric[V3_COUNT] = {
		[V3_AV] = {STR("AV"), "NALP"},
		[V3_AC] = {STR("AC"), "LH"},
		[V3_PR] = {STR("PR"), "NLH"},
		[V3_UI] = {STR("UI"), "NR"},
		[V3_S] = {STR("S"), "UC"},
		[V3_C] = {STR("C"), "HLN"},
		[V3_I] = {STR("I"), "HLN"},
		[V3_A] = {STR("A"), "HLN"},
	};
	int v[V3_COUNT];
	if (!read_metrics(metrics, metric, V3_COUNT, v))
		return CVSS_NONE;
	bool is_changed = v[V3_S] == 1;
	double base = 1 - (1 - worth_impact[v[V3_C]]) * (1 - worth_impact[v[V3_I]]) * (1 - worth_impact[v[V3_A]]);
	double impact = is_changed ? 7.52 * (base - 0.029) - 3.25 * power(base - 0.02, 15) : 6.42 * base;
	double exploit =
		8.22 * worth_av[v[V3_AV]] * worth_ac[v[V3_AC]] * worth_pr[is_changed][v[V3_PR]] * worth_ui[v[V3_UI]];
	if (impact <= 0)
		return 0;
	double score = (is_changed ? 1.08 : 1) * (impact + exploit);
	return round_up(score < 10 ? score : 10);
}

// --- version 4 ---

enum { V4_AV, V4_PR, V4_UI, V4_AC, V4_AT, V4_VC, V4_VI, V4_VA, V4_SC, V4_SI, V4_SA, V4_COUNT };

// The classes of base metrics (section 8.2): EQ1, EQ2, EQ3 with EQ6, and EQ4. EQ5 is 0 without threat metrics, and EQ6
// follows from the impact. A class of EQ3 with EQ6 is 00, 01, 10, 11 or 21.
enum { EQ1, EQ2, EQ36, EQ4, EQ_COUNT };
enum { CLASS_00, CLASS_01, CLASS_10, CLASS_11, CLASS_21 };

// Section 8.3: the scores, in tenths, of the macro vectors that base metrics have, and of those one class below. EQ4 is
// 1 or 2.
static const uint8_t macro_score[3][2][5][2] = {
	{{{100, 93}, {96, 90}, {93, 88}, {92, 80}, {79, 69}}, {{95, 92}, {91, 81}, {92, 84}, {82, 70}, {71, 63}}},
	{{{94, 87}, {89, 75}, {86, 72}, {76, 57}, {65, 53}}, {{90, 77}, {77, 66}, {74, 61}, {59, 52}, {58, 23}}},
	{{{86, 70}, {74, 54}, {72, 53}, {57, 36}, {47, 24}}, {{73, 54}, {55, 43}, {61, 46}, {51, 18}, {24, 10}}},
};
// How many steps a class has, and how many steps its highest vector is below that of the first class.
static const int class_depth[EQ_COUNT][5] = {{1, 4, 5}, {1, 2}, {7, 6, 8, 8, 10}, {5, 4}};
static const int class_top[EQ_COUNT][5] = {{0, 1, 3}, {0, 1}, {0, 0, 1, 1, 3}, {0, 3}};

static int macro_of(const int class[EQ_COUNT])
{
	return macro_score[class[EQ1]][class[EQ2]][class[EQ36]][class[EQ4]];
}

// The score of the macro vector that is one class lower in this respect; -1: there is none.
static int score_below(const int class[EQ_COUNT], int eq)
{
	static const int classes[EQ_COUNT] = {3, 2, 5, 2};
	static const int next[5] = {CLASS_10, CLASS_21, CLASS_11, CLASS_21, -1};
	int lower[EQ_COUNT];
	memcpy(lower, class, sizeof(lower));
	lower[eq] = eq == EQ36 ? next[class[eq]] : class[eq] + 1;
	if (lower[eq] < 0 || lower[eq] >= classes[eq])
		return -1;
	int score = macro_of(lower);
	if (eq == EQ36 && class[eq] == CLASS_00) { // two are one lower: the higher score counts
		lower[eq] = CLASS_01;
		score = macro_of(lower) > score ? macro_of(lower) : score;
	}
	return score;
}

static void classify(const int v[V4_COUNT], int class[EQ_COUNT])
{
	bool none_av = !v[V4_AV], none_pr = !v[V4_PR], none_ui = !v[V4_UI];
	class[EQ1] = none_av && none_pr && none_ui ? 0 : (none_av || none_pr || none_ui) && v[V4_AV] != 3 ? 1 : 2;
	class[EQ2] = v[V4_AC] || v[V4_AT];
	bool high_c = !v[V4_VC], high_i = !v[V4_VI], high_a = !v[V4_VA];
	class[EQ36] = high_c && high_i ? CLASS_00 : high_c || high_i || high_a ? CLASS_10 : CLASS_21;
	class[EQ4] = v[V4_SC] && v[V4_SI] && v[V4_SA];
}

// Section 8.3, step 2 to 4: the mean of what each respect takes off, as far as the vector is from the top of its class.
static int interpolate(const int v[V4_COUNT], const int class[EQ_COUNT])
{
	const int steps[EQ_COUNT] = {v[V4_AV] + v[V4_PR] + v[V4_UI], v[V4_AC] + v[V4_AT],
		v[V4_VC] + v[V4_VI] + v[V4_VA], v[V4_SC] + v[V4_SI] + v[V4_SA]};
	int score = macro_of(class), count = 1; // EQ5 is at the top of its class, and has one below
	double sum = 0;
	for (int eq = 0; eq < EQ_COUNT; eq++) {
		int below = score_below(class, eq);
		if (below < 0)
			continue;
		count++;
		sum += (double)((score - below) * (steps[eq] - class_top[eq][class[eq]])) / class_depth[eq][class[eq]];
	}
	double exact = score - sum / count;
	return exact <= 0 ? 0 : (int)(exact + 0.5 + 1e-5);
}

static int score_v4(struct str metrics)
{
	static const struct cvss_metric metric[V4_COUNT] = {
		[V4_AV] = {STR("AV"), "NALP"},
		[V4_PR] = {STR("PR"), "NLH"},
		[V4_UI] = {STR("UI"), "NPA"},
		[V4_AC] = {STR("AC"), "LH"},
		[V4_AT] = {STR("AT"), "NP"},
		[V4_VC] = {STR("VC"), "HLN"},
		[V4_VI] = {STR("VI"), "HLN"},
		[V4_VA] = {STR("VA"), "HLN"},
		[V4_SC] = {STR("SC"), "HLN"},
		[V4_SI] = {STR("SI"), "HLN"},
		[V4_SA] = {STR("SA"), "HLN"},
	};
	int v[V4_COUNT], class[EQ_COUNT], impact = 0;
	if (!read_metrics(metrics, metric, V4_COUNT, v))
		return CVSS_NONE;
	for (int i = V4_VC; i <= V4_SA; i++)
		impact += v[i] != 2;
	classify(v, class);
	return impact ? interpolate(v, class) : 0;
}

int cvss_base_score(struct str vector)
{
	static const struct {
		struct str prefix;
		int (*score)(struct str metrics);
	} version[] = {
		{STR("CVSS:3.0/"), score_v3},
		{STR("CVSS:3.1/"), score_v3},
		{STR("CVSS:4.0/"), score_v4},
	};
	for (size_t i = 0; i < ARRAY_SIZE(version); i++)
		if (vector.len <= VECTOR_TEXT && str_starts(vector, version[i].prefix))
			return version[i].score(str_slice(vector, version[i].prefix.len, vector.len));
	return CVSS_NONE;
}
