#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pmp on aarch64 without such a machine: cross-built against Debian's packages, run in an
# emulated one (qemu), with Debian's kernel and a file system made of the packages. On
# Debian or Ubuntu; nothing is installed, all is under FOLDER, which may be kept.
#
#	t/aarch64.sh FOLDER			build, and run all tests in C
#	t/aarch64.sh FOLDER 0320-unwind-aarch64 0710-stacks ...	these tests, also in shell
#	t/aarch64.sh FOLDER -c 'COMMAND'	a command, in the folder of the build
#
# Needs gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-system-arm, cpio, e2fsprogs and
# what pmp is built with. The source must not be configured. Emulation is some fifty times
# slower: tests that hold pmp against a clock fail, and each compiler run takes seconds.
#
# CPU=cortex-a57 is a processor without signatures of return addresses; the default has all.

set -eu

packages="linux-image-cloud-arm64 busybox-static bash coreutils util-linux findutils grep
	sed mawk gawk diffutils procps tar gcc g++ libc6-dev libc6-dbg libc-bin gdb
	libunwind-dev libdw-dev libelf-dev libiberty-dev zlib1g-dev liblzma-dev
	libbz2-dev libzstd-dev libncurses-dev libpcre2-dev libprotobuf-c-dev"

usage="usage: t/aarch64.sh FOLDER [TEST... | -c COMMAND]"
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:?$usage}"
top=$(cd "$1" && pwd)
shift
root=$top/root build=$top/build
export PATH="$PATH:/usr/sbin:/sbin"
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-system-aarch64 cpio mke2fs apt-get; do
	command -v "$tool" >/dev/null || { echo "no $tool" >&2; exit 1; }
done

# ---- packages of the other architecture, beside those of this machine ----------------

get_packages() {
	mkdir -p "$top/apt/lists/partial" "$top/apt/cache/archives/partial"
	: >"$top/apt/status"
	cat >"$top/apt/apt.conf" <<-EOF
		APT::Architecture "arm64"; APT::Architectures { "arm64"; };
		Dir::State "$top/apt"; Dir::State::status "$top/apt/status";
		Dir::Cache "$top/apt/cache"; APT::Install-Recommends "false";
		APT::Sandbox::User "root";
	EOF
	export APT_CONFIG="$top/apt/apt.conf"
	apt-get -q update
	# shellcheck disable=SC2086
	apt-get -q -y --download-only install $packages
	unset APT_CONFIG
}

# Folders of the root are links into usr; links are made relative, for the compiler.
make_root() {
	rm -rf "$root" "$top/kernel"
	mkdir -p "$root" "$top/kernel"
	for package in "$top"/apt/cache/archives/*.deb; do
		case $package in
		*/linux-image-[0-9]*) dpkg -x "$package" "$top/kernel" ;;
		*) dpkg -x "$package" "$root" ;;
		esac
	done
	for folder in bin sbin lib; do
		cp -a "$root/$folder/." "$root/usr/$folder/"
		rm -rf "${root:?}/$folder"
		ln -s "usr/$folder" "$root/$folder"
	done
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" \
			"$root$(readlink "$link")")" "$link"
	done
	ln -sf bash "$root/usr/bin/sh"
	ln -sf gcc "$root/usr/bin/cc"
	ln -sf gawk "$root/usr/bin/awk"
	rm -rf "$root"/usr/share/doc "$root"/usr/share/man "$root"/usr/share/locale
	echo root:x:0:0::/root:/bin/bash >"$root/etc/passwd"
	echo root:x:0: >"$root/etc/group"
	touch "$top/complete"
}

# ---- the build ---------------------------------------------------------------------------

make_build() {
	PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig
	PKG_CONFIG_SYSROOT_DIR=$root
	export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
	[ -x "$source/configure" ] || (cd "$source" && autoreconf -i)
	mkdir -p "$build"
	cd "$build"
	[ -f config.status ] || "$source/configure" -q --host=aarch64-linux-gnu --enable-werror \
		CC="aarch64-linux-gnu-gcc --sysroot=$root" \
		CXX="aarch64-linux-gnu-g++ --sysroot=$root"
	make -s -j2 all
	make -s -j2 check TESTS=
}

# ---- the machine -------------------------------------------------------------------------

# init: what it does once it runs. The work is found where it is here.
make_init() {
	cat <<-EOF
		#!/bin/bash
		export PATH=/usr/bin:/usr/sbin HOME=/root LC_ALL=C.UTF-8 CC=cc CXX=c++
		export top_srcdir='$source' top_builddir='$build'
		busybox mount -t proc proc /proc
		busybox mount -t sysfs sys /sys
		mkdir -p /dev/shm && busybox mount -t tmpfs shm /dev/shm
		busybox mount -t tmpfs run /run && chmod 1777 /tmp
		busybox ifconfig lo 127.0.0.1 up
		ln -sf /proc/self/fd /dev/fd
		cd '$build'
	EOF
	if [ "${1:-}" = -c ]; then
		printf '%s\n' "$2"
	else
		for test; do
			file=$build/t/$test.t
			[ -f "$file" ] || file=$source/t/$test.t
			echo "echo == $test; timeout 1200 '$file' 2>&1 | grep -v ^ok"
		done
	fi
	echo "busybox poweroff -f"
}

make_images() {
	modules=$(echo "$top"/kernel/lib/modules/*/kernel)
	rm -rf "$top/initrd"
	mkdir -p "$top/initrd/bin" "$top/initrd/dev" "$top/initrd/new" "$root$source" "$root$build"
	cp "$root/usr/bin/busybox" "$top/initrd/bin/"
	cp "$modules"/drivers/virtio/virtio*.ko "$modules"/drivers/block/virtio_blk.ko "$top/initrd/"
	{
		echo '#!/bin/busybox sh'
		echo '/bin/busybox mount -t devtmpfs dev /dev'
		for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev \
			virtio_pci virtio_blk; do
			echo "/bin/busybox insmod /$module.ko"
		done
		echo 'while [ ! -b /dev/vda ]; do /bin/busybox sleep 1; done'
		echo '/bin/busybox mount -t ext4 /dev/vda /new'
		echo '/bin/busybox mount --move /dev /new/dev'
		echo 'exec /bin/busybox switch_root /new /init'
	} >"$top/initrd/init"
	chmod +x "$top/initrd/init"
	(cd "$top/initrd" && find . | cpio -o -H newc 2>/dev/null) >"$top/initrd.img"
	rm -rf "${root:?}$source" "${root:?}$build"
	mkdir -p "$root$source" "$root$build"
	(cd "$source" && tar cf - --exclude=.git t libpmp pmp man configure.ac) |
		tar xf - -C "$root$source"
	(cd "$build" && tar cf - --exclude='*.o' --exclude='*.lo' --exclude='*.a' t pmp) |
		tar xf - -C "$root$build"
	make_init "$@" >"$root/init"
	chmod +x "$root/init"
	rm -f "$top/root.img"
	truncate -s 2G "$top/root.img"
	mke2fs -q -F -t ext4 -d "$root" "$top/root.img"
}

[ -f "$top/complete" ] || { get_packages && make_root; } || exit 1
make_build
[ $# -gt 0 ] || {
	cd "$source/t"
	# shellcheck disable=SC2046
	set -- $(printf "%s\n" 0[1-5]*.c | sed "s,[.]c$,,")
}
make_images "$@"
exec timeout 3600 nice qemu-system-aarch64 -M virt -cpu "${CPU:-max,pauth-impdef=on}" -smp 2 \
	-m 2048 -nographic -no-reboot -monitor none -serial stdio -nic none \
	-kernel "$(echo "$top"/kernel/boot/vmlinuz-*)" -initrd "$top/initrd.img" \
	-append "console=ttyAMA0 panic=-1 quiet" \
	-drive file="$top/root.img",if=none,id=disk,format=raw,snapshot=on \
	-device virtio-blk-pci,drive=disk </dev/null
