/* SPDX-License-Identifier: MIT */
/*
 * Converts lines of definition files to CPU names and records: begin and end of fields, and the
 * content allowed at each place, with its smallest and largest size. (Messages about broken
 * files: derived.c.)
 */
#include <stdlib.h>
#include <string.h>
#include "core/derived/parse.h"
#include "tests/check.h"

/*
 * The rate of neither clock is known here: the accepted content of a file does not depend on
 * it.
 */
double tach__max_hz(uint32_t *flags);
double tach__tsc_hz(uint32_t *flags);

double tach__max_hz(uint32_t *flags)
{
	(void)flags;
	return 0;
}

double tach__tsc_hz(uint32_t *flags)
{
	(void)flags;
	return 0;
}

static char said[20000];
static size_t n;

#define SAY(...) (n += (size_t)snprintf(said + n, sizeof said - n, __VA_ARGS__))

static void say(const char *what, const struct tach__span *s)
{
	if (s->at)
		SAY(" %s'%.*s'", what, (int)s->length, s->at);
}

/* A '*' marks the first CPU of a list. */
static void cpu(void *context, const struct tach__span *name, int line, bool first)
{
	(void)context;
	SAY("%s%d:%d CPU%s '%.*s'", n ? "; " : "", line, name->column, first ? "*" : "",
	    (int)name->length, name->at);
}

static void record(void *context, const struct tach__record *r)
{
	(void)context;
	SAY("%s%d %s '%.*s' %s", n ? "; " : "", r->line, r->preset ? "PRESET" : "EVENT",
	    (int)r->name.length, r->name.at, tach__derived_type_name(r->type));
	say("", &r->formula);
	for (int i = 0; i < r->nevents; i++)
		SAY("%s%.*s", i ? "," : " ", (int)r->event[i].length, r->event[i].at);
	say("l", &r->long_description);
	say("s", &r->short_description);
	say("n", &r->note);
	say("u", &r->unit);
	say("t", &r->threshold);
	say("p", &r->parent);
	say("g", &r->groups);
	if (r->scale != 1)
		SAY(" x%g", r->scale);
	if (r->level)
		SAY(" L%d", r->level);
}

static void report(void *context, enum tach_diagnostic_level level, int line, int column,
		   const char *text)
{
	(void)context;
	SAY("%s%d:%d %c %s", n ? "; " : "", line, column, "nwe"[level], text);
}

static const char *parsed(const char *text, size_t length)
{
	static const struct tach__derived_sink sink = {NULL, cpu, record, report, NULL};

	n = 0;
	said[0] = '\0';
	tach__derived_parse(text, length, &sink);
	return said;
}

struct lines {
	const char *text, *said;
};

static void check_all(const struct lines *l, size_t many)
{
	for (size_t i = 0; i < many; i++) {
		/*
		 * Copied into a buffer of exact size, so that reads after its end are detected.
		 */
		size_t length = strlen(l[i].text);
		char *own = malloc(length ? length : 1);
		const char *got;

		memcpy(own, l[i].text, length);
		got = parsed(own, length);
		CHECK(strcmp(got, l[i].said) == 0, "%s\n#  is %s\n#  not %s", l[i].text, got,
		      l[i].said);
		free(own);
	}
}

#define ALL(cases) check_all(cases, sizeof cases / sizeof *cases)

#define E "EVENT,a,NOT_DERIVED,x"
#define A "EVENT 'a' NOT_DERIVED x"

static const struct lines ends[] = {
	{"", ""},
	{"\n\r\n \t\n#" E "\n  # x", ""},
	{E, "1 " A},
	{E "\n", "1 " A},
	{"\n" E "\r\n" E "\r" E "\r\r\n" E, "2 " A "; 3 " A "; 4 " A "; 6 " A},
	{" \t" E " \t\n" E ",,\n", "1 " A "; 2 " A},
	{"\xef\xbb\xbf" E, "1 " A},
	{"\xef\xbb\xbf", ""},
	{"\xef\xbb" E, "1:1 e unknown command '\xef\xbb"
		       "EVENT': CPU, PRESET or EVENT expected"},
	{E "\x1f", "1:22 e a control character (0x1f) in the line"},
	{"#\x1f\n\x1f", "2:1 e a control character (0x1f) in the line"},
	{E ",SDESC,\xc3\xa9\x7f", "1 " A " s'\xc3\xa9\x7f'"},
};

static const struct lines commands[] = {
	{"event,a,not_derived,x", "1 " A},
	{"PRESET , a ,\tNOT_DERIVED , x ", "1 PRESET 'a' NOT_DERIVED x"},
	{"EVENT\ta,NOT_DERIVED,x", "1 " A},
	{"EVENTS,a,NOT_DERIVED,x",
	 "1:1 e unknown command 'EVENTS': CPU, PRESET or EVENT expected"},
	{"PRESET", "1:7 e an event name expected after PRESET"},
	{"EVENT,", "1:7 e an event name expected after EVENT"},
	{"EVENT,a", "1:8 e a derived type expected after the name"},
	{"EVENT,a,", "1:9 e a derived type expected after the name"},
	/* An unknown word in place of a CPU: its records are omitted, up to the next CPU. */
	{" MODEL,b\n" E "\nCPU,c\n" E,
	 "1:2 e unknown command 'MODEL': CPU, PRESET or EVENT expected; records up to the next "
	 "CPU line are left out; 3:5 CPU* 'c'; 4 " A},
	{"MODEL,b,c\n" E, "1:1 e unknown command 'MODEL': CPU, PRESET or EVENT expected; 2 " A},
	{"MODEL\n" E, "1:1 e unknown command 'MODEL': CPU, PRESET or EVENT expected; 2 " A},
	{"CPU,a\nMODEL,b\n" E,
	 "1:5 CPU* 'a'; 2:1 e unknown command 'MODEL': CPU, PRESET or EVENT "
	 "expected; 3 " A},
};

static const struct lines cpus[] = {
	{"CPU,a", "1:5 CPU* 'a'"},
	{"CPU a b ", "1:5 CPU* 'a b'"},
	{"cpu,'a, b'", "1:6 CPU* 'a, b'"},
	{"CPU,\"a\" , ", "1:6 CPU* 'a'"},
	{"CPU,a|b | c\nCPU,d\n" E "\nCPU,e",
	 "1:5 CPU* 'a'; 1:7 CPU 'b'; 1:11 CPU 'c'; 2:5 CPU 'd'; 3 " A "; 4:5 CPU* 'e'"},
	{"CPU,a,b", "1:7 w one CPU name per line: the rest is ignored; 1:5 CPU* 'a'"},
	{"CPU,'a' b", "1:5 CPU* ''a' b'"},
	{"CPU,'a',b", "1:9 w one CPU name per line: the rest is ignored; 1:6 CPU* 'a'"},
	{"CPU,'a", "1:5 CPU* ''a'"},
	{"CPU", "1:4 e a CPU name expected after CPU; 1:4 CPU* ''"},
	{"CPU,,", "1:5 e a CPU name expected after CPU; 1:5 CPU* ''"},
};

static const struct lines fields[] = {
	{E ",SDESC,'it's so', NOTE ,\"a, b\" ", "1 " A " s'it's so' n'a, b'"},
	{E ",SDESC,'a',LDESC,'b'", "1 " A " l'b' s'a'"},
	{E ",SDESC,'',NOTE,b", "1 " A " s'' n'b'"},
	{E ",SDESC,''", "1:31 w no text after SDESC; 1 " A},
	{E ",SDESC,'a", "1:29 e the quote is never closed"},
	{E ",SDESC,a'b,NOTE,c", "1 " A " s'a'b' n'c'"},
	/* Commas inside parentheses belong to an infix formula; other formulas end there. */
	{"EVENT,a,DERIVED_INFIX,max(N0,N1)+min(1,(2)),x,y",
	 "1 EVENT 'a' DERIVED_INFIX 'max(N0,N1)+min(1,(2))' x,y"},
	{"EVENT,a,derived_infix, N0 ,x", "1 EVENT 'a' DERIVED_INFIX 'N0' x"},
	{"EVENT,a,DERIVED_ADD,x,y(,z", "1:24 e '(' in the base event 'y('"},
	/* A missing line break, also after a quote. */
	{"EVENT,a,NOT_DERIVED,xPRESET,b,NOT_DERIVED,y",
	 "1:22 w another record begins here: a line break is missing; 1 " A
	 "; 1 PRESET 'b' NOT_DERIVED y"},
	{E ",NOTE,'c'EVENT,b,NOT_DERIVED,y",
	 "1:31 w another record begins here: a line break is missing; 1 " A
	 " n'c'; 1 EVENT 'b' NOT_DERIVED y"},
	{"EVENT,a,NOT_DERIVED,xEVENT,b,NO_TYPE",
	 "1:28 e NOT_DERIVED takes 1 base event, but 3 are given"},
	{"EVENT,a,NOT_DERIVED,xEVENTSa,NOT_DERIVED,y",
	 "1:30 e NOT_DERIVED takes 1 base event, but 3 are given"},
	{"EVENT,a,NOT_DERIVED,xEVERY,b,NOT_DERIVED,y",
	 "1:28 e NOT_DERIVED takes 1 base event, but 4 are given"},
	{"EVENT,a,NOT_DERIVED,EVENT", "1 EVENT 'a' NOT_DERIVED EVENT"},
};

static const struct lines names[] = {
	{"EVENT,,NOT_DERIVED,x", "1:7 e the event name is empty"},
	{"EVENT,a b,NOT_DERIVED,x",
	 "1:8 e a blank in the event name 'a b': is a comma missing?"},
	{"EVENT,a\tb,NOT_DERIVED,x",
	 "1:8 e a blank in the event name 'a\tb': is a comma missing?"},
	{"EVENT,a\x7f,NOT_DERIVED,x",
	 "1:8 e byte 0x7f in the event name: only ASCII is allowed"},
	{"EVENT,a~,NOT_DERIVED,x~", "1 EVENT 'a~' NOT_DERIVED x~"},
	{"EVENT,a|,NOT_DERIVED,x", "1:8 e '|' in the event name 'a|'"},
	{"EVENT,a\",NOT_DERIVED,x", "1:8 e '\"' in the event name 'a\"'"},
	{"EVENT,a',NOT_DERIVED,x", "1:8 e ''' in the event name 'a''"},
	{"EVENT,a,NOT_DERIVED,(", "1:21 e '(' in the base event '('"},
	{"EVENT,a,NOT_DERIVED,x)", "1:22 e ')' in the base event 'x)'"},
	{"EVENT,a,NOT_DERIVED,xy;", "1:23 e ';' in the base event 'xy;'"},
	{"EVENT,a,NOT_DERIVED,,SDESC,b", "1:21 e the base event is empty"},
};

static const struct lines types[] = {
	{"EVENT,a,NOT_DERIVED", "1:20 e NOT_DERIVED takes 1 base event, but 0 are given"},
	{"EVENT,a,NOT_DERIVED,x,y", "1:23 e NOT_DERIVED takes 1 base event, but 2 are given"},
	{"EVENT,a,DERIVED_ADD,SDESC,b",
	 "1:21 e DERIVED_ADD takes at least 1 base event, but 0 are given"},
	{"EVENT,a,DERIVED_ADD,x", "1 EVENT 'a' DERIVED_ADD x"},
	{"EVENT,a,DERIVED_SUB,x,y", "1 EVENT 'a' DERIVED_SUB x,y"},
	{"EVENT,a,DERIVED_CMPD,x", "1 EVENT 'a' DERIVED_CMPD x"},
	{"EVENT,a,DERIVED_PS,PAPI_TOT_CYC",
	 "1:32 e DERIVED_PS takes 2 base events, but 1 is given"},
	{"EVENT,a,DERIVED_PS,papi_tot_cyc,x", "1 EVENT 'a' DERIVED_PS papi_tot_cyc,x"},
	{"EVENT,a,DERIVED_PS,PAPI_TOT_CYC,x,y",
	 "1:35 e DERIVED_PS takes 2 base events, but 3 are given"},
	{"EVENT,a,DERIVED_PS,x,PAPI_TOT_CYC",
	 "1:20 e DERIVED_PS divides by PAPI_TOT_CYC, which must be its first base event"},
	{"EVENT,a,DERIVED_ADD_PS,PAPI_TOT_CYC,x",
	 "1:38 e DERIVED_ADD_PS takes 3 base events, but 2 are given"},
	{"EVENT,a,DERIVED_ADD_PS,PAPI_TOT_CYC,x,y",
	 "1 EVENT 'a' DERIVED_ADD_PS PAPI_TOT_CYC,x,y"},
	{"EVENT,a,DERIVED_POSTFIX,N0|2|*|,x", "1 EVENT 'a' DERIVED_POSTFIX 'N0|2|*|' x"},
	{"EVENT,a,DERIVED_POSTFIX", "1:24 e a formula expected after DERIVED_POSTFIX"},
	{"EVENT,a,DERIVED_INFIX,b/c", "1 EVENT 'a' DERIVED_INFIX 'b/c'"},
	{"EVENT,a,DERIVED_INFIX,b/c,SDESC,d", "1 EVENT 'a' DERIVED_INFIX 'b/c' s'd'"},
	{"EVENT,a,DERIVED_INFIX,N0/c",
	 "1:27 e DERIVED_INFIX takes at least 1 base event, but 0 are given"},
	{"EVENT,a,DERIVED_INFIX,N0/N1,x,y,z",
	 "1:33 w the formula does not use N2, 'z'; 1 EVENT 'a' DERIVED_INFIX 'N0/N1' x,y,z"},
};

static const struct lines numbers[] = {
	{E ",SCALE,100,level,2", "1 " A " x100 L2"},
	{E ",SCALE,0.5", "1 " A " x0.5"},
	{E ",SCALE,.5", "1 " A " x0.5"},
	{E ",SCALE,5.", "1 " A " x5"},
	{E ",SCALE,2e3", "1 " A " x2000"},
	{E ",SCALE,2.5E-1", "1 " A " x0.25"},
	{E ",SCALE,1e+2", "1 " A " x100"},
	{E ",SCALE,0", "1 " A " x0"},
	{E ",SCALE,9", "1 " A " x9"},
	{E ",SCALE,.", "1:29 e SCALE is no number: '.'"},
	{E ",SCALE,'',NOTE,b", "1:30 e SCALE is no number: ''"},
	{E ",SCALE,1e", "1:29 e SCALE is no number: '1e'"},
	{E ",SCALE,e1", "1:29 e SCALE is no number: 'e1'"},
	{E ",SCALE,.e1", "1:29 e SCALE is no number: '.e1'"},
	{E ",SCALE,1e+", "1:29 e SCALE is no number: '1e+'"},
	{E ",SCALE,-1", "1:29 e SCALE is no number: '-1'"},
	{E ",SCALE,1x", "1:29 e SCALE is no number: '1x'"},
	{E ",SCALE,1.5.2", "1:29 e SCALE is no number: '1.5.2'"},
	{E ",SCALE,/", "1:29 e SCALE is no number: '/'"},
	{E ",SCALE,:", "1:29 e SCALE is no number: ':'"},
	{E ",LEVEL,1", "1 " A " L1"},
	{E ",LEVEL,99", "1 " A " L99"},
	{E ",LEVEL,0", "1:29 e LEVEL is 1 to 99, not 0"},
	{E ",LEVEL,100", "1:29 e LEVEL is 1 to 99, not 100"},
	{E ",LEVEL,1.5", "1:29 e LEVEL is 1 to 99, not 1.5"},
	{E ",LEVEL,x", "1:29 e LEVEL is no number: 'x'"},
};

static const struct lines tails[] = {
	{E ",LDESC,b,SDESC,c,NOTE,d,UNIT,e,SCALE,2,THRESHOLD,a > 1,LEVEL,3,PARENT,f,GROUP,g;h",
	 "1 " A " l'b' s'c' n'd' u'e' t'a > 1' p'f' g'g;h' x2 L3"},
	{E ",SDESC,b,SDESC,c", "1:31 n a second SDESC replaces the first; 1 " A " s'c'"},
	{E ",SDESC", "1:28 w no text after SDESC; 1 " A},
	{E ",SCALE,100,LEVEL,2,SDESC", "1:46 w no text after SDESC; 1 " A " x100 L2"},
	{E ",SDESC,b,c", "1:31 e 'c' after a description: LDESC, SDESC, NOTE, UNIT, SCALE, "
			 "THRESHOLD, LEVEL, PARENT or GROUP expected"},
	{E ",PARENT,b c", "1:31 e a blank in the PARENT 'b c': is a comma missing?"},
	{E ",THRESHOLD,a > (", "1:38 e an operand expected before the end"},
	{E ",THRESHOLD,N0", "1:33 e there is no N0 here"},
};

/* Names without quotes, at places where an operator is also possible. */
static const struct lines infix[] = {
	{"EVENT,a,DERIVED_INFIX,N0-b,x", "1 EVENT 'a' DERIVED_INFIX 'N0-b' x"},
	{"EVENT,a,DERIVED_INFIX,'b-c'", "1 EVENT 'a' DERIVED_INFIX 'b-c'"},
	{"EVENT,a,DERIVED_INFIX,2*'b-'", "1 EVENT 'a' DERIVED_INFIX '2*'b-''"},
	{"EVENT,a,DERIVED_INFIX,2*\"N0x:\"", "1 EVENT 'a' DERIVED_INFIX '2*\"N0x:\"'"},
	{"EVENT,a,DERIVED_INFIX,N0 ? b : c,x", "1 EVENT 'a' DERIVED_INFIX 'N0 ? b : c' x"},
	{"EVENT,a,DERIVED_INFIX,N0*#/tsc_hz,x", "1 EVENT 'a' DERIVED_INFIX 'N0*#/tsc_hz' x"},
	{E ",THRESHOLD,max_hz > tsc_hz", "1 " A " t'max_hz > tsc_hz'"},
	{"EVENT,a,DERIVED_INFIX,N0b,x",
	 "1:23 e unknown name 'N0b'; operands are N0, N1, ..., constants max_hz, tsc_hz, "
	 "time"},
};

/* Text between quotes may contain blanks; a formula's parentheses protect its commas. */
static const struct lines quotes[] = {
	{"EVENT,\"my event\",NOT_DERIVED,'a b'", "1 EVENT 'my event' NOT_DERIVED a b"},
	{"EVENT,a,NOT_DERIVED,a b",
	 "1:22 e a blank in the base event 'a b': is a comma missing?"},
	{E ",THRESHOLD,max(T1, 2) > 1,LEVEL,3", "1 " A " t'max(T1, 2) > 1' L3"},
	{E ",SCALE,1e999", "1:29 e SCALE is too large: 1e999"},
	{E ",SCALE,0.0000000000000000000000000000000000000000000000000000000000000000000000000"
	   "000000000000000000000000000000000000000000000000001",
	 "1:29 e SCALE has more than 100 characters"},
};

/* PAPI's sections for components that are not CPUs. */
static const struct lines sections[] = {
	{"CPU,skl\n" E "\ncuda,GH100\ncuda,GA100\n" E "\nCPU,icl\n" E,
	 "1:5 CPU* 'skl'; 2 " A
	 "; 3:1 n a section of PAPI's component cuda, which is not a CPU's: records up to the "
	 "next CPU line are skipped; 4:1 n a section of PAPI's component cuda, which is not a "
	 "CPU's: records up to the next CPU line are skipped; 6:5 CPU* 'icl'; 7 " A},
};

static void quoted_names(void)
{
	ALL(quotes);
}

static void other_sections(void)
{
	ALL(sections);
}

static void ends_of_lines(void)
{
	ALL(ends);
}

static void words(void)
{
	ALL(commands);
	ALL(cpus);
}

static void parts(void)
{
	ALL(fields);
	ALL(names);
}

static void kinds(void)
{
	ALL(types);
	ALL(infix);
}

static void numbers_and_line_ends(void)
{
	ALL(numbers);
	ALL(tails);
}

/* With the maximum length. */
static void names_may_have_the_maximum_length(void)
{
	char text[4000], want[4000];

	for (int more = 0; more < 2; more++) {
		int length = TACH__D_NAME_MAX + more;

		snprintf(text, sizeof text, "EVENT,%0*d,NOT_DERIVED,x", length, 0);
		snprintf(want, sizeof want, "1 EVENT '%0*d' NOT_DERIVED x", length, 0);
		if (more)
			strcpy(want, "1:7 e the event name has more than 255 characters");
		CHECK(strcmp(parsed(text, strlen(text)), want) == 0, "%s", said);
		snprintf(text, sizeof text, "EVENT,a,NOT_DERIVED,%0*d", length, 0);
		snprintf(want, sizeof want, "1 EVENT 'a' NOT_DERIVED %0*d", length, 0);
		if (more)
			strcpy(want, "1:21 e the base event has more than 255 characters");
		CHECK(strcmp(parsed(text, strlen(text)), want) == 0, "%s", said);
		/* A word in a message is shortened. */
		snprintf(text, sizeof text, "%0*d,b,c", 40 + more, 0);
		snprintf(want, sizeof want,
			 "1:1 e unknown command '%040d': CPU, PRESET or EVENT expected", 0);
		CHECK(strcmp(parsed(text, strlen(text)), want) == 0, "%s", said);
		snprintf(text, sizeof text, E ",SCALE,x%0*d", 59 + more, 0);
		snprintf(want, sizeof want, "1:29 e SCALE is no number: 'x%059d'", 0);
		CHECK(strcmp(parsed(text, strlen(text)), want) == 0, "%s", said);
	}
}

static void events_up_to_the_maximum_are_accepted(void)
{
	char text[4000], *at;

	for (int more = 0; more < 2; more++) {
		int events = TACH__D_EVENTS_MAX + more;

		at = text + sprintf(text, "EVENT,a,DERIVED_ADD");
		for (int i = 0; i < events; i++)
			at += sprintf(at, ",x");
		parsed(text, strlen(text));
		if (more)
			CHECK(strcmp(said, "1:405 e more than 192 base events") == 0, "%s",
			      said);
		else
			CHECK(strncmp(said, "1 EVENT 'a' DERIVED_ADD x,x", 27) == 0 &&
				      strlen(said) == 23 + 2 * (size_t)events,
			      "%s", said);
		at = text + sprintf(text, "EVENT,a,NOT_DERIVED,x");
		for (int i = 3; i < TACH__D_FIELDS_MAX + more; i++)
			at += sprintf(at, ",NOTE");
		parsed(text, strlen(text));
		if (more)
			CHECK(strcmp(said, "1:1288 e the record has more than 256 fields") == 0,
			      "%s", said);
		else
			CHECK(strstr(said, "1 " A " n'NOTE'") ||
				      strstr(said, "no text after NOTE"),
			      "%s", said);
	}
}

int main(void)
{
	CASE(ends_of_lines);
	CASE(words);
	CASE(parts);
	CASE(kinds);
	CASE(numbers_and_line_ends);
	CASE(quoted_names);
	CASE(other_sections);
	CASE(names_may_have_the_maximum_length);
	CASE(events_up_to_the_maximum_are_accepted);
	return check_done();
}
