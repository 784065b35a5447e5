/* SPDX-License-Identifier: MIT */
/*
 * What a program of another architecture (a 32-bit one, say) gets in place of the preloaded object and of the binder:
 * an object that does nothing. Without one its dynamic linker would complain on its stderr that it can't load ours.
 * Built without headers and libraries of that architecture, which need not be installed.
 */

unsigned la_version(unsigned newest);

/* Refuses to be an audit module; the dynamic linker then puts it away without a word (rtld-audit(7)). */
unsigned la_version(unsigned newest)
{
	(void)newest;
	return 0;
}
