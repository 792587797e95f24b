/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stub jumps to an address that it loads from a slot of the global offset table. A
 * relocation tells whose address the dynamic linker writes to that slot. The slot is
 * taken from the stub's code, so that neither the order of stubs nor the size of what
 * precedes them has to be known for each linker and option:
 *
 *	x86-64		[endbr64] [bnd] jmp *slot(%rip)
 *	aarch64		[bti c]  adrp x16, slot  ldr x17, [x16, slot]  ...
 */
#include "resolve/plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

#define STUB_MAX 24		    /* bytes; 8 or 16 are usual */
#define SLOTS_MAX ((size_t)1 << 20) /* of a module */

struct machine {
	uint16_t number;
	uint8_t alignment;	 /* of stubs */
	uint32_t relocations[3]; /* JUMP_SLOT, GLOB_DAT, IRELATIVE */
	/* Find the slot of the stub with this code at this address. False: no stub. */
	bool (*slot)(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot);
};

/* A relocation that fills a slot. */
struct got_slot {
	uint64_t address; /* first: pmp_search_after() */
	uint32_t section, index;
};

struct pmp_stubs {
	struct pmp_elf file;
	const struct machine *machine; /* NULL: not known */
	size_t sections;	       /* sections below this index are not listed yet */
	struct got_slot *slots;	       /* ascending */
	size_t count, capacity;
};

static bool slot_x86_64(const uint8_t *code, size_t size, uint64_t address,
			uint64_t *slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	int32_t displacement;
	size_t at = 0;

	if (size > sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (at < size && code[at] == 0xf2)
		at++;
	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	*slot = address + at + 6 + (uint64_t)(int64_t)displacement;
	return true;
}

static bool slot_aarch64(const uint8_t *code, size_t size, uint64_t address,
			 uint64_t *slot)
{
	const uint32_t bti_c = 0xd503245f;
	uint32_t adrp, ldr;
	uint64_t pages;

	for (size_t at = 0; at <= 4 && at + 8 <= size; at += 4) {
		memcpy(&adrp, code + at, sizeof(adrp));
		memcpy(&ldr, code + at + 4, sizeof(ldr));
		if ((adrp & 0x9f00001f) == 0x90000010 &&
		    (ldr & 0xffc003ff) == 0xf9400211) {
			pages = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
			pages = (pages ^ 1u << 20) - (1u << 20); /* 21 bits, signed */
			*slot = ((address + at) & ~(uint64_t)0xfff) + (pages << 12) +
				(ldr >> 10 & 0xfff) * 8;
			return true;
		}
		if (adrp != bti_c)
			return false;
	}
	return false;
}

static const struct machine machines[] = {
	{ EM_X86_64,
	  8,
	  { R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE },
	  slot_x86_64 },
	{ EM_AARCH64,
	  4,
	  { R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE },
	  slot_aarch64 },
};

static const struct machine *machine_of(const struct pmp_elf *elf)
{
	GElf_Ehdr header;

	if (!elf->elf || !gelf_getehdr(elf->elf, &header))
		return NULL;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].number == header.e_machine)
			return &machines[i];
	}
	return NULL;
}

/* The next section after section whose name begins with .plt, .plt.sec for instance. */
static Elf_Scn *next_stubs(const struct pmp_elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	size_t names;

	if (!elf->elf || elf_getshdrstrndx(elf->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf->elf, section))) {
		const char *name = gelf_getshdr(section, header)
					   ? elf_strptr(elf->elf, names, header->sh_name)
					   : NULL;

		if (name && strncmp(name, ".plt", 4) == 0 &&
		    header->sh_size <= UINT64_MAX - header->sh_addr)
			return section;
	}
	return NULL;
}

void pmp_plt_range(const struct pmp_elf *elf, struct pmp_plt *plt)
{
	struct pmp_plt found = { UINT64_MAX, 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = next_stubs(elf, section, &header))) {
		if (header.sh_addr < found.start)
			found.start = header.sh_addr;
		if (header.sh_addr + header.sh_size > found.end)
			found.end = header.sh_addr + header.sh_size;
	}
	*plt = found.start < found.end ? found : (struct pmp_plt){ 0 };
}

/* Find the slot of the stub at an address. */
static bool find_slot(const struct pmp_elf *elf, const struct machine *machine,
		      uint64_t address, uint64_t *slot)
{
	const Elf_Data *data;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uint64_t offset;

	do
		section = next_stubs(elf, section, &header);
	while (section &&
	       (address < header.sh_addr || address - header.sh_addr >= header.sh_size));
	data = section ? pmp_elf_data(elf, section) : NULL;
	if (!data || address - header.sh_addr >= data->d_size)
		return false;
	offset = address - header.sh_addr;
	for (uint64_t at = offset - offset % machine->alignment; offset - at < STUB_MAX;
	     at -= machine->alignment) {
		if (machine->slot((const uint8_t *)data->d_buf + at, data->d_size - at,
				  header.sh_addr + at, slot))
			return true;
		if (at == 0)
			break;
	}
	return false;
}

static bool fills_slots(const struct machine *machine, uint64_t type)
{
	return type == machine->relocations[0] || type == machine->relocations[1] ||
	       type == machine->relocations[2];
}

/* Name what a relocation refers to: a symbol, or the resolver of an indirect function, in
 * the form that binutils uses. */
static bool put_name(const struct pmp_elf *elf, const GElf_Shdr *header,
		     const GElf_Rela *rela, struct pmp_buf *name)
{
	Elf_Scn *section = elf_getscn(elf->elf, header->sh_link);
	const Elf_Data *table = section ? pmp_elf_data(elf, section) : NULL;
	uint64_t index = GELF_R_SYM(rela->r_info);
	const char *text = NULL;
	GElf_Shdr symbols;
	GElf_Sym symbol;

	pmp_buf_clear(name);
	if (index == 0) {
		pmp_buf_printf(name, "*ABS*+0x%llx", (unsigned long long)rela->r_addend);
	} else {
		if (table && index <= INT32_MAX &&
		    gelf_getsym((Elf_Data *)table, (int)index, &symbol) &&
		    gelf_getshdr(section, &symbols) &&
		    pmp_elf_data(elf, elf_getscn(elf->elf, symbols.sh_link)))
			text = elf_strptr(elf->elf, symbols.sh_link, symbol.st_name);
		if (!text || !text[0])
			return false;
		pmp_buf_puts(name, text);
	}
	pmp_buf_puts(name, "@plt");
	return !pmp_buf_failed(name);
}

/* Later sections first, as that is the order in which they are listed. */
static int slot_order(const void *a, const void *b)
{
	const struct got_slot *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->section != y->section)
		return x->section > y->section ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool list_slots(struct pmp_stubs *stubs, Elf_Scn *section)
{
	const Elf_Data *data = pmp_elf_data(&stubs->file, section);
	GElf_Rela rela;

	for (int i = 0; data && gelf_getrela((Elf_Data *)data, i, &rela); i++) {
		if (!fills_slots(stubs->machine, GELF_R_TYPE(rela.r_info)))
			continue;
		if (stubs->count == SLOTS_MAX ||
		    PMP_RESERVE(&stubs->slots, &stubs->capacity, stubs->count + 1))
			return false;
		stubs->slots[stubs->count++] =
			(struct got_slot){ rela.r_offset, (uint32_t)elf_ndxscn(section),
					   (uint32_t)i };
	}
	return true;
}

/* List the last section that fills slots; the next time, all others: .rela.plt comes after
 * .rela.dyn, which is large and seldom needed. False: none is left, or out of memory. */
static bool list_next(struct pmp_stubs *stubs)
{
	const bool all = stubs->count > 0;
	const size_t before = stubs->count;
	GElf_Shdr header;

	while (stubs->sections > 0 && (all || stubs->count == 0)) {
		Elf_Scn *section = elf_getscn(stubs->file.elf, --stubs->sections);

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		if (!list_slots(stubs, section))
			stubs->sections = 0;
	}
	if (stubs->count == before)
		return false;
	qsort(stubs->slots, stubs->count, sizeof(*stubs->slots), slot_order);
	return true;
}

struct pmp_stubs *pmp_stubs_new(int fd)
{
	struct pmp_stubs *stubs = calloc(1, sizeof(*stubs));

	if (!stubs || pmp_elf_open(&stubs->file, fd)) {
		free(stubs);
		return NULL;
	}
	stubs->machine = machine_of(&stubs->file);
	if (elf_getshdrnum(stubs->file.elf, &stubs->sections) != 0)
		stubs->sections = 0;
	return stubs;
}

void pmp_stubs_free(struct pmp_stubs *stubs)
{
	if (!stubs)
		return;
	pmp_elf_close(&stubs->file);
	free(stubs->slots);
	free(stubs);
}

/* Find the relocation that fills a slot, or NULL. */
static const struct got_slot *find_relocation(struct pmp_stubs *stubs, uint64_t address)
{
	if (address == 0)
		return NULL;
	do {
		size_t first = pmp_search_after(stubs->slots, stubs->count,
						sizeof(*stubs->slots), address - 1);

		if (first < stubs->count && stubs->slots[first].address == address)
			return &stubs->slots[first];
	} while (list_next(stubs));
	return NULL;
}

bool pmp_stubs_name(struct pmp_stubs *stubs, uint64_t address, struct pmp_buf *name)
{
	const struct got_slot *slot = NULL;
	uint64_t slot_address;
	Elf_Scn *section;
	Elf_Data *data;
	GElf_Shdr header;
	GElf_Rela rela;

	if (stubs->machine &&
	    find_slot(&stubs->file, stubs->machine, address, &slot_address))
		slot = find_relocation(stubs, slot_address);
	if (!slot)
		return false;
	section = elf_getscn(stubs->file.elf, slot->section);
	data = section ? elf_getdata(section, NULL) : NULL;
	return data && gelf_getshdr(section, &header) &&
	       gelf_getrela(data, (int)slot->index, &rela) &&
	       put_name(&stubs->file, &header, &rela, name);
}
