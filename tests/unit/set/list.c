/* SPDX-License-Identifier: MIT */
/*
 * Lists of events are divided into events: labels, perf's groups and names, and the position of
 * each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/set/list.h"
#include "tests/check.h"

static char said[4096];
static size_t length;

static void say(const struct tach__span *s)
{
	length += (size_t)snprintf(said + length, sizeof said - length, "%.*s@%d",
				   (int)s->length, s->length ? s->at : "", s->column);
}

/* Returns WHOLE@COLUMN|LABEL@COLUMN|EVENT@COLUMN of each event, and :MODIFIERS. */
static const char *parts(const char *events)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;

	length = 0;
	said[0] = '\0';
	while (tach__list_next(&list, &item) && length < sizeof said / 2) {
		length += (size_t)sprintf(said + length, "%s", length ? " " : "");
		say(&item.whole);
		said[length++] = '|';
		say(&item.label);
		said[length++] = '|';
		say(&item.event);
		if (item.modifiers.length)
			length +=
				(size_t)sprintf(said + length, ":%.*s",
						(int)item.modifiers.length, item.modifiers.at);
	}
	said[length] = '\0';
	return said;
}

static const struct {
	const char *list, *parts;
} cases[] = {
	{NULL, ""},
	{"", ""},
	{" , ,\n", ""},
	{"a", "a@1|@1|a@1"},
	{" a,b\tcc \n", "a@2|@2|a@2 b@4|@4|b@4 cc@6|@6|cc@6"},
	{"a;b; x=c", "a@1|@1|a@1 b@3|@3|b@3 x=c@6|x@6|c@8"},
	/* A label is a word before '='. */
	{"x=a yy=b", "x=a@1|x@1|a@3 yy=b@5|yy@5|b@8"},
	{"a:c=1,b.x=2,c/d=3/", "a:c=1@1|@1|a:c=1@1 b.x=2@7|@7|b.x=2@7 c/d=3/@13|@13|c/d=3/@13"},
	{"x=a:c=1", "x=a:c=1@1|x@1|a:c=1@3"},
	{"x=y=z", "x=y=z@1|x@1|y=z@3"},
	{"=a,b", "=a@1|@1|a@2 b@4|@4|b@4"},
	{"x=,b", "x=@1|x@1|@3 b@4|@4|b@4"},
	/* A comma between slashes belongs to the event; a blank ends it. */
	{"p/e=1,u=2/k,b", "p/e=1,u=2/k@1|@1|p/e=1,u=2/k@1 b@13|@13|b@13"},
	{"p/e=1 u=2/", "p/e=1@1|@1|p/e=1@1 u=2/@7|u@7|2/@9"},
	{"x=p/e=1,u=2/", "x=p/e=1,u=2/@1|x@1|p/e=1,u=2/@3"},
	/* name= between slashes. */
	{"p/e=1,name=yy/u", "p/e=1,name=yy/u@1|yy@12|p/e=1,name=yy/u@1"},
	{"p/name=y,e=1/", "p/name=y,e=1/@1|y@8|p/name=y,e=1/@1"},
	{"b p/name=y/", "b@1|@1|b@1 p/name=y/@3|y@10|p/name=y/@3"},
	{"p/name='a,b/c',e=1/,b", "p/name='a,b/c',e=1/@1|a,b/c@9|p/name='a,b/c',e=1/@1 "
				  "b@21|@21|b@21"},
	{"p/name='a b'/,c", "p/name='a b'/@1|a b@9|p/name='a b'/@1 c@15|@15|c@15"},
	{"p/rename=x,name=z/", "p/rename=x,name=z/@1|z@17|p/rename=x,name=z/@1"},
	{"x=p/name=y/", "x=p/name=y/@1|x@1|p/name=y/@3"},
	{"p/name=", "p/name=@1|@1|p/name=@1"},
	{"p/name=y b", "p/name=y@1|y@8|p/name=y@1 b@10|@10|b@10"},
	{"p/name='y b", "p/name='y@1|y@9|p/name='y@1 b@11|@11|b@11"},
	{"p/e=1/name=x", "p/e=1/name=x@1|@1|p/e=1/name=x@1"},
	{"p//name=x", "p//name=x@1|@1|p//name=x@1"},
	{"p/", "p/@1|@1|p/@1"},
	/* Groups. */
	{"{a,b}:u", "a@2|@2|a@2:u b@4|@4|b@4:u"},
	{"{a, x=b }:uk,c", "a@2|@2|a@2:uk x=b@5|x@5|b@7:uk c@14|@14|c@14"},
	{"{a}{b}:k", "a@2|@2|a@2:{b}:k"},
	{"c {a} b", "c@1|@1|c@1 a@4|@4|a@4 b@7|@7|b@7"},
	{"{a}k\n{b}: c", "a@2|@2|a@2:k b@7|@7|b@7 c@11|@11|c@11"},
	{"{},{ } a", "a@8|@8|a@8"},
	{"{p/e=1,u=2/,b}:u", "p/e=1,u=2/@2|@2|p/e=1,u=2/@2:u b@13|@13|b@13:u"},
	/* A brace without a partner, or inside another group, belongs to the event. */
	{"{a,b", "{a@1|@1|{a@1 b@4|@4|b@4"},
	{"a,b}", "a@1|@1|a@1 b}@3|@3|b}@3"},
	{"{a,{b},c", "{a@1|@1|{a@1 b@5|@5|b@5 c@8|@8|c@8"},
	{"x={a}", "x={a}@1|x@1|{a}@3"},
};

static void lists_have_parts(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *got = parts(cases[i].list);

		CHECK(strcmp(got, cases[i].parts) == 0, "'%s': %s, want %s", cases[i].list, got,
		      cases[i].parts);
	}
}

static void is_string(const char *events, const char *want)
{
	struct tach__list list = tach__list_of(events);
	struct tach__listed item;
	char *string;

	CHECK(tach__list_next(&list, &item), "%s", events);
	string = tach__list_string(&item);
	CHECK(string && strcmp(string, want) == 0, "%s: %s, want %s", events, string, want);
	free(string);
}

static void is_flat(const char *events, const char *want)
{
	char *flat = tach__list_flat(events);

	CHECK(flat && strcmp(flat, want) == 0, "%s: %s, want %s", events, flat, want);
	free(flat);
}

static void written_again(void)
{
	char list[2000] = "{", want[2000] = "", modifiers[200];

	is_string("a", "a");
	is_string("x=a,b", "a");
	is_string("{a,b}:u", "a:u");
	is_string("{x=p/e=1/}:uk", "p/e=1/:uk");
	is_flat("", "");
	is_flat(" a, x=b ", " a, x=b ");
	is_flat("{}", "");
	is_flat("{a , x=b}:u c,{d}", "a:u,x=b:u,c,d");
	/* A buffer of exact size: the allocator notices a write after its end. */
	memset(modifiers, 'k', sizeof modifiers);
	for (int i = 0; i < 3; i++) {
		sprintf(list + strlen(list), "%0100d ", i);
		sprintf(want + strlen(want), "%s%0100d:%.200s", i ? "," : "", i, modifiers);
	}
	sprintf(list + strlen(list), "}:%.200s", modifiers);
	is_flat(list, want);
	want[strcspn(want, ",")] = '\0';
	is_string(list, want);
}

int main(void)
{
	CASE(lists_have_parts);
	CASE(written_again);
	return check_done();
}
