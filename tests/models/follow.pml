/* SPDX-License-Identifier: MIT */
/*
 * A thread follows to another set without a fence in START. The thread gets ready
 * (tach__thread_ready: it stores its limit, then reads the generation) while another thread
 * configures (configure.c: it stores the generation; tach__threads_interrupt: then clears every
 * limit). Either the thread finds the new generation or its limit stays cleared, so that its
 * next START takes the slow path.
 */
#include "memory.inc"

byte limit, generation = 1, found, done;

active proctype ready()
{
	byte did;

	do
	STORE(0, 0, limit = 7)
	LOAD(1, BIT(0), UNLESS(1, BIT(0)), found = generation)
	:: did == 3 -> break
	od;
	done++
	/* weakening 1: limit and generation not sequentially consistent */
}

active proctype configure()
{
	byte did;

	do
	STORE(0, 0, generation = 2)
	STORE(1, UNLESS(2, BIT(0)), limit = 0)
	:: did == 3 -> break
	od;
	done++
	/* weakening 2: limits are cleared before the new generation is stored */
}

active proctype judge()
{
	done == 2 -> assert(found == 2 || limit == 0)
}
