package fileperm

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// identity is this process's user and groups.
type identity struct {
	uid      int
	groups   []int
	unmapped int            // uid shown for owners outside this user namespace; -1: there are none
	private  func(int) bool // reports whether a group has no other members
}

// current is computed once, because the process never changes its user.
var current = sync.OnceValue(func() identity {
	me := identity{uid: os.Geteuid(), groups: []int{os.Getegid()}, unmapped: -1}
	if more, err := os.Getgroups(); err == nil {
		me.groups = append(me.groups, more...)
	}
	passwd, group := readText("/etc/passwd"), readText("/etc/group")
	me.private = func(gid int) bool { return gid == 0 || privateGroup(me.uid, gid, passwd, group) }
	if mapsAllUsers(readText("/proc/self/uid_map")) {
		return me
	}
	if n, err := strconv.Atoi(strings.TrimSpace(readText("/proc/sys/fs/overflowuid"))); err == nil {
		me.unmapped = n
	}
	return me
})

// trusts reports whether a user can change our files anyway.
func (me identity) trusts(uid int) bool { return uid == 0 || uid == me.uid }

func (me identity) in(gid int) bool { return slices.Contains(me.groups, gid) }

// readText reads a small system file; "" when it is missing.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// mapsAllUsers reports whether a uid_map (user_namespaces(7)) contains all users, as outside user
// namespaces. A missing file counts as all users.
func mapsAllUsers(text string) bool {
	if text == "" {
		return true
	}
	f := strings.Fields(text)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// privateGroup reports whether a group is a user's personal group: it has the user's name, no other
// member, and is no other user's primary group. Only local files are read; groups of a directory
// service do not count as private.
func privateGroup(uid, gid int, passwd, group string) bool {
	name, owned := "", false
	for f := range records(passwd, 4) {
		if f[2] == strconv.Itoa(uid) && name == "" {
			name = f[0]
		}
	}
	for f := range records(group, 4) {
		if f[2] != strconv.Itoa(gid) {
			continue
		}
		if name == "" || f[0] != name || f[3] != "" && f[3] != name {
			return false
		}
		owned = true
	}
	for f := range records(passwd, 4) {
		if f[3] == strconv.Itoa(gid) && f[2] != strconv.Itoa(uid) {
			return false
		}
	}
	return owned
}

// records yields the lines with enough fields of a colon-separated file.
func records(text string, fields int) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= fields && !yield(f) {
				return
			}
		}
	}
}
