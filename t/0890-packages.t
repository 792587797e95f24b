#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The packages that make check-packages has built, twice: both times the same bytes; no fault
# that lintian and rpmlint know; what is in them; installed into a scratch root pmp runs
# there, also as the units run it, and what is removed leaves nothing. With PMP_INSTALL=1, as
# in .ci/run, they are also installed on this machine by apt-get, and removed.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need cmp dpkg-deb lintian rpm rpmlint systemd-analyze readelf setpriv curl pkg-config "${CC:-cc}"
built=$top_builddir/packages/first
again=$top_builddir/packages/in-another-folder
[ -d "$built" ] && [ -d "$again" ] || skip_all "no packages: make check-packages builds them"
[ "$(id -u)" -eq 0 ] || skip_all "only root installs packages"
version=$(sed -n 's/^AC_INIT(\[pmp\], \[\(.*\)\])$/\1/p' "$top_srcdir/configure.ac")
units='pmp-sample@.service pmp-sample@.timer pmp-serve@.service pmp-serve@.socket'

# ---- what was built --------------------------------------------------------------------

deb=$(echo "$built"/pmp_*.deb)
deb_dev=$(echo "$built"/libpmp-dev_*.deb)
rpm=$(echo "$built"/pmp-*.rpm)
rpm_devel=$(echo "$built"/libpmp-devel-*.rpm)
static=$(echo "$built"/pmp-*-linux-*.tar.gz)
is "$(find "$built" -type f | sort)" "$(printf '%s\n' "$deb" "$deb_dev" "$rpm" "$rpm_devel" "$static" | sort)" \
	"these packages and nothing else were built"
for file in "$deb" "$deb_dev" "$rpm" "$rpm_devel" "$static"; do
	ok "cmp '$file' '$again/${file##*/}'" "${file##*/} has the same bytes when it is built again"
	like "${file##*/}" "^[a-z]+(-devel|-dev)?[-_]${version}[-_]" "its name has the version"
done

is "$(lintian --allow-root -I --pedantic --fail-on error "$deb" "$deb_dev" 2>&1)" "" \
	"lintian finds no fault"
rpmlint -c "$top_srcdir/packaging/rpmlint.toml" "$rpm" "$rpm_devel" \
	"$top_srcdir/packaging/pmp.spec" >rpmlint.out 2>&1
is $? 0 "rpmlint accepts the packages and pmp.spec"
like "$(cat rpmlint.out)" '2 packages and 1 specfiles checked; 0 errors, 0 warnings' \
	"and finds no fault" || diag "$(cat rpmlint.out)"

# files LISTING: mode, owner and path, without folders
files() {
	awk '$1 !~ /^d/ { print substr($1, 1, 10), $2, $NF }' | sed 's,root/root \.,root ,' | sort -k 3
}

dpkg-deb -c "$deb" >listing
is "$(files <listing)" "$(sort -k 3 <<END
-rw-r--r-- root /lib/systemd/system/pmp-sample@.service
-rw-r--r-- root /lib/systemd/system/pmp-sample@.timer
-rw-r--r-- root /lib/systemd/system/pmp-serve@.service
-rw-r--r-- root /lib/systemd/system/pmp-serve@.socket
-rwxr-xr-x root /usr/bin/pmp
-rw-r--r-- root /usr/share/bash-completion/completions/pmp
-rw-r--r-- root /usr/share/doc/pmp/NEWS.gz
-rw-r--r-- root /usr/share/doc/pmp/README.gz
-rw-r--r-- root /usr/share/doc/pmp/changelog.gz
-rw-r--r-- root /usr/share/doc/pmp/copyright
-rw-r--r-- root /usr/share/doc/pmp/examples/alloy.conf
-rw-r--r-- root /usr/share/doc/pmp/examples/parca.yaml
-rw-r--r-- root /usr/share/doc/pmp/examples/pmp.conf
-rw-r--r-- root /usr/share/doc/pmp/examples/pmp.cron
-rw-r--r-- root /usr/share/doc/pmp/examples/pmp.logrotate
-rw-r--r-- root /usr/share/doc/pmp/examples/pmp.service
-rw-r--r-- root /usr/share/doc/pmp/examples/prometheus.yaml
-rw-r--r-- root /usr/share/fish/vendor_completions.d/pmp.fish
-rw-r--r-- root /usr/share/man/man1/pmp.1.gz
-rw-r--r-- root /usr/share/man/man5/pmp-formats.5.gz
-rw-r--r-- root /usr/share/man/man7/pmp-examples.7.gz
-rw-r--r-- root /usr/share/zsh/site-functions/_pmp
END
)" "the package pmp has these files, with these modes"
is "$(dpkg-deb -I "$deb" | grep -E '(pre|post)(inst|rm)|conffiles')" "" \
	"it runs nothing when it is installed or removed"

# ---- installed by dpkg, into a scratch root ------------------------------------------------

chmod 711 "$tmp"
root=$tmp/root
mkdir -p "$root" "$tmp/admin/updates" "$tmp/admin/info" && : >"$tmp/admin/status" &&
	: >"$tmp/admin/available"
scratch_dpkg() {
	dpkg --instdir="$root" --admindir="$tmp/admin" --log=/dev/null --no-triggers \
		--force-depends --force-script-chrootless "$@"
}

# works PROGRAM NAME: it shows the stacks of a target
works() {
	is "$("$1" --version | head -n 1 | cut -d ' ' -f 1,2)" "pmp $version" "the program of $2 runs"
	"$1" --raw -p "$target_pid" >raw 2>err
	is "$?,$(cat err)" "0," "it profiles a process"
	like "$(cat raw)" update_table "with names"
}

start_target demo
ok "scratch_dpkg -i '$deb' '$deb_dev'" "dpkg installs both packages"
works "$root/usr/bin/pmp" "${deb##*/}"
is "$(grep -rl /usr/local "$root/lib/systemd" "$root/usr/share/doc/pmp/examples")" "" \
	"units and examples name the place where pmp is"
like "$(gzip -dc "$root/usr/share/man/man7/pmp-examples.7.gz")" '^ExecStart=/usr/bin/pmp ' \
	"so does the manual"

# example FLAG...: compiled against what is installed
example() {
	${CC:-cc} ${CFLAGS:-} -o hottest -I"$root/usr/include" \
		"$root/usr/share/doc/libpmp-dev/examples/hottest.c" "$@" ${LDFLAGS:-}
}
pc=$(find "$root" -name libpmp.pc)
# shellcheck disable=SC2046,SC2086 # flags are lists of words
example $(PKG_CONFIG_PATH=${pc%/*} pkg-config --define-variable=libdir="${pc%/pkgconfig/*}" \
	--libs libpmp) >cc.out 2>&1
is $? 0 "the example of libpmp(3) compiles against it" || diag "$(cat cc.out)"
like "$(./hottest "$target_pid" | head -n 1)" '^[0-9]+ .*update_table' "and works"

# ---- the units ------------------------------------------------------------------------------

for unit in $units; do
	sed "s|/usr/local/bin/pmp|/usr/bin/pmp|" "$top_srcdir/man/examples/$unit" >example
	ok "cmp example '$root/lib/systemd/system/$unit'" "$unit is the example of the manual"
	sed "s|/usr/bin/pmp|$root&|" "$root/lib/systemd/system/$unit" >"$unit"
done
for unit in $units; do
	is "$(systemd-analyze verify --man=no "./$unit" 2>&1)" "" "systemd finds no fault with $unit"
done

# setting NAME UNIT
setting() {
	sed -n "s/^$1=//p" "$2"
}

# as_unit UNIT: its command for the instance $instance, with its capabilities and no others,
# as a user who is not root. Logs and credentials are in $tmp.
as_unit() {
	caps=$(setting AmbientCapabilities "$1" | sed 's/CAP_/+/g; s/ /,/g' | tr '[:upper:]' '[:lower:]')
	line=$(setting ExecStart "$1" | sed -e "s/%i/$instance/g" -e "s|%d|$tmp|g" -e 's/%%/%/g' \
		-e 's/\$\$/$/g' -e 's/-d 20/-d 1/' -e "s|/var/log/pmp/|$tmp/log/|g" \
		-e 's/\${TARGET_USER}/root/' -e 's/\${LISTEN}/127.0.0.1:0/')
	set -f
	# shellcheck disable=SC2086 # a command line
	set -- $line
	set +f
	exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs \
		--bounding-set="-all,$caps" --inh-caps="-all,$caps" --ambient-caps="-all,$caps" "$@"
}

instance=demo$$
cp "$top_builddir/t/target/demo" "$instance"
start_target "./$instance"
install -d -o 65534 -g 65534 -m 700 log
echo abcdefghijklmnopqrstuvwx >token
chmod 600 token && chown 65534 token

for unit in pmp-serve@.service pmp-sample@.service; do
	is "$(setting User "$unit")" pmp "$unit does not run as root"
	is "$(setting CapabilityBoundingSet "$unit")" "$(setting AmbientCapabilities "$unit")" \
		"it cannot get other capabilities"
done
(as_unit pmp-sample@.service) >out 2>err
is "$?,$(cat err)" "0," "with these pmp-sample@.service takes a profile of root's process"
like "$("$root/usr/bin/pmp" -q -f folded "log/$instance"-*.pb.gz)" update_table \
	"which has its stacks"

(as_unit pmp-serve@.service) >out 2>err &
served=$!
test_pids="$test_pids $served"
wait_for "grep -q ' at http' log/$instance.log" || diag "$(cat err log/*.log)"
url=$(sed -n 's/.* at \(http:[^? ]*\).*/\1/p' "log/$instance.log" | head -n 1)
like "$(curl -s -H 'Authorization: Bearer abcdefghijklmnopqrstuvwx' "${url}folded?seconds=1")" \
	update_table "pmp-serve@.service serves profiles of it"
is "$(setpriv --reuid=65533 --regid=65533 --clear-groups curl -s -o /dev/null -w '%{http_code}' \
	"${url}folded?seconds=1")" 401 "but not to every user"
test_is_child "$served" && kill -INT "$served"
wait "$served"
is $? 0 "and ends in order"

# ---- removed ---------------------------------------------------------------------------------

ok "scratch_dpkg --purge pmp libpmp-dev" "dpkg removes both"
is "$(find "$root" -mindepth 1)" "" "no file of them is left"

# ---- rpm ---------------------------------------------------------------------------------------

rpmroot=$tmp/rpmroot
mkdir "$rpmroot"
scratch_rpm() {
	if rpm --help | grep -q force-debian; then
		set -- --force-debian "$@"
	fi
	rpm --root "$rpmroot" --dbpath /var/lib/rpm --nodeps --nosignature "$@"
}
ok "scratch_rpm -i '$rpm' '$rpm_devel'" "rpm installs both packages"
works "$rpmroot/usr/bin/pmp" "${rpm##*/}"
for unit in $units; do
	sed "s|$root||" "$unit" | cmp -s - "$rpmroot/usr/lib/systemd/system/$unit"
	is $? 0 "$unit is the same as in the other package"
done
ok "scratch_rpm -e pmp libpmp-devel" "and removes both"
is "$(find "$rpmroot" -mindepth 1 ! -type d ! -path "$rpmroot/var/lib/rpm/*")" "" \
	"no file of them is left"

# ---- the static tarball ----------------------------------------------------------------------

tar -xzf "$static" --strip-components=1 --one-top-level=static
unlike "$(readelf -lW static/bin/pmp)" INTERP "the program of the static tarball needs no library"
works static/bin/pmp "the static tarball"
for file in man/man1/pmp.1 man/man5/pmp-formats.5 man/man7/pmp-examples.7 doc/pmp/COPYING doc/pmp/README \
	doc/pmp/examples/pmp-serve@.service; do
	ok "[ -s static/share/$file ]" "$file is beside it"
done
licences=static/share/doc/pmp/licences
for library in glibc elfutils libunwind ncurses zlib xz-utils libdeflate pcre2 protobuf-c libiberty gcc-12; do
	like "$(cat $licences/PACKAGES)" "\(source: $library [0-9]" "$library is in the list of libraries"
done
sed 's/ .*//' $licences/PACKAGES | while read -r package; do
	[ -s "$licences/$package" ] || echo "$package"
done >missing
is "$(cat missing)" "" "there is the licence of each"
grep -rhoE '/usr/share/common-licenses/[A-Za-z]+(-[0-9.]*[0-9])?' $licences | sed 's|.*/||' | sort -u |
	while read -r licence; do
		[ -s "$licences/common-licenses/$licence" ] || echo "$licence"
	done >missing
is "$(cat missing)" "" "and each licence that they refer to"

# ---- what they need is what bootstrap installs -----------------------------------------------

# listed MANAGER: what bootstrap installs to build, without what every build needs
listed() {
	sed -n "/^	build-$1)/,/;;/p" "$top_srcdir/bootstrap" | tr -d '";' | tr -s ' \t' '\n\n' |
		grep -vxE "|build-.*|echo|autoconf|automake|libtool" | sort
}
is "$(sed -n '/^Build-Depends/,/^[A-Z]/s/^ \([a-z0-9.-]*\).*/\1/p' "$top_srcdir/packaging/debian/control" |
	grep -v '^debhelper-compat' | sort)" "$(listed apt)" \
	"Build-Depends of packaging/debian/control are those of bootstrap"
is "$(sed -n 's/^BuildRequires: *//p' "$top_srcdir/packaging/pmp.spec" | sort)" "$(listed dnf)" \
	"and so are BuildRequires of packaging/pmp.spec"

# ---- installed on this machine ---------------------------------------------------------------

# ours: all files of this machine that have pmp in their names
ours() {
	find /etc /lib /usr /var -xdev -name '*pmp*' | sort
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		--no-install-recommends "$@"
}

if [ "${PMP_INSTALL:-0}" = 1 ]; then
	ours >before
	like "$(apt -s install "$deb" "$deb_dev" 2>&1)" \
		'^0 upgraded, 2 newly installed, 0 to remove' "apt-get would install these two only" ||
		skip_all "apt-get would change more than that"
	# However this test ends.
	trap 'test_status=$?; apt purge pmp libpmp-dev >/dev/null 2>&1; (exit $test_status); test_cleanup' EXIT
	ok "apt install '$deb' '$deb_dev'" "apt-get installs them"
	works /usr/bin/pmp "this machine"
	for unit in $units; do
		is "$(systemd-analyze verify --man=no "/lib/systemd/system/$unit" 2>&1)" "" \
			"systemd finds no fault with $unit where it is installed"
	done
	ok "apt purge pmp libpmp-dev" "apt-get removes them"
	trap test_cleanup EXIT
	is "$(ours | comm -13 before -)" "" "nothing with that name is left"
fi

ok "untouched $target_pid" "the target goes on"
done_testing
