/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space of a core file: which files were mapped where, and where they are now.
 * A file is opened when contents that the core lacks are needed, and used if its build-id
 * matches.
 */
#ifndef PMP_CORE_MODULES_H
#define PMP_CORE_MODULES_H

#include "core/image.h"
#include "core/memory.h"
#include "core/parse.h"
#include "core/places.h"
#include "sample.h"

struct pmp_core_module {
	struct pmp_core_image image; /* from the core */
	bool has_image;
	bool tried;	     /* opening its file was tried */
	const char *problem; /* why there is no file, or NULL */
};

struct pmp_core_modules {
	const struct pmp_arch *arch; /* of the core */
	struct pmp_maps *maps;
	struct pmp_core_module *items; /* parallel to maps->modules */
	size_t program;		       /* index of the program; SIZE_MAX: unknown */
	struct pmp_core_places places;
	size_t tried;	   /* files that were not found */
	size_t image_work; /* see core/image.h */
};

/* Make it; places are borrowed. 0, PMP_ENOMEM, or PMP_EINVAL: places->exe is not the
 * program. To be freed in any case. */
int pmp_core_modules_make(struct pmp_core_modules *modules,
			  const struct pmp_core_file *core,
			  struct pmp_core_memory *memory,
			  const struct pmp_core_places *places, struct pmp_error *err);
void pmp_core_modules_free(struct pmp_core_modules *modules);
/* A pmp_core_opener; arg is a struct pmp_core_modules. */
void pmp_core_modules_open(void *arg, struct pmp_module *module);

#endif
