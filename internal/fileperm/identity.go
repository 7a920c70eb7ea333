package fileperm

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// identity is who this process is, for the rules.
type identity struct {
	uid      int
	groups   []int
	unmapped int            // uid shown for owners outside of this user namespace; -1: all are known
	private  func(int) bool // whether nobody else is in a group
}

// current is read once: a process of ours never changes its user.
var current = sync.OnceValue(func() identity {
	me := identity{uid: os.Geteuid(), groups: []int{os.Getegid()}, unmapped: -1}
	if more, err := os.Getgroups(); err == nil {
		me.groups = append(me.groups, more...)
	}
	passwd, group := readText("/etc/passwd"), readText("/etc/group")
	me.private = func(gid int) bool { return gid == 0 || privateGroup(me.uid, gid, passwd, group) }
	if wholeMap(readText("/proc/self/uid_map")) {
		return me
	}
	if n, err := strconv.Atoi(strings.TrimSpace(readText("/proc/sys/fs/overflowuid"))); err == nil {
		me.unmapped = n
	}
	return me
})

// trusts tells whether an owner may change our files anyway.
func (me identity) trusts(uid int) bool { return uid == 0 || uid == me.uid }

func (me identity) in(gid int) bool { return slices.Contains(me.groups, gid) }

// readText is a small system file; "" where there is none.
func readText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// wholeMap tells whether a uid_map (user_namespaces(7)) has all users, as outside
// of user namespaces. Where there is none, all are known too.
func wholeMap(text string) bool {
	if text == "" {
		return true
	}
	f := strings.Fields(text)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// privateGroup tells whether a group is a user's own: it has the user's name,
// no other member, and is no other user's first group. Only the local files are
// asked; a user or group of a directory service is not known to be private.
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

// records are the lines of a file of fields between colons that have enough of them.
func records(text string, fields int) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= fields && !yield(f) {
				return
			}
		}
	}
}
