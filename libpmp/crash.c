/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crash.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/buf.h"

#define SIGNAL_TEXT 16
#define FIRST_REALTIME 34 /* SIGRTMIN of programs: the C library uses the first two */

struct word {
	int number;
	const char *text;
};

/* A code that is common to all signals, or specific to one. */
struct code {
	int number; /* 0: any */
	int code;
	const char *text;
};

#define WORD(name) \
	{ \
		name, #name \
	}
static const struct word signals[] = {
	WORD(SIGHUP),	 WORD(SIGINT),	WORD(SIGQUIT),	WORD(SIGILL),  WORD(SIGTRAP),
	WORD(SIGABRT),	 WORD(SIGBUS),	WORD(SIGFPE),	WORD(SIGKILL), WORD(SIGUSR1),
	WORD(SIGSEGV),	 WORD(SIGUSR2), WORD(SIGPIPE),	WORD(SIGALRM), WORD(SIGTERM),
	WORD(SIGSTKFLT), WORD(SIGCHLD), WORD(SIGCONT),	WORD(SIGSTOP), WORD(SIGTSTP),
	WORD(SIGTTIN),	 WORD(SIGTTOU), WORD(SIGURG),	WORD(SIGXCPU), WORD(SIGXFSZ),
	WORD(SIGVTALRM), WORD(SIGPROF), WORD(SIGWINCH), WORD(SIGIO),   WORD(SIGPWR),
	WORD(SIGSYS),
};
#undef WORD

#define CODE(number, name) \
	{ \
		number, name, #name \
	}
static const struct code codes[] = {
	CODE(0, SI_USER),	   CODE(0, SI_TKILL),	       CODE(0, SI_QUEUE),
	CODE(0, SI_TIMER),	   CODE(0, SI_MESGQ),	       CODE(0, SI_ASYNCIO),
	CODE(0, SI_KERNEL),	   CODE(SIGSEGV, SEGV_MAPERR), CODE(SIGSEGV, SEGV_ACCERR),
	CODE(SIGBUS, BUS_ADRALN),  CODE(SIGBUS, BUS_ADRERR),   CODE(SIGBUS, BUS_OBJERR),
	CODE(SIGILL, ILL_ILLOPC),  CODE(SIGILL, ILL_ILLOPN),   CODE(SIGILL, ILL_ILLADR),
	CODE(SIGILL, ILL_ILLTRP),  CODE(SIGILL, ILL_PRVOPC),   CODE(SIGFPE, FPE_INTDIV),
	CODE(SIGFPE, FPE_INTOVF),  CODE(SIGFPE, FPE_FLTDIV),   CODE(SIGFPE, FPE_FLTOVF),
	CODE(SIGFPE, FPE_FLTUND),  CODE(SIGFPE, FPE_FLTRES),   CODE(SIGFPE, FPE_FLTINV),
	CODE(SIGTRAP, TRAP_BRKPT), CODE(SIGTRAP, TRAP_TRACE),
};
#undef CODE

const char *pmp_signal_name(int number, char *text)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].number == number)
			return signals[i].text;
	if (number < FIRST_REALTIME || number > 64)
		return NULL;
	snprintf(text, SIGNAL_TEXT, "SIGRTMIN+%d", number - FIRST_REALTIME);
	return text;
}

const char *pmp_signal_code_name(int number, int code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].code == code &&
		    (!codes[i].number || codes[i].number == number))
			return codes[i].text;
	return NULL;
}

void pmp_crash_text(struct pmp_buf *buf, const struct pmp_crash *crash)
{
	char text[SIGNAL_TEXT];
	const char *name = pmp_signal_name(crash->signal, text);
	const char *code = pmp_signal_code_name(crash->signal, crash->code);

	if (!crash->signal) {
		pmp_buf_puts(buf, "none: a debugger has written the core");
		return;
	}
	pmp_buf_printf(buf, "%s (%d), ", name ? name : "unknown", crash->signal);
	if (code)
		pmp_buf_printf(buf, "%s (%d)", code, crash->code);
	else
		pmp_buf_printf(buf, "code %d", crash->code);
	if (crash->has_address)
		pmp_buf_printf(buf, ", address 0x%" PRIx64, crash->address);
	if (crash->sender)
		pmp_buf_printf(buf, ", sent by process %d", (int)crash->sender);
	if (crash->tid)
		pmp_buf_printf(buf, ", in LWP %d", (int)crash->tid);
}
