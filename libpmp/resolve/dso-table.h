/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules that locations are in, by small numbers. The same file or image has one
 * number, whichever process has it mapped.
 */
#ifndef PMP_RESOLVE_DSO_TABLE_H
#define PMP_RESOLVE_DSO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "resolve/dso.h"
#include "resolve/frame.h"
#include "resolve/kernel.h"
#include "resolve/perf-map.h"
#include "resolve/remote.h"
#include "resolve/strings.h"
#include "sample.h"

/* A module. The first source seen is kept; its open descriptor also keeps the inode from
 * being reused. */
struct pmp_dso_entry {
	struct pmp_module *source; /* a reference; NULL: [unmapped] */
	uint64_t device, inode;
	bool file;		       /* has an ELF file or image: offsets, not pcs */
	bool wanted;		       /* has a location without names */
	uint32_t number;	       /* of the module */
	uint32_t next;		       /* in its list, or PMP_LOCATION_NONE */
	const char *path;	       /* kept */
	struct pmp_dso *dso;	       /* of a file, once a name was wanted */
	struct pmp_perf_map *perf_map; /* of a PMP_MODULE_PERF_MAP, likewise */
	bool lacks_lines;	       /* see pmp_perf_map_lacks_lines() */
	struct pmp_remote_module
		*remote; /* instead of these two, if another process reads it */
	/* Kept copies of remote's build_id and problem, which change without the lock. */
	const char *remote_id, *remote_problem;
	const char *saved_id;	   /* kept; of a saved profile: its build-id, or NULL */
	const char *saved_problem; /* why its file is not used, or NULL */
	size_t names_size;	   /* bytes of names that it was the first to add */
	bool names_refused;	   /* some were not kept, see pmp_state_may_name() */
	uint64_t frames, unnamed;
};

struct pmp_dso_table {
	struct pmp_strings *strings;  /* borrowed */
	struct pmp_dso_entry **items; /* pointers: an entry must not move while named */
	size_t count, capacity;
	uint32_t *lists; /* hash table: the first module in each list; see dso-table.c */
	size_t list_count;		/* a power of two */
	struct pmp_hash_key key;	/* of the lists */
	struct pmp_kernel_names kernel; /* of all sources of the kernel */
	struct pmp_alias *aliases;	/* hash table of sources */
	size_t alias_count, alias_slots;
	uint32_t unmapped; /* number of [unmapped], or PMP_LOCATION_NONE */
};

void pmp_dso_table_init(struct pmp_dso_table *modules, struct pmp_strings *strings);
void pmp_dso_table_free(struct pmp_dso_table *modules);
/* The number of a source's module; NULL: [unmapped]. PMP_LOCATION_NONE: out of memory. */
uint32_t pmp_dso_table_of(struct pmp_dso_table *modules, struct pmp_module *source);
/* The same for a mapping of a saved profile: equal path and build-id mean one module. */
uint32_t pmp_dso_table_of_saved(struct pmp_dso_table *modules,
				const struct pmp_mapping *mapping);
/* Lower-case hex, or "". */
const char *pmp_dso_table_build_id(const struct pmp_dso_entry *module);
/* Why names are missing, or NULL. */
const char *pmp_dso_table_problem(const struct pmp_dso_entry *module);
/*
 * Forget the modules whose numbers[i] is PMP_LOCATION_NONE, and close their files. For each
 * of the others store the new number in numbers[i], and keep its strings again, as the
 * table of strings may have been replaced.
 */
void pmp_dso_table_gc(struct pmp_dso_table *modules, uint32_t *numbers);

#endif
