/* SPDX-License-Identifier: MIT */
/* Groups of umasks: combinations, defaults, and the text of refusals. */
#include <string.h>
#include <tach/event.h>
#include "core/port/work.h"
#include "tests/check.h"

static struct tach_encode_options options(uint32_t flags)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;

	opt.os = TACH_OS_NONE;
	opt.flags = flags;
	opt.host = "";
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	return opt;
}

/* Returns the full name up to its first modifier. */
static void umasks_and_defaults_are_chosen(void)
{
	static const struct {
		const char *string, *name;
	} all[] = {
		{"skl::OFFCORE_RESPONSE_0", "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:"
					    "DMND_CODE_RD:OTHER:ANY_RESPONSE"},
		/*
		 * ANY_RESPONSE excludes the groups above it, whether chosen or set by default.
		 */
		{"skl::OFFCORE_RESPONSE_0:ANY_RESPONSE:DMND_RFO",
		 "skl::OFFCORE_RESPONSE_0:DMND_RFO:ANY_RESPONSE"},
		{"skl::OFFCORE_RESPONSE_0:L3_HITM:DMND_RFO",
		 "skl::OFFCORE_RESPONSE_0:DMND_RFO:L3_HITM:SNP_NONE:SNP_NOT_NEEDED:SNP_MISS:"
		 "SNP_HIT_NO_FWD:SNP_HIT_WITH_FWD:SNP_HITM:SNP_NON_DRAM"},
		/*
		 * The name has a umask that excludes the default, so the default is not in the
		 * name.
		 */
		{"skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:SNP_HITM",
		 "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:SNP_HITM"},
		/* OUTSTANDING can be combined with group 0 only, and is optional. */
		{"glm::OFFCORE_RESPONSE_0", "glm::OFFCORE_RESPONSE_0:ANY_REQUEST:ANY_RESPONSE"},
		{"glm::OFFCORE_RESPONSE_0:OUTSTANDING",
		 "glm::OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING"},
		{"glm::OFFCORE_RESPONSE_0:DMND_RFO:OUTSTANDING",
		 "glm::OFFCORE_RESPONSE_0:DMND_RFO:OUTSTANDING"},
		/* One umask satisfies all groups; another one is optional. */
		{"atom::L2_REJECT_BUSQ:SELF_ANY_E_STATE",
		 "atom::L2_REJECT_BUSQ:SELF_ANY_E_STATE"},
		{"atom::L2_REJECT_BUSQ:E_STATE:M_STATE",
		 "atom::L2_REJECT_BUSQ:E_STATE:M_STATE:SELF:ANY"},
		{"amd64_fam10h_barcelona::HYPERTRANSPORT_LINK0",
		 "amd64_fam10h_barcelona::HYPERTRANSPORT_LINK0:ALL"},
		{"amd64_fam10h_barcelona::HYPERTRANSPORT_LINK0:SUBLINK_MASK",
		 "amd64_fam10h_barcelona::HYPERTRANSPORT_LINK0:ALL:SUBLINK_MASK"},
		/* A numeric umask satisfies all groups. */
		{"skl::OFFCORE_RESPONSE_0:0xff", "skl::OFFCORE_RESPONSE_0:0xff"},
	};
	struct tach_encode_options opt = options(0);

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0}, again = {0};
		size_t length = strlen(all[i].name);

		CHECK(tach_event_encode(all[i].string, &opt, &e, &err) == 0, "%s: %s",
		      all[i].string, err.text);
		CHECK(strncmp(e.name, all[i].name, length) == 0 &&
			      strncmp(e.name + length, ":k=1:u=1:", 9) == 0,
		      "%s: %s", all[i].string, e.name);
		CHECK(tach_event_encode(e.name, &opt, &again, &err) == 0 &&
			      again.codes[0] == e.codes[0] && again.codes[1] == e.codes[1],
		      "%s: %s", e.name, err.text);
	}
}

static void refused(void)
{
	static const struct {
		const char *string;
		int code, column;
		const char *text;
	} all[] = {
		{"skl::BR_INST_RETIRED:NEAR_CALL:NEAR_TAKEN", TACH_ERR_FEATCOMB, 32,
		 "NEAR_TAKEN cannot be combined with another umask of its group"},
		{"skl::OFFCORE_RESPONSE_0:ANY_RESPONSE:L3_HITM", TACH_ERR_FEATCOMB, 38,
		 "L3_HITM cannot be combined with another umask of its group"},
		{"skl::OFFCORE_RESPONSE_0:L3_HITM:ANY_RESPONSE", TACH_ERR_FEATCOMB, 33,
		 "ANY_RESPONSE cannot be combined with another umask of its group"},
		{"skl::OFFCORE_RESPONSE_0:ANY_RESPONSE:SNP_HITM", TACH_ERR_FEATCOMB, 38,
		 "SNP_HITM is excluded by another umask of this event"},
		{"glm::OFFCORE_RESPONSE_0:OUTSTANDING:ANY_RESPONSE", TACH_ERR_FEATCOMB, 37,
		 "OUTSTANDING is excluded by another umask of this event"},
		{"glm::OFFCORE_RESPONSE_0:L2_HIT:OUTSTANDING", TACH_ERR_FEATCOMB, 32,
		 "L2_HIT is excluded by another umask of this event"},
		{"atom::L2_REJECT_BUSQ:SELF_ANY_E_STATE:SELF", TACH_ERR_FEATCOMB, 39,
		 "SELF_ANY_E_STATE cannot be combined with a second umask"},
		{"atom::L2_REJECT_BUSQ:SELF:SELF_ANY_E_STATE", TACH_ERR_FEATCOMB, 27,
		 "SELF_ANY_E_STATE cannot be combined with a second umask"},
		{"atom::L2_REJECT_BUSQ:SELF_ANY_E_STATE:SELF_ANY_M_STATE", TACH_ERR_FEATCOMB,
		 39, "SELF_ANY_E_STATE cannot be combined with a second umask"},
		{"netburst::uops_retired", TACH_ERR_ATTR, 0,
		 "uops_retired needs a umask: NBOGUS, BOGUS"},
		{"skl::ICACHE_64B", TACH_ERR_UMASK, 0,
		 "ICACHE_64B needs a umask: IFTAG_HIT, IFTAG_MISS, IFTAG_STALL"},
	};
	struct tach_encode_options opt = options(0);

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_event e = {0};
		int rc = tach_event_encode(all[i].string, &opt, &e, &err);

		CHECK(rc == all[i].code && err.line == 1 && err.column == all[i].column &&
			      strcmp(err.text, all[i].text) == 0,
		      "%s: %d, column %d: %s", all[i].string, rc, err.column, err.text);
	}
}

/* For a missing umask: lists as many of the group's umasks as fit 159 bytes, then ", ...". */
static void missing_umask_lists_the_choices(void)
{
	struct tach_encode_options opt = options(0);
	int told = 0, cut = 0;

	for (int pmu = 0; pmu < tach__npmus(); pmu++)
		for (uint32_t i = 0; i < tach__pmu_at(pmu)->nevents; i++) {
			const struct tach__event *row = tach__event_at(pmu, (int)i);
			const char *name = tach__str(row->name);
			struct tach_error err = TACH_ERROR_INIT;
			struct tach_event e = {0};
			char string[160], want[512], *at = want;
			const char *first;
			int group = -1, n = 0;

			snprintf(string, sizeof string, "%s::%s",
				 tach__str(tach__pmu_at(pmu)->name), name);
			if (!tach_event_encode(string, &opt, &e, &err))
				continue;
			at += sprintf(at, "%s needs a umask: ", name);
			first = err.text + (at - want);
			/*
			 * Omitted: events of Itanium, aliases, and an event without a umask to
			 * suggest.
			 */
			if (strncmp(err.text, want, (size_t)(at - want)) != 0 || !*first)
				continue;
			for (int u = 0; u < row->numasks && group < 0; u++)
				if (strncmp(first, tach__str(tach__umask_at(row, u)->name),
					    strcspn(first, ",")) == 0)
					group = tach__umask_at(row, u)->group;
			for (int u = 0; u < row->numasks; u++) {
				const char *umask = tach__str(tach__umask_at(row, u)->name);

				if (tach__umask_at(row, u)->group != group)
					continue;
				if (strlen(want) - (size_t)(first - err.text) +
					    strlen(", , ...") + strlen(umask) >
				    159) {
					strcat(want, ", ...");
					cut++;
					break;
				}
				strcat(want, n++ ? ", " : "");
				strcat(want, umask);
			}
			told++;
			CHECK(err.column == 0 && strcmp(err.text, want) == 0, "%s: %s\n# %s",
			      string, err.text, want);
		}
	CHECK(told > 200 && cut > 20, "%d told, %d cut", told, cut);
}

/* ---- the functions themselves, with cases that no table has ---- */

static struct tach__event event_named(const char *pmu_name, const char *name)
{
	int pmu = tach__pmu_find(pmu_name, strlen(pmu_name));

	return *tach__event_at(pmu, tach__event_find(pmu, name, strlen(name)));
}

static int take(struct tach__work *w, const char *name)
{
	struct tach__pick pick = {0, 0, 7, TACH__PICK_UMASK};

	pick.number = (uint16_t)tach__umask_find(w->got.event, name, strlen(name));
	return tach__umask_take(w, &pick);
}

static struct tach__work work(const struct tach__event *event,
			      const struct tach_encode_options *opt, struct tach_error *err)
{
	struct tach__work w = {.ask = {.opt = opt, .quirks = tach__quirks_of(opt), .err = err},
			       .got = {.event = event}};

	w.got.groups.above = w.got.groups.only = w.got.groups.last = w.got.groups.silent = -1;
	return w;
}

/* The event accepts umasks of one group only. */
static void one_group(void)
{
	struct tach_encode_options opt = options(0);
	struct tach__event event = event_named("skl", "OFFCORE_RESPONSE_0");
	struct tach_error err = TACH_ERROR_INIT;
	struct tach__work w;

	event.flags |= TACH__EV_GRPEXCL;
	w = work(&event, &opt, &err);
	CHECK(take(&w, "DMND_RFO") == 0 && take(&w, "DMND_DATA_RD") == 0);
	CHECK(take(&w, "SNP_HITM") == TACH_ERR_FEATCOMB && err.column == 7 &&
		      strcmp(err.text, "OFFCORE_RESPONSE_0 takes umasks of one group only; "
				       "SNP_HITM is of another") == 0,
	      "%s", err.text);
	w = work(&event, &opt, &err);
	CHECK(take(&w, "DMND_RFO") == 0 && tach__umask_finish(&w, TACH_ERR_UMASK) == 0 &&
	      w.got.nrows == 1);
	w = work(&event, &opt, &err);
	CHECK(tach__umask_finish(&w, TACH_ERR_UMASK) == 0 && w.got.nrows == 4, "%u",
	      w.got.nrows);
	/* Without this flag, the defaults of all groups are added. */
	event.flags &= ~TACH__EV_GRPEXCL;
	w = work(&event, &opt, &err);
	CHECK(take(&w, "DMND_RFO") == 0 && tach__umask_finish(&w, TACH_ERR_UMASK) == 0 &&
	      w.got.nrows == 2);
}

/*
 * In libpfm-4 RFO_HIT is an alias of DEMAND_RFO_HIT, so both are one umask there; here they are
 * two.
 */
static void alias_there(void)
{
	static const char *const pairs[] = {"hsw::L2_RQSTS:RFO_HIT:DEMAND_RFO_HIT",
					    "hsw::L2_RQSTS:DEMAND_RFO_HIT:RFO_HIT"};
	struct tach_encode_options opt = options(TACH_ENCODE_LIBPFM4), ours = options(0);
	struct tach_event e = {0}, other = {0};

	CHECK(tach_event_encode("hsw::L2_RQSTS:DEMAND_RFO_HIT", &opt, &other, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(tach_event_encode(pairs[i], &opt, &e, NULL) == 0 &&
			      strcmp(e.name, other.name) == 0,
		      "%s: %s", pairs[i], e.name);
		CHECK(tach_event_encode(pairs[i], &ours, &e, NULL) == TACH_ERR_FEATCOMB, "%s",
		      pairs[i]);
	}
	CHECK(tach_event_encode("hsw::L2_RQSTS:RFO_HIT:DEMAND_DATA_RD_HIT", &opt, &e, NULL) ==
	      TACH_ERR_FEATCOMB);
}

static void sorted(void)
{
	struct tach__work w = {.got = {.nrows = 5, .rows = {4, 0, 7, 7, 1, 9}}};
	static const uint16_t want[] = {0, 1, 4, 7, 7, 9};

	tach__umask_sort(&w);
	CHECK(memcmp(w.got.rows, want, sizeof want) == 0);
	w.got.nrows = 0;
	tach__umask_sort(&w);
	CHECK(memcmp(w.got.rows, want, sizeof want) == 0);
}

static void cleared_to_the_last_byte(void)
{
	unsigned char bytes[130];

	for (size_t size = 0; size < sizeof bytes; size++) {
		size_t zeros = 0;

		memset(bytes, 0xff, sizeof bytes);
		tach__clear(bytes, size);
		while (zeros < sizeof bytes && !bytes[zeros])
			zeros++;
		CHECK(zeros == size, "%zu, not %zu", zeros, size);
		while (zeros < sizeof bytes && bytes[zeros] == 0xff)
			zeros++;
		CHECK(zeros == sizeof bytes, "%zu: %zu is touched", size, zeros);
	}
}

int main(void)
{
	CASE(umasks_and_defaults_are_chosen);
	CASE(refused);
	CASE(missing_umask_lists_the_choices);
	CASE(one_group);
	CASE(alias_there);
	CASE(sorted);
	CASE(cleared_to_the_last_byte);
	return check_done();
}
