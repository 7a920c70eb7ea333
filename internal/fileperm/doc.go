// Package fileperm decides from owner, mode and links whether shardboard may use a file or
// directory, and opens those that it may.
//
// Nobody but this process's user and root can change or replace the content of a directory that
// OwnDir accepted, and no other user can read a secret that ReadSecret returns. The checks are made
// on the open file or, for files that SQLite opens by path, in a directory in which nobody else can
// rename anything. A rejection is fault.Invalid: it names the file, its mode and its owner, says
// why that matters, and has the command that repairs it.
//
// docs/data.md has all rules, and what to do in containers.
package fileperm

import (
	"io/fs"
	"syscall"
)

// entry is what the rules use of one file or directory.
type entry struct {
	path     string
	mode     fs.FileMode
	uid, gid int
	links    uint64 // number of hard links; 0 after the last was removed
	device   uint64 // differs from the parent's at a mount point
	acl      bool   // an access control list grants rights that the mode does not show
}

func entryOf(path string, info fs.FileInfo) entry {
	e := entry{path: path, mode: info.Mode(), uid: -1, gid: -1, links: 1}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		e.uid, e.gid, e.links, e.device = int(s.Uid), int(s.Gid), uint64(s.Nlink), uint64(s.Dev)
	}
	e.acl = e.mode.Perm()&0o020 != 0 && e.mode&fs.ModeSymlink == 0 && hasACL(path)
	return e
}

func (e entry) link() bool { return e.mode&fs.ModeSymlink != 0 }

// worldWrites reports whether every user may write.
func (e entry) worldWrites() bool { return e.mode.Perm()&0o002 != 0 }

// groupWrites reports whether users other than the owner may write through the group. A group whose
// only member is the owner, like the personal groups on most Linux systems, does not count.
func (e entry) groupWrites(me identity) bool {
	return e.mode.Perm()&0o020 != 0 && (e.acl || !me.private(e.gid))
}

func (e entry) sticky() bool { return e.mode&fs.ModeSticky != 0 }
