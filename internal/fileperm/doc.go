// Package fileperm decides from owner, mode and links whether shardboard may
// use a file or a directory, and opens those that it may.
//
// It promises that nobody but this process's user and root can change what is
// kept in a directory that OwnDir accepted, or replace it, and that a secret
// which ReadSecret returns cannot be read by other users. Everything is decided
// on the open file or, for what SQLite opens by its path, in a directory in which
// nobody else can rename anything. A refusal is fault.Invalid: it names the file,
// its mode and its owner, says why that matters, and has the command that mends it.
//
// The rules in one place, with what to do in containers: docs/files.md.
package fileperm

import (
	"io/fs"
	"syscall"
)

// entry is what the rules look at of one file or directory.
type entry struct {
	path     string
	mode     fs.FileMode
	uid, gid int
	links    uint64 // names in the file system; 0 after the last was removed
	device   uint64 // differs from the parent directory's at a mount point
	acl      bool   // an access list gives rights that the mode does not show
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

// worldWrites tells whether every user may write.
func (e entry) worldWrites() bool { return e.mode.Perm()&0o002 != 0 }

// groupWrites tells whether users of the group may write who are not the owner.
// Where the group has nobody but its owner, as a person's own group on most
// Linux systems, they may not.
func (e entry) groupWrites(me identity) bool {
	return e.mode.Perm()&0o020 != 0 && (e.acl || !me.private(e.gid))
}

func (e entry) sticky() bool { return e.mode&fs.ModeSticky != 0 }
